"""Mend: an index damaged on one side and a value rotten on the other, each repaired where it is damaged."""

from __future__ import annotations

from typing import NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.damaged_tree.orders import (
    ORDERS,
    PAIR,
    is_sound,
    modes_said,
    pair_with_orders,
    unreadable,
    unreadable_said,
)
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart

SETTLING = "10s"


class MendSeen(NamedTuple):
    """What a branch showed once it had settled: modes, damaged indexes, and orders that do not open, per cluster."""

    modes: dict[str, str]
    damaged: tuple[str, ...]
    unreadable: dict[str, list[str]]


@KeptStart
def start() -> Lab:
    """Return a pair with a damaged page in paris, the primary, and a rotten value in tokyo."""
    lab = pair_with_orders(seed=72)
    lab.corrupt("paris", layer="page")
    lab.corrupt("tokyo", layer="storage")
    lab.run("1s")
    return lab


def look(branch: Lab) -> MendSeen:
    """Let the branch settle, check both trees, and read every order in both."""
    branch.run(SETTLING)
    modes = {name: branch[name].mode for name in PAIR}
    closed = unreadable(branch)
    return MendSeen(modes, tuple([name for name in PAIR if not is_sound(branch[name])]), closed)


def primary_first(lab: Lab) -> None:
    """Reindex the primary, whose store is sound, and then the secondary."""
    lab["paris"].reindex()
    lab.run("5s")
    lab["tokyo"].reindex()
    lab.run("5s")


def by_requests(lab: Lab) -> None:
    """Ask tokyo first, with an operation token, then paris; both work in the background."""
    token = {"dr_operation_token": lab["tokyo"].operation_token()}
    lab["tokyo"].post("sys/replication/dr/secondary/reindex", token, token="")
    lab["paris"].post("sys/replication/reindex")
    lab.run("20s")


def join_again(lab: Lab) -> None:
    """Let the secondary, which has nothing of its own to lose, begin again from a copy; reindex the primary."""
    lab["paris"].reindex()
    lab["tokyo"].disable()
    lab["tokyo"].enable_secondary("paris")
    lab.run("10s")


def _passed_on(lab: Lab) -> None:
    lab.failover("paris", "tokyo")
    lab["tokyo"].reindex()
    lab.run("5s")
    lab["paris"].reindex()
    lab.run("5s")


def _written_again(lab: Lab) -> None:
    lab["paris"].reindex()
    for path in ORDERS:
        lab["paris"].post(path, {"data": {"item": "rope"}})
    lab.run("5s")


def _left_replication(lab: Lab) -> None:
    primary_first(lab)
    lab["tokyo"].disable()


def _folded(lab: Lab) -> None:
    lab["tokyo"].reindex()
    lab["paris"].post("secret/data/other", {"data": {"n": 1}})
    lab.run("5s")


MEND = Exercise(
    name="mend",
    title="Mend the right side",
    goal="Merkle checks of both clusters report no damage, every order opens in both as it was written, and one still "
    "follows the other.",
    start=start,
    look=look,
    conditions=(
        Condition(
            name="follows",
            holds=lambda seen: sorted(seen.modes.values()) == ["primary", "secondary"],
            says=lambda seen: modes_said(seen.modes),
            asks="One cluster has to follow the other in the end.",
            hints=(
                "Look at both clusters in `lab.map()`.",
                "What has left replication is compared with nothing any more.",
                'leave `lab["tokyo"].disable()` out, or let it join again',
            ),
        ),
        Condition(
            name="sound index",
            holds=lambda seen: not seen.damaged,
            says=lambda seen: f"a Merkle check still reports damage in {' and '.join(seen.damaged)}",
            asks="A Merkle check of either cluster has to report no damage.",
            hints=(
                "Look at the report of each cluster: which one is damaged?",
                "An index is made again from the store beside it. That of the other side does not help.",
                '`lab["paris"].reindex()`',
            ),
        ),
        Condition(
            name="opens",
            holds=lambda seen: not any(seen.unreadable.values()),
            says=lambda seen: unreadable_said(seen.unreadable),
            asks="Every order has to open in both clusters, with what was written at first.",
            hints=(
                "Take a branch, disable tokyo in it, and read every order there.",
                "Of rot in a store no check says a word. A secondary that is reindexed sees that it differs, and "
                "fetches.",
                '`lab["tokyo"].reindex()`, while paris is its primary',
            ),
        ),
    ),
    ways={"the primary first": primary_first, "by requests": by_requests, "join again": join_again},
    traps=(
        Trap(name="the primary only", act=lambda lab: lab["paris"].reindex(), refused_by="opens"),
        Trap(name="the secondary only", act=lambda lab: lab["tokyo"].reindex(), refused_by="sound index"),
        Trap(name="the wrong cluster", act=lambda lab: lab["tokyo"].reindex(diff=True), refused_by="sound index"),
        Trap(name="a write that folds", act=_folded, refused_by="sound index"),
        Trap(name="the rot passed on", act=_passed_on, refused_by="opens"),
        Trap(name="written again over it", act=_written_again, refused_by="opens"),
        Trap(name="left replication", act=_left_replication, refused_by="follows"),
    ),
)
