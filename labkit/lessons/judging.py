"""Judging: whether what was handed in was attempted, and which condition refuses it, if any.

Three conditions stand before those of an exercise: that the lab is the exercise's own, that it answers the check, and
that what was handed in comes to an end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.attempts import attempt_of
from labkit.lessons.plan import Condition, Exercise
from labkit.lessons.said import CANNOT_JUDGE, NOT_ATTEMPTED, NOT_YET, RIGHT
from labkit.lessons.work_limit import MAX_WORK_S, TookTooLong, limited
from labkit.lessons.worlds import acts_of, begins_as, branched
from labkit.service.silence import Silence

ELSEWHERE, UNANSWERED, ENDLESS = "start", "answers", "comes to an end"


class Judgement(NamedTuple):
    """An outcome, the condition that refused, what was seen, and by what this attempt is known again."""

    outcome: str
    condition: str = ""
    seen: str = ""
    attempt: str = ""


def judge(exercise: Exercise, handed: tuple[Any, ...]) -> Judgement:
    """Judge what was handed in, and change nothing of it; a check that fails itself gives no verdict."""
    try:
        with limited():
            return _judge(exercise, handed)
    except Silence as silent:
        return _refused(handed, conditions_of(exercise)[UNANSWERED], (handed[0], silent))
    except (TookTooLong, SystemExit) as endless:
        return _refused(handed, conditions_of(exercise)[ENDLESS], endless)
    except Exception as error:  # whatever it is, the reader cannot mend it
        return Judgement(CANNOT_JUDGE, seen=f"{type(error).__name__}: {error}")


def attempted(exercise: Exercise, handed: tuple[Any, ...]) -> bool:
    """Whether anything was done: in the lab since its start, or with what else is handed in."""
    rest = handed
    if exercise.start is not None:
        if acts_of(handed[0]) != acts_of(exercise.start()):
            return True
        rest = handed[1:]
    if not rest or any(part is ... for part in rest):
        return False
    return exercise.untouched is None or not exercise.untouched(*rest)


def refusals(exercise: Exercise, handed: tuple[Any, ...]) -> list[str]:
    """Return the names of all conditions that do not hold, not the first only; one that cannot be judged does not."""
    seen = _look(exercise, handed)
    return [condition.name for condition in exercise.conditions if not _holds(condition, seen)]


def conditions_of(exercise: Exercise) -> dict[str, Condition]:
    """Return what can refuse an answer, by name: the conditions of the exercise, and the three before them."""
    before = (_elsewhere(exercise.name), _unanswered(exercise.name), _endless())
    return {one.name: one for one in (*before, *exercise.conditions)}


def _judge(exercise: Exercise, handed: tuple[Any, ...]) -> Judgement:
    if exercise.start is not None and not begins_as(handed[0], exercise.start()):
        return _refused(handed, conditions_of(exercise)[ELSEWHERE], exercise)
    if not attempted(exercise, handed):
        return Judgement(NOT_ATTEMPTED)
    seen = _look(exercise, handed)
    for condition in exercise.conditions:
        if not condition.holds(seen):
            return _refused(handed, condition, seen)
    return Judgement(RIGHT, seen=exercise.remark(seen))


def _refused(handed: tuple[Any, ...], condition: Condition, seen: Any) -> Judgement:
    said = condition.says(seen)
    return Judgement(NOT_YET, condition.name, said, attempt_of(said, *handed))


def _look(exercise: Exercise, handed: tuple[Any, ...]) -> Any:
    if exercise.start is None:
        return exercise.look(*handed)
    return exercise.look(branched(handed[0]), *handed[1:])


def _holds(condition: Condition, seen: Any) -> bool:
    try:
        return condition.holds(seen)
    except Exception:  # what an earlier condition asks for is missing
        return False


def _elsewhere(name: str) -> Condition:
    return Condition(
        name=ELSEWHERE,
        holds=lambda seen: False,
        says=lambda exercise: f"this one began otherwise than what `here.start({exercise.name!r})` gives",
        asks=f"Begin with `here.start({name!r})`.",
        hints=(
            "Look at the first line of the exercise's cell: what does it begin with?",
            "A check knows its own start again, by what happened before it was given to you.",
            f"`here.start({name!r})`, and your steps in what it gives",
        ),
    )


def _unanswered(name: str) -> Condition:
    return Condition(
        name=UNANSWERED,
        holds=lambda seen: False,
        says=lambda seen: f"{seen[1]}; {_who_leads(seen[0])}",
        asks="The check asks a cluster of this lab, and nobody answers.",
        hints=(
            "Look in `lab.map()`: in which cluster does no node lead?",
            "A cluster answers when one of its nodes leads. A crashed node does not, nor does one that was restarted: "
            "it is sealed until it gets key shares.",
            f"begin again with `here.start({name!r})`, and leave the cluster a node that leads",
        ),
    )


def _endless() -> Condition:
    return Condition(
        name=ENDLESS,
        holds=lambda seen: False,
        says=lambda seen: (
            "it ends the whole program, as `exit()` does"
            if isinstance(seen, SystemExit)
            else f"it was still at work after {MAX_WORK_S} s of processor time"
        ),
        asks="It has to come to an end by itself.",
        hints=(
            "Which loop in it waits for something? In a lab time passes only by `lab.run` and while a request waits.",
            "What was lost for good does not come back by waiting; a loop needs a limit of its own.",
            "`for _ in range(30):` in place of `while True:`",
        ),
    )


def _who_leads(world: Any) -> str:
    """Say in which clusters no node leads."""
    without = [name for name in world.queries.cluster_names if not world[name].active] if isinstance(world, Lab) else []
    return f"no node leads in {' and '.join(without)}" if without else "a node leads in each cluster"
