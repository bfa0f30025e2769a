"""Token fields: old names become new ones; what no token can keep is refused, what the mount cuts is warned of."""

from __future__ import annotations

import pytest

from labkit.service.errors import BadRequest
from labkit.vault.auth.lifetime import TtlLimits
from labkit.vault.auth.token_fields import OLD_NAMES, TokenFields, check, check_blocks, settle_old_names

MOUNT = TtlLimits(3_600, 7_200)


@pytest.mark.parametrize(
    ("sent", "kept", "settled", "shown"),
    [
        ({"ttl": 5}, (), {"token_ttl": 5}, ("ttl",)),
        ({"ttl": 5, "token_ttl": 6}, (), {"token_ttl": 6}, ("ttl",)),
        ({"token_ttl": 6}, ("ttl", "period"), {"token_ttl": 6}, ("period",)),
        ({"ttl": None, "period": 0}, ("num_uses",), {"token_period": 0}, ("num_uses", "period")),
        ({}, ("ttl",), {}, ("ttl",)),
    ],
)
def test_an_old_name_sets_the_new_one_which_wins(sent, kept, settled, shown) -> None:
    assert settle_old_names(sent, OLD_NAMES, kept) == shown
    assert sent == settled


@pytest.mark.parametrize(
    ("chosen", "warnings"),
    [
        (TokenFields(), 0),
        (TokenFields(token_ttl=9, token_max_ttl=9, token_period=7_200), 0),
        (TokenFields(token_ttl=9_000), 0),
        (TokenFields(token_max_ttl=7_201), 1),
    ],
)
def test_what_tokens_can_keep(chosen, warnings) -> None:
    warned: list[str] = []
    check(chosen, MOUNT, warned.append)

    assert len(warned) == warnings


@pytest.mark.parametrize(
    "chosen",
    [
        TokenFields(token_ttl=2, token_max_ttl=1),
        TokenFields(token_period=7_201),
        TokenFields(token_num_uses=-1),
        TokenFields(token_type=""),
        TokenFields(token_type="batch", token_period=1),
        TokenFields(token_type="batch", token_num_uses=1),
        TokenFields(token_bound_cidrs=("x",)),
    ],
)
def test_what_they_cannot(chosen) -> None:
    with pytest.raises(BadRequest):
        check(chosen, MOUNT, lambda text: None)


@pytest.mark.parametrize("block", ["10.0.0.0/8", "127.0.0.1", "::1", "10.1.2.3/8"])
def test_addresses_and_blocks_are_taken(block) -> None:
    check_blocks((block,))


@pytest.mark.parametrize("block", ["", "x", "10.0.0.0/33", "10.0.0", "localhost"])
def test_anything_else_is_named(block) -> None:
    with pytest.raises(BadRequest, match="is neither an address nor a block"):
        check_blocks((block,))
