"""Three pages: let the pair differ in exactly three pages, so that a comparison finds these and no others."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from labkit.front.lab import Lab
from labkit.lab.plan.blueprint import pair
from labkit.lessons.damaged_tree.orders import ORDERS
from labkit.lessons.plan import Act, Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart
from labkit.trace import FaultEvent, ModeEvent, ObservedEvent

ENTRIES, PAGES, SETTLING = 8, 3, "20s"
POLICY = "sys/policies/acl"
CUTS = ("partition", "cut", "isolate", "heal")


class ThreePagesSeen(NamedTuple):
    """What happened since the start: other things than a cut line, pages that comparisons found, and the end.

    ``is_cut``: a line is cut in the end.
    """

    others: tuple[str, ...]
    compared: tuple[int, ...]
    is_cut: bool
    equal: bool


@KeptStart
def start() -> Lab:
    """Return a pair with six orders, whose primary remembers its last eight entries only."""
    blueprint = pair()
    clusters = tuple([replace(plan, backlog_entries=ENTRIES) for plan in blueprint.clusters])
    lab = Lab(replace(blueprint, clusters=clusters), seed=74)
    lab.replicate("paris", "tokyo")
    for number, path in enumerate(ORDERS, 1):
        lab["paris"].post(path, {"data": {"item": f"rope {number}"}})
    lab.run("5s")
    return lab


def look(branch: Lab) -> ThreePagesSeen:
    """Let the branch settle, and read what happened since the start."""
    begun = len(start().trace)
    branch.run(SETTLING)
    rows = list(islice(branch.trace, begun, None))
    others = [event.verb for event in rows if isinstance(event, FaultEvent) and event.verb not in CUTS]
    modes = [event.mode for event in rows if isinstance(event, ModeEvent) and event.mode != "secondary"]
    seen = [event for event in rows if isinstance(event, ObservedEvent)]
    stopped = [event.what for event in seen if event.what in ("replication_stopped", "reindex_started")]
    return ThreePagesSeen(
        others=(*others, *modes, *stopped),
        compared=tuple([dict(event.fields)["pages"] for event in seen if event.what == "merkle_diff"]),
        is_cut=bool(branch.queries.reach().cut),
        equal=("paris", "tokyo") in branch.queries.streaming_pairs() and branch["paris"].root == branch["tokyo"].root,
    )


def write_policies(lab: Lab, names: str, times: int) -> None:
    """Write policies, each so many times with other words."""
    for number in range(times):
        for name in names:
            rule = f'path "secret/data/{number}" {{ capabilities = ["read"] }}'
            lab["paris"].put(f"sys/policies/acl/{name}", {"policy": rule})


def three_policies(lab: Lab) -> None:
    """Write three policies, one value each, more often than paris remembers."""
    lab.partition("paris", "tokyo")
    write_policies(lab, "abc", 4)
    lab.run("2s")
    lab.heal()
    lab.run("10s")


def a_secret_and_a_policy(lab: Lab) -> None:
    """Write one new secret, which is two values, and one policy again and again."""
    lab.cut("paris", "tokyo")
    lab.run("5s")
    lab["paris"].post("secret/data/orders/7", {"data": {"item": "rope 7"}})
    write_policies(lab, "a", 10)
    lab.run("2s")
    lab.heal()
    lab.run("10s")


def _policies(names: str, times: int) -> Act:
    def act(lab: Lab) -> None:
        lab.partition("paris", "tokyo")
        write_policies(lab, names, times)
        lab.run("2s")
        lab.heal()
        lab.run("10s")

    return act


def _joined_again(lab: Lab) -> None:
    lab["tokyo"].disable()
    lab["tokyo"].enable_secondary("paris")
    lab.run("10s")


def _damaged(lab: Lab) -> None:
    three_policies(lab)
    lab.corrupt("tokyo", layer="page")


def _never_healed(lab: Lab) -> None:
    lab.partition("paris", "tokyo")
    write_policies(lab, "abc", 4)
    lab.run("10s")


def _cut_again(lab: Lab) -> None:
    three_policies(lab)
    lab.partition("paris", "tokyo")
    write_policies(lab, "d", 1)


def _at_the_secondary(lab: Lab) -> None:
    lab.partition("paris", "tokyo")
    for name in "abc":
        lab["tokyo"].put(f"{POLICY}/{name}", {"policy": ""})
    lab.heal()


THREE_PAGES = Exercise(
    name="three_pages",
    title="Exactly three pages",
    goal="paris and tokyo come to differ in exactly three pages by what is written, a comparison finds these three, "
    "and in the end the roots are equal again.",
    start=start,
    look=look,
    conditions=(
        Condition(
            name="a cut line only",
            holds=lambda seen: not seen.others,
            says=lambda seen: f"this happened too: {', '.join(seen.others)}",
            asks="Nothing but the line may fail, and tokyo stays a secondary: what differs is what was written.",
            hints=(
                '`lab.trace` keeps all that happened: `lab.trace.select("fault")` lists faults, '
                '`lab.trace.select("mode")` what a cluster became.',
                "Whoever joins again is compared as a whole. A line that is cut keeps both as they are.",
                '`lab.partition("paris", "tokyo")`, and later `lab.heal()`',
            ),
        ),
        Condition(
            name="compared",
            holds=lambda seen: seen.compared,
            says=lambda seen: (
                "tokyo compared nothing since the start: "
                + ("the line is still cut" if seen.is_cut else "what it missed was streamed")
            ),
            asks="tokyo has to compare pages with paris, not be streamed what it missed.",
            hints=(
                '`lab.trace.select("observed", what="merkle_diff")` lists the comparisons: is one after the start?',
                f"paris remembers its last {ENTRIES} entries. Who missed more than that has to compare.",
                f"more than {ENTRIES} writes while the line is cut, and `lab.heal()` after them",
            ),
        ),
        Condition(
            name="three",
            holds=lambda seen: all(pages == PAGES for pages in seen.compared),
            says=lambda seen: f"pages in which they differed: {', '.join(map(str, seen.compared))}",
            asks="The comparison has to find exactly three pages.",
            hints=(
                'Look at `lab["paris"].merkle("tokyo")` before you heal the line.',
                "The name of a stored value decides its page. A policy is one value; a secret is one for itself and "
                "one for each version.",
                f"`PUT {POLICY}/a`, b and c, each several times",
            ),
        ),
        Condition(
            name="equal again",
            holds=lambda seen: seen.equal,
            says=lambda seen: "tokyo does not stream from paris in the end, or their roots differ",
            asks="In the end tokyo has to follow paris with an equal root.",
            hints=(
                'Look at `lab["paris"].root` and `lab["tokyo"].root`.',
                "What was compared once can differ again.",
                "`lab.heal()` as your last step, and some seconds",
            ),
        ),
    ),
    ways={"three policies": three_policies, "a secret and a policy": a_secret_and_a_policy},
    traps=(
        Trap(name="two pages", act=_policies("ab", 6), refused_by="three"),
        Trap(name="four pages", act=_policies("abcd", 3), refused_by="three"),
        Trap(name="few writes, which are streamed", act=_policies("abc", 1), refused_by="compared"),
        Trap(name="never healed", act=_never_healed, refused_by="compared"),
        Trap(name="the wrong cluster", act=_at_the_secondary, refused_by="compared"),
        Trap(name="joined again", act=_joined_again, refused_by="a cut line only"),
        Trap(name="damage beside it", act=_damaged, refused_by="a cut line only"),
        Trap(name="cut again", act=_cut_again, refused_by="equal again"),
    ),
)
