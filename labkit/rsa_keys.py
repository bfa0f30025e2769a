"""RSA keys: of seeded worlds from a shipped pool of primes, of all others newly made.

1. Finding primes from seeded bytes takes seconds; so a seeded world takes two of the pool's (R8).  Its keys share
   primes with those of every other seeded world: whoever has this package can compute their private halves.
2. The pool's primes are so large that any two of them give a modulus of full length, and no prime less one is a
   multiple of the exponent.
3. Libraries are imported by the function that needs them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

EXPONENT = 65_537
SIZES = (2_048, 3_072, 4_096)
PRIMES_PER_SIZE = 64
PAIRS = PRIMES_PER_SIZE * (PRIMES_PER_SIZE - 1) // 2

POOL = "primes.txt"


def make_rsa_key(bits: int, pair: int | None) -> RSAPrivateKey:
    """Make a key of 2048, 3072 or 4096 bits: a numbered pair of the pool's primes, or with None a new one."""
    return new_key(bits) if pair is None else pooled_key(bits, pair)


def new_key(bits: int) -> RSAPrivateKey:
    """Make a key that nobody else has."""
    from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

    return generate_private_key(EXPONENT, bits)


def pooled_key(bits: int, pair: int) -> RSAPrivateKey:
    """Make the key of a pair of primes, 0 to ``PAIRS`` - 1."""
    from cryptography.hazmat.primitives.asymmetric import rsa

    first, second = places_of(pair)
    primes = pool()[bits]
    p, q = primes[first], primes[second]
    private = rsa.rsa_recover_private_exponent(EXPONENT, p, q)
    numbers = rsa.RSAPrivateNumbers(
        p,
        q,
        private,
        rsa.rsa_crt_dmp1(private, p),
        rsa.rsa_crt_dmq1(private, q),
        rsa.rsa_crt_iqmp(p, q),
        rsa.RSAPublicNumbers(EXPONENT, p * q),
    )
    return numbers.private_key(unsafe_skip_rsa_key_validation=True)  # the pool's primes are tested once, by a test


def places_of(pair: int) -> tuple[int, int]:
    """Return the places of a pair's primes, the higher one first: 0 is (1, 0), then (2, 0), (2, 1), (3, 0) …"""
    if not 0 <= pair < PAIRS:
        raise ValueError(f"a pair has a number from 0 to {PAIRS - 1}, not {pair}")
    higher = 1
    while pair >= higher:
        pair -= higher
        higher += 1
    return higher, pair


@cache
def pool() -> dict[int, tuple[int, ...]]:
    """Read the pool: the primes of each size of key."""
    from importlib.resources import files

    text = files("labkit").joinpath(POOL).read_text(encoding="ascii")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    primes = [int(line, 16) for line in lines]
    return {bits: tuple([prime for prime in primes if prime.bit_length() == bits // 2]) for bits in SIZES}
