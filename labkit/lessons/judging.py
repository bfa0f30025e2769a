"""Judging: whether what was handed in was attempted, and which condition refuses it, if any."""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.lessons.plan import Condition, Exercise
from labkit.lessons.said import CANNOT_JUDGE, NOT_ATTEMPTED, NOT_YET, RIGHT
from labkit.lessons.worlds import acts_of, begins_as, branched, fingerprint

ELSEWHERE = "start"
"""The name of the condition that comes before all others: that the lab is the exercise's own."""


class Judgement(NamedTuple):
    """An outcome, the condition that refused, what was seen, and by what this attempt is known again."""

    outcome: str
    condition: str = ""
    seen: str = ""
    attempt: str = ""


def judge(exercise: Exercise, handed: tuple[Any, ...]) -> Judgement:
    """Judge what was handed in, and change nothing of it; a check that fails itself gives no verdict."""
    try:
        return _judge(exercise, handed)
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


def _judge(exercise: Exercise, handed: tuple[Any, ...]) -> Judgement:
    acts: Any = None
    if exercise.start is not None and not begins_as(handed[0], exercise.start()):
        said = f"this one began otherwise than what `here.start({exercise.name!r})` gives"
        return Judgement(NOT_YET, ELSEWHERE, said, fingerprint(said))
    if not attempted(exercise, handed):
        return Judgement(NOT_ATTEMPTED)
    if exercise.start is not None:
        acts = acts_of(handed[0])
    seen = _look(exercise, handed)
    for condition in exercise.conditions:
        if not condition.holds(seen):
            said = condition.says(seen)
            return Judgement(NOT_YET, condition.name, said, fingerprint(condition.name, said, acts))
    return Judgement(RIGHT)


def _look(exercise: Exercise, handed: tuple[Any, ...]) -> Any:
    if exercise.start is None:
        return exercise.look(*handed)
    return exercise.look(branched(handed[0]), *handed[1:])


def _holds(condition: Condition, seen: Any) -> bool:
    try:
        return condition.holds(seen)
    except Exception:  # what an earlier condition asks for is missing
        return False
