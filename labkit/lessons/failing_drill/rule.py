"""Rule: a rule of one's own for `lab.watch`, silent in twelve sound worlds, that speaks when tokyo falls behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from textwrap import shorten
from types import MappingProxyType
from typing import Any, NamedTuple

from labkit.front.lab import Lab
from labkit.lab.plan.blueprint import Blueprint, ClientPlan, ClusterPlan, LinkPlan, WorkloadPlan
from labkit.lab.snapshot import Snapshot
from labkit.lessons.attempts import is_blank
from labkit.lessons.plan import Condition, Exercise, Trap, works_when_called
from labkit.service.durations import MILLISECOND_NS

NAME, UNSAID = "tokyo keeps up", "the check said no"
WORLDS, SOUND_TIME, STEP, MORE = 12, "1s", "50ms", "30ms"
MAX_BEHIND, MAX_BEHIND_S = 20, 2
"""How far tokyo may be behind: so many writes, which at ten a second is so many seconds."""
PAIR = ("paris", "tokyo")
MAX_SHOWN = 200


class RuleSeen(NamedTuple):
    """In which sound world a rule spoke first, and what it said; in which planted ones it was silent."""

    problem: str
    world: str
    said: str
    silent: tuple[str, ...]


def _calm(lab: Lab) -> None:
    """Nothing happens but writes."""


def _index_is_damaged(lab: Lab) -> None:
    """A subpage of tokyo's index is damaged: that says nothing of how far behind it is."""
    lab.corrupt("tokyo", layer="subpage")


def _standby_dies(lab: Lab) -> None:
    """A node of tokyo that does not lead loses its power."""
    lab.crash("tokyo-2")


def _line_is_cut(lab: Lab) -> None:
    """The line is cut, and the world ends when tokyo is as far behind as it may be."""
    lab.partition(*PAIR)
    falls_behind(lab, MAX_BEHIND)


def falls_behind(lab: Lab, entries: int) -> None:
    """Let time pass until tokyo is so many writes behind; the next one is as far away as a step is long, or farther."""
    while lab.lag(*PAIR).entries < entries:
        lab.run(STEP)


LIMIT = "one in which tokyo is just twenty writes behind"
SOUND: Mapping[str, Callable[[Lab], Any]] = MappingProxyType(
    {
        "a calm one": _calm,
        "one with a damaged index": _index_is_damaged,
        "one whose standby dies": _standby_dies,
        LIMIT: _line_is_cut,
    }
)
"""What happens in worlds where tokyo keeps up, as in the last one just so; each comes three times, with other luck."""
PLANTED: Mapping[str, Callable[[Lab], Any]] = MappingProxyType(
    {
        "the line is cut": lambda lab: lab.partition(*PAIR),
        "the line is slow": lambda lab: lab.slow(*PAIR, factor=50),
        "tokyo is dark": lambda lab: lab.crash("tokyo"),
    }
)
"""What makes tokyo fall behind; a world ends when it is one write more behind than it may be."""
CUT, SLOW, DARK = PLANTED


@cache
def _kept() -> Snapshot:
    work = WorkloadPlan(operation="put-secret", every_ns=100 * MILLISECOND_NS)
    line = LinkPlan(between=PAIR, latency_ns=80 * MILLISECOND_NS, jitter_ns=40 * MILLISECOND_NS, distribution="uniform")
    blueprint = Blueprint(
        sites=PAIR,
        links=(line,),
        clusters=(ClusterPlan(name="paris", site="paris", nodes=1), ClusterPlan(name="tokyo", site="tokyo", nodes=2)),
        clients=(ClientPlan(name="shop", site="paris", use=("paris",), workload=(work,)),),
    )
    lab = Lab(blueprint, seed=92)
    lab.replicate(*PAIR)
    lab.run("500ms")
    return lab.snapshot()


def world(luck: int) -> Lab:
    """Return a pair in which a client writes ten times a second, with draws of its own."""
    return Lab.restore(_kept()).branch("rule", luck=luck)


def watched(rule: Any, name: str, luck: int) -> str:
    """Let what a name stands for happen in a world that a rule watches; return what the rule said first, or nothing."""
    lab = world(luck)
    lab.watch(NAME, rule)
    if name in PLANTED:
        PLANTED[name](lab)
        falls_behind(lab, MAX_BEHIND + 1)
        lab.run(MORE)
    else:
        SOUND[name](lab)
        lab.run("0s" if name == LIMIT else SOUND_TIME)
    spoken = lab.invariants.verdicts()[NAME]
    return (spoken.detail or "no").replace(UNSAID, "it was false, as when it is broken") if spoken else ""


def look(rule: Any) -> RuleSeen:
    """Let a rule watch twelve sound worlds, up to the first in which it speaks, and three where tokyo falls behind."""
    try:
        world(0).watch(NAME, rule)
    except ValueError as error:
        return RuleSeen(shorten(str(error), MAX_SHOWN), "", "", tuple(PLANTED))
    heard = [name for name in PLANTED if watched(rule, name, 0)]
    silent = tuple([name for name in PLANTED if name not in heard])
    for luck in range(WORLDS):
        name = list(SOUND)[luck % len(SOUND)]
        if said := watched(rule, name, luck):
            return RuleSeen("", name, said, silent)
    return RuleSeen("", "", "", silent)


def accepts(handed: Any) -> bool:
    """Whether something may be a rule."""
    return works_when_called(handed) or isinstance(handed, Mapping)


def untouched(rule: Any) -> bool:
    """Whether a rule says nothing yet: a blank function that returns None, or an empty condition."""
    if isinstance(rule, Mapping):
        return not rule
    return is_blank(rule) and rule(world(0)) is None


def as_a_condition() -> Any:
    """Write it as scenario files do: how many entries tokyo may be behind."""
    return {"lag": {"at most": 20}}


def as_a_function() -> Any:
    """Ask the lab itself, whenever something happens."""
    return lambda lab: lab.lag("paris", "tokyo").entries <= 20


def by_time() -> Any:
    """Ask for how long the oldest entry has been waiting."""

    def keeps_up(lab: Lab) -> str | bool:
        waiting = lab.lag("paris", "tokyo").seconds
        return waiting <= 2 or f"tokyo is {waiting:.1f} s behind"

    return keeps_up


def _function(rule: Callable[[Lab], Any]) -> Callable[[], Any]:
    return lambda: rule


def _writes(lab: Lab) -> bool:
    return bool(lab["paris"].post("secret/data/probe", {"data": {}}).ok)


def _waits(lab: Lab) -> bool:
    lab.run("1s")
    return not lab.lag(*PAIR).entries


def _is_dark(lab: Lab) -> bool:
    return not lab["tokyo"].active


def _catches(name: str, says: str, hints: tuple[str, str, str]) -> Condition:
    """Return the condition that a rule speaks in a planted world."""
    return Condition(
        name=name,
        holds=lambda seen: name not in seen.silent,
        says=lambda seen: says,
        asks=f"It has to speak when tokyo is more than {MAX_BEHIND} writes behind: at {MAX_BEHIND + 1}, not later.",
        hints=hints,
    )


RULE = Exercise(
    name="rule",
    title="A rule of your own",
    goal="a rule for `lab.watch`, a function of the lab or a condition of scenario files, that speaks when tokyo is "
    f"more than {MAX_BEHIND} writes behind, which take {MAX_BEHIND_S} s here, and is silent in {WORLDS} labs where it "
    "is not.",
    look=look,
    takes=("the rule",),
    accepts=accepts,
    accepted="a function of the lab, or a condition such as {'primary': 'paris'}",
    untouched=untouched,
    conditions=(
        Condition(
            name="a rule",
            holds=lambda seen: not seen.problem,
            says=lambda seen: f"it cannot be watched: {seen.problem}",
            asks="It has to be what `lab.watch` takes.",
            hints=(
                'Try it in a lab of your own: `lab.watch("mine", rule)`.',
                "A condition has the keys of `expect` in scenario files.",
                "`labkit help scenario` lists them; `lag` is one",
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="silent",
            holds=lambda seen: not seen.world,
            says=lambda seen: f"in {seen.world} it spoke: {seen.said}",
            asks=f"It has to be silent while tokyo is {MAX_BEHIND} writes behind or less, whatever else happens.",
            hints=(
                "Read what it said, and what had happened in that lab.",
                "A write is on its way for a while: roots differ then, and nothing is wrong. A rule looks only; it "
                "neither writes nor waits, as it is asked in the middle of what happens.",
                f'`lab.lag("paris", "tokyo")` has `entries` and `seconds`: {MAX_BEHIND} entries, or {MAX_BEHIND_S} s, '
                "are not too many yet",
            ),
        ),
        _catches(
            CUT,
            "the line was cut until tokyo was 21 writes behind, and it was silent",
            (
                'Let `lab.partition("paris", "tokyo")` happen in a lab of your own, and print the lag.',
                "What tokyo does not get, it does not know. paris knows what it has not handed over.",
                '`{"lag": {"at most": 20}}`, or `lab.lag("paris", "tokyo").entries <= 20`',
            ),
        ),
        _catches(
            SLOW,
            "the line was fifty times as slow until tokyo was 21 writes behind, and it was silent",
            (
                'Let `lab.slow("paris", "tokyo", factor=50)` happen in a lab of your own, and print the lag.',
                "A line that is slow is open, and nobody is down. What counts is what has arrived.",
                "look at how much is behind, not at lines, nodes or connections",
            ),
        ),
        _catches(
            DARK,
            "tokyo had no power until it was 21 writes behind, and it was silent",
            (
                'Let `lab.crash("tokyo")` happen in a lab of your own, and print the lag.',
                "Who is dark is behind, too.",
                "look at how much is behind, whoever is down",
            ),
        ),
    ),
    ways={"as a condition": as_a_condition, "as a function": as_a_function, "by time": by_time},
    traps=(
        Trap(name="an unknown key", act=lambda: {"behind": {"at most": 20}}, refused_by="a rule"),
        Trap(name="always silent", act=_function(lambda lab: True), refused_by=CUT),
        Trap(name="who is primary", act=lambda: {"primary": "paris"}, refused_by=CUT),
        Trap(name="never behind", act=lambda: {"lag": 0}, refused_by="silent"),
        Trap(name="one write too soon", act=lambda: {"lag": {"at most": MAX_BEHIND - 1}}, refused_by="silent"),
        Trap(name="less than twenty", act=_function(lambda lab: lab.lag(*PAIR).entries < 20), refused_by="silent"),
        Trap(name="one write too late", act=lambda: {"lag": {"at most": MAX_BEHIND + 1}}, refused_by=CUT),
        Trap(
            name="speaks at damage",
            act=_function(lambda lab: lab["paris"].root == lab["tokyo"].root),
            refused_by="silent",
        ),
        Trap(name="speaks at any fault", act=_function(lambda lab: not lab.trace.select("fault")), refused_by="silent"),
        Trap(name="changes the lab", act=_function(_writes), refused_by="silent"),
        Trap(name="lets time pass", act=_function(_waits), refused_by="silent"),
        Trap(
            name="looks at lines only",
            act=_function(lambda lab: not lab.trace.select("fault", verb="slow") and not _is_dark(lab)),
            refused_by=CUT,
        ),
        Trap(
            name="forgets slow lines",
            act=_function(lambda lab: lab.trace.select("fault", verb="slow") or lab.lag(*PAIR).entries <= 20),
            refused_by=SLOW,
        ),
        Trap(
            name="only while tokyo is up",
            act=_function(lambda lab: _is_dark(lab) or lab.lag(*PAIR).entries <= 20),
            refused_by=DARK,
        ),
    ),
)
