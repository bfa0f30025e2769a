"""Claims: for each number of a lesson's texts, by what it is known to be right.

A claim stands in a table under a fragment of a text, and holds if every number of that fragment, in order, is what the
claim gives: digits and words alike.  What a claim gives is

- measured: shown by a run, of the lesson's notebook or of one of its exercises
- known: what the code of the service, the lab or the lesson has as a constant
- given: what stands in the notebook's code, where the reader sees it or changes it
- done: what a way of an exercise does, and that way is right (``test_tables``)
- listed: how many things the text itself lists beside the number
- answered: the answer that a text replies to
- an example: of the form of an answer, and not the answer itself
- imagined: a situation that a text only supposes, of which nothing can be measured
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

from labkit.lessons.catalogue import LESSONS, plan
from labkit.lessons.lesson_handle import SURE
from labkit.lessons.plan import Act
from labkit.places import notebooks
from tests.lessons.numbers.runs import Runs
from tests.lessons.numbers.texts import Text, numbers_in

DIGITS = re.compile(r"\d+(?:_\d{3})*(?:\.\d+)?")
MAX_IMAGINED = 20


@dataclass(frozen=True, kw_only=True)
class Claim:
    """By what a fragment's numbers are right: ``problem`` says what is wrong with them, or nothing."""

    problem: Callable[[str, list[Text], list[float], Runs], str]
    kind: str

    @property
    def needs_a_run(self) -> bool:
        """Whether something is played to find out."""
        return self.kind == "measured"


def measured(function: Callable[[Runs], Any]) -> Claim:
    """The numbers are what a function reads from runs, rounded as they are shown."""

    def problem(lesson: str, texts: list[Text], said: list[float], runs: Runs) -> str:
        return _other(said, function(runs))

    return Claim(problem=problem, kind="measured")


def known(function: Callable[[], Any]) -> Claim:
    """The numbers are those of constants."""

    def problem(lesson: str, texts: list[Text], said: list[float], runs: Runs) -> str:
        return _other(said, function())

    return Claim(problem=problem, kind="known")


def given(*snippets: str, times: float = 1, running: bool = False) -> Claim:
    """The numbers stand in pieces of the notebook's code, in another unit where they are so many times as large.

    With ``running`` they are running totals of what stands there.
    """

    def problem(lesson: str, texts: list[Text], said: list[float], runs: Runs) -> str:
        missing = [one for one in snippets if one not in code_of(lesson)]
        found = [times * value for snippet in snippets for value in _digits(snippet)]
        found = list(accumulate(found)) if running else found
        return f"not in the code: {missing}" if missing else _not_among(said, found)

    return Claim(problem=problem, kind="given")


def done(way: Act, *snippets: str, times: float = 1, running: bool = False) -> Claim:
    """The numbers stand in what a way does, which is right; in another unit or added up as what is ``given``."""

    def problem(lesson: str, texts: list[Text], said: list[float], runs: Runs) -> str:
        ways = [one for exercise in plan(lesson).exercises for one in exercise.ways.values()]
        if way not in ways:
            return f"{way} is no way of lesson {lesson}"
        code = inspect.getsource(way).replace(way.__doc__ or "", "")
        missing = [one for one in snippets if one not in code]
        found = [times * value for snippet in snippets for value in _digits(snippet)]
        found = list(accumulate(found)) if running else found
        return f"not in the way: {missing}" if missing else _not_among(said, found)

    return Claim(problem=problem, kind="done")


def listed(*things: str) -> Claim:
    """The one number is that of these things, all of which stand in the same text."""

    def problem(lesson: str, texts: list[Text], said: list[float], runs: Runs) -> str:
        whole = [text for text in texts if all(thing in text.text for thing in things)]
        return _other(said, len(things)) if whole == texts else f"does not list {things}"

    return Claim(problem=problem, kind="listed")


def answered() -> Claim:
    """The first number of the text is the answer that it replies to."""

    def problem(lesson: str, texts: list[Text], said: list[float], runs: Runs) -> str:
        for text in texts:
            keys = [
                answer
                for question in plan(lesson).questions
                for answer, reply in question.replies.items()
                if " ".join(reply.split()) == text.text
            ]
            if said[0] not in keys or numbers_in(text.text)[0].value != said[0]:
                return f"replies to {keys}"
        return ""

    return Claim(problem=problem, kind="answered")


def example(is_the_answer: Callable[[], bool]) -> Claim:
    """The numbers are those of an example, which must not be the answer."""

    def problem(lesson: str, texts: list[Text], said: list[float], runs: Runs) -> str:
        return "it is the answer" if is_the_answer() else ""

    return Claim(problem=problem, kind="example")


def imagined(why: str) -> Claim:
    """Nothing is said of any run or code: the text supposes it, or speaks of what the reader has."""
    assert len(why.split()) >= 4, "a reason is a sentence"
    return Claim(problem=lambda lesson, texts, said, runs: "", kind="imagined")


def everywhere(lesson: str) -> dict[str, Claim]:
    """Return what may stand in any lesson, and is right by the lesson's plan: minutes, places of exercises, lessons."""
    parts = plan(lesson)
    said = {
        f"about {parts.minutes.total} minutes": known(lambda: parts.minutes.total),
        "Three questions about earlier lessons": known(lambda: len(parts.recalls)),
        "`here.recall(1, ": given("here.recall(1, ...)"),
    }
    for place, _ in enumerate(parts.exercises, 1):
        said[f"exercise {place}"] = known(partial(int, place))
    if len(parts.exercises) > 2:
        said["the third exercise"] = known(lambda: 3)
    said |= {f"lesson {each}": known(partial(int, each)) for each in LESSONS}
    said["1 is a guess, 2 fairly sure, 3 certain"] = known(
        lambda: [SURE.index(one) + 1 for one in ("a guess", "fairly sure", "certain")]
    )
    return said


def code_of(lesson: str) -> str:
    """Return the code of a lesson's notebook."""
    cells = json.loads((notebooks() / plan(lesson).file).read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def seconds(duration: str) -> float:
    """Return a duration such as 200ms in seconds."""
    found = re.fullmatch(r"([\d.]+)(us|ms|s|m|h)", duration)
    assert found is not None, duration
    value, unit = found.groups()
    return round(float(value) * {"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3_600}[unit], 9)


def _digits(snippet: str) -> list[float]:
    return [float(one.replace("_", "")) for one in DIGITS.findall(snippet)]


def _other(said: list[float], found: Any) -> str:
    right = [float(one) for one in found] if isinstance(found, list | tuple) else [float(found)]
    return "" if said == right else f"says {said}, found {right}"


def _not_among(said: list[float], found: list[float]) -> str:
    near = [any(abs(one - other) < 1e-9 for other in found) for one in said]
    return "" if all(near) else f"says {said}, there stand {found}"
