"""Shamir's secret sharing over GF(2^8), byte by byte.

1. The field is GF(2^8) with the polynomial x^8 + x^4 + x^3 + x + 1; addition is XOR.
2. Each byte of the secret is the constant term of a polynomial of its own, of degree threshold - 1; every other
   coefficient is drawn uniformly from all 256 values.
3. A share is one value per secret byte, followed by the x at which they were evaluated: distinct, from 1 to 255.
4. Shares of different secrets, or too few, combine to a wrong secret without an error: the caller checks the result.
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

    Raise ValueError for numbers outside the limits: both from 2 to 255, or 1 of 1 (rule 5), and shares no fewer than
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
    points = _distinct(shares, entropy)
    drawn = entropy(size * (threshold - 1))
    # One number per degree, one byte in it per secret byte: a degree is then added in one XOR.
    coefficients = [int.from_bytes(drawn[at : at + size], "big") for at in range(0, len(drawn), size)]
    coefficients.append(int.from_bytes(secret, "big"))
    return [_evaluate(coefficients, size, point) + bytes((point,)) for point in points]


def _evaluate(coefficients: list[int], size: int, point: int) -> bytes:
    """Evaluate the polynomials of all bytes at one x, the highest degree first (Horner's rule)."""
    by_point = _multiplied_by(LOGARITHMS[point])
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        product = value.to_bytes(size, "big").translate(LOGARITHMS).translate(by_point)
        value = int.from_bytes(product, "big") ^ coefficient
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
    points = bytes([share[-1] for share in shares])
    if len(set(points)) != len(points):
        raise ValueError("duplicate part detected")
    if 0 in points:  # the value at 0 is the secret, and the other shares have no weight
        return shares[points.index(0)][:-1]
    secret = 0
    for share, weight in zip(shares, _weights(points), strict=True):
        product = share[:-1].translate(LOGARITHMS).translate(_multiplied_by(weight))
        secret ^= int.from_bytes(product, "big")
    return secret.to_bytes(length - 1, "big")


def _weights(points: bytes) -> list[int]:
    """Return the logarithm of each share's Lagrange factor at 0: the product of x / (x + own x) over all other x."""
    count = len(points)
    ones = int.from_bytes(b"\1" * count, "big")
    together = int.from_bytes(points, "big")
    above = sum(points.translate(LOGARITHMS))
    weights = []
    for point in points:
        sums = (together ^ point * ones).to_bytes(count, "big")
        # An x plus itself is 0, whose stand-in 255 adds nothing to a sum of logarithms modulo 255.
        weights.append((above - LOGARITHMS[point] - sum(sums.translate(LOGARITHMS))) % 255)
    return weights


def _distinct(count: int, entropy: Callable[[int], bytes]) -> list[int]:
    """Draw distinct numbers from 1 to 255, each set equally likely: zeros and repeats are drawn again."""
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        for byte in entropy(count - len(drawn)):
            if byte:
                drawn[byte] = None
    return list(drawn)
