"""Lossless: a function that moves the primary while clients write, in labs of other luck and over a slow line."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from labkit.front.lab import Lab
from labkit.lab.snapshot import Snapshot
from labkit.lessons.attempts import is_blank
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.safe_order.writers import Move, moved, pair_with_writer
from labkit.lessons.said import raised
from labkit.lessons.worlds import mode_said

Act = Callable[[Lab], Any]

SEED, LUCKS, SLOWER = 81, 5, 10
LEAST_MS, LATER_MS = 100, 10
MAX_PAUSE_S, MAX_SLOW_PAUSE_S = 1, 3
"""How long the client may wait: no time that is chosen suits both."""


class LosslessSeen(NamedTuple):
    """What became of the writes in worlds that differ by luck, and in one whose line is slow.

    ``near`` ends with the first world in which the client waits too long, or the verb is used: the rest would say the
    same.
    """

    near: tuple[Move, ...]
    far: Move

    @property
    def every(self) -> tuple[Move, ...]:
        """All of them."""
        return (*self.near, self.far)

    @property
    def unmoved(self) -> list[Move]:
        """Those in which tokyo is not a primary."""
        return [one for one in self.every if one.mode != "primary"]

    @property
    def two_s(self) -> float:
        """When both clusters first took writes in one of them; 0 where they never did."""
        return next((one.broken_s for one in self.every if one.broken_s), 0)

    @property
    def losing(self) -> list[int]:
        """How many writes were lost in each near world where any was."""
        return [one.lost for one in self.near if one.lost]

    @property
    def idle(self) -> str:
        """Where the client waits too long, or is not served at all; empty where it is served in time."""
        for moves, most_s, line in (
            (self.near, MAX_PAUSE_S, ""),
            ((self.far,), MAX_SLOW_PAUSE_S, " over the slow line"),
        ):
            for move in moves:
                if not _is_in_service(move, most_s):
                    waits = f"no write was taken for {move.pause_s:.1f} s{line}; the limit there is {most_s} s"
                    return _too_late(move) if move.ended and not move.later else waits
        return ""


@cache
def _kept(slower: int) -> Snapshot:
    return pair_with_writer(SEED, slower).snapshot()


def world(luck: int, slower: int = 1) -> Lab:
    """Return a lab whose client writes, with draws of its own, and a little later than with the luck before."""
    lab = Lab.restore(_kept(slower)).branch("move", luck=luck)
    lab.run(f"{LEAST_MS + luck * LATER_MS}ms")
    return lab


def look(function: Act) -> LosslessSeen:
    """Let the function move the primary in each world."""
    near: list[Move] = []
    for luck in range(LUCKS):
        near.append(_move(function, world(luck)))
        if near[-1].by_verb or not _is_in_service(near[-1], MAX_PAUSE_S):
            break
    return LosslessSeen(tuple(near), _move(function, world(0, SLOWER)))


def _too_late(move: Move) -> str:
    return (
        f"your function took {move.took_s:.1f} s, and the client had ended its work by then. While a client writes, "
        "there is nearly always something on the line: the lag is hardly ever 0, and the roots are hardly ever equal"
    )


def _is_in_service(move: Move, most_s: float) -> bool:
    return move.pause_s <= most_s and move.later > 0


def _move(function: Act, lab: Lab) -> Move:
    error, began_ns = "", lab.now
    try:
        function(lab)
    except Exception as failure:  # the reader's own
        error = raised(failure)
    return moved(lab, began_ns, error)


def by_lag(lab: Lab) -> None:
    """Stop the writes first, wait until nothing is on the line, and only then promote."""
    lab["paris"].demote()
    while lab.lag("paris", "tokyo").entries:
        lab.run("20ms")
    lab["tokyo"].promote()


def by_roots(lab: Lab) -> None:
    """Stop the writes first, and compare what both clusters hold until it is the same."""
    lab["paris"].demote()
    while lab["paris"].root != lab["tokyo"].root:
        lab.run("20ms")
    lab["tokyo"].promote()


def _sleeps(pause: str, *, force: bool = False) -> Act:
    def act(lab: Lab) -> None:
        lab["paris"].demote()
        lab.run(pause)
        lab["tokyo"].promote(force=force)

    return act


def _at_once(lab: Lab) -> None:
    lab["paris"].demote()
    lab["tokyo"].promote()


def _promotes_first(lab: Lab) -> None:
    lab["tokyo"].promote()
    lab["paris"].demote()


def _by_force(lab: Lab) -> None:
    lab["paris"].demote()
    lab["tokyo"].promote(force=True)


def _both_in_the_end(lab: Lab) -> None:
    lab["paris"].demote()
    while lab.lag("paris", "tokyo").entries:
        lab.run("20ms")
    lab["tokyo"].promote()
    lab["paris"].promote()


def _until_nobody_writes(lab: Lab) -> None:
    while lab.lag("paris", "tokyo").entries:
        lab.run("500ms")
    lab["paris"].demote()
    lab["tokyo"].promote()


def _seals(lab: Lab) -> None:
    lab["paris"].seal()
    while lab.lag("paris", "tokyo").entries:
        lab.run("20ms")
    lab["tokyo"].promote()


def _cuts_clients_off(lab: Lab) -> None:
    lab.partition("lisbon", "paris")
    while lab.lag("paris", "tokyo").entries:
        lab.run("20ms")
    lab["tokyo"].promote()


def _equal_roots_first(lab: Lab) -> None:
    while lab["paris"].root != lab["tokyo"].root:
        lab.run("500ms")
    lab["paris"].demote()
    lab["tokyo"].promote()


def _out_of_replication(lab: Lab) -> None:
    lab["paris"].demote()
    while lab.lag("paris", "tokyo").entries:
        lab.run("20ms")
    lab["tokyo"].disable()


def remark(seen: LosslessSeen) -> str:
    """Say why nothing was lost, and what it cost."""
    near_s = max(one.pause_s for one in seen.near)
    return (
        "After the demotion nothing new goes on the line, and what is on it still arrives: you promoted tokyo when it "
        f"had. No write was taken for {near_s:.1f} s at most, and for {seen.far.pause_s:.1f} s over the "
        "slow line."
    )


def _raised(moves: tuple[Move, ...]) -> str:
    return next((f"; it raised {one.error}" for one in moves if one.error), "")


LOSSLESS = Exercise(
    name="lossless",
    title="Nothing lost",
    goal="a function of the lab that makes tokyo the primary while a client goes on writing, so that no acknowledged "
    f"write is lost, whatever the luck and the line, and the client waits for at most {MAX_PAUSE_S} s, or "
    f"{MAX_SLOW_PAUSE_S} s where the line is slow.",
    look=look,
    takes=("a function of the lab",),
    untouched=is_blank,
    remark=remark,
    conditions=(
        Condition(
            name="moved",
            holds=lambda seen: not seen.unmoved,
            says=lambda seen: f"tokyo is {mode_said(seen.unmoved[0].mode)} in the end{_raised(seen.every)}",
            asks="In the end tokyo has to be the primary.",
            hints=(
                'Call your function with a lab of your own and look at `lab["tokyo"].mode`.',
                "A cluster that stepped down has no successor until somebody names one.",
                '`lab["tokyo"].promote()` as the step that ends it',
            ),
        ),
        Condition(
            name="never two",
            holds=lambda seen: not seen.two_s,
            says=lambda seen: f"both clusters took writes at {seen.two_s:.2f} s of lab time",
            asks="At no instant may both take writes, also not when another node of paris leads it later.",
            hints=(
                "Look in `lab.timeline()` at which modes overlap.",
                "A promotion stops nobody: the old primary has to be stopped first, and to stay so. A seal "
                "stops a node, and seconds later another one leads.",
                '`lab["paris"].demote()` before `lab["tokyo"].promote()`, and no promotion of paris after it',
            ),
        ),
        Condition(
            name="nothing lost",
            holds=lambda seen: not seen.losing,
            says=lambda seen: (
                f"acknowledged writes were lost in {len(seen.losing)} of {len(seen.near)} labs, up to "
                f"{max(seen.losing)} in one"
            ),
            asks="No acknowledged write may be lost, whatever the luck.",
            hints=(
                'Ask `lab.lag("paris", "tokyo").entries` right before you promote.',
                "A demoted cluster takes no new writes, and still hands out those that it has. That needs time.",
                '`while lab.lag("paris", "tokyo").entries: lab.run("20ms")` between the two',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="a slow line",
            holds=lambda seen: not seen.far.lost,
            says=lambda seen: (
                f"over a line that is {SLOWER} times as slow {seen.far.lost} acknowledged writes were lost"
            ),
            asks="Nothing may be lost over a slow line either.",
            hints=(
                f'Try it after `lab.slow("paris", "tokyo", factor={SLOWER})`.',
                "A time that you choose is right for one line. What you wait for can be asked.",
                '`lab.lag("paris", "tokyo").entries`, or `lab["paris"].root == lab["tokyo"].root`',
            ),
        ),
        Condition(
            name="in service",
            holds=lambda seen: not seen.idle,
            says=lambda seen: seen.idle,
            asks=f"The client goes on writing: it gets an answer from tokyo after at most {MAX_PAUSE_S} s, and after "
            f"{MAX_SLOW_PAUSE_S} s where the line is slow.",
            hints=(
                "Look at `lab.ledger.rto().seconds`.",
                "Wait only while the writes are stopped, and no longer than there is something to wait for.",
                "demote first; then a loop that ends as soon as the lag is 0",
            ),
        ),
        Condition(
            name="by its steps",
            holds=lambda seen: not any(one.by_verb for one in seen.every),
            says=lambda seen: "nothing was lost, and the verb `failover` did all of it",
            asks="Do it by its steps: here you are to decide what is waited for, and when.",
            hints=(
                "Which steps does the verb name? They are notes in `lab.timeline()` after it.",
                "First somebody stops, then something is waited for, then somebody else begins.",
                '`lab["paris"].demote()`, a loop over `lab.lag("paris", "tokyo").entries`, `lab["tokyo"].promote()`',
            ),
        ),
    ),
    ways={"by lag": by_lag, "by equal roots": by_roots},
    traps=(
        Trap(name="demotes only", act=lambda lab: lab["paris"].demote(), refused_by="moved"),
        Trap(name="the survivor out of replication", act=_out_of_replication, refused_by="moved"),
        Trap(name="promote first", act=_promotes_first, refused_by="never two"),
        Trap(name="both in the end", act=_both_in_the_end, refused_by="never two"),
        Trap(name="at once", act=_at_once, refused_by="nothing lost"),
        Trap(name="by force", act=_by_force, refused_by="nothing lost"),
        Trap(name="a short sleep", act=_sleeps("50ms"), refused_by="nothing lost"),
        Trap(name="a sleep that is right by luck", act=_sleeps("85ms"), refused_by="nothing lost"),
        Trap(name="a fixed sleep", act=_sleeps("200ms"), refused_by="a slow line"),
        Trap(name="a sleep that suits the slow line", act=_sleeps("2s"), refused_by="in service"),
        Trap(name="a seal in place of the demotion", act=_seals, refused_by="never two"),
        Trap(name="clients cut off from paris", act=_cuts_clients_off, refused_by="in service"),
        Trap(name="equal roots, and then the demotion", act=_equal_roots_first, refused_by="in service"),
        Trap(name="by the verb", act=lambda lab: lab.failover("paris", "tokyo"), refused_by="by its steps"),
        Trap(name="until nobody writes", act=_until_nobody_writes, refused_by="in service"),
    ),
)
