"""The most similar known name is found for nearly every slip of the hand, and none for another word."""

from __future__ import annotations

import random

import pytest

from labkit.lab.invariants import STANDING
from labkit.lab.plan.workload_operations import OPERATIONS
from labkit.scenario.client_parts import ClientsPart, WorkPart
from labkit.scenario.expect_keys import ExpectPart
from labkit.scenario.file_parts import ClusterPart, FilePart, LinkPart, fields_of
from labkit.scenario.verbs import VERBS
from labkit.service.did_you_mean import nearest

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("crsh", "crash"),
        ("carsh", "crash"),
        ("crashh", "crash"),
        ("CRASH", "crash"),
        ("at_most", "at most"),
        ("at-most", "at most"),
        ("explode", None),
        ("", None),
    ],
)
def test_a_similar_name_is_found(word: str, name: str | None) -> None:
    assert nearest(word, ["heal", "crash", "at most"]) == name


@pytest.mark.parametrize(("word", "known"), [("repeat", "path"), ("logins", "lost"), ("fetch", "patch")])
def test_a_word_that_shares_some_letters_is_another_word(word: str, known: str) -> None:
    assert nearest(word, [known]) is None


def test_without_names_none_is_near() -> None:
    assert nearest("x", []) is None


def test_a_long_word_costs_no_time() -> None:
    assert nearest("x" * 1_000_000, VERBS) is None


def test_of_five_hundred_typos_nearly_all_are_understood() -> None:
    draws = random.Random(20)
    known = [list(VERBS), list(OPERATIONS), list(STANDING)]
    known += [list(fields_of(part)) for part in (FilePart, LinkPart, ClusterPart, ClientsPart, WorkPart, ExpectPart)]
    typos = []
    for _ in range(500):
        names = draws.choice(known)
        word = draws.choice([name for name in names if len(name) > 2])
        typos.append((mistyped(word, draws), word, names))

    missed = [(typo, word) for typo, word, names in typos if typo not in names and nearest(typo, names) != word]

    assert len(missed) <= 25, missed


def mistyped(word: str, draws: random.Random) -> str:
    """A word with one slip of the hand that leaves its first letter alone, as most slips do."""
    place = draws.randrange(1, len(word))
    letter = draws.choice(LETTERS)
    swapped = (
        word[: place - 1] + word[place] + word[place - 1] + word[place + 1 :]
        if place > 1
        else word[:place] + word[place:] + letter
    )
    return draws.choice(
        [
            word[:place] + word[place + 1 :],
            word[:place] + letter + word[place:],
            word[:place] + letter + word[place + 1 :],
            word[:place] + word[place] + word[place:],
            swapped,
        ]
    )
