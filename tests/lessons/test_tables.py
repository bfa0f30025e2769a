"""The table of each exercise: every way is right, each trap is refused by its condition, and no condition is dead."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from labkit import Lab
from labkit.lessons import judging
from labkit.lessons.catalogue import LESSONS, plan
from labkit.lessons.judging import ELSEWHERE, judge, refusals
from labkit.lessons.plan import Act, Exercise
from labkit.lessons.said import NOT_ATTEMPTED, NOT_YET, RIGHT
from labkit.service.silence import Silence

EXERCISES = {f"{number}/{one.name}": one for number in LESSONS for one in plan(number).exercises}
EACH = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)

pytestmark = pytest.mark.slow

HandedIn = Callable[[Exercise, Act], tuple[Any, ...]]


@pytest.fixture(scope="module")
def handed_in() -> HandedIn:
    """What is handed in of a way or a trap: done once for all tests, since a verdict changes nothing of it."""
    kept: dict[tuple[int, int], tuple[Any, ...]] = {}

    def once(exercise: Exercise, act: Act) -> tuple[Any, ...]:
        key = id(exercise), id(act)
        if key not in kept:
            kept[key] = exercise.handed_in(act)
        return kept[key]

    return once


@pytest.fixture(scope="module")
def looks() -> dict[tuple[int, int], Any]:
    """What was seen of what was handed in."""
    return {}


@pytest.fixture
def looked_once(looks: dict[tuple[int, int], Any], handed_in: HandedIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests share what is seen of what is handed in: ``handed_in`` keeps it as it was, and a look may take long."""
    look = judging._look

    def once(exercise: Exercise, handed: tuple[Any, ...]) -> Any:
        key = id(exercise), id(handed)
        if key not in looks:
            looks[key] = look(exercise, handed)
        return looks[key]

    monkeypatch.setattr(judging, "_look", once)


def look_only(world: Any) -> None:
    """Do what is no attempt: read, draw, let time pass."""
    if isinstance(world, Lab):
        world.map()
        world.timeline()
        with suppress(Silence):  # it may begin without power
            world["paris"].status()
            world["paris"].get("secret/data/orders/1")
        world.run("30s")
    else:
        world.get("secret/data/app")
        world.advance("1h")


def test_there_are_twenty_eight_exercises_in_ten_lessons():
    assert (len(LESSONS), len(EXERCISES)) == (10, 28)


@EACH
@pytest.mark.usefixtures("looked_once")
def test_ways_are_right_and_traps_are_refused_by_their_condition(exercise: Exercise, handed_in: HandedIn) -> None:
    ways = {name: judge(exercise, handed_in(exercise, way))[:3] for name, way in exercise.ways.items()}
    traps = {trap.name: judge(exercise, handed_in(exercise, trap.act))[:2] for trap in exercise.traps}

    assert len(ways) >= 2
    assert len(traps) == len(exercise.traps) >= 5
    assert {name: row for name, row in ways.items() if row[0] != RIGHT} == {}
    assert traps == {trap.name: (NOT_YET, trap.refused_by) for trap in exercise.traps}


@EACH
@pytest.mark.usefixtures("looked_once")
def test_no_condition_is_dead(exercise: Exercise, handed_in: HandedIn) -> None:
    refused = [refusals(exercise, handed_in(exercise, trap.act)) for trap in exercise.traps]
    needed = {names[0] for names in refused if len(names) == 1}

    assert {one.name for one in exercise.conditions if not one.for_its_sentence} == needed
    assert [names for names in refused if not names] == []
    assert {names[0] for names in refused} == {one.name for one in exercise.conditions}, "each has its trap"


@EACH
def test_a_verdict_is_the_same_twice_and_changes_nothing(exercise: Exercise, handed_in: HandedIn) -> None:
    handed = handed_in(exercise, next(iter(exercise.ways.values())))
    before = handed[0].trace.digest() if isinstance(handed[0], Lab) else None
    first, again = judge(exercise, handed), judge(exercise, handed)

    assert first == again
    assert before is None or handed[0].trace.digest() == before


@EACH
def test_nothing_done_and_only_looking_are_not_attempted(exercise: Exercise) -> None:
    if exercise.start is None:
        assert exercise.untouched is not None, "a function says how it looks before it is written"
        as_given = exercise.begins_with or (lambda *given: None)
        assert judge(exercise, (as_given,)).outcome == NOT_ATTEMPTED
        return
    rest = [...] * (len(exercise.takes) - 1)
    world = exercise.start()
    assert judge(exercise, (world, *rest)).outcome == NOT_ATTEMPTED
    look_only(world)
    assert judge(exercise, (world, *rest)).outcome == NOT_ATTEMPTED


@EACH
def test_a_neighbours_answer_is_refused(exercise: Exercise, handed_in: HandedIn) -> None:
    for other in EXERCISES.values():
        if other is exercise or other.start is None or exercise.start is None:
            continue
        if type(other.start()) is not type(exercise.start()) or len(other.takes) != len(exercise.takes):
            continue
        handed = handed_in(other, next(iter(other.ways.values())))
        assert judge(exercise, handed)[:2] == (NOT_YET, ELSEWHERE)


@EACH
def test_one_with_a_lab_has_the_trap_of_the_wrong_cluster(exercise: Exercise) -> None:
    if exercise.start is not None and isinstance(exercise.start(), Lab):
        assert "the wrong cluster" in {trap.name for trap in exercise.traps}
