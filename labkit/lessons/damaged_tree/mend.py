"""Mend: a damaged index at the secondary and a rotten value at the primary, which is mended as a secondary only."""

from __future__ import annotations

from typing import NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.damaged_tree.orders import (
    ORDERS,
    PAIR,
    gone_said,
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
    """What a branch showed once it had settled: modes, damaged indexes, and orders that do not open, per cluster.

    ``rewritten``: an order was written again.
    """

    modes: dict[str, str]
    damaged: tuple[str, ...]
    unreadable: dict[str, list[str]]
    rewritten: bool


@KeptStart
def start() -> Lab:
    """Return a pair with a rotten value in paris, the primary, and a damaged page in tokyo."""
    lab = pair_with_orders(seed=72)
    lab.corrupt("tokyo", layer="page")
    lab.corrupt("paris", layer="storage")
    lab.run("1s")
    return lab


def look(branch: Lab) -> MendSeen:
    """Let the branch settle, check both trees, and read every order in both."""
    branch.run(SETTLING)
    modes = {name: branch[name].mode for name in PAIR}
    closed = unreadable(branch)
    written = sum(write.path in ORDERS for write in branch.ledger.writes)
    damaged = tuple([name for name in PAIR if not is_sound(branch[name])])
    return MendSeen(modes, damaged, closed, written > len(ORDERS))


def _closed_said(seen: MendSeen) -> str:
    """Say which orders do not open, and that what was written again is another version of them."""
    again = "; what you wrote again is version 2, and stands beside it" if seen.rewritten else ""
    return unreadable_said(seen.unreadable) + again + gone_said(seen.unreadable)


def remark(seen: MendSeen) -> str:
    """Say which side was mended by what."""
    return (
        "Each side needed something else. A damaged page is made again from the store beside it. A rotten value needs "
        "the good copy, and only a secondary fetches: so paris had to follow tokyo first."
    )


def move_first(lab: Lab) -> None:
    """Let tokyo, which has the good copy, be the primary; then make both indexes again, each from its store."""
    lab.failover("paris", "tokyo")
    lab["tokyo"].reindex()
    lab.run("5s")
    lab["paris"].reindex()
    lab.run("5s")


def by_requests(lab: Lab) -> None:
    """Mend the page where it is, with an operation token; then step by step let paris follow, and reindex it."""
    token = {"dr_operation_token": lab["tokyo"].operation_token()}
    lab["tokyo"].post("sys/replication/dr/secondary/reindex", token, token="")
    lab.run("5s")
    lab["paris"].post("sys/replication/dr/primary/demote")
    lab.run("1s")
    lab["tokyo"].promote()
    lab["paris"].repoint("tokyo")
    lab["paris"].reindex()
    lab.run("5s")


def join_again(lab: Lab) -> None:
    """Let paris step down, and begin again as a copy of tokyo: what is wiped is rotten, or held by tokyo too."""
    lab["paris"].demote()
    lab.run("1s")
    lab["tokyo"].promote()
    lab["paris"].disable()
    lab["paris"].enable_secondary("tokyo")
    lab.run("10s")
    lab["tokyo"].reindex()


def _both_blindly(lab: Lab) -> None:
    lab["tokyo"].reindex()
    lab["paris"].reindex()


def _value_only(lab: Lab) -> None:
    lab.failover("paris", "tokyo")
    lab["paris"].reindex()
    lab.run("5s")


def _written_again(lab: Lab) -> None:
    lab["tokyo"].reindex()
    for path in ORDERS:
        lab["paris"].post(path, {"data": {"item": "rope"}})
    lab.run("5s")


def _left_replication(lab: Lab) -> None:
    move_first(lab)
    lab["paris"].disable()


def _folded(lab: Lab) -> None:
    _value_only(lab)
    lab["tokyo"].post("secret/data/other", {"data": {"n": 1}})
    lab.run("5s")


MEND = Exercise(
    name="mend",
    title="Mend the right side",
    goal="Merkle checks of both clusters report no damage, version 1 of every order opens in both as it was written, "
    "and one still follows the other.",
    start=start,
    look=look,
    remark=remark,
    conditions=(
        Condition(
            name="follows",
            holds=lambda seen: sorted(seen.modes.values()) == ["primary", "secondary"],
            says=lambda seen: modes_said(seen.modes),
            asks="One cluster has to follow the other in the end.",
            hints=(
                "Look at both clusters in `lab.map()`.",
                "What has left replication is compared with nothing any more.",
                "leave `disable()` out, or let that cluster join again",
            ),
        ),
        Condition(
            name="sound index",
            holds=lambda seen: not seen.damaged,
            says=lambda seen: (
                f"a Merkle check still reports damage in {' and '.join(seen.damaged)}{gone_said(seen.unreadable)}"
            ),
            asks="A Merkle check of either cluster has to report no damage.",
            hints=(
                "Look at the report of each cluster: which one is damaged?",
                "An index is made again from the store beside it. That of the other side does not help.",
                '`lab["tokyo"].reindex()`',
            ),
        ),
        Condition(
            name="opens",
            holds=lambda seen: not any(seen.unreadable.values()),
            says=_closed_said,
            asks="Every order has to open in both clusters, as its version 1, with what was written at first.",
            hints=(
                "Read every order from paris; then take a branch, call `disable()` of its tokyo, and read them there.",
                "Of rot in a store no check says a word. Whoever is reindexed as a primary makes the rot the truth; as "
                "a secondary it sees that it differs, and fetches.",
                '`lab.failover("paris", "tokyo")`, and only then `lab["paris"].reindex()`',
            ),
        ),
    ),
    ways={"move the primary first": move_first, "by requests": by_requests, "join again": join_again},
    traps=(
        Trap(name="both blindly", act=_both_blindly, refused_by="opens"),
        Trap(name="the wrong cluster", act=lambda lab: lab["paris"].reindex(), refused_by="sound index"),
        Trap(name="the page only", act=lambda lab: lab["tokyo"].reindex(), refused_by="opens"),
        Trap(name="the value only", act=_value_only, refused_by="sound index"),
        Trap(name="a write that folds", act=_folded, refused_by="sound index"),
        Trap(name="written again over it", act=_written_again, refused_by="opens"),
        Trap(name="left replication", act=_left_replication, refused_by="follows"),
    ),
)
