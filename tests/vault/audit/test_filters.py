"""The expressions that choose which records an audit device has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.errors import BadRequest
from labkit.vault.audit.filters import MAX_CHARACTERS, MAX_DEPTH, PROPERTIES, parse, passes

READ = {
    "mount_point": "secret/",
    "mount_type": "kv",
    "namespace": "",
    "operation": "read",
    "path": "secret/data/a",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('mount_type == "kv"', True),
        ("mount_type == kv", True),
        ("mount_type == `kv`", True),
        ('mount_type != "kv"', False),
        ('path contains "data"', True),
        ('path not contains "data"', False),
        ('"data" in path', True),
        ('"data" not in path', False),
        ("namespace is empty", True),
        ("path is empty", False),
        ("path is not empty", True),
        ("not path is empty", True),
        ("not not path is empty", False),
        ("operation == read and mount_type == transit", False),
        ("operation == list and mount_type == kv", False),
        ("operation == list or mount_type == kv", True),
        ("operation == read or mount_type == kv and path is empty", True),
        ("(operation == read or mount_type == kv) and path is empty", False),
        ("not operation == list and mount_type == kv", True),
        ("not (operation == read and mount_type == kv)", False),
        (r'path == "secret\/data/a"', True),
        ('path matches "^secret/(data|metadata)/[^/]+$"', True),
        ("path matches `^secret/\\w+$`", False),
        ("path not matches `\\d`", True),
        ('not path matches "data"', False),
        (" ( ( mount_point == secret/ ) ) ", True),
    ],
)
def test_what_a_filter_lets_through(text: str, expected: bool) -> None:
    assert passes(parse(text), READ) is expected


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "expected one of mount_point"),
        ("colour == blue", "expected one of mount_point"),
        ("path", "expected ==, !=, contains"),
        ("path ==", "expected a text, not the end"),
        ("path == (", "expected a text"),
        ("path == a b", "expected and, or, or the end, not 'b'"),
        ("path is full", "expected ==, !="),
        ('path matches "a("', "not a pattern: a group that is not closed"),
        ("path matches", "expected a text, not the end"),
        ("path not matched a", "expected ==, !="),
        ('"a" of path', "expected in or not in"),
        ('"a" in colour', "expected one of"),
        ('"a" in "path"', "expected one of"),
        ("(path == a", "expected a closing parenthesis"),
        ("path == a and", "expected one of"),
        ('path == "a', "cannot read on from"),
        ("path = a", "cannot read on from"),
        ("not " * (MAX_DEPTH + 1) + "path == a", "at most 50 levels"),
        ("(" * (MAX_DEPTH + 1) + "path == a", "at most 50 levels"),
        ("path == " + "a" * 5_000, "at most 4096 characters"),
    ],
)
def test_what_is_no_filter(text: str, wanted: str) -> None:
    with pytest.raises(BadRequest) as refused:
        parse(text)
    assert f"option filter: {wanted}" in refused.value.errors[0]


WORDS = ("==", "!=", "and", "or", "not", "(", ")", "in", "is", "empty", "contains", "matches", '"a"')
words = st.sampled_from((*PROPERTIES, *WORDS))


@given(st.lists(words, max_size=9))
def test_any_words_are_a_filter_or_refused(chosen: list[str]) -> None:
    try:
        found = parse(" ".join(chosen))
    except BadRequest:
        return
    assert passes(found, READ) in (True, False)


@pytest.mark.parametrize(
    ("before", "inner", "after", "times"),
    [
        ("not ", "path is not empty", "", MAX_DEPTH),
        ("(", "path is not empty", ")", MAX_DEPTH),
        ("not (", "path is empty", ")", MAX_DEPTH // 2),
    ],
)
def test_what_is_as_deep_as_may_be_is_read(before: str, inner: str, after: str, times: int) -> None:
    assert passes(parse(before * times + inner + after * times), READ)
    with pytest.raises(BadRequest, match="at most 50 levels"):
        parse(before * times + "not " + inner + after * times)


def test_what_stands_beside_another_is_no_deeper() -> None:
    assert passes(parse(" and ".join(["(not path is empty)"] * (MAX_DEPTH + 1))), READ)


def test_a_filter_may_be_as_long_as_is_allowed() -> None:
    longest = "path != ".ljust(MAX_CHARACTERS, "a")

    assert passes(parse(longest), READ)
    with pytest.raises(BadRequest, match="at most 4096 characters, not 4097"):
        parse(longest + "a")
