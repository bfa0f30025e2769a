"""Sixth: one more order, which is to survive the loss of its region."""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.tour.questions import ORDERS, PATH
from labkit.lessons.worlds import KeptStart, stalled
from labkit.trace import SECOND_NS

SIXTH = f"{PATH}/6"
ORDER = {"data": {"item": "lantern"}}
TAKEOVER = "15s"
LATER = f" {TAKEOVER} later, without anything else being done"


class SixthSeen(NamedTuple):
    """Who acknowledged the sixth order, how long after that paris was lost, what tokyo is, and what it has.

    ``leads`` is a node that leads paris at the end, or some seconds later when whatever sleeps is awake; empty when the
    region is lost.
    ``deleted``: the last that was asked for was to delete it.  ``contents`` is what a read gives; None for nothing.
    ``leads_later``: no node of paris leads as it was handed in, and one does some seconds later.
    """

    written_at: str
    deleted: bool
    leads: str
    waited_s: float
    mode: str
    contents: Any
    leads_later: bool = False


@KeptStart
def start() -> Lab:
    """Return a pair that has five orders on both sides."""
    lab = Lab.pair(seed=8)
    lab.replicate("paris", "tokyo")
    for number in range(1, ORDERS + 1):
        lab["paris"].post(f"{PATH}/{number}", {"data": {"item": "rope"}})
    lab.run("5s")
    return lab


def look(branch: Lab) -> SixthSeen:
    """Read the sixth order from tokyo, which is promoted for that where it is not yet."""
    writes = [write for write in branch.ledger.writes if write.path == SIXTH]
    crashes = branch.trace.select("fault", verb="crash")
    waited_s = (crashes[-1].at_ns - writes[-1].at_ns) / SECOND_NS if writes and crashes else 0.0
    leads, mode = branch["paris"].active, branch["tokyo"].mode
    if mode == "secondary":
        branch["tokyo"].promote()
    read = branch["tokyo"].get(SIXTH) if branch["tokyo"].active else None
    contents = read.data["data"] if read is not None and read.ok else None
    waits = not leads
    if waits:
        for node in stalled(branch):
            branch.resume(node)
        branch.run(TAKEOVER)
        leads = branch["paris"].active
    last = writes[-1].committed if writes else None
    deleted = last is not None and last.method == "DELETE"
    return SixthSeen(last.cluster if last else "", deleted, leads, waited_s, mode, contents, waits and leads != "")


def remark(seen: SixthSeen) -> str:
    """Say of a write at the survivor that there are others, which let an order survive a disaster."""
    if seen.written_at != "tokyo":
        return ""
    return "Written at tokyo, it met no disaster. One that is written in paris can survive the loss, too."


def wait_before(lab: Lab) -> None:
    """Give the order a second to arrive."""
    lab["paris"].post("secret/data/orders/6", {"data": {"item": "lantern"}})
    lab.run("1s")
    lab.crash("paris")
    lab["tokyo"].promote()


def wait_until_level(lab: Lab) -> None:
    """Wait until tokyo is not behind any more."""
    lab["paris"].post("secret/data/orders/6", {"data": {"item": "lantern"}})
    lab.run(until=lambda lab: lab.lag("paris", "tokyo").entries == 0)
    lab.crash("paris")
    lab["tokyo"].promote()


def switch_first(lab: Lab) -> None:
    """Switch as planned, which waits for what is on its way."""
    lab["paris"].post("secret/data/orders/6", {"data": {"item": "lantern"}})
    lab.failover("paris", "tokyo")
    lab.crash("paris")


def write_at_the_survivor(lab: Lab) -> None:
    """Let paris go first, and write to the cluster that is left."""
    lab.crash("paris")
    lab["tokyo"].promote()
    lab["tokyo"].post("secret/data/orders/6", {"data": {"item": "lantern"}})


def _lose(lab: Lab) -> None:
    lab.crash("paris")
    lab["tokyo"].promote()


def _at_once(lab: Lab) -> None:
    lab["paris"].post(SIXTH, ORDER)
    _lose(lab)


def _twice(lab: Lab) -> None:
    lab["paris"].post(SIXTH, ORDER)
    lab["paris"].post(SIXTH, ORDER)
    _lose(lab)


def _at_a_secondary(lab: Lab) -> None:
    lab["tokyo"].post(SIXTH, ORDER)
    _lose(lab)


def _healed(lab: Lab) -> None:
    lab["paris"].post(SIXTH, ORDER)
    lab.heal()
    _lose(lab)


def _time_afterwards(lab: Lab) -> None:
    lab["paris"].post(SIXTH, ORDER)
    lab.crash("paris")
    lab.run("1m")
    lab["tokyo"].promote()


def _nothing_lost(lab: Lab) -> None:
    lab["paris"].post(SIXTH, ORDER)
    lab.failover("paris", "tokyo")


def _nothing_promoted(lab: Lab) -> None:
    lab["paris"].post(SIXTH, ORDER)
    lab.run("1s")
    lab.crash("paris")


def _other_region(lab: Lab) -> None:
    lab["paris"].post(SIXTH, ORDER)
    lab.run("1s")
    lab.crash("tokyo")


def _one_node(lab: Lab) -> None:
    lab["paris"].post(SIXTH, ORDER)
    lab.run("1s")
    lab.crash("paris-1")
    lab["tokyo"].promote()


def _put_to_sleep(lab: Lab) -> None:
    lab["paris"].post(SIXTH, ORDER)
    lab.run("1s")
    for node in lab["paris"].nodes:
        lab.pause(node)
    lab["tokyo"].promote()


def _without_data(lab: Lab) -> None:
    lab["paris"].post(SIXTH, ORDER["data"])
    lab.run("1s")
    _lose(lab)


def _empty(lab: Lab) -> None:
    lab["paris"].post(SIXTH, {"data": {}})
    lab.run("1s")
    _lose(lab)


def _barely_too_short(lab: Lab) -> None:
    lab["paris"].post(SIXTH, ORDER)
    lab.run("80ms")
    _lose(lab)


def _deleted_again(lab: Lab) -> None:
    wait_before(lab)
    lab["tokyo"].delete(SIXTH)


def _what_became_of_it(seen: SixthSeen) -> str:
    if seen.deleted:
        return "orders/6 is deleted again"
    waited = f"; paris acknowledged it {seen.waited_s * 1000:.1f} ms before the loss" if seen.waited_s > 0 else ""
    return f"tokyo does not have orders/6{waited}"


SAVE_THE_SIXTH = Exercise(
    name="sixth",
    title="Save the sixth",
    goal="paris is lost, tokyo is the primary, and orders/6 can be read there.",
    start=start,
    look=look,
    remark=remark,
    conditions=(
        Condition(
            name="written",
            holds=lambda seen: seen.written_at != "",
            says=lambda seen: "no cluster has acknowledged orders/6",
            asks="The sixth order has to be written, and acknowledged.",
            hints=(
                "Look at what the write answers: its `.status` and `.errors`.",
                "A body holds the texts of a secret below `data`, and a secondary refuses clients.",
                '`lab["paris"].post("secret/data/orders/6", {"data": {"item": "rope"}})`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="lost",
            holds=lambda seen: not seen.leads,
            says=lambda seen: f"{seen.leads} leads paris{LATER if seen.leads_later else ''}",
            asks="The region paris has to be lost, with all of its nodes.",
            hints=(
                'Look at paris in `lab.map()`, now and after `lab.run("15s")`.',
                "A planned switch leaves paris alive; and when one node is lost, another one leads.",
                '`lab.crash("paris")`',
            ),
        ),
        Condition(
            name="promoted",
            holds=lambda seen: seen.mode == "primary",
            says=lambda seen: f"tokyo is {seen.mode}",
            asks="tokyo has to be the primary, so that somebody serves.",
            hints=(
                "Look at tokyo in `lab.map()`.",
                "A secondary refuses clients, whoever else is gone.",
                '`lab["tokyo"].promote()`',
            ),
        ),
        Condition(
            name="held",
            holds=lambda seen: seen.contents is not None,
            says=_what_became_of_it,
            asks="tokyo has to hold orders/6.",
            hints=(
                "How much time passes between your write and the loss?",
                "An order needs a little more than 80 ms to tokyo; until then paris is the only place that has it.",
                '`lab.run("1s")` before the loss, or `lab.failover(...)`, or a write at the survivor',
            ),
        ),
        Condition(
            name="whole",
            holds=lambda seen: seen.contents != {},
            says=lambda seen: "orders/6 can be read, and holds nothing",
            asks="The order has to say what is ordered.",
            hints=(
                'Look at `lab["tokyo"].get("secret/data/orders/6").data["data"]`.',
                "What stands below `data` in the body is what is kept.",
                '`{"data": {"item": "rope"}}`',
            ),
        ),
    ),
    ways={
        "wait before the loss": wait_before,
        "wait until tokyo is level": wait_until_level,
        "a planned switch first": switch_first,
        "write at the survivor": write_at_the_survivor,
    },
    traps=(
        Trap(name="write, and lose at once", act=_at_once, refused_by="held"),
        Trap(name="write twice", act=_twice, refused_by="held"),
        Trap(name="barely too short", act=_barely_too_short, refused_by="held"),
        Trap(name="write at a secondary", act=_at_a_secondary, refused_by="written"),
        Trap(name="without data", act=_without_data, refused_by="written"),
        Trap(name="deleted again", act=_deleted_again, refused_by="held"),
        Trap(name="nothing in it", act=_empty, refused_by="whole"),
        Trap(name="heal what was not cut", act=_healed, refused_by="held"),
        Trap(name="time after the loss", act=_time_afterwards, refused_by="held"),
        Trap(name="nothing lost", act=_nothing_lost, refused_by="lost"),
        Trap(name="one node lost", act=_one_node, refused_by="lost"),
        Trap(name="put to sleep", act=_put_to_sleep, refused_by="lost"),
        Trap(name="nothing promoted", act=_nothing_promoted, refused_by="promoted"),
        Trap(name="the wrong cluster", act=_other_region, refused_by="lost"),
    ),
)
