"""Law: a function that says how many writes are on the line, compared with labs of other seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.attempts import is_blank
from labkit.lessons.distance.line import measured
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.said import raised

CASES = ((0.01, 0.08, 401), (0.005, 0.08, 402), (0.02, 0.16, 403), (0.01, 0.24, 404), (0.03, 0.08, 405))
NEAR = 1


class Expected(NamedTuple):
    """A case, what the lab has on its line, and what the function says, or the error that it raises."""

    gap_s: float
    one_way_s: float
    found: int
    said: Any
    error: str = ""

    @property
    def is_number(self) -> bool:
        """Whether the function said a number."""
        return isinstance(self.said, int | float) and not isinstance(self.said, bool)

    @property
    def is_near(self) -> bool:
        """Whether it is what the lab has, give or take one."""
        return self.is_number and abs(self.said - self.found) <= NEAR

    def __str__(self) -> str:
        answer = f"raises {self.error}" if self.error else f"says {self.said!r}"
        return (
            f"a write each {self.gap_s * 1000:g} ms over {self.one_way_s * 1000:g} ms: the lab had {self.found} on "
            f"the line, your function {answer}"
        )


def look(function: Callable[[float, float], Any]) -> tuple[Expected, ...]:
    """Ask the function for each case, and measure each in a lab."""
    return tuple([Expected(gap, way, measured(gap, way, seed), *_ask(function, gap, way)) for gap, way, seed in CASES])


def untouched(function: Callable[[float, float], Any]) -> bool:
    """Whether a function is blank, and says nothing."""
    return is_blank(function) and _ask(function, *CASES[0][:2]) == (None, "")


def _ask(function: Callable[[float, float], Any], gap_s: float, one_way_s: float) -> tuple[Any, str]:
    try:
        return function(gap_s, one_way_s), ""
    except Exception as error:  # the reader's own
        return None, raised(error)


def _first_wrong(seen: tuple[Expected, ...]) -> str:
    return str(next(one for one in seen if not one.is_near))


def _ratio(one: Expected, other: Expected) -> float:
    return float(one.said) / float(other.said) if other.said else 0.0


def by_formula(gap_s: float, one_way_s: float) -> float:
    """Multiply the rate by what one crossing takes."""
    return one_way_s / gap_s


def by_lab(gap_s: float, one_way_s: float) -> float:
    """Build a small lab over that distance, write at that rate, and read the lag."""
    lab = Lab.pair(seed=1)
    lab.replicate("paris", "tokyo")
    if one_way_s > 0.08:
        lab.slow("paris", "tokyo", factor=round(one_way_s / 0.08))
    for number in range(40):
        next_s = lab.now / 1e9 + gap_s
        lab["paris"].post(f"secret/data/orders/{number}", {"data": {}})
        lab.run(until=next_s)
    return lab.lag("paris", "tokyo").entries


def _table(gap_s: float, one_way_s: float) -> Any:
    known = {(0.005, 0.08): 16, (0.01, 0.08): 8, (0.05, 0.08): 1, (0.01, 0.16): 16, (0.01, 0.32): 32}
    return known[gap_s, one_way_s]


LAW = Exercise(
    name="law",
    title="The law of the line",
    goal="a function of the seconds between two writes and the seconds of one way, that says how many writes are on "
    "the line, give or take one.",
    look=look,
    takes=("a function of gap and distance",),
    arguments=2,
    untouched=untouched,
    conditions=(
        Condition(
            name="numbers",
            holds=lambda seen: all(one.is_number for one in seen),
            says=lambda seen: str(next(one for one in seen if not one.is_number)),
            asks="For every rate and distance it has to say a number.",
            hints=(
                "Call it with `expected(0.03, 0.08)`.",
                "A table knows only what was measured; a law knows the rest.",
                "return one number that is computed from both arguments",
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="rate",
            holds=lambda seen: _ratio(seen[1], seen[0]) > 1.5,
            says=lambda seen: f"for twice the rate your function says {seen[1].said} after {seen[0].said}",
            asks="Twice the rate has to put twice as much on the line.",
            hints=(
                "Call it for 10 ms and for 5 ms between two writes.",
                "What is on the line was written during one crossing.",
                "divide by `gap_s`",
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="distance",
            holds=lambda seen: _ratio(seen[3], seen[0]) > 1.5,
            says=lambda seen: f"for three times the distance your function says {seen[3].said} after {seen[0].said}",
            asks="A longer line has to hold more.",
            hints=(
                "Call it for 80 ms and for 240 ms one way.",
                "The line holds what was written while one message crosses.",
                "multiply by `one_way_s`",
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="the law",
            holds=lambda seen: all(one.is_near for one in seen),
            says=_first_wrong,
            asks="What it says has to be what labs of other seeds have on the line.",
            hints=(
                "Compare with a lab: `lab.lag('paris', 'tokyo').entries` while paris takes writes.",
                "Only one way counts: what comes back carries no write.",
                "`one_way_s / gap_s`",
            ),
        ),
    ),
    ways={"a formula": by_formula, "a small lab": by_lab},
    traps=(
        Trap(name="there and back", act=lambda gap_s, one_way_s: 2 * one_way_s / gap_s, refused_by="the law"),
        Trap(name="a constant", act=lambda gap_s, one_way_s: 8, refused_by="rate"),
        Trap(name="a table of what was measured", act=_table, refused_by="numbers"),
        Trap(name="without the rate", act=lambda gap_s, one_way_s: one_way_s * 100, refused_by="rate"),
        Trap(name="without the distance", act=lambda gap_s, one_way_s: 0.08 / gap_s, refused_by="distance"),
        Trap(name="seconds, not writes", act=lambda gap_s, one_way_s: one_way_s, refused_by="rate"),
        Trap(name="in milliseconds", act=lambda gap_s, one_way_s: 1000 * one_way_s / gap_s, refused_by="the law"),
    ),
)
