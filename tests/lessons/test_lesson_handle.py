"""A lesson in a reader's hands: what is sealed stays, what is not done writes nothing, each answer says what it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labkit import Lab, Vault
from labkit.lessons.catalogue import plan
from labkit.lessons.lesson_handle import Lesson
from labkit.lessons.said import CANNOT_JUDGE, NOT_ATTEMPTED, NOT_YET, RIGHT
from tests.lessons.conftest import APP, DOUBLE, KIND, LATEST, PLAN, TWO, set_two


def kept(here: Lesson) -> dict[str, Any]:
    return json.loads(here.progress.path.read_text()) if here.progress.path.exists() else {}


# ---- recall


def test_recall_asks_and_says_whether_it_was_known(here):
    assert "Which number? (one / two)" in repr(here.recall())
    assert here.recall(1).lines == ("Which number? (one / two)",)
    assert kept(here) == {}
    assert here.recall(1, "one").outcome == "not so"
    assert kept(here)["99/recall/00: Which number?"] == {"missed": True}
    assert here.recall(1, "two").outcome == RIGHT
    assert kept(here)["99/recall/00: Which number?"] == {"missed": False}


@pytest.mark.parametrize("given", [(2,), (-1,), (True,), ("1",), (1, "three"), (1, 2)])
def test_recall_refuses_what_it_does_not_ask(here, given):
    with pytest.raises(ValueError, match="expected"):
        here.recall(*given)
    assert kept(here) == {}


# ---- predictions


def test_without_an_answer_it_asks_and_writes_nothing(here, vault):
    assert here.predict("latest", ...).lines[0] == "Which version is the latest?"
    assert "a number from 0 to 9" in repr(here.predict("latest"))
    assert "'old', 'new'" in repr(here.predict("kind"))
    shown = here.reveal("latest", vault)
    assert (shown.outcome, kept(here)) == (NOT_ATTEMPTED, {})
    assert "1" not in repr(shown)


def test_a_prediction_is_sealed_by_its_reveal(here, vault):
    here.predict("latest", 7, sure=3)
    here.predict("latest", 3, sure=3)
    vault.post(APP, {"data": {}})
    assert here.reveal("latest", vault).lines[0] == "You said 3 and were certain; this vault shows 2."
    assert "You said 3, and that stays; 2 stands beside it." in here.predict("latest", 2).lines
    assert here.predict("latest", 3).lines[:2] == ("Which version is the latest?", "You said 3, and that stays.")
    assert here.reveal("latest", vault).lines[0] == "You said 3 and were certain; later you said 2; this vault shows 2."
    assert kept(here)["99/predict/latest"]["answer"] == 3


def test_the_outcome_is_measured_in_the_lab_that_is_handed_in_and_not_kept(here, vault):
    here.predict("latest", 2)
    vault.post(APP, {"data": {}})
    assert here.reveal("latest", vault).outcome == "as you said"
    vault.post(APP, {"data": {}})
    assert here.reveal("latest", vault).outcome == "not so"
    assert kept(here)["99/predict/latest"] == {"answer": 2, "sure": 2, "revealed": "not so"}


def test_a_wrong_model_has_its_reply_and_everybody_is_given_the_reason(here, vault):
    here.predict("latest", 1)
    vault.post(APP, {"data": {}})
    assert here.reveal("latest", vault).lines[1:] == (
        "One would be right if a write replaced the last.",
        "Each write makes a version.",
    )
    other = Lesson(PLAN, str(here.progress.path.parent / "nowhere"))
    other.predict("latest", 5)
    assert other.reveal("latest", vault).lines[1] == "Count the writes."
    other.predict("kind", "old")
    assert other.reveal("kind", vault).lines[1] == "Old is what it was."


def test_a_lab_that_was_not_run_so_far_seals_nothing(here, vault):
    here.predict("latest", 1)
    vault.delete(APP)
    assert here.reveal("latest", vault)[:2] == (NOT_YET, ("Write it first.",))
    assert "revealed" not in kept(here)["99/predict/latest"]


def test_a_result_that_tells_an_outcome_is_shown_once_that_is_revealed(here, vault):
    assert here.show("latest", vault)[:2] == (
        NOT_ATTEMPTED,
        ("Predict 'latest' first: what stands here tells its outcome.",),
    )
    here.predict("latest", 1)
    assert here.show("latest", vault).lines == (
        "Reveal the prediction 'latest' first: what stands here tells its outcome.",
    )
    here.reveal("latest", vault)
    assert here.show("latest", vault) is vault
    with pytest.raises(ValueError, match="a prediction of this lesson"):
        here.show("x", vault)


def test_a_measure_that_fails_is_no_verdict(tmp_path, vault):
    broken = replace(PLAN.questions[0], measure=lambda world: 1 // 0)
    here = Lesson(replace(PLAN, questions=(broken,)), str(tmp_path))
    here.predict("latest", 1)
    shown = here.reveal("latest", vault)
    assert shown.outcome == CANNOT_JUDGE
    assert "ZeroDivisionError" in repr(shown)
    assert "revealed" not in kept(here)["99/predict/latest"]


@pytest.mark.parametrize("answer", [-1, 10, True, "one", "", "nan", "10", None, [1], float("nan")])
def test_an_answer_of_another_kind_is_refused(here, answer):
    with pytest.raises(ValueError, match="answer: expected a number from 0 to 9"):
        here.predict("latest", answer)
    assert kept(here) == {}


@pytest.mark.parametrize("sure", [0, 4, "3", None, True])
def test_how_sure_is_one_of_three(here, sure):
    with pytest.raises(ValueError, match="sure: expected 1 for a guess"):
        here.predict("latest", 1, sure=sure)


def test_a_choice_is_one_of_those_there_are(here):
    with pytest.raises(ValueError, match=r"answer: expected one of the choices.*old"):
        here.predict("kind", "odl")


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_reveal_asks_for_a_lab(here, vault, count):
    here.predict("latest", 1)
    for handed in (3, [vault] * count, Lab.pair(seed=1)):
        with pytest.raises(ValueError, match="world: expected the vault above, got "):
            here.reveal("latest", handed)


# ---- exercises


def test_what_was_not_attempted_writes_nothing(here, vault):
    vault.get(APP)
    vault.advance("3h")
    assert here.check("two", vault)[:2] == (NOT_ATTEMPTED, ("n is 2",))
    assert here.check("two", ...).outcome == NOT_ATTEMPTED
    assert here.check("double", lambda n: None).outcome == NOT_ATTEMPTED
    assert "check it first" in repr(here.hint("two"))
    assert kept(here) == {}


def test_a_check_says_what_was_seen_and_what_is_asked_for(here, vault):
    vault.post(APP, {"data": {"n": 3}})
    assert here.check("two", vault).lines == ("n has to be 2", "Seen here: n is 3.", "`here.hint('two')` helps.")
    assert here.check("two", vault) == here.check("two", vault)
    set_two(vault)
    assert here.check("two", vault)[:2] == (RIGHT, ("n is 2",))
    assert here.check("double", lambda n: 2 * n).outcome == RIGHT


def test_one_that_began_otherwise_is_sent_to_the_start(here):
    other = Vault.dev(seed=6)
    set_two(other)
    assert "here.start('two')" in here.check("two", other).lines[0]


def test_a_check_that_fails_itself_counts_as_nothing(tmp_path, vault):
    here = Lesson(replace(PLAN, exercises=(replace(TWO, look=lambda branch: 1 // 0),)), str(tmp_path))
    set_two(vault)
    said = here.check("two", vault)
    assert said.outcome == CANNOT_JUDGE
    assert "counts as nothing: ZeroDivisionError" in said.lines[0]
    assert kept(here) == {}


def test_hints_climb_with_changed_attempts_only(here, vault):
    vault.post(APP, {"data": {"n": 3}})
    here.check("two", vault)
    assert here.hint("two").lines == ("look at n",)
    assert here.hint("two").lines == ("look at n", "Another hint comes when another attempt was checked.")
    here.check("two", vault)
    assert here.hint("two").lines[0] == "look at n"
    for n, hint in ((4, "n is a number"), (5, "post()"), (6, "post()")):
        vault.post(APP, {"data": {"n": n}})
        here.check("two", vault)
        assert here.hint("two").lines[0] == hint
    assert "--solutions" in here.hint("two").lines[1]


def test_hints_are_aimed_at_what_failed_last(here, vault):
    vault.post(APP, {"data": {"n": 3}})
    here.check("two", vault)
    here.hint("two")
    vault.delete(APP)
    here.check("two", vault)
    assert kept(here)["99/check/two"]["failed"] == "there"
    here.hint("two")
    assert set(kept(here)["99/check/two"]["rungs"]) == {"there", "is two"}


def test_progress_says_whether_help_was_needed_and_whether_it_was_done_again(here, vault):
    def skill(name: str) -> str:
        return kept(here)[f"99/check/{name}"]["skill"]

    vault.post(APP, {"data": {"n": 3}})
    here.check("two", vault)
    assert skill("two") == "seen"
    here.hint("two")
    set_two(vault)
    here.check("two", vault)
    here.check("two", vault)
    assert skill("two") == "with help"
    here.check("double", lambda n: n + n)
    assert skill("double") == "alone"
    here.check("two", vault)
    assert skill("two") == "again later"
    assert ("exercise two", "again later: right once more, after another exercise") in here.done().rows
    assert ("exercise double", "alone: right without a hint") in here.done().rows
    assert ("prediction latest", "open") in here.done().rows
    assert "again later" in repr(Lesson(PLAN, str(here.progress.path.parent)).done())


async def begins_only(number: int) -> int:
    return 2 * number


def yields_only(number: int) -> Iterator[int]:
    yield 2 * number


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda here: here.check("two"), "expected the vault after 'two', got 0 arguments"),
        (lambda here: here.check("two", 1, 2), "expected the vault after 'two', got 2 arguments"),
        (lambda here: here.check("two", 3), "the vault: expected what here.start"),
        (lambda here: here.check("two", Lab.pair(seed=1)), ""),
        (lambda here: here.check("double", 3), "expected a function that does its work when it is called"),
        (lambda here: here.check("double", begins_only), "without async or yield, got a function"),
        (lambda here: here.check("double", yields_only), "without async or yield, got a function"),
        (lambda here: here.check("double", lambda: 8), "one that is called with 1 argument, got a function"),
        (lambda here: here.check("double", lambda a, b: 8), "one that is called with 1 argument, got a function"),
        (lambda here: here.check("tow", ...), "two"),
        (lambda here: here.hint("tow"), "an exercise of this lesson"),
        (lambda here: here.start("tow"), "an exercise of this lesson"),
        (lambda here: here.start("double"), "has no lab of its own"),
        (lambda here: here.predict("x", 1), "a prediction of this lesson"),
        (lambda here: here.reveal("x", None), "a prediction of this lesson"),
    ],
)
def test_what_does_not_exist_or_is_of_another_kind_is_said(here, call, says):
    if not says:
        assert "here.start" in call(here).lines[0]
        return
    with pytest.raises(ValueError, match=says):
        call(here)
    assert kept(here) == {}


def test_a_folder_that_cannot_be_written_is_said_and_stops_nothing(tmp_path: Path, vault):
    here = Lesson(PLAN, str(tmp_path / "missing"))
    assert "cannot be written" in here.predict("latest", 1).lines[-1]
    assert Lesson(PLAN, str(tmp_path / "missing")).reveal("latest", vault).outcome == "as you said"


def test_an_exercise_may_begin_with_a_text_and_take_one(tmp_path):
    text = replace(
        DOUBLE,
        accepts=lambda handed: isinstance(handed, str),
        accepted="a text",
        begins_with="ab",
        look=len,
        untouched=lambda given: given == "ab",
    )
    here = Lesson(replace(PLAN, exercises=(text,)), str(tmp_path))

    assert here.start("double") == "ab"
    assert here.check("double", here.start("double")).outcome == "not attempted"
    assert here.check("double", here.start("double") + "cdefgh").outcome == "right"
    with pytest.raises(ValueError, match="a function of one number: expected a text, got"):
        here.check("double", len)


def test_an_answer_is_taken_as_a_number_or_as_its_text(here, vault):
    assert "You said 2 and are fairly sure." in here.predict("latest", "2").lines
    vault.post(APP, {"data": {}})
    assert here.reveal("latest", vault).outcome == "as you said"
    assert ("prediction latest", "you said 2: as you said") in here.done().rows
    assert here.predict("kind", " New").lines[1] == "You said new and are fairly sure."


def test_a_recall_of_a_number_takes_a_number(tmp_path):
    of_numbers = replace(PLAN.recalls[0], choices=("2", "3", "none"), answer="3")
    here = Lesson(replace(PLAN, recalls=(of_numbers,)), str(tmp_path))
    assert [here.recall(1, given).outcome for given in (3, 3.0, "3", " 3", 2, "None")] == [RIGHT] * 4 + ["not so"] * 2


def test_without_an_answer_it_says_how_sure_is_written(here):
    assert "sure=1 for a guess, 2 for fairly sure, 3 for certain" in repr(here.predict("latest", ...))


def test_what_is_sealed_says_how_to_begin_again(here, vault):
    here.predict("latest", 1)
    here.reveal("latest", vault)
    assert here.predict("latest", 2).lines[2] == (
        "`labkit lessons --reset 99` begins the lesson again: it forgets what you said, and puts the notebook back as "
        "delivered; both are kept under other names."
    )


@pytest.mark.parametrize("verb", ["start", "check", "hint", "predict", "reveal"])
def test_without_a_name_the_names_are_listed(here, verb):
    with pytest.raises(ValueError, match="latest" if verb in ("predict", "reveal") else "two"):
        getattr(here, verb)()


def test_a_hint_after_a_new_start_says_of_what_it_is(here):
    since = "you have begun again since"
    vault = here.start("two")
    vault.post(APP, {"data": {"n": 3}})
    here.check("two", vault)
    assert since not in repr(here.hint("two"))
    again = here.start("two")
    here.check("two", again)
    assert since in repr(here.hint("two"))
    again.post(APP, {"data": {"n": 4}})
    here.check("two", again)
    assert since not in repr(here.hint("two"))


def test_functions_climb_by_what_they_do_whatever_the_check_sees(here):
    wrong = [lambda n: 0, lambda n: 0 * n, lambda n: n - n]
    given = []
    for function in (wrong[0], wrong[0], *wrong[1:]):
        assert here.check("double", function).lines[1] == "Seen here: 4 became 0."
        given.append(here.hint("double").lines[0])
    assert given == ["look at n", "look at n", "n is a number", "post()"]


def test_what_began_otherwise_has_hints_of_its_own(here):
    other = Vault.dev(seed=6)
    set_two(other)
    here.check("two", other)
    assert "first line" in here.hint("two").lines[0]


def test_beside_what_was_seen_a_refusal_is_said(here, vault):
    vault.post(APP, {"data": {"n": 3}})
    vault.post("secret/data/app2", {"n": 2})
    assert here.check("two", vault).lines[2].startswith("Refused since the start: POST secret/data/app2 answered 400")


def test_what_is_good_to_know_of_a_right_answer_is_said(tmp_path, vault):
    here = Lesson(replace(PLAN, exercises=(replace(TWO, remark=lambda seen: f"n is {seen['n']}."),)), str(tmp_path))
    set_two(vault)
    assert here.check("two", vault).lines == ("n is 2", "n is 2.")


@pytest.mark.parametrize(
    "record",
    [
        {"99/predict/latest": {"revealed": True}},
        {"99/predict/latest": {"answer": None, "sure": 2}},
        {"99/predict/latest": {"answer": 1, "sure": 9}},
        {"99/check/two": {"failed": "is two"}},
        {"99/check/two": {"failed": "is two", "attempt": "x", "rungs": 5}},
        {"99/check/two": {"failed": "is two", "attempt": "x", "rungs": {"is two": [9]}}},
        {"99/check/two": {"failed": 7, "attempt": "x", "skill": 5}},
    ],
)
def test_a_record_that_somebody_changed_stops_nothing(here, vault, record):
    here.progress.write(record)
    assert here.done().rows
    assert here.hint("two").outcome == "hint"
    assert here.reveal("latest", vault).outcome == NOT_ATTEMPTED
    assert here.predict("latest", 1).outcome == "sealed"
    assert here.reveal("latest", vault).outcome == "as you said"
    vault.post(APP, {"data": {"n": 3}})
    assert here.check("two", vault).outcome == NOT_YET
    assert here.hint("two").lines[0] == "look at n"


def test_what_is_near_enough_is_said_to_be(tmp_path, vault):
    here = Lesson(replace(PLAN, questions=(replace(LATEST, near=1), KIND)), str(tmp_path))
    here.predict("latest", 2, sure=3)
    said = here.reveal("latest", vault)

    assert said.outcome == "as you said"
    assert said.lines[0] == "You said 2 and were certain; this vault shows 1, which is near enough."


def test_what_is_done_names_the_next_notebook_if_there_is_one(tmp_path):
    first, last = (Lesson(plan(number), str(tmp_path)) for number in ("00", "09"))

    assert first.done().rows[-1] == ("the next notebook", "01_secret_versions.ipynb")
    assert last.done().rows[-1][0].startswith("exercise ")


def test_what_was_seen_ends_with_one_mark(tmp_path, vault):
    asking = replace(TWO.conditions[1], says=lambda seen: "did you mean two?")
    plan_of_one = replace(PLAN, exercises=(replace(TWO, conditions=(TWO.conditions[0], asking)),))
    vault.post(APP, {"data": {"n": 3}})

    assert "Seen here: did you mean two?" in Lesson(plan_of_one, str(tmp_path)).check("two", vault).lines


def test_after_a_right_answer_nothing_is_left_to_hint_at(here):
    assert "Try something" in here.hint("double").lines[0]
    here.check("double", lambda n: 2 * n)

    assert here.hint("double").lines == ("Your last check was right: nothing is left to hint at.",)
