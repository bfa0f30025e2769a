"""Rotten: a value rots in the primary's store, and the good copy of the secondary has to be what is kept."""

from __future__ import annotations

from typing import NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.damaged_tree.orders import ORDERS, PAIR, modes_said, pair_with_orders, unreadable, unreadable_said
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart

SETTLING = "10s"


class RottenSeen(NamedTuple):
    """What a branch showed once it had settled: modes, lost writes, and orders that do not open, per cluster."""

    modes: dict[str, str]
    lost: int
    unreadable: dict[str, list[str]]


@KeptStart
def start() -> Lab:
    """Return a pair in which one stored order of paris, the primary, is rotten."""
    lab = pair_with_orders(seed=73)
    lab.corrupt("paris", layer="storage")
    lab.run("1s")
    return lab


def look(branch: Lab) -> RottenSeen:
    """Let the branch settle, and read every order in both clusters."""
    branch.run(SETTLING)
    modes = {name: branch[name].mode for name in PAIR}
    return RottenSeen(modes, branch.ledger.rpo().writes, unreadable(branch))


def switch_and_reindex(lab: Lab) -> None:
    """Let the good copy lead; the old primary, a secondary now, is reindexed and fetches."""
    lab.failover("paris", "tokyo")
    lab["paris"].reindex()
    lab.run("5s")


def there_and_back(lab: Lab) -> None:
    """The same by single steps, and back again."""
    lab["paris"].demote()
    lab.run("2s")
    lab["tokyo"].promote()
    lab["paris"].repoint("tokyo")
    lab.run("5s")
    lab["paris"].reindex()
    lab.run("5s")
    lab.failover("tokyo", "paris")


def _back_too_early(lab: Lab) -> None:
    lab.failover("paris", "tokyo")
    lab.run("5s")
    lab.failover("tokyo", "paris")


def _written_again(lab: Lab) -> None:
    for path in ORDERS:
        lab["paris"].post(path, {"data": {"item": "rope"}})
    lab.run("5s")


def _alone(lab: Lab) -> None:
    lab.failover("paris", "tokyo")
    lab["paris"].reindex()
    lab.run("5s")
    lab["paris"].disable()


def _after_the_rot(lab: Lab) -> None:
    lab["paris"].reindex()
    lab.run("5s")
    switch_and_reindex(lab)


def _in_a_hurry(lab: Lab) -> None:
    lab["paris"].post("secret/data/late", {"data": {"n": 1}})
    lab["paris"].demote()
    lab["tokyo"].promote()
    lab.run("2s")
    lab["paris"].repoint("tokyo")
    lab.run("5s")
    lab["paris"].reindex()
    lab.run("5s")


ROTTEN = Exercise(
    name="rotten",
    title="The primary rots",
    goal="every order opens in both clusters as it was written, no acknowledged write is lost, and one still follows "
    "the other.",
    start=start,
    look=look,
    conditions=(
        Condition(
            name="follows",
            holds=lambda seen: sorted(seen.modes.values()) == ["primary", "secondary"],
            says=lambda seen: modes_said(seen.modes),
            asks="One cluster has to follow the other in the end; which one leads is yours to choose.",
            hints=(
                "Look at both clusters in `lab.map()`.",
                "Two copies that do not follow each other are one region's loss away from none.",
                '`lab["paris"].repoint("tokyo")` lets paris follow',
            ),
        ),
        Condition(
            name="opens",
            holds=lambda seen: not any(seen.unreadable.values()),
            says=lambda seen: unreadable_said(seen.unreadable),
            asks="Every order has to open in both clusters, with what was written at first.",
            hints=(
                "Look at which cluster still has the good copy, and which one would fetch.",
                "What is fetched comes from the primary. So the good copy has to be the primary's.",
                '`lab.failover("paris", "tokyo")`, and then `lab["paris"].reindex()`',
            ),
        ),
        Condition(
            name="nothing lost",
            holds=lambda seen: seen.lost == 0,
            says=lambda seen: f"the ledger counts {seen.lost} acknowledged write{'' if seen.lost == 1 else 's'} lost",
            asks="The repair itself may lose no write.",
            hints=(
                "Look at `lab.ledger.lost()`.",
                "A write that is on its way when tokyo is promoted stays behind.",
                "`lab.failover` waits until nothing is on its way",
            ),
        ),
    ),
    ways={"switch, then reindex": switch_and_reindex, "there and back": there_and_back},
    traps=(
        Trap(name="the primary reindexed", act=lambda lab: lab["paris"].reindex(), refused_by="opens"),
        Trap(name="the wrong cluster", act=lambda lab: lab["tokyo"].reindex(), refused_by="opens"),
        Trap(name="switched, not reindexed", act=lambda lab: lab.failover("paris", "tokyo"), refused_by="opens"),
        Trap(name="back too early", act=_back_too_early, refused_by="opens"),
        Trap(name="reindexed first", act=_after_the_rot, refused_by="opens"),
        Trap(name="written again over it", act=_written_again, refused_by="opens"),
        Trap(name="left replication", act=_alone, refused_by="follows"),
        Trap(name="in a hurry", act=_in_a_hurry, refused_by="nothing lost"),
    ),
)
