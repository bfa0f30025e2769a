"""Shamir's secret sharing: shares made elsewhere combine, any threshold of ours do, fewer do not."""

from __future__ import annotations

import hashlib
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from labkit.vault.sealing.shamir import LOGARITHMS, POWERS, combine, split
from tests.examples import examples

# Made with HashiCorp's shamir package in Go: the secret, how many of its shares are needed, the shares.
VECTORS = [
    (
        "00112233445566778899aabbccddeeff",
        3,
        [
            "96dd66f1ffb7bbb231558024a658f4a504",
            "e1f3a8907fb7310e0ee910d016b2ff83c4",
            "1016b951e158174a1b934ab1530ec8adde",
            "e83816f3ce0672240bfaadede115f5d64e",
            "b5e1f5dc9bb45d48d2eb690de7542d88ec",
        ],
    ),
    ("6c61626b6974", 2, ["b3c1fa84224299", "8e312e91c16fc1", "5a422329038305"]),
]

BYTES = st.integers(0, 255)


def entropy_of(seed: bytes):
    """A source of bytes that is the same for the same seed, and counts how often it is asked."""
    asked: list[int] = []

    def entropy(size: int) -> bytes:
        asked.append(size)
        return hashlib.shake_256(seed + len(asked).to_bytes(4, "big")).digest(size)

    entropy.asked = asked  # type: ignore[attr-defined]  # a function may carry it
    return entropy


def product(one: int, other: int) -> int:
    """Multiply in the field as on paper: shift, add, reduce by x^8 + x^4 + x^3 + x + 1."""
    total = 0
    while other:
        if other & 1:
            total ^= one
        one, other = one << 1, other >> 1
        if one & 0x100:
            one ^= 0x11B
    return total


def times(one: int, other: int) -> int:
    """Multiply with the module's tables."""
    return POWERS[LOGARITHMS[one] + LOGARITHMS[other]] if one and other else 0


@pytest.mark.parametrize(("secret", "threshold", "shares"), VECTORS)
def test_shares_made_elsewhere_combine(secret, threshold, shares) -> None:
    parts = [bytes.fromhex(share) for share in shares]

    for count in range(threshold, len(parts) + 1):
        for chosen in combinations(parts, count):
            assert combine(chosen).hex() == secret


@pytest.mark.parametrize(("secret", "threshold", "shares"), VECTORS)
def test_too_few_shares_made_elsewhere_give_something_else(secret, threshold, shares) -> None:
    parts = [bytes.fromhex(share) for share in shares]

    for count in range(2, threshold):
        for chosen in combinations(parts, count):
            assert combine(chosen).hex() != secret


def test_the_tables_multiply_as_on_paper() -> None:
    # 0x57 times 0x83 is the example of FIPS 197, section 4.2.
    assert times(0x57, 0x83) == product(0x57, 0x83) == 0xC1
    assert all(times(one, other) == product(one, other) for one in range(256) for other in range(256))


@given(BYTES, BYTES, BYTES)
def test_the_field_is_a_field(a, b, c) -> None:
    assert times(a, b) == times(b, a)
    assert times(a, times(b, c)) == times(times(a, b), c)
    assert times(a, b ^ c) == times(a, b) ^ times(a, c)
    assert times(a, 1) == a
    assert times(a, 0) == 0
    assert a == 0 or sorted(times(a, other) for other in range(256)) == list(range(256))


@settings(max_examples=examples(150))
@given(st.binary(min_size=1, max_size=40), st.data(), st.binary(max_size=8))
def test_any_threshold_of_the_shares_combines(secret, data, seed) -> None:
    shares = data.draw(st.integers(2, 12) | st.just(255))
    threshold = data.draw(st.integers(2, shares))

    parts = split(secret, shares, threshold, entropy_of(seed))

    chosen = data.draw(st.permutations(parts))[: data.draw(st.integers(threshold, shares))]
    assert combine(chosen) == secret


@settings(max_examples=examples(150))
@given(st.binary(min_size=16, max_size=40), st.data(), st.binary(max_size=8))
def test_fewer_shares_give_something_else(secret, data, seed) -> None:
    shares = data.draw(st.integers(3, 12))
    threshold = data.draw(st.integers(3, shares))

    parts = split(secret, shares, threshold, entropy_of(seed))

    chosen = data.draw(st.permutations(parts))[: data.draw(st.integers(2, threshold - 1))]
    assert combine(chosen) != secret


@given(st.binary(min_size=1, max_size=8), BYTES, st.binary(min_size=2, max_size=2))
def test_with_one_share_less_every_secret_is_as_likely(secret, guess, seed) -> None:
    # Two of two: whatever the one share, for each first byte of a secret there is one first byte of the other share.
    first, second = split(secret, 2, 2, entropy_of(seed))

    others = [bytes([y]) + second[1:] for y in range(256)]

    assert sum(combine([first, other])[0] == guess for other in others) == 1


@given(st.binary(min_size=1, max_size=40), st.integers(2, 255), st.binary(max_size=8))
def test_a_share_ends_in_its_x(secret, shares, seed) -> None:
    parts = split(secret, shares, 2, entropy_of(seed))

    assert {len(part) for part in parts} == {len(secret) + 1}
    assert len({part[-1] for part in parts}) == len(parts) == shares
    assert all(part[-1] != 0 for part in parts)


def test_each_share_is_the_polynomial_at_its_x() -> None:
    # The x are drawn first (0 and the second 7 are drawn again), then one block of factors a degree, highest first.
    blocks = iter([bytes([7, 0, 7]), bytes([200, 7]), bytes([9]), bytes([0x11, 0x22]) + bytes([0x33, 0x44])])

    parts = split(bytes([0x55, 0x66]), 3, 3, lambda size: exactly(next(blocks), size))

    assert [part[-1] for part in parts] == [7, 200, 9]
    for part in parts:
        x = part[-1]
        assert part[0] == product(product(0x11, x), x) ^ product(0x33, x) ^ 0x55
        assert part[1] == product(product(0x22, x), x) ^ product(0x44, x) ^ 0x66


def exactly(block: bytes, size: int) -> bytes:
    assert len(block) == size
    return block


def test_every_x_comes_alike() -> None:
    counts = [0] * 256
    for seed in range(2_000):
        for part in split(b"s", 5, 2, entropy_of(seed.to_bytes(2, "big"))):
            counts[part[-1]] += 1

    assert counts[0] == 0
    # Each of the 255 is expected 39.2 times; the chance that any strays by 6.5 standard deviations is below 1e-7.
    assert max(abs(count - 10_000 / 255) for count in counts[1:]) < 6.5 * (10_000 / 255) ** 0.5


@given(st.binary(min_size=1, max_size=40), st.binary(max_size=8))
def test_the_same_entropy_makes_the_same_shares(secret, seed) -> None:
    assert split(secret, 5, 3, entropy_of(seed)) == split(secret, 5, 3, entropy_of(seed))


def test_one_share_of_one_is_the_secret() -> None:
    entropy = entropy_of(b"")

    assert split(b"root key", 1, 1, entropy) == [b"root key"]
    assert entropy.asked == []


@pytest.mark.parametrize(
    ("secret", "shares", "threshold"),
    [(b"", 5, 3), (b"", 1, 1), (b"s", 2, 3), (b"s", 3, 1), (b"s", 0, 0), (b"s", 256, 3), (b"s", 2, 0), (b"s", 1, 2)],
)
def test_numbers_that_cannot_be_are_refused(secret, shares, threshold) -> None:
    with pytest.raises(ValueError, match=r"empty secret|between 2 and 255"):
        split(secret, shares, threshold, entropy_of(b""))


@pytest.mark.parametrize(
    ("shares", "text"),
    [
        ([], "less than two parts cannot be used to reconstruct the secret"),
        ([b"ab"], "less than two parts cannot be used to reconstruct the secret"),
        ([b"a", b"b"], "parts must be at least two bytes"),
        ([b"", b""], "parts must be at least two bytes"),
        ([b"ab", b"abc"], "all parts must be the same length"),
        ([b"abc", b"ab"], "all parts must be the same length"),
        ([b"ab", b"ab"], "duplicate part detected"),
        ([b"ax", b"by", b"cx"], "duplicate part detected"),
    ],
)
def test_what_cannot_be_combined_is_refused(shares, text) -> None:
    with pytest.raises(ValueError, match=f"^{text}$"):
        combine(shares)


@given(st.binary(min_size=5, max_size=5), st.lists(st.binary(min_size=6, max_size=6), min_size=1, max_size=5))
def test_what_lies_at_0_is_the_secret(secret, others) -> None:
    places = [other[-1] for other in others]
    assume(0 not in places)
    assume(len(set(places)) == len(places))

    assert combine([*others, secret + b"\0"]) == secret


def test_no_message_shows_a_share() -> None:
    with pytest.raises(ValueError, match=r"^((?!secret-x).)*$"):
        combine([b"secret-x", b"secret-x"])
