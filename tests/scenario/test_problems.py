"""A problem has its position and an excerpt, and names what was expected and what was there."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.scenario.problems import (
    WHOLE_FILE,
    FieldError,
    FilePosition,
    FileProblem,
    ScenarioError,
    describe_value,
    excerpt,
    expected,
    printable,
)


def test_an_error_reports_every_problem_in_the_order_of_the_file() -> None:
    error = ScenarioError(
        "x.lab.yaml",
        [
            FileProblem(FilePosition(2, 3, 4), "expected a verb, got 'nada'"),
            FileProblem(FilePosition(1, 1), "expected more"),
        ],
        ["first", "- nada"],
    )

    assert str(error) == (
        "x.lab.yaml:1:1: expected more\n    1 | first\n      | ^\n"
        "x.lab.yaml:2:3: expected a verb, got 'nada'\n    2 | - nada\n      |   ^^^^"
    )


def test_a_problem_of_the_whole_file_has_no_line() -> None:
    assert str(ScenarioError("x", [FileProblem(WHOLE_FILE, "cannot be read")])) == "x: cannot be read"


def test_a_flood_of_problems_is_cut_and_counted() -> None:
    lines = str(ScenarioError("x", [FileProblem(FilePosition(line, 1), "wrong") for line in range(1, 31)])).splitlines()

    assert len(lines) == 21
    assert lines[-1] == "x: and 10 more"


@pytest.mark.parametrize(("count", "last"), [(20, "x:20:1: wrong"), (21, "x: and 1 more")])
def test_as_many_problems_as_are_shown_are_not_cut(count: int, last: str) -> None:
    problems = [FileProblem(FilePosition(line, 1), "wrong") for line in range(1, count + 1)]

    assert str(ScenarioError("x", problems)).splitlines()[-1] == last


def test_an_error_survives_the_way_between_processes() -> None:
    error = ScenarioError("x", [FileProblem(FilePosition(1, 2), "wrong")], ["abc"])

    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("line", "position", "carets"),
    [
        ("  do: crsh", FilePosition(1, 7, 4), "      |       ^^^^"),
        ("a: 東京x", FilePosition(1, 6), "      |        ^"),
        ("a: 東京", FilePosition(1, 4, 2), "      |    ^^^^"),
        ("a:", FilePosition(1, 3), "      |   ^"),
    ],
)
def test_carets_stand_under_what_is_meant(line: str, position: FilePosition, carets: str) -> None:
    assert excerpt([line], position) == [f"    1 | {line}", carets]


def test_a_long_line_is_shown_around_the_place() -> None:
    line = "x" * 500 + "HERE" + "y" * 500
    shown_line, carets = excerpt([line], FilePosition(1, 501, 4))

    assert len(shown_line) <= 108
    assert carets.index("^") == len("    1 | ") + 50
    assert shown_line[carets.index("^") : carets.rindex("^") + 1] == "HERE"


def test_a_place_outside_the_text_has_no_excerpt() -> None:
    assert excerpt(["one"], FilePosition(7, 1)) == []


def test_a_line_of_a_hundred_characters_is_shown_whole_and_a_longer_one_from_where_it_matters() -> None:
    for size, column, shown in ((100, 1, 100), (101, 1, 100), (300, 300, 100), (300, 30, 100)):
        line = "".join(str(place % 10) for place in range(1, size + 1))
        text, carets = excerpt([line], FilePosition(1, column))
        assert len(text) == len("    1 | ") + shown
        assert text[carets.index("^")] == line[column - 1]


def test_what_cannot_be_shown_becomes_a_space_or_a_dot() -> None:
    assert printable("a\tb\x07c\u200bd e") == "a b·c·d e"


def test_an_error_between_keys_says_which() -> None:
    error = FieldError("expected more", "until")

    assert (str(error), error.key) == ("expected more", "until")


def test_the_whole_file_stands_before_its_first_line() -> None:
    assert FilePosition(0, 0, 1) == WHOLE_FILE
    assert FilePosition(1, 1) > WHOLE_FILE


@given(st.text())
def test_nothing_shown_controls_a_terminal(text: str) -> None:
    assert printable(text).isprintable()
    assert len(printable(text)) == len(text)
    assert len(describe_value(text)) <= 42


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        (True, "true"),
        (5, "5"),
        (1.5, "1.5"),
        ("a", "'a'"),
        ([], "an empty list"),
        ([1], "a list"),
        ({}, "an empty mapping"),
        ({"a": 1}, "a mapping"),
    ],
)
def test_values_are_described_in_the_words_of_the_file(value: object, text: str) -> None:
    assert describe_value(value) == text


def test_a_similar_name_is_offered_or_all_are_listed() -> None:
    assert expected("a verb", "crsh", ["crash", "heal"]) == "expected a verb, got 'crsh' — did you mean 'crash'?"
    assert expected("a verb", "explode", ["crash", "heal"]) == "expected a verb, got 'explode'; there are: crash, heal"
    assert expected("a verb", 3, ["crash"]) == "expected a verb, got 3; there are: crash"
