"""Fence: stop the old primary before the new one is promoted."""

from __future__ import annotations

from typing import NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.two_primaries.split import PAIR, answer_to_write, modes, pair_with_orders
from labkit.lessons.worlds import KeptStart, mode_said, stalled
from labkit.service.durations import SECOND_NS
from labkit.trace import InvariantEvent

LATER, LEADER = "60s", "paris-1"


class FenceSeen(NamedTuple):
    """What a branch showed: answers to writes now and a minute later, modes, and when two took writes.

    ``own_s`` is when the reader wrote to paris while tokyo was a primary, ``leader`` the node that leads paris later.
    """

    answers: dict[str, tuple[str, str]]
    modes: dict[str, str]
    broken: list[InvariantEvent]
    broken_later: list[InvariantEvent]
    own_s: float
    leader: str

    @property
    def two_said(self) -> str:
        """When both took writes, and whose they were where only the reader's own did; empty where they never did."""
        if self.broken:
            return f"both took writes at {self.broken[0].at_ns / SECOND_NS:.2f} s"
        if self.own_s:
            return f"paris took a write of yours at {self.own_s:.2f} s, when tokyo was a primary"
        return ""

    @property
    def led_said(self) -> str:
        """Say which other node leads paris now, if one does."""
        if self.leader in ("", LEADER):
            return ""
        return f": {self.leader} leads it now, since what stops {LEADER} stops that node only"


@KeptStart
def start() -> Lab:
    """Return a pair with three orders, whose line is cut."""
    lab = pair_with_orders(seed=61)
    lab.partition("paris", "tokyo")
    return lab


def look(branch: Lab) -> FenceSeen:
    """Ask both clusters for a write, now and a minute later, when whatever was stalled is awake."""
    now, at_ns, own_s = modes(branch), branch.now, own_write_s(branch)
    first = {name: answer_to_write(branch, name) for name in PAIR}
    for node in stalled(branch):
        branch.resume(node)
    branch.run(LATER)
    answers = {name: (first[name], answer_to_write(branch, name)) for name in PAIR}
    broken = branch.trace.select("invariant", name="one primary")
    return FenceSeen(
        answers=answers,
        modes=now,
        broken=[row for row in broken if row.at_ns <= at_ns],
        broken_later=[row for row in broken if row.at_ns > at_ns],
        own_s=own_s,
        leader=branch["paris"].active,
    )


def own_write_s(lab: Lab) -> float:
    """Return when paris first took a write while tokyo was a primary, in seconds; 0 where it never did.

    The lab's own rule asks what clients reach: it does not count a write from beside a cluster that is cut off.
    """
    changes = [(event.at_ns, event.mode == "primary") for event in lab.trace.select("mode", cluster="tokyo")]
    for write in lab.ledger.writes:
        is_order = write.committed.cluster == "paris" and write.committed.version
        if is_order and [is_primary for at_ns, is_primary in changes if at_ns <= write.at_ns][-1:] == [True]:
            return write.at_ns / SECOND_NS
    return 0


def demote_first(lab: Lab) -> None:
    """Ask the old primary to step down: its own side of the line still hears you."""
    lab["paris"].demote()
    lab["tokyo"].promote()


def switch_it_off(lab: Lab) -> None:
    """Power off every node of the old primary."""
    lab.crash("paris")
    lab["tokyo"].promote()


def cut_it_off(lab: Lab) -> None:
    """Cut the old primary off from everybody: what no client reaches takes no client's write."""
    lab.isolate("paris")
    lab["tokyo"].promote()


def heal_and_switch(lab: Lab) -> None:
    """Mend the line first, and switch as planned."""
    lab.heal()
    lab.run("5s")
    lab.failover("paris", "tokyo")


def seal_every_leader(lab: Lab) -> None:
    """Seal the leader, and each standby that takes over from it."""
    for _ in lab["paris"].nodes:
        lab["paris"].seal()
        lab.run("15s")
    lab["tokyo"].promote()


def _put_to_sleep(lab: Lab) -> None:
    for node in lab["paris"].nodes:
        lab.pause(node)
    lab["tokyo"].promote()


def _written_past_the_fence(lab: Lab) -> None:
    lab.isolate("paris")
    lab["tokyo"].promote()
    lab["paris"].post("secret/data/orders/4", {"data": {"item": "rope 4"}})


def remark(seen: FenceSeen) -> str:
    """Say of a cluster that only an operator reaches that this counts as fenced, and how long."""
    if seen.answers["paris"] != ("silence", "silence") or seen.modes["paris"] != "primary":
        return ""
    return "No client reaches paris; only you do, from beside it. It is a primary still: demote it before you heal."


FENCE = Exercise(
    name="fence",
    title="Fence, then promote",
    goal="tokyo takes writes as the primary, and at no instant did both clusters take them.",
    start=start,
    look=look,
    remark=remark,
    conditions=(
        Condition(
            name="survivor",
            holds=lambda seen: seen.answers["tokyo"] == ("200", "200"),
            says=lambda seen: f"a write to tokyo answers {seen.answers['tokyo'][0]}",
            asks="tokyo has to take writes.",
            hints=(
                "Look at tokyo in `lab.map()`: what is it?",
                "A secondary refuses writes until it is promoted.",
                '`lab["tokyo"].promote()`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="never two",
            holds=lambda seen: not seen.two_said,
            says=lambda seen: seen.two_said,
            asks="At no instant may both take writes, however short.",
            hints=(
                "Look in `lab.timeline()` at what paris was when tokyo was promoted.",
                "Only you can tell paris to stop: the order of your two requests decides.",
                '`lab["paris"].demote()`, before the promotion',
            ),
        ),
        Condition(
            name="stays stopped",
            holds=lambda seen: not seen.broken_later and "200" not in seen.answers["paris"],
            says=lambda seen: (
                f"asked for a write now and a minute later, paris answers {' and '.join(seen.answers['paris'])}"
                + seen.led_said
            ),
            asks="paris must not take writes again by itself: not through a standby, not when it wakes, and not "
            "outside of replication.",
            hints=(
                'Ask paris for a write, now and after `lab.run("60s")`.',
                "What stops one node does not stop its cluster, what sleeps wakes, and what ends replication does not "
                "end service.",
                '`lab["paris"].demote()` leaves a secondary, `lab.crash("paris")` nothing at all',
            ),
        ),
        Condition(
            name="is a primary",
            holds=lambda seen: seen.modes["tokyo"] == "primary",
            says=lambda seen: f"tokyo is {mode_said(seen.modes['tokyo'])}",
            asks="tokyo has to be a primary, so that another cluster can follow it.",
            hints=(
                "Look at tokyo's mode in `lab.map()`.",
                "A cluster out of replication takes writes too, and nothing can follow it.",
                "`promote()` makes a primary, `disable()` does not",
            ),
        ),
    ),
    ways={
        "ask it to step down": demote_first,
        "switch it off": switch_it_off,
        "cut it off": cut_it_off,
        "heal, then a planned switch": heal_and_switch,
        "seal one leader after another": seal_every_leader,
    },
    traps=(
        Trap(name="promote only", act=lambda lab: lab["tokyo"].promote(), refused_by="never two"),
        Trap(
            name="promote, then demote",
            act=lambda lab: (lab["tokyo"].promote(), lab["paris"].demote()),
            refused_by="never two",
        ),
        Trap(
            name="promote, then switch off",
            act=lambda lab: (lab["tokyo"].promote(), lab.crash("paris")),
            refused_by="never two",
        ),
        Trap(name="written to past the fence", act=_written_past_the_fence, refused_by="never two"),
        Trap(name="switch off, promote nothing", act=lambda lab: lab.crash("paris"), refused_by="survivor"),
        Trap(name="wait and heal", act=lambda lab: (lab.run("20s"), lab.heal()), refused_by="survivor"),
        Trap(
            name="demote both",
            act=lambda lab: (lab["paris"].demote(), lab["tokyo"].promote(), lab["tokyo"].demote()),
            refused_by="survivor",
        ),
        Trap(
            name="promote, then lose it",
            act=lambda lab: (lab["paris"].demote(), lab["tokyo"].promote(), lab.crash("tokyo")),
            refused_by="survivor",
        ),
        Trap(
            name="seal one leader",
            act=lambda lab: (lab["paris"].seal(), lab["tokyo"].promote()),
            refused_by="stays stopped",
        ),
        Trap(
            name="switch off one node",
            act=lambda lab: (lab.crash("paris-1"), lab["tokyo"].promote()),
            refused_by="stays stopped",
        ),
        Trap(name="put it to sleep", act=_put_to_sleep, refused_by="stays stopped"),
        Trap(
            name="take it out of replication",
            act=lambda lab: (lab["paris"].disable(), lab["tokyo"].promote()),
            refused_by="stays stopped",
        ),
        Trap(
            name="the survivor out of replication",
            act=lambda lab: (lab.heal(), lab.run("5s"), lab["paris"].demote(), lab["tokyo"].disable()),
            refused_by="is a primary",
        ),
        Trap(name="the wrong cluster", act=lambda lab: lab["paris"].demote(), refused_by="survivor"),
    ),
)
