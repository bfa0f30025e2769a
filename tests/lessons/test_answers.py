"""Answers: numbers and choices are read as they were meant, and what is meant for neither is refused."""

from __future__ import annotations

import pytest

from labkit.lessons.answers import chosen, number


@pytest.mark.parametrize(
    ("answer", "found"), [(5, 5), (5.5, 5.5), ("5", 5), (" 5 ", 5), ("5.5", 5.5), ("5 s", 5), ("5s", 5), ("0", 0)]
)
def test_a_number_is_taken_as_it_is_or_from_its_text(answer, found):
    assert number(answer, 0, 9, " s") == found
    assert type(number(answer, 0, 9, " s")) is type(found)


@pytest.mark.parametrize("answer", [-1, 10, "10", "five", "", "nan", True, None, [5], float("nan"), float("inf")])
def test_what_is_no_number_between_the_bounds_is_refused(answer):
    with pytest.raises(ValueError, match="answer: expected a number from 0 to 9"):
        number(answer, 0, 9)


@pytest.mark.parametrize(("answer", "found"), [("a refusal", 0), ("A refusal ", 0), ("3", 1), (3, 1), (3.0, 1)])
def test_a_choice_is_taken_by_its_text_or_its_number(answer, found):
    choices = ("a refusal", "3")
    assert chosen(answer, choices) == choices[found]


@pytest.mark.parametrize(("answer", "found"), [("they compare", 0), ("Noth", 1), ("none", 2), ("none at all", 3)])
def test_a_choice_is_taken_by_its_beginning(answer, found):
    choices = ("they compare, and fetch", "nothing, it was planned", "none", "none at all")
    assert chosen(answer, choices) == choices[found]


@pytest.mark.parametrize("answer", ["", " ", "no", 1, "of them"])
def test_what_more_than_one_choice_begins_with_is_refused(answer):
    with pytest.raises(ValueError, match="answer: expected one of the choices"):
        chosen(answer, ("none of them", "nothing", "10"))


@pytest.mark.parametrize("answer", ["refusal", 2, True, None, ["3"], 3.5])
def test_what_is_no_choice_is_refused(answer):
    with pytest.raises(ValueError, match="answer: expected one of the choices"):
        chosen(answer, ("a refusal", "3"))
