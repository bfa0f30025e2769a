"""Kept answers: nothing before it is wanted, the newest few, no value before it is asked for."""

from __future__ import annotations

from labkit.doors.pages.kept_answers import MAX_BODY_BYTES, MAX_KEPT, KeptAnswers
from labkit.service.message import respond

ASKED = ("GET", "secret/data/app")


def kept(count: int = 1) -> KeptAnswers:
    answers = KeptAnswers()
    answers.wanted = True
    for _ in range(count):
        answers.add("paris", 5, ASKED, respond(200, {"data": {"user": "ada-1815"}}))
    return answers


def test_nothing_is_kept_before_it_is_wanted() -> None:
    answers = KeptAnswers()
    answers.add("paris", 5, ASKED, respond(200, {"data": {}}))
    assert answers.shown() == []


def test_values_are_shown_of_the_one_that_is_asked_for() -> None:
    answers = kept(2)
    newest, older = answers.shown()
    assert (newest["number"], older["number"], newest["body"]) == (2, 1, None)
    assert "ada-1815" not in f"{answers.shown()} {answers!r}"
    assert "user: …" in newest["said"]
    newest, older = answers.shown(1)
    assert (newest["body"], older["body"]) == (None, {"data": {"user": "ada-1815"}})


def test_errors_are_in_words_and_silence_has_no_body() -> None:
    answers = kept(0)
    answers.add("paris", 5, ASKED, respond(403, {"errors": ["permission denied"]}))
    answers.add("tokyo", 6, ASKED, respond(0, None))
    silent, refused = answers.shown()
    assert (refused["said"], refused["status"]) == ("error: permission denied", 403)
    assert (silent["said"], silent["status"], silent["cluster"]) == ("", 0, "tokyo")


def test_the_newest_few_are_kept_and_long_bodies_are_not() -> None:
    answers = kept(MAX_KEPT + 3)
    assert len(answers.shown()) == MAX_KEPT
    answers.add("paris", 5, ("GET", "x" * 900), respond(200, {"data": {"long": "x" * MAX_BODY_BYTES}}))
    (row, *_) = answers.shown(MAX_KEPT + 4)
    assert row["body"] == {"warnings": ["the body is too long to be kept"]}
    assert len(row["path"]) == 200
    answers.clear()
    assert answers.shown() == []
