"""A document is plain data with positions, and no text can make it anything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labkit.scenario.documents import yaml_positions
from labkit.scenario.documents.yaml_positions import (
    MAX_FILE_BYTES,
    MAX_FILE_DEPTH,
    MAX_FILE_VALUES,
    Document,
    parse,
    read,
)
from labkit.scenario.problems import FilePosition, ScenarioError
from tests.counting import calls_made
from tests.examples import examples

TEXT = """\
# a comment
scenario: Two words
lab:
  sites: [paris, tokyo]
  empty:
list:
- {do: crash, at: 20s}
- 'quoted: text'
"""

# Rows of the table in section 10.3.2 of YAML 1.2.2 (core schema), and what YAML 1.1 would have made of the others.
PLAIN: list[tuple[str, Any]] = [
    ("null", None),
    ("~", None),
    ("", None),
    ("true", True),
    ("False", False),
    ("0", 0),
    ("-19", -19),
    ("0o7", 7),
    ("0x3A", 58),
    ("010", 10),
    ("0.", 0.0),
    ("-0.0", 0.0),
    (".5", 0.5),
    ("+12e03", 12000.0),
    ("no", "no"),
    ("on", "on"),
    ("1:30", "1:30"),
    ("1_000", "1_000"),
    ("0b11", "0b11"),
    ("2030-01-01", "2030-01-01"),
    (".inf", ".inf"),
    ("20s", "20s"),
    ("'7'", "7"),
    ('"true"', "true"),
]


@pytest.mark.parametrize(("text", "value"), PLAIN)
def test_plain_values_are_read_as_yaml_1_2_says(text: str, value: Any) -> None:
    data = parse(f"key: {text}\n".encode(), "x").data

    assert data == {"key": value}
    assert type(data["key"]) is type(value)


def test_every_value_has_its_position() -> None:
    document = parse(TEXT.encode(), "x")

    assert document.data["list"] == [{"do": "crash", "at": "20s"}, "quoted: text"]
    assert document.position(("scenario",)) == FilePosition(2, 11, 9)
    assert document.key_position(("scenario",)) == FilePosition(2, 1, 8)
    assert document.position(("lab", "sites", 1)) == FilePosition(4, 18, 5)
    assert document.position(("list", 0, "at")) == FilePosition(7, 19, 3)
    assert document.position(("list", 1)) == FilePosition(8, 3, 14)
    assert document.lines[6] == "- {do: crash, at: 20s}"


def test_a_missing_value_has_the_position_of_its_parent() -> None:
    document = parse(TEXT.encode(), "x")

    assert document.position(("lab", "clusters")) == document.key_position(("lab",)) == FilePosition(3, 1, 3)
    assert document.position(("list", 0, "target")) == FilePosition(7, 3, 1)
    assert document.position(("nothing",)) == FilePosition(2, 1, 1)


def test_keys_are_text_as_written() -> None:
    assert parse(b"{1: a, no: b, null: c}", "x").data == {"1": "a", "no": "b", "null": "c"}


def test_the_first_of_two_equal_keys_is_kept_and_the_second_reported() -> None:
    document = parse(b"a: {x: 1}\nb: 2\na: {x: 3}\n", "x")

    assert document.data == {"a": {"x": 1}, "b": 2}
    assert document.position(("a", "x")) == FilePosition(1, 8, 1)
    assert [problem.text for problem in document.problems] == ["expected each key once, got 'a' again after line 1"]


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert parse(b"\xef\xbb\xbfkey: 1", "x").data == {"key": 1}


@pytest.fixture(scope="module")
def largest() -> int:
    """The work of reading a file with as many values as one may have."""
    return calls_made(lambda: parse(b"[" + b"1," * (MAX_FILE_VALUES - 1) + b"]", "x"))


@pytest.mark.parametrize(
    "source",
    [
        b"[" * 200_000,
        b"{a: " * 50_000,
        b"- " * 100_000,
        b"x" * (MAX_FILE_BYTES + 1),
        b"[" + b"1," * (MAX_FILE_VALUES + 1) + b"]",
        b"a: &a [x]\nb: [" + b"*a," * 50_000 + b"]",
    ],
    ids=["brackets", "braces", "dashes", "bytes", "values", "aliases"],
)
@pytest.mark.slow
def test_a_bomb_is_refused_at_once(source: bytes, largest: int) -> None:
    def refused() -> None:
        with pytest.raises(ScenarioError):
            parse(source, "x")

    assert calls_made(refused) < 2 * largest


@pytest.mark.parametrize("name", ["nothing.lab.yaml", ".", "a\0b"])
def test_what_cannot_be_read_is_one_problem(name: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        read(f"{tmp_path}/{name}")

    (problem,) = caught.value.problems
    assert problem.text.startswith("cannot be read: ")


def test_a_file_that_may_not_be_read_is_one_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(ScenarioError, match="cannot be read: Permission denied"):
        read(tmp_path / "mine.lab.yaml")


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"))),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abcdef ghi", min_size=1, max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=examples(200))
@given(json_values)
def test_json_is_read_as_json(value: Any) -> None:
    assert parse(json.dumps(value, ensure_ascii=False).encode(), "x").data == value


@settings(max_examples=examples(300))
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(b"? ")
@example(b"a: b: c")
@example(b"%YAML 9.9\n---\n")
@example(b"--- &a\n--- *a")
@example("a: \u2028 [".encode())
def test_any_bytes_are_a_document_or_an_error_with_a_place(source: bytes) -> None:
    document, error = tried(source)

    if document is None:
        assert error.startswith("x:")
    else:
        assert all(1 <= position.line <= len(document.lines) for position in document.value_positions.values())


def tried(source: bytes) -> tuple[Document | None, str]:
    try:
        return parse(source, "x"), ""
    except ScenarioError as error:
        return None, str(error)


@pytest.mark.parametrize("sign", ["", "-", "+"])
def test_a_number_has_at_most_eighteen_digits(sign: str) -> None:
    assert parse(f"key: {sign}{'9' * 18}".encode(), "x").data == {"key": int(f"{sign}{'9' * 18}")}
    with pytest.raises(ScenarioError, match="expected a number of at most 18 digits"):
        parse(f"key: {sign}{'9' * 19}".encode(), "x")


@pytest.mark.parametrize("value", ["!!str 5", "!mine [1]", "!!python/object:os.system {}"])
def test_a_tag_is_refused_where_it_stands(value: str) -> None:
    with pytest.raises(ScenarioError, match="expected a plain value, got the tag") as refused:
        parse(f"a: 1\nkey: {value}\n".encode(), "x")

    assert refused.value.problems[0].position.line == 2


@pytest.mark.parametrize("loader", [name for name in ("CSafeLoader", "SafeLoader") if hasattr(yaml, name)])
@pytest.mark.parametrize(
    ("source", "position"),
    [("a: \x07", (1, 4)), ("a: 1\nbc: \x07 x\n", (2, 5)), ("a: 1\r\n\n\x07", (3, 1))],
)
def test_a_character_that_cannot_be_printed_is_shown_where_it_stands(
    loader: str, source: str, position: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_positions, "_LOADER", getattr(yaml, loader))
    with pytest.raises(ScenarioError, match=r"got the character U\+0007") as refused:
        parse(source.encode(), "x")

    assert refused.value.problems[0].position == FilePosition(*position)


def test_a_byte_that_is_no_text_is_shown_where_it_stands() -> None:
    for source, line, column in (
        (b"\xff", 1, 1),
        (b"\n\xff", 2, 1),
        (b"a: 1\nb: \xff\n", 2, 4),
        (b"a: 1\n\n\xc3(", 3, 1),
    ):
        with pytest.raises(ScenarioError, match="expected text in UTF-8, got the byte 0x") as refused:
            parse(source, "x")
        assert refused.value.problems[0].position == FilePosition(line, column)


def test_a_file_at_its_limits_is_read_and_one_beyond_them_is_not(tmp_path: Path) -> None:
    def text_of(size: int) -> bytes:
        return b"key: " + b"x" * (size - 5)

    def deep(levels: int) -> bytes:
        return b"[" * levels + b"]" * levels

    for good, bad, words in (
        (text_of(MAX_FILE_BYTES), text_of(MAX_FILE_BYTES + 1), "at most 262,144 bytes"),
        (b"[" + b"1," * (MAX_FILE_VALUES - 1) + b"]", b"[" + b"1," * MAX_FILE_VALUES + b"]", "at most 20,000 values"),
        (deep(MAX_FILE_DEPTH + 1), deep(MAX_FILE_DEPTH + 2), "at most 24 levels deep"),
    ):
        path = tmp_path / "x.lab.yaml"
        path.write_bytes(good)
        assert read(path).data == parse(good, "x").data
        path.write_bytes(bad)
        with pytest.raises(ScenarioError, match=f"expected .*{words}"):
            read(path)


@pytest.mark.parametrize(
    ("source", "words", "position"),
    [
        ("a: 1\nb: *c\n", "got the alias '*c'; write the value here", FilePosition(2, 4, 2)),
        ("a: &c 1\n", "got the anchor '&c'; leave it out", FilePosition(1, 4, 4)),
        ("&c a: 1\n", "expected a key that is a plain word", FilePosition(1, 1, 4)),
        ("? [a]\n: 1\n", "expected a key that is a plain word", FilePosition(1, 3, 1)),
        ("a: 1\n---\nb: 2\n", "expected one document in a file, got a second", FilePosition(2, 1, 3)),
    ],
)
def test_what_a_tree_does_not_have_is_refused_where_it_stands(source: str, words: str, position: FilePosition) -> None:
    with pytest.raises(ScenarioError) as refused:
        parse(source.encode(), "x")
    (problem,) = refused.value.problems

    assert words in problem.text
    assert problem.position.line == position.line
    assert problem.position.column == position.column


def test_a_mistake_is_explained_by_what_was_read_last() -> None:
    with pytest.raises(ScenarioError, match="put all of it into ' quotes"):
        parse(b'scenario: "Losing" a region\n', "x")


def test_what_no_parser_explains_is_a_problem_at_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **named: object) -> None:
        raise yaml.YAMLError

    monkeypatch.setattr(yaml_positions, "_LOADER", refuse)
    with pytest.raises(ScenarioError, match="expected YAML, got something else") as refused:
        parse(b"a: 1\nb: 2\n", "x")

    assert refused.value.problems[0].position == FilePosition(1, 1)
