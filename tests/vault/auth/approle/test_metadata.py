"""Metadata of a secret id: both forms of one text, and what is neither."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.errors import BadRequest
from labkit.service.limits import is_text
from labkit.vault.auth.approle.metadata import parse_metadata

words = st.text(st.characters(blacklist_characters=",={", blacklist_categories=["Z", "C"]), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("  ", {}),
        (",,", {}),
        ("{}", {}),
        ('{"a": "b", "c": "d=e,f"}', {"a": "b", "c": "d=e,f"}),
        (' {"a": ""} ', {"a": ""}),
        ("a=b", {"a": "b"}),
        (" a = b , c=d,", {"a": "b", "c": "d"}),
        ("a=b,a=c", {"a": "c"}),
    ],
)
def test_what_it_says(text: str, found: dict[str, str]) -> None:
    assert parse_metadata(text) == found


@pytest.mark.parametrize(
    "text",
    [
        *("a", "a=", "=b", "a=b=c", "a=b,c", "{", "{nonsense", "[1]", "5", "null", '"a"', "[" * 100_000),
        *('{"a": 5}', '{"a": null}', '{"a": {"b": "c"}}', '{"a": "\\ud800"}', '{"\\ud800": "a"}'),
        "{" + '"a":{' * 100_000,
    ],
)
def test_what_it_cannot_say(text: str) -> None:
    with pytest.raises(BadRequest, match="failed to parse metadata: failed to parse the input: "):
        parse_metadata(text)


@given(st.dictionaries(words, words))
def test_both_forms_say_the_same(members: dict[str, str]) -> None:
    pairs = ",".join(f"{name}={value}" for name, value in members.items())

    assert parse_metadata(json.dumps(members)) == parse_metadata(pairs) == members


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse_metadata(text)
    except BadRequest:
        return
    assert all(map(is_text, [*found, *found.values()]))
