"""Plan: what an author writes of a lesson: recalls, questions, exercises with conditions, ways and traps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction, signature
from typing import Any

from labkit.front.lab import Lab

Act = Callable[..., Any]
FUNCTION = "a function that does its work when it is called, not what it returned, without async or yield"


def works_when_called(handed: Any) -> bool:
    """Whether a call of something does its work; an async function or a generator only begins."""
    begins_only = iscoroutinefunction(handed) or isgeneratorfunction(handed) or isasyncgenfunction(handed)
    return callable(handed) and not begins_only


def takes_so_many(function: Any, arguments: int) -> bool:
    """Whether a function can be called with so many arguments; of one that does not say it is assumed."""
    try:
        signature(function).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:
        pass
    return True


def _nothing_lacks(world: Any) -> str:
    return ""


def _draws_nothing(world: Any) -> Any:
    return None


def _remarks_nothing(seen: Any) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Recall:
    """A question about one fact of an earlier lesson, with its answer among some choices."""

    of: str
    asks: str
    choices: tuple[str, ...]
    answer: str
    says: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """A prediction: ``measure`` reads its outcome from the reader's lab, within ``near`` of which an answer is right.

    An answer is one of ``choices`` or, without any, a number between ``least`` and ``most``.  ``needs(world)`` says
    what is still to be done before it can be measured.  ``replies`` have for each wrong answer that a model leads to
    two sentences which name it, ``otherwise`` is for the rest.  ``why(world)`` explains; ``look`` says what to look at
    in what ``draw(world)`` draws.  The world is a lab, or what ``world`` names; with ``takes_runs`` a list of labs.
    """

    name: str
    asks: str
    measure: Act
    why: Act
    replies: Mapping[Any, str]
    otherwise: str
    choices: tuple[str, ...] = ()
    least: float = 0
    most: float = 1_000
    near: float = 0
    unit: str = ""
    needs: Callable[..., str] = _nothing_lacks
    look: str = ""
    draw: Act = _draws_nothing
    world: type = Lab
    takes_runs: bool = False


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One thing that an exercise asks for: judged of what was seen, with a sentence for what that was, and hints.

    ``for_its_sentence``: no trap needs it, as a later one refuses the same; it stands for its better sentence.
    """

    name: str
    holds: Callable[[Any], bool]
    says: Callable[[Any], str]
    asks: str
    hints: tuple[str, str, str]
    for_its_sentence: bool = False


@dataclass(frozen=True, kw_only=True)
class Trap:
    """A wrong answer that people give: what is done, or handed in, and the condition that refuses it."""

    name: str
    act: Act
    refused_by: str


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """A task with a start of its own, judged by conditions in order of what ``look`` saw in a branch.

    ``takes`` names what is handed in: the lab or vault of ``start`` first, where there is one.  ``look`` gets a branch
    of it and whatever else was handed in.  ``untouched`` says of what was handed in beside a lab, or without one,
    whether it is as delivered.  Without a start a function is handed in, or another thing that ``accepts`` lets pass
    and ``accepted`` names; ways and traps then make it, of the text ``begins_with`` where the exercise has one.
    ``arguments`` is how many a function is called with.  ``remark`` says of a right answer what else is good to know.
    """

    name: str
    title: str
    goal: str
    look: Act
    conditions: tuple[Condition, ...]
    ways: Mapping[str, Act]
    traps: tuple[Trap, ...]
    start: Callable[[], Any] | None = None
    takes: tuple[str, ...] = ("the lab",)
    untouched: Callable[..., bool] | None = None
    accepts: Callable[[Any], bool] = works_when_called
    accepted: str = FUNCTION
    begins_with: str = ""
    arguments: int = 1
    remark: Callable[[Any], str] = _remarks_nothing

    @property
    def is_made(self) -> bool:
        """Whether ways and traps make what is handed in, rather than being it."""
        return self.accepted != FUNCTION

    def handed_in(self, act: Act) -> tuple[Any, ...]:
        """Return what is handed in by one of the ways or traps: done in a start of its own, or handed in itself.

        Where more than the lab is handed in, an act returns all of it.
        """
        if self.start is None:
            return (act(self.begins_with) if self.begins_with else act() if self.is_made else act,)
        world = self.start()
        returned = act(world)
        return returned if len(self.takes) > 1 and isinstance(returned, tuple) else (world,)


@dataclass(frozen=True, kw_only=True)
class Minutes:
    """What the parts of a lesson take, in minutes, for whoever teaches it."""

    recall: int
    first: int
    changed: int
    exercises: tuple[int, ...]
    end: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.recall + self.first + self.changed + sum(self.exercises) + self.end


@dataclass(frozen=True, kw_only=True)
class LessonPlan:
    """A lesson: its number, its title, which is a question, and its parts; ``ask`` and ``cut`` are for who teaches."""

    number: str
    file: str
    title: str
    minutes: Minutes
    ask: str
    cut: str
    questions: tuple[Question, ...]
    exercises: tuple[Exercise, ...]
    recalls: tuple[Recall, ...] = ()
