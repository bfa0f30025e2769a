"""RSA keys: the shipped pool of primes, and the keys that are made of it."""

from __future__ import annotations

from math import gcd

import pytest

from labkit import rsa_keys
from labkit.rsa_keys import EXPONENT, PAIRS, PRIMES_PER_SIZE, SIZES, make_rsa_key, places_of, pool


def test_any_two_primes_of_the_pool_make_a_key_of_full_length() -> None:
    assert sorted(pool()) == sorted(SIZES)
    for bits, primes in pool().items():
        assert len(set(primes)) == len(primes) == PRIMES_PER_SIZE
        assert (min(primes) ** 2).bit_length() == bits
        assert all(gcd(prime - 1, EXPONENT) == 1 for prime in primes)


@pytest.mark.slow
def test_the_primes_of_the_pool_are_primes() -> None:
    assert all(pow(3, prime - 1, prime) == 1 for primes in pool().values() for prime in primes)


def test_a_pair_has_one_number() -> None:
    places = [places_of(pair) for pair in range(PAIRS)]

    assert places[:4] == [(1, 0), (2, 0), (2, 1), (3, 0)]
    assert len(set(places)) == PAIRS == 2_016
    assert all(PRIMES_PER_SIZE > first > second >= 0 for first, second in places)
    for wrong in (-1, PAIRS):
        with pytest.raises(ValueError, match="from 0 to 2015"):
            places_of(wrong)


@pytest.mark.slow
def test_a_pooled_key_is_a_function_of_its_number() -> None:
    for bits in SIZES:
        key = make_rsa_key(bits, 7)
        numbers = key.private_numbers()
        numbers.private_key()  # checks that the numbers belong together
        assert key.key_size == bits
        assert numbers == make_rsa_key(bits, 7).private_numbers()
        assert make_rsa_key(bits, 0).private_numbers() == make_rsa_key(bits, 0).private_numbers()
        assert numbers.p * numbers.q != make_rsa_key(bits, 8).public_key().public_numbers().n


def test_without_a_number_the_pool_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rsa_keys, "pool", None)

    assert make_rsa_key(2_048, None).key_size == 2_048
