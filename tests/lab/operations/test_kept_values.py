"""Kept values stand for a reference in a request, and are masked in every text."""

from __future__ import annotations

import pytest

from labkit.lab.operations.kept_values import MISSING, UnknownValue, filled, filled_text, masked, member, references

KNOWN = {"user": "hvs.CAESIJ", "count": 3, "paris.share.1": "00ff00ff", "keys": ["aaaaaaaa", {"b": "bbbbbbbb"}]}


def test_references_are_found_at_any_depth_and_in_keys() -> None:
    body = {"a": "$(user)", "$(count)": ["x$(paris.share.1)y$(user)", 7, None]}

    assert list(references(body)) == ["user", "count", "paris.share.1", "user"]
    assert list(references("$(user) ${user} $ (user) $()")) == ["user", ""]


def test_a_whole_reference_is_the_value_itself_and_within_a_text_it_is_text() -> None:
    body = {"a": "$(count)", "b": "n=$(count)", "$(count)": ["$(keys)"], "c": 7}

    assert filled(body, KNOWN) == {"a": 3, "b": "n=3", "3": [KNOWN["keys"]], "c": 7}
    assert filled_text("auth/$(user)", KNOWN) == "auth/hvs.CAESIJ"


@pytest.mark.parametrize("value", ["$(usr)", "x $(usr)", ["$(usr)"], {"$(usr)": 1}])
def test_a_name_that_nothing_is_kept_under_is_named_with_those_that_are(value: object) -> None:
    with pytest.raises(UnknownValue) as refused:
        filled(value, {"user": "hvs.CAESIJ"})

    assert str(refused.value) == "nothing is kept under the name 'usr'; kept are: user"


def test_names_stand_for_values_in_a_text_the_longest_first() -> None:
    known = {**KNOWN, "longer": "hvs.CAESIJ-and-more"}

    assert masked("hvs.CAESIJ-and-more, hvs.CAESIJ; bbbbbbbb 3", known) == "$(longer), $(user); $(keys) 3"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("data.keys.1", "b"),
        ("data.keys", ["a", "b"]),
        ("data.keys.2", MISSING),
        ("data.keys.-1", MISSING),
        ("data.none", None),
        ("data.none.x", MISSING),
        ("data.", MISSING),
        ("data.keys.²", MISSING),
    ],
)
def test_a_path_leads_through_mappings_and_lists(path: str, found: object) -> None:
    assert member({"data": {"keys": ["a", "b"], "none": None}}, path) == found
    assert member(None, path) is MISSING
