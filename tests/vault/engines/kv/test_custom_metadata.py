"""Custom metadata: what is taken, what is refused and with which words, and how a patch is laid over it."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.service.errors import BadRequest, one_error
from labkit.vault.engines.kv.custom_metadata import FAILED, merge, replace

LENGTH = "but must be 0 < len(key) <= 128"
VALUE_LENGTH = "but must be 0 < len(value) <= 512"


def refusal(sent: dict[str, Any]) -> str:
    """The text with which custom metadata is refused."""
    with pytest.raises(BadRequest) as raised:
        replace(sent)
    (text,) = raised.value.errors
    return text


def refused_for(*reasons: str) -> str:
    return one_error(*(FAILED + reason for reason in reasons))


def test_names_are_sorted_and_values_are_text() -> None:
    sent = {"z": "last", "n": 1, "f": 1.5, "t": True, "no": False, "a": "ü"}

    assert replace(sent) == (("a", "ü"), ("f", "1.5"), ("n", "1"), ("no", "0"), ("t", "1"), ("z", "last"))
    assert replace({}) == replace(None) == ()


def test_lengths_are_bytes() -> None:
    assert replace({"k" * 128: "v" * 512})
    assert replace({"ü" * 64: "ü" * 256})
    assert refusal({"k" * 129: "v"}) == refused_for(f'length of key "{"k" * 129}" is 129 {LENGTH}')
    assert refusal({"ü" * 65: "v"}) == refused_for(f'length of key "{"ü" * 65}" is 130 {LENGTH}')
    assert refusal({"k": "v" * 513}) == refused_for(f'length of value for key "k" is 513 {VALUE_LENGTH}')
    assert refusal({"k": "ü" * 257}) == refused_for(f'length of value for key "k" is 514 {VALUE_LENGTH}')
    assert refusal({"": "v"}) == refused_for(f'length of key "" is 0 {LENGTH}')
    assert refusal({"k": None}) == refused_for(f'length of value for key "k" is 0 {VALUE_LENGTH}')


def test_at_most_64_names() -> None:
    assert len(replace({f"k{number}": "v" for number in range(64)})) == 64
    assert refusal({f"k{number}": "" for number in range(65)}) == refused_for(
        "payload must contain at most 64 keys, provided 65"
    )


@pytest.mark.parametrize(("raw", "shown"), [("a\nb", r"a\nb"), ("a\u200bb", r"a\u200bb"), ("\ud800", r"\ud800")])
def test_every_character_is_printable(raw: str, shown: str) -> None:
    assert refusal({raw: "v"}) == refused_for(f'key "{shown}" contains unprintable characters')
    assert refusal({"k": raw}) == refused_for('value for key "k" contains unprintable characters')
    assert replace({"a b": "c d"}) == (("a b", "c d"),)


def test_all_that_is_wrong_is_told() -> None:
    assert refusal({"": "", 'q"\\': "\t"}) == refused_for(
        f'length of key "" is 0 {LENGTH}',
        f'length of value for key "" is 0 {VALUE_LENGTH}',
        r'value for key "q\"\\" contains unprintable characters',
    )


@pytest.mark.parametrize("nested", [{"n": 1}, [1]])
def test_nothing_nested_is_taken(nested: Any) -> None:
    assert refusal({"k": nested}).startswith(FAILED + "'' expected type 'string', got unconvertible type")


def test_a_patch_sets_and_takes_away_name_by_name() -> None:
    kept = (("a", "1"), ("b", "2"))

    assert merge(kept, {"b": None, "c": 3}) == (("a", "1"), ("c", "3"))
    assert merge(kept, {"a": "9"}) == (("a", "9"), ("b", "2"))
    assert merge(kept, {"none": None}) == kept
    assert merge(kept, {}) == kept
    assert merge(kept, None) == ()
    with pytest.raises(BadRequest):
        merge(kept, {"a": None, "c": ""})
