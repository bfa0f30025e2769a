"""Blocks of addresses: what is one, what lies within another, and what tokens are bound to."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.errors import BadRequest
from labkit.vault.auth.addresses import bound_addresses, check_masked, check_subset, is_subset, with_mask

blocks = st.builds(
    lambda address, length: str(ip_network(f"{IPv4Address(address)}/{length}", strict=False)),
    st.integers(0, 2**32 - 1),
    st.integers(0, 32),
)


@pytest.mark.parametrize("block", ["10.0.0.0/8", "127.0.0.1/32", "0.0.0.0/0", "::/0", "fd00::1/64", "10.1.2.3/8"])
def test_a_block_is_an_address_with_the_length_of_its_mask(block: str) -> None:
    check_masked((block,), "wrong")


@pytest.mark.parametrize(
    "block",
    [
        *("", "x", "/", "10.0.0.0", "::1", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/255.0.0.0", "10.0.0.0/-1"),
        *("10.0.0.0/08", "10.0.0.0/8/8", "fe80::1%eth0/64", "10.0.0.0/²", " 10.0.0.0/8", "010.0.0.0/8"),
    ],
)
def test_what_is_not_a_block_is_named(block: str) -> None:
    with pytest.raises(BadRequest) as refused:
        check_masked(("10.0.0.0/8", block), "wrong")
    assert refused.value.errors == (f"wrong: invalid CIDR address: {block}",)


def test_a_long_text_is_cut() -> None:
    with pytest.raises(BadRequest) as refused:
        check_masked(("x" * 9_000,), "wrong")
    assert len(refused.value.errors[0]) < 200


@given(blocks, st.lists(blocks, max_size=3))
def test_a_subset_is_what_the_addresses_say(inner: str, outer: list[str]) -> None:
    wanted = any(IPv4Network(inner).subnet_of(IPv4Network(block)) for block in outer)

    assert is_subset((inner,), tuple(outer)) == wanted


@given(st.lists(blocks, min_size=1), st.lists(blocks))
def test_each_block_has_to_lie_within_one(inner: list[str], outer: list[str]) -> None:
    assert is_subset(tuple(inner), tuple(outer)) == all(is_subset((block,), tuple(outer)) for block in inner)


def test_other_families_and_unions_are_not_subsets() -> None:
    assert not is_subset(("::/0",), ("0.0.0.0/0",))
    assert not is_subset(("10.0.0.0/8",), ("10.0.0.0/9", "10.128.0.0/9"))
    assert not is_subset(("x",), ("0.0.0.0/0",))
    assert is_subset(("127.0.0.1",), ("127.0.0.1",))
    assert is_subset(("::1/128",), ("::1",))


def test_blocks_that_are_not_within_the_roles_are_refused_and_no_blocks_are_all_addresses() -> None:
    check_subset((), ("10.0.0.0/8",))
    check_subset(("10.0.0.0/8",), ())
    with pytest.raises(BadRequest) as refused:
        check_subset(("10.0.0.0/8", "::/0"), ("10.0.0.0/9",))
    assert refused.value.errors == (
        'failed to verify subset relationship between CIDR blocks on the role ["10.0.0.0/9"] and CIDR blocks on the '
        'secret ID ["10.0.0.0/8" "::/0"]',
    )


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1/32", "127.0.0.1"),
        ("10.1.0.0/16", "10.1.0.0/16"),
        ("::1", "::1"),
        ("::1/128", "::1"),
    ],
)
def test_tokens_are_bound_to_addresses_too(sent: str, kept: str) -> None:
    assert bound_addresses((sent,)) == (kept,)
    assert with_mask(kept).count("/") == 1


@pytest.mark.parametrize("sent", ["", "x", "5", "10.0.0.0/33", "localhost"])
def test_what_tokens_cannot_be_bound_to_is_named(sent: str) -> None:
    with pytest.raises(BadRequest) as refused:
        bound_addresses(("::1", sent))
    assert refused.value.errors == (
        f'error parsing address "{sent}": Unable to convert "{sent}" to an IPv4 or IPv6 address, or a UNIX Socket',
    )
