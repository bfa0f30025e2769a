"""Drill: a scenario file that passes with six seeds, and fails with each of three planted faults."""

from __future__ import annotations

from functools import cache
from textwrap import shorten
from typing import NamedTuple

from labkit.lessons.failing_drill.drills import (
    NO_EXPECTATIONS,
    PLANTED,
    loses_its_region,
    played,
    read,
    verdict,
    with_each_fault,
)
from labkit.lessons.plan import Act, Condition, Exercise, Trap
from labkit.scenario.scenario import Scenario

TRIED_SEEDS = range(1, 7)
"""With some of them a sound run loses a write, and with some it loses none."""
COPIES, CLIENTS, SURVIVOR = PLANTED
MAX_SHOWN = 200


class DrillSeen(NamedTuple):
    """What a text is as a drill: what is wrong with it, the first seed with which it fails, and why.

    ``failed`` is -1 where it passes with every seed; only then ``silent`` names the planted faults with which it passes
    too.
    """

    problem: str
    has_loss: bool
    failed: int
    reason: str
    silent: tuple[str, ...]


def look(text: str) -> DrillSeen:
    """Play a drill with each seed, and once with each planted fault."""
    return _seen(text)


@cache  # the same text is judged the same
def _seen(text: str) -> DrillSeen:
    try:
        drill = read(text)
    except ValueError as error:
        return DrillSeen(shorten(str(error).splitlines()[0], MAX_SHOWN), False, -1, "", tuple(PLANTED))
    failed, reason = _first_failure(drill)
    faulty = with_each_fault(drill) if failed < 0 else {}
    silent = tuple([name for name, lab in faulty.items() if verdict(lab).exit_code == 0])
    return DrillSeen("", loses_its_region(drill), failed, reason, silent)


def _first_failure(drill: Scenario) -> tuple[int, str]:
    """Return the first seed with which a drill fails and what is said then, or -1."""
    for seed in TRIED_SEEDS:
        judged = verdict(played(drill, seed))
        if judged.exit_code:
            row = judged.failures()[0]
            what = row.what.replace("of them lost", "writes lost")  # here no line about all of them stands before it
            return seed, f"{what}: expected {row.expected}, measured {row.measured}"
    return -1, ""


def by_expect(text: str) -> str:
    """Say what has to be so at the end, with a number for each thing that matters."""
    return f"""{text}
expect:
  primary: tokyo
  lost: {{at most: 2}}
  rto: {{at most: 3s}}
  acknowledged: {{at least: 55}}
"""


def by_check(text: str) -> str:
    """Look at it in a step of its own, while clients still write."""
    return f"""{text.rstrip()}
  - {{do: check, primary: tokyo, lost: {{at most: 2}}, rto: {{at most: 3s}}, at: 8500ms}}
"""


def over_time(text: str) -> str:
    """Say what holds always, and what comes in the end."""
    return f"""{text}
always:
  - {{lag: {{at most: 5}}, after: step 1}}
eventually:
  - {{acknowledged: {{at least: 55}}, within: 3s, after: step 3}}
"""


def _nothing_lost(text: str) -> str:
    return f"{text}\nexpect: {{primary: tokyo, lost: 0, rto: {{at most: 3s}}}}\n"


def _one_seed(text: str) -> str:
    return f"seed: 6\n{_nothing_lost(text)}"


def _expecting(expected: str) -> Act:
    return lambda text: f"{text}\nexpect: {{{expected}}}\n"


def _later(text: str) -> str:
    return by_expect(text.replace("target: paris, at: 5s", "target: paris, at: 5500ms"))


def _nobody_writes(text: str) -> str:
    return f"{text.replace('until: 9s', 'until: 3200ms')}\nexpect: {{primary: tokyo, lost: 0}}\n"


def _misspelt(text: str) -> str:
    return f"{text}\nexpects: {{primary: tokyo}}\n"


def _catches(name: str, says: str, asks: str, hints: tuple[str, str, str]) -> Condition:
    """Return the condition that a drill fails with a planted fault."""
    return Condition(
        name=name, holds=lambda seen: name not in seen.silent, says=lambda seen: says, asks=asks, hints=hints
    )


DRILL = Exercise(
    name="drill",
    title="Write it",
    goal=f"a drill in which paris is lost, that passes with each of {len(TRIED_SEEDS)} seeds, and fails when copies "
    "stop before the loss, when clients cannot reach tokyo, and when tokyo dies after its promotion.",
    look=look,
    takes=("the text of a scenario file",),
    accepts=lambda handed: isinstance(handed, str),
    accepted="the text of a scenario file",
    begins_with=NO_EXPECTATIONS,
    untouched=lambda text: text.split() == NO_EXPECTATIONS.split(),
    conditions=(
        Condition(
            name="readable",
            holds=lambda seen: not seen.problem,
            says=lambda seen: f"the text cannot be read: {seen.problem}",
            asks="It has to be a scenario file.",
            hints=(
                "Read the line and the column in what was seen.",
                "A key has its place: `expect` begins a line, a step has two spaces and a dash before it.",
                "`labkit help scenario` lists every key",
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="the loss",
            holds=lambda seen: seen.has_loss,
            says=lambda seen: "paris does not crash at 5 s any more, or tokyo is not promoted at 6 s",
            asks="The loss of paris at 5 s and the promotion of tokyo at 6 s have to stay.",
            hints=(
                "Compare your timeline with the one that you were given.",
                "What is drilled stays; what is expected of it is yours.",
                'add to `here.start("drill")`, and change none of its steps',
            ),
        ),
        Condition(
            name="sound",
            holds=lambda seen: seen.failed < 0,
            says=lambda seen: f"it fails with seed {seen.failed}: {seen.reason}",
            asks=f"Without a planted fault it has to pass with each of {len(TRIED_SEEDS)} seeds.",
            hints=(
                "Look at what is measured with the seed that fails.",
                "What was on the line is lost, now one write, now none: an expectation leaves room for luck.",
                "a range in place of a number, such as `lost: {at most: 2}`",
            ),
        ),
        _catches(
            COPIES,
            "nothing of paris reached tokyo for a second and a half before the loss, and the drill passed",
            "It has to fail when copies stop before the loss.",
            (
                "How many writes are lost then, and how many in a sound run?",
                "Who writes nothing loses nothing: there has to be load, and a limit for what may be lost.",
                "`lost` in `expect`, or `lag` in `always`, with `at most`",
            ),
        ),
        _catches(
            CLIENTS,
            "no client reached tokyo, and the drill passed",
            "It has to fail when clients cannot follow to tokyo.",
            (
                "What do clients get from tokyo in a sound run, and how soon?",
                "A promotion is done when somebody's write is acknowledged, not when the operator says so.",
                "`rto` with `at most`, or `acknowledged` with `at least`",
            ),
        ),
        _catches(
            SURVIVOR,
            "tokyo lost its power two seconds after its promotion, and the drill passed",
            "It has to fail when tokyo dies after its promotion.",
            (
                "What is tokyo at the end of a sound run?",
                "What was true once need not stay so: look late enough, or always.",
                "`primary: tokyo` at the end, or as many writes `acknowledged` as all of them",
            ),
        ),
    ),
    ways={"by what is expected": by_expect, "by a step that checks": by_check, "always and eventually": over_time},
    traps=(
        Trap(name="a key misspelt", act=_misspelt, refused_by="readable"),
        Trap(name="another loss", act=_later, refused_by="the loss"),
        Trap(name="nothing may be lost", act=_nothing_lost, refused_by="sound"),
        Trap(name="one seed with which it passes", act=_one_seed, refused_by="sound"),
        Trap(name="always fails", act=_expecting("acknowledged: {at least: 1000}"), refused_by="sound"),
        Trap(name="expects the fault", act=_expecting("lost: {at least: 3}"), refused_by="sound"),
        Trap(name="passes whatever comes", act=_expecting("acknowledged: {at least: 1}"), refused_by=COPIES),
        Trap(name="nobody writes", act=_nobody_writes, refused_by=COPIES),
        Trap(name="forgets what is lost", act=_expecting("primary: tokyo, rto: {at most: 3s}"), refused_by=COPIES),
        Trap(name="forgets the clients", act=_expecting("primary: tokyo, lost: {at most: 2}"), refused_by=CLIENTS),
        Trap(
            name="believes the promotion", act=_expecting("lost: {at most: 2}, rto: {at most: 3s}"), refused_by=SURVIVOR
        ),
    ),
)
