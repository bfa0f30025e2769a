"""Makes the pool of primes that seeded worlds draw RSA keys from: python tests/make_primes.py

The pool stays as it is: another one gives other keys, and so other signatures and sizes, in every seeded world.
"""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa

from labkit.rsa_keys import EXPONENT, POOL, PRIMES_PER_SIZE, SIZES

FILE = Path(__file__).resolve().parents[1] / "labkit" / POOL


def make_pool() -> str:
    """Return the text of a new pool."""
    lines = [line for line in FILE.read_text().splitlines() if line.startswith("#")]
    for bits in SIZES:
        found: dict[int, None] = {}
        while len(found) < PRIMES_PER_SIZE:
            numbers = rsa.generate_private_key(EXPONENT, bits).private_numbers()
            found.update(dict.fromkeys((numbers.p, numbers.q)))
        lines += [f"{prime:x}" for prime in found]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(make_pool())
