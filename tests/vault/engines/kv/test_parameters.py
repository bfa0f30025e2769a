"""The engine's parameters: limits on versions, lifetimes, and paths with a slash too many."""

from __future__ import annotations

import pytest

from labkit.service.fields import Field
from labkit.vault.engines.kv.config import ENGINE_DELETE_AFTER
from labkit.vault.engines.kv.parameters import (
    CLEANED_PATH,
    DELETE_AFTER,
    LIMIT,
    MAX_LIFETIME_S,
    MAX_VERSIONS,
)


@pytest.mark.parametrize(
    ("sent", "limit"), [(0, 0), (7, 7), ("7", 7), (None, 0), ("", 0), (True, 1), (MAX_VERSIONS, MAX_VERSIONS)]
)
def test_a_limit_on_versions(sent: object, limit: int) -> None:
    assert LIMIT.convert(sent) == limit


@pytest.mark.parametrize("sent", [-1, "-1", MAX_VERSIONS + 1, 10**200, 1.5, "many", [1], {}])
def test_what_is_no_limit_on_versions(sent: object) -> None:
    with pytest.raises(ValueError, match=r"versions|cannot parse|unconvertible"):
        LIMIT.convert(sent)


@pytest.mark.parametrize("field", [DELETE_AFTER, ENGINE_DELETE_AFTER])
def test_a_lifetime_fits_into_64_bits_of_nanoseconds(field: Field) -> None:
    assert field.convert(MAX_LIFETIME_S) == MAX_LIFETIME_S == 9_223_372_036
    assert field.convert("90.9s") == 90
    assert field.convert(None) is None
    for sent in (MAX_LIFETIME_S + 1, f"{MAX_LIFETIME_S}h", 10**200):
        with pytest.raises(ValueError, match="invalid duration"):
            field.convert(sent)


def test_only_the_engines_lifetime_can_be_negative() -> None:
    assert ENGINE_DELETE_AFTER.convert("-5h") == ENGINE_DELETE_AFTER.convert(-1) == -1
    with pytest.raises(ValueError, match="cannot provide negative value '-5s'"):
        DELETE_AFTER.convert("-5s")


def test_a_slash_at_the_end_is_taken_away() -> None:
    assert CLEANED_PATH.convert("a/b/") == "a/b"
    assert CLEANED_PATH.convert("a/b") == "a/b"
