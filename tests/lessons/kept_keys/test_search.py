"""Exercise search: marks of two tenants and of what joins alike, of a service with other keys, and what they show."""

from __future__ import annotations

import pytest

from labkit import Vault
from labkit.lessons.judging import judge
from labkit.lessons.kept_keys.rows import base64_of
from labkit.lessons.kept_keys.search import (
    EMAILS,
    JOIN_ALIKE,
    SEARCH,
    TENANTS,
    OtherService,
    beside_it,
    convergent,
    look,
    shows,
    untouched,
    with_a_pepper,
)


@pytest.mark.parametrize("function", [convergent, beside_it, with_a_pepper])
def test_a_good_mark_is_equal_only_where_it_should_be(function):
    seen = look(function)

    assert seen.again == seen.marks[0][0] != seen.elsewhere
    assert len({mark for row in (*seen.marks, seen.joined) for mark in row}) == 6


def test_a_function_that_returns_nothing_is_untouched():
    assert untouched(lambda vault, tenant, email: None)
    assert not untouched(convergent)
    assert look(lambda vault, tenant, email: [].pop()).error == "IndexError: pop from empty list"


def test_what_was_refused_before_an_error_is_said():
    def mark(vault, tenant, email):
        return vault.post("transit/hmac/none", {"input": base64_of(email)}).data["hmac"]

    assert judge(SEARCH, (mark,)).seen.endswith("; before that POST transit/hmac/none answered 400")


def test_some_tenants_and_addresses_join_alike_in_either_order():
    (before, after) = JOIN_ALIKE
    assert "".join(before) == TENANTS[0] + EMAILS[0]
    assert "".join(after[::-1]) == EMAILS[0] + TENANTS[0]


def test_another_service_shows_everybody_the_same_and_has_its_own_keys():
    first, other = Vault.dev(seed=1), Vault.dev(seed=2)
    twin = OtherService(other, first)
    twin.post("secret/data/a", {"data": {"n": 2}})
    first.post("secret/data/a", {"data": {"n": 1}})

    assert twin.get("sys/seal-status").body == first.get("sys/seal-status").body != other.get("sys/seal-status").body
    assert twin.get("secret/data/a").data["data"] == {"n": 2}


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "north:"])
def test_an_address_is_seen_wherever_it_stands_in_base64(before):
    assert shows(f"x{base64_of(f'{before}{EMAILS[0]}/and more')}", EMAILS[0])
    assert shows(base64_of(f"{before}{EMAILS[0]}"), EMAILS[0])
    assert shows(f"x{(before + EMAILS[0]).encode().hex()}", EMAILS[0])
    assert not shows(base64_of(f"{before}{EMAILS[1]}"), EMAILS[0])
