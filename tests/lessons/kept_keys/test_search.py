"""Exercise search: marks of two tenants and of what joins alike, of a service with other keys, and what they show."""

from __future__ import annotations

from hashlib import sha256

import pytest

from labkit import Vault
from labkit.lessons.judging import judge
from labkit.lessons.kept_keys.rows import base64_of
from labkit.lessons.kept_keys.search import (
    EMAILS,
    JOIN_ALIKE,
    MAX_SHARED,
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

    assert seen.again == seen.marks[0][0]
    assert len({mark for row in (*seen.marks, seen.joined, seen.elsewhere) for mark in row}) == 3 * len(EMAILS) + 2
    assert (seen.made_without_keys, seen.linking) == (0, 0)
    assert seen.shared < MAX_SHARED


def test_a_function_that_returns_nothing_is_untouched():
    assert untouched(lambda vault, tenant, email: None)
    assert not untouched(convergent)
    assert look(lambda vault, tenant, email: [].pop()).error == "IndexError: pop from empty list"


def test_what_was_refused_before_an_error_is_said():
    def mark(vault, tenant, email):
        return vault.post("transit/hmac/none", {"input": base64_of(email)}).data["hmac"]

    assert judge(SEARCH, (mark,)).seen.endswith("; before that POST transit/hmac/none answered 400")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda good, email: f"{email[0]}:{good}", "1 character"),
        (lambda good, email: f"{good}{email[:2]}", "2 characters"),
        (lambda good, email: f"{email[4:6]}{good}", "2 characters"),
        (lambda good, email: f"{good}|{sha256(email.encode()).hexdigest()}", "64 characters"),
    ],
)
def test_a_part_that_needs_no_key_is_seen_wherever_it_stands(made, said):
    def mark(vault, tenant, email):
        return made(beside_it(vault, tenant, email), email)

    judged = judge(SEARCH, (mark,))

    assert judged.condition == "needs the service"
    assert judged.seen.startswith(f"{said} of the mark {'is' if said[0] == '1' else 'are'} the same in a service")


def test_a_part_that_two_tenants_share_is_seen_where_the_tenant_stands_before_it():
    def mark(vault, tenant, email):
        return f"{tenant * len(tenant)}/{beside_it(vault, 'all', email)}"

    judged = judge(SEARCH, (mark,))

    assert judged[1:3] == (
        "tenants apart",
        "43 characters of the mark are the same for two tenants with one address",
    )


@pytest.mark.parametrize(("kept", "said"), [(13, "30,000"), (15, "7"), (17, "")])
def test_a_mark_that_is_cut_is_judged_by_how_many_addresses_would_share_one(kept, said):
    """After the 9 characters that every mark begins with each one holds six bits."""
    judged = judge(SEARCH, (lambda vault, tenant, email: beside_it(vault, tenant, email)[:kept],))

    assert judged.condition == ("addresses apart" if said else "")
    assert not said or f"of 1,000,000 addresses about {said} pairs would share one" in judged.seen


@pytest.mark.parametrize("digits", [12, 16])
def test_hexadecimal_digits_hold_four_bits_each(digits):
    def mark(vault, tenant, email):
        return with_a_pepper(vault, tenant, email)[:digits]

    assert judge(SEARCH, (mark,)).outcome == "right"
    assert judge(SEARCH, (lambda *given: mark(*given)[:10],)).condition == "addresses apart"


def test_the_name_of_the_tenant_may_stand_beside_a_mark():
    """It helps nobody to find the address."""

    def mark(vault, tenant, email):
        return f"{tenant}:{beside_it(vault, tenant, email)}"

    assert judge(SEARCH, (mark,)).outcome == "right"


def test_addresses_are_of_one_length_and_so_are_tenants():
    assert {len(email) for email in EMAILS} == {24}
    assert len(set(map(len, TENANTS))) == 1


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
