"""Findings name the place, show it, and guess what was meant."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.lab.client import BUILDERS
from labkit.lab.invariants import STANDING
from labkit.scenario.findings import (
    NOWHERE,
    Finding,
    Mark,
    ScenarioError,
    excerpt,
    nearest,
    printable,
    shown,
    slips,
    wanted,
)
from labkit.scenario.model import ClientsPart, ClusterPart, ExpectPart, FilePart, LinkPart, WorkPart, fields_of
from labkit.scenario.verbs import VERBS

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def test_an_error_tells_every_finding_in_the_order_of_the_file() -> None:
    error = ScenarioError(
        "x.lab.yaml",
        [Finding(Mark(2, 3, 4), "wanted a verb, came 'nada'"), Finding(Mark(1, 1), "wanted more")],
        ["first", "- nada"],
    )

    assert str(error) == (
        "x.lab.yaml:1:1: wanted more\n    1 | first\n      | ^\n"
        "x.lab.yaml:2:3: wanted a verb, came 'nada'\n    2 | - nada\n      |   ^^^^"
    )


def test_a_finding_about_the_whole_file_has_no_line() -> None:
    assert str(ScenarioError("x", [Finding(NOWHERE, "cannot be read")])) == "x: cannot be read"


def test_a_flood_of_findings_is_cut_and_counted() -> None:
    told = str(ScenarioError("x", [Finding(Mark(line, 1), "wrong") for line in range(1, 31)])).splitlines()

    assert len(told) == 21
    assert told[-1] == "x: and 10 more"


def test_an_error_survives_the_way_between_processes() -> None:
    error = ScenarioError("x", [Finding(Mark(1, 2), "wrong")], ["abc"])

    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("line", "mark", "carets"),
    [
        ("  do: crsh", Mark(1, 7, 4), "      |       ^^^^"),
        ("a: 東京x", Mark(1, 6), "      |        ^"),
        ("a: 東京", Mark(1, 4, 2), "      |    ^^^^"),
        ("a:", Mark(1, 3), "      |   ^"),
    ],
)
def test_carets_stand_under_what_is_meant(line: str, mark: Mark, carets: str) -> None:
    assert excerpt([line], mark) == [f"    1 | {line}", carets]


def test_a_long_line_is_shown_around_the_place() -> None:
    line = "x" * 500 + "HERE" + "y" * 500
    shown_line, carets = excerpt([line], Mark(1, 501, 4))

    assert len(shown_line) <= 108
    assert shown_line[carets.index("^") : carets.rindex("^") + 1] == "HERE"


def test_a_place_outside_the_text_has_no_excerpt() -> None:
    assert excerpt(["one"], Mark(7, 1)) == []


@given(st.text())
def test_nothing_shown_steers_a_terminal(text: str) -> None:
    assert printable(text).isprintable()
    assert len(printable(text)) == len(text)
    assert len(shown(text)) <= 42


@pytest.mark.parametrize(
    ("value", "told"),
    [(None, "nothing"), (True, "true"), (5, "5"), (1.5, "1.5"), ("a", "'a'"), ([], "a list"), ({}, "a mapping")],
)
def test_values_are_named_in_the_words_of_the_file(value: object, told: str) -> None:
    assert shown(value) == told


def test_a_near_name_is_offered_and_a_far_one_lists_all() -> None:
    assert wanted("a verb", "crsh", ["crash", "heal"]) == "wanted a verb, came 'crsh' — did you mean 'crash'?"
    assert wanted("a verb", "explode", ["crash", "heal"]) == "wanted a verb, came 'explode'; there are: crash, heal"
    assert wanted("a verb", 3, ["crash"]) == "wanted a verb, came 3; there are: crash"
    assert nearest("x", []) is None


@pytest.mark.parametrize(
    ("a", "b", "count"),
    [("", "", 0), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ab", 1), ("", "abc", 3), ("kitten", "sitting", 3)],
)
def test_slips_are_counted_as_letters_added_lost_mistaken_or_swapped(a: str, b: str, count: int) -> None:
    assert slips(a, b) == slips(b, a) == count


@given(st.text(LETTERS, max_size=8), st.text(LETTERS, max_size=8))
def test_slips_are_no_more_than_writing_the_word_anew(a: str, b: str) -> None:
    assert abs(len(a) - len(b)) <= slips(a, b) <= max(len(a), len(b))


def test_of_five_hundred_typos_nearly_all_are_understood() -> None:
    dice = random.Random(20)
    known = [list(VERBS), list(BUILDERS), list(STANDING)]
    known += [list(fields_of(part)) for part in (FilePart, LinkPart, ClusterPart, ClientsPart, WorkPart, ExpectPart)]
    typos = []
    for _ in range(500):
        names = dice.choice(known)
        word = dice.choice([name for name in names if len(name) > 2])
        typos.append((mistyped(word, dice), word, names))

    missed = [(typo, word) for typo, word, names in typos if typo not in names and nearest(typo, names) != word]

    assert len(missed) <= 25, missed


def mistyped(word: str, dice: random.Random) -> str:
    """A word with one slip of the hand that leaves its first letter alone, as most slips do."""
    place = dice.randrange(1, len(word))
    letter = dice.choice(LETTERS)
    swapped = (
        word[: place - 1] + word[place] + word[place - 1] + word[place + 1 :]
        if place > 1
        else word[:place] + word[place:] + letter
    )
    return dice.choice(
        [
            word[:place] + word[place + 1 :],
            word[:place] + letter + word[place:],
            word[:place] + letter + word[place + 1 :],
            word[:place] + word[place] + word[place:],
            swapped,
        ]
    )
