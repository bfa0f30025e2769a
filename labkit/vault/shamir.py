"""Shamir's secret sharing over GF(2^8), byte by byte.

1. The field is GF(2^8) with the polynomial x^8 + x^4 + x^3 + x + 1; adding is XOR.
2. Each byte of the secret is the constant term of a polynomial of its own, of degree threshold - 1; every other factor
   is drawn from all 256 values alike.
3. A share is one value a secret byte, and behind them the x that they were taken at: distinct, from 1 to 255.
4. Shares that do not belong together, or too few, combine to something else, silently: whoever combines must check.
5. One share of one is the secret itself, without an x: ``split`` returns it so, and it is not for ``combine``.

A. Shamir, "How to share a secret", 1979; the layout is that of the unseal keys of this API's servers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

MAX_SHARES = 255

_ZERO = 255  # stands for the logarithm of 0, which has none; those of other values end at 254


def _tables() -> tuple[bytes, bytes]:
    """Powers of the generator 3 (twice over, so that a sum of two logarithms needs no modulus), and logarithms."""
    powers, logarithms, value = bytearray(510), bytearray(256), 1
    for exponent in range(255):
        powers[exponent] = powers[exponent + 255] = value
        logarithms[value] = exponent
        value ^= (value << 1) ^ (0x11B if value & 0x80 else 0)
    logarithms[0] = _ZERO
    return bytes(powers), bytes(logarithms)


POWERS, LOGARITHMS = _tables()


def split(secret: bytes, shares: int, threshold: int, entropy: Callable[[int], bytes]) -> list[bytes]:
    """Split a secret into shares, any ``threshold`` of which combine to it again; ``entropy(n)`` gives n bytes.

    Raise ValueError for numbers that cannot be: both from 2 to 255, or 1 of 1 (rule 5), and shares no fewer than
    threshold.
    """
    if not secret:
        raise ValueError("cannot split an empty secret")
    if shares == 1 == threshold:
        return [bytes(secret)]
    if not 2 <= threshold <= shares <= MAX_SHARES:
        raise ValueError(
            f"shares and threshold lie between 2 and {MAX_SHARES}, shares no fewer than threshold; "
            f"{shares} and {threshold} came"
        )
    size = len(secret)
    places = _distinct(shares, entropy)
    drawn = entropy(size * (threshold - 1))
    # One number a degree, of one byte a secret byte: a whole degree is then added in one XOR.
    factors = [int.from_bytes(drawn[at : at + size], "big") for at in range(0, len(drawn), size)]
    factors.append(int.from_bytes(secret, "big"))
    return [_evaluate(factors, size, place) + bytes((place,)) for place in places]


def _evaluate(factors: list[int], size: int, place: int) -> bytes:
    """Evaluate the polynomials of all bytes at one x, the highest degree first (Horner's rule)."""
    by_place = _multiplied_by(LOGARITHMS[place])
    value = factors[0]
    for factor in factors[1:]:
        product = value.to_bytes(size, "big").translate(LOGARITHMS).translate(by_place)
        value = int.from_bytes(product, "big") ^ factor
    return value.to_bytes(size, "big")


def _multiplied_by(logarithm: int) -> bytes:
    """Return the table that turns logarithms into products with a number of this logarithm."""
    return POWERS[logarithm : logarithm + 255] + b"\0"


def combine(shares: Sequence[bytes]) -> bytes:
    """Combine shares by interpolation at 0; raise ValueError for shares that cannot be of one secret (see rule 4)."""
    if len(shares) < 2:
        raise ValueError("less than two parts cannot be used to reconstruct the secret")
    length = len(shares[0])
    if length < 2:
        raise ValueError("parts must be at least two bytes")
    if len(set(map(len, shares))) != 1:
        raise ValueError("all parts must be the same length")
    places = bytes([share[-1] for share in shares])
    if len(set(places)) != len(places):
        raise ValueError("duplicate part detected")
    if 0 in places:  # what lies at 0 is the secret, and the other shares weigh nothing
        return shares[places.index(0)][:-1]
    secret = 0
    for share, weight in zip(shares, _weights(places), strict=True):
        product = share[:-1].translate(LOGARITHMS).translate(_multiplied_by(weight))
        secret ^= int.from_bytes(product, "big")
    return secret.to_bytes(length - 1, "big")


def _weights(places: bytes) -> list[int]:
    """Return the logarithm of each share's Lagrange factor at 0: the product of x / (x + place) over all other x."""
    count = len(places)
    ones = int.from_bytes(b"\1" * count, "big")
    together = int.from_bytes(places, "big")
    above = sum(places.translate(LOGARITHMS))
    weights = []
    for place in places:
        sums = (together ^ place * ones).to_bytes(count, "big")
        # The place plus itself is 0, whose stand-in 255 counts as nothing among logarithms, which are modulo 255.
        weights.append((above - LOGARITHMS[place] - sum(sums.translate(LOGARITHMS))) % 255)
    return weights


def _distinct(count: int, entropy: Callable[[int], bytes]) -> list[int]:
    """Draw distinct numbers from 1 to 255, each set equally likely: zeros and repeats are drawn again."""
    found: dict[int, None] = {}
    while len(found) < count:
        for byte in entropy(count - len(found)):
            if byte:
                found[byte] = None
    return list(found)
