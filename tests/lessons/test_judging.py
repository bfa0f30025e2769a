"""Judging: the first condition that does not hold refuses, an error of the check's own is no verdict."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace

import pytest

from labkit import Vault
from labkit.lessons import judging
from labkit.lessons.catalogue import LESSONS, plan
from labkit.lessons.judging import ELSEWHERE, ENDLESS, UNANSWERED, attempted, conditions_of, judge, refusals
from labkit.lessons.said import CANNOT_JUDGE, NOT_ATTEMPTED, NOT_YET, RIGHT
from labkit.lessons.two_primaries.fence import FENCE
from labkit.lessons.two_primaries.fence import start as fence
from labkit.lessons.work_limit import limited
from tests.lessons.conftest import APP, DOUBLE, TWO, set_two, start


def test_the_first_condition_refuses_and_all_are_looked_at_for_tables():
    vault = start()
    vault.delete(APP)

    judged = judge(TWO, (vault,))
    assert judged[:3] == (NOT_YET, "there", "{}")
    assert refusals(TWO, (vault,)) == ["there", "is two"]
    set_two(vault)
    assert judge(TWO, (vault,)).outcome == RIGHT
    assert refusals(TWO, (vault,)) == []


def test_what_was_handed_in_stays_as_it_was():
    vault = start()
    set_two(vault)
    before = len(vault.calls), vault.now()
    judge(TWO, (vault,))

    assert (len(vault.calls), vault.now()) == before
    assert vault.get(APP).data["data"] == {"n": 2}


def test_attempts_are_known_again():
    vault = start()
    vault.post(APP, {"data": {"n": 3}})
    first = judge(TWO, (vault,)).attempt

    assert judge(TWO, (vault,)).attempt == first != ""
    vault.post(APP, {"data": {"n": 3}})
    assert judge(TWO, (vault,)).attempt != first


def test_another_beginning_is_refused_before_anything_else():
    assert judge(TWO, (Vault.dev(seed=9),)).condition == ELSEWHERE


def test_what_was_handed_in_beside_a_lab_counts_as_attempted():
    both = replace(TWO, takes=("the vault", "a list"), untouched=lambda listed: listed == [])

    assert not attempted(both, (start(), ...))
    assert not attempted(both, (start(), []))
    assert attempted(both, (start(), [1]))
    assert judge(DOUBLE, (lambda n: None,)).outcome == NOT_ATTEMPTED
    assert not attempted(TWO, (start(),))


def test_a_check_that_fails_is_no_verdict():
    vault = start()
    set_two(vault)
    assert judge(replace(TWO, look=lambda branch: branch["x"]), (vault,)).outcome == CANNOT_JUDGE


def test_a_check_that_gets_no_answer_says_who_leads_and_is_no_failure_of_its_own():
    def look(branch):
        return branch["paris"].get("secret/data/orders/1")

    asking = replace(FENCE, look=look)
    lab = fence()
    lab.crash("paris")
    judged = judge(asking, (lab,))

    assert judged[:2] == (NOT_YET, UNANSWERED)
    assert "no answer within 30s" in judged.seen
    assert judged.seen.endswith("; no node leads in paris")
    assert conditions_of(asking)[UNANSWERED].hints[2].startswith("begin again")


def test_names_of_conditions_are_those_of_the_exercise_beside_three_that_all_have():
    assert list(conditions_of(TWO)) == [ELSEWHERE, UNANSWERED, ENDLESS, "there", "is two"]
    assert [number for number in LESSONS for one in plan(number).exercises if len(conditions_of(one)) < 4] == []
    taken = [one.name for number in LESSONS for each in plan(number).exercises for one in each.conditions]
    assert {ELSEWHERE, UNANSWERED, ENDLESS} & set(taken) == set()


def test_what_is_good_to_know_stands_beside_a_right_answer():
    vault = start()
    set_two(vault)
    assert judge(replace(TWO, remark=lambda seen: f"n is {seen['n']}"), (vault,))[:3] == (RIGHT, "", "n is 2")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda n: sum(one - one for one in itertools.count(n)), "still at work after"),
        (lambda n: sys.exit(n), "it ends the whole program"),
    ],
)
def test_what_does_not_come_to_an_end_by_itself_is_not_right_yet(function, said, monkeypatch):
    monkeypatch.setattr(judging, "limited", lambda: limited(0.1))
    judged = judge(DOUBLE, (function,))

    assert (judged.outcome, judged.condition) == (NOT_YET, ENDLESS)
    assert said in judged.seen
