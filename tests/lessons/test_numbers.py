"""Every number that a lesson says is right, and by what it is known to be is written down in ``numbers/``.

A number without a claim fails, and so does a claim whose fragment stands in no text any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import pytest

from labkit.lessons.catalogue import LESSONS
from labkit.lessons.tour.sixth import wait_before
from tests.lessons.numbers.claims import MAX_IMAGINED, Claim, answered, done, everywhere, given, known, listed
from tests.lessons.numbers.runs import Runs
from tests.lessons.numbers.texts import Text, numbers_in, texts_of

EACH = pytest.mark.parametrize("lesson", LESSONS)
LEAST_WORDS = 3
Table = dict[str, Claim]


@pytest.fixture(scope="module")
def runs() -> Runs:
    """What is played once for all lessons."""
    return Runs()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> None:
    """A reader's folder of this test only."""
    monkeypatch.chdir(tmp_path)


def claims_of(lesson: str) -> Table:
    """The table of a lesson."""
    table: Table = import_module(f"tests.lessons.numbers.lesson_{lesson}").CLAIMS
    return table


def places_of(fragment: str, text: str) -> Iterator[tuple[int, int]]:
    """From where to where a fragment stands in a text, in capitals or not."""
    begins = text.lower().find(fragment.lower())
    while begins >= 0:
        yield begins, begins + len(fragment)
        begins = text.lower().find(fragment.lower(), begins + 1)


def unclaimed(texts: list[Text], fragments: list[str]) -> list[str]:
    """The numbers that stand in no fragment, each with what stands around it."""
    found = []
    for place, text in texts:
        claimed = [span for fragment in fragments for span in places_of(fragment, text)]
        for number in numbers_in(text):
            if not any(begins <= number.begins and number.ends <= ends for begins, ends in claimed):
                found.append(f"{place}: …{text[max(0, number.begins - 40) : number.ends + 40]}…")
    return found


def without_a_number(texts: list[Text], fragments: list[str]) -> list[str]:
    """The fragments that stand in no text, or have no number there."""
    return [fragment for fragment in fragments if not said_by(fragment, texts)]


def said_by(fragment: str, texts: list[Text]) -> list[float]:
    """The numbers of a fragment, as they are in the first text that has it."""
    for _, text in texts:
        for begins, ends in places_of(fragment, text):
            return [one.value for one in numbers_in(text) if begins <= one.begins and one.ends <= ends]
    return []


def problems(lesson: str, table: Table, runs: Runs) -> list[str]:
    """What claims say that is not so."""
    texts, found = texts_of(lesson), []
    for fragment, claim in table.items():
        having = [text for text in texts if any(places_of(fragment, text.text))]
        said = said_by(fragment, texts)
        problem = claim.problem(lesson, having, said, runs) if said else ""
        if problem:
            found.append(f"{fragment!r}: {problem}")
    return found


@EACH
def test_every_number_has_its_claim(lesson):
    assert unclaimed(texts_of(lesson), [*claims_of(lesson), *everywhere(lesson)]) == []


@EACH
def test_every_claim_is_of_a_number_that_is_said(lesson):
    assert without_a_number(texts_of(lesson), list(claims_of(lesson))) == []


@EACH
def test_what_needs_no_run_is_so(lesson, runs):
    table = {**everywhere(lesson), **claims_of(lesson)}

    assert problems(lesson, {said: claim for said, claim in table.items() if not claim.needs_a_run}, runs) == []


@pytest.mark.slow
@EACH
def test_what_runs_show_is_so(lesson, runs):
    table = claims_of(lesson)

    assert problems(lesson, {said: claim for said, claim in table.items() if claim.needs_a_run}, runs) == []


@EACH
def test_a_fragment_says_what_is_counted(lesson):
    """So that a number in another sentence, of something else, has no claim by chance."""
    whole = {text.text for text in texts_of(lesson)}
    short = [said for said in claims_of(lesson) if len(said.split()) < LEAST_WORDS and said not in whole]

    assert [said for said in short if said.replace(" ", "").isalnum()] == []


def test_a_number_without_a_claim_and_a_claim_without_its_number_are_found():
    texts = [Text("a", "It takes 80 ms, in two labs."), Text("b", "Three of five, at node-1 and orders/2.")]

    assert unclaimed(texts, ["takes 80 ms", "Three of five"]) == ["a: …It takes 80 ms, in two labs.…"]
    assert unclaimed(texts, ["takes 80 ms, in two", "three of five"]) == []
    assert without_a_number(texts, ["takes 80 ms", "takes 90 ms", "at node-1"]) == ["takes 90 ms", "at node-1"]
    assert said_by("Three of five", texts) == [3, 5]
    spans = [Text("c", "An hour, half a minute, a second later, a second try, each day.")]
    assert said_by(spans[0].text, spans) == [1, 0.5, 1, 1]


def test_a_number_that_is_wrong_is_found(runs):
    texts = [Text("a", "It takes 80 ms.")]

    assert known(lambda: 80).problem("04", texts, [80], runs) == ""
    assert known(lambda: 90).problem("04", texts, [80], runs) == "says [80], found [90.0]"
    assert "not in the code" in given("range(77)").problem("04", texts, [77], runs)
    assert "there stand" in given("orders(lab, 0.010)").problem("04", texts, [20], runs)
    assert "no way of lesson 04" in done(wait_before, "1s").problem("04", texts, [1], runs)
    assert "does not list" in listed("paris", "tokyo").problem("04", texts, [2], runs)
    assert "replies to" in answered().problem("04", texts, [80], runs)


def test_little_is_only_imagined():
    kinds = [claim.kind for lesson in LESSONS for claim in claims_of(lesson).values()]

    assert kinds.count("imagined") <= MAX_IMAGINED, "find out how the new ones can be checked"
