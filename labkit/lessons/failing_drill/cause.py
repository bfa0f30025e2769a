"""Cause: three losses in one run, each with a root of its own, to be known among all that happened."""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.plan import Act, Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart
from labkit.service.durations import SECOND_NS

FOLDERS = ("red", "green", "blue")
GAP_S = 0.03


class CauseSeen(NamedTuple):
    """The instants that were handed in and those of the roots, in seconds; ``unread`` is what is not an instant.

    ``events`` are the instants of all that might have been named.
    """

    given: tuple[float, ...]
    roots: tuple[float, ...]
    events: frozenset[float]
    unread: str

    def names(self, number: int) -> bool:
        """Whether one of the losses is explained by the instant that was handed in for it."""
        return is_same(self.given[number], self.roots[number])

    def says(self, number: int) -> str:
        """Say what is the matter with an instant that is not the root: another event is there, or none."""
        at_s = self.given[number]
        others = [folder for folder, root in zip(FOLDERS, self.roots, strict=True) if is_same(at_s, root)]
        if others:
            return f"what happened at {at_s:.3f} s is the root of the loss of {others[0]}, not of {FOLDERS[number]}"
        if any(is_same(at_s, event_s) for event_s in self.events):
            return f"what happened at {at_s:.3f} s is not the root of the loss of {FOLDERS[number]}"
        return f"nothing is done, broken or promoted at {at_s:.3f} s; an instant is wanted rounded to the millisecond"


def is_same(given_s: float, event_s: float) -> bool:
    """Whether two instants are the same when both are rounded to the millisecond, as they are shown everywhere."""
    return f"{given_s:.3f}" == f"{event_s:.3f}"


@KeptStart
def start() -> Lab:
    """Return a run in which writes of three folders were lost, each at another promotion."""
    lab = Lab.pair(seed=93)
    lab.replicate("paris", "tokyo")
    lab.run("2s")
    _planned_in_haste(lab)
    _cut_before_the_loss(lab)
    _plain_loss(lab)
    return lab


def _write(lab: Lab, cluster: str, folder: str) -> None:
    for number in range(5):
        next_s = lab.now / SECOND_NS + GAP_S
        lab[cluster].post(f"secret/data/{folder}/{number}", {"data": {"n": number}})
        lab.run(until=next_s)


def _planned_in_haste(lab: Lab) -> None:
    """A standby dies; then the primary moves as planned, without a wait: the step down is the root."""
    lab.crash("tokyo-3")
    lab.run("1s")
    _write(lab, "paris", "red")
    lab["paris"].demote()
    lab["tokyo"].promote()
    lab["paris"].repoint("tokyo")
    lab.run("3s")


def _cut_before_the_loss(lab: Lab) -> None:
    """A standby dies, the line to paris is cut, and then tokyo is lost: the cut is the root."""
    lab.crash("paris-2")
    lab.run("1s")
    lab.cut("tokyo", "paris")
    _write(lab, "tokyo", "green")
    lab.run("2s")
    lab.crash("tokyo")
    lab.run("5s")
    lab["paris"].promote()
    lab.heal()
    lab.isolate("tokyo")
    lab.restart("tokyo")
    lab["tokyo"].unseal()
    lab["tokyo"].demote()
    lab.heal()
    lab["tokyo"].repoint("paris")
    lab.run("5s")


def _plain_loss(lab: Lab) -> None:
    """The line is cut and healed; then paris loses its power while it takes writes: that is the root."""
    lab.partition("paris", "tokyo")
    lab.run("1s")
    lab.heal()
    lab.run("5s")
    _write(lab, "paris", "blue")
    lab.crash("paris")
    lab.run("5s")
    lab["tokyo"].promote()
    lab.run("2s")


def look(branch: Lab, given: Any) -> CauseSeen:
    """Read the instants, and find those of the three roots in the trace."""
    if isinstance(given, dict) and set(given) == set(FOLDERS):
        given = [given[folder] for folder in FOLDERS]
    rows = list(given) if isinstance(given, list | tuple) else [given]
    unread = [repr(row)[:60] for row in rows if isinstance(row, bool) or not isinstance(row, int | float)]
    if len(rows) != len(FOLDERS):
        unread.append(f"{len(rows)} in place of {len(FOLDERS)}")
    happened = [event.at_ns for kind in ("fault", "mode", "leader") for event in branch.trace.select(kind)]
    lost = [write.at_ns for write in branch.ledger.lost()]
    events = frozenset([at_ns / SECOND_NS for at_ns in (*happened, *lost)])
    return CauseSeen(() if unread else tuple(map(float, rows)), roots_of(branch), events, ", ".join(unread))


def roots_of(lab: Lab) -> tuple[float, ...]:
    """Return when the first write of each folder that is lost was lost at its root, in seconds."""
    found = []
    for folder in FOLDERS:
        write = next(row for row in lab.ledger.lost() if row.path.startswith(f"secret/data/{folder}/"))
        found.append(lab.why(write).steps[-1].at_ns / SECOND_NS)
    return tuple(found)


def by_why(lab: Lab) -> Any:
    """Ask why one write of each folder was lost; the last step of what led to it is the root."""
    instants = []
    for folder in ("red", "green", "blue"):
        write = next(row for row in lab.ledger.lost() if f"/{folder}/" in row.path)
        instants.append(lab.why(write).steps[-1].at_ns / 1e9)
    return lab, instants


def by_eye(lab: Lab) -> Any:
    """Look in the player at what stopped the messages before each promotion, and write the three instants down."""
    stepped_down = lab.trace.select("mode", cluster="paris", mode="secondary")[0]
    cut = lab.trace.select("fault", verb="cut")[0]
    dark = lab.trace.select("fault", verb="crash", target="paris-1")[0]
    return lab, [event.at_ns / 1e9 for event in (stepped_down, cut, dark)]


def _but(number: int, verb: str, target: str = "", last: bool = False) -> Act:
    """Return the right answer but for one loss, of which another event is named."""

    def act(lab: Lab) -> Any:
        roots = list(roots_of(lab))
        rows = [event for event in lab.trace.select("fault", verb=verb) if target in (event.target, "")]
        roots[number] = rows[-1 if last else 0].at_ns / SECOND_NS
        return lab, roots

    return act


def _promotions(lab: Lab) -> Any:
    return lab, [promotion.at_ns / SECOND_NS for promotion in lab.ledger.promotions]


def _promotion_of(number: int) -> Act:
    def act(lab: Lab) -> Any:
        roots = list(roots_of(lab))
        roots[number] = lab.ledger.promotions[number].at_ns / SECOND_NS
        return lab, roots

    return act


def _last_writes(lab: Lab) -> Any:
    lost = lab.ledger.lost()
    return lab, [max(row.at_ns for row in lost if f"/{folder}/" in row.path) / SECOND_NS for folder in FOLDERS]


def _names(number: int, asks: str, hints: tuple[str, str, str]) -> Condition:
    """Return the condition that one loss is explained."""
    return Condition(
        name=FOLDERS[number],
        holds=lambda seen: seen.names(number),
        says=lambda seen: seen.says(number),
        asks=asks,
        hints=hints,
    )


CAUSE = Exercise(
    name="cause",
    title="Why?",
    goal="the instants, in seconds and rounded to the millisecond, of the events at the root of three losses, of the "
    "folders red, green and blue.",
    start=start,
    look=look,
    takes=("the lab", "the list of three instants in seconds"),
    untouched=lambda instants: instants in ([], ()),
    conditions=(
        Condition(
            name="three instants",
            holds=lambda seen: not seen.unread,
            says=lambda seen: f"these are not three instants: {seen.unread}",
            asks="Three numbers are wanted: seconds of lab time for red, green and blue.",
            hints=(
                "Look at what your list holds.",
                "Events have their time as `at_ns`: nanoseconds.",
                "`event.at_ns / 1e9` for each of three events",
            ),
            for_its_sentence=True,
        ),
        _names(
            0,
            "Nothing was broken between paris and tokyo when red was lost: with which request did the move begin?",
            (
                "Look at what the modes of paris and tokyo were just before that promotion.",
                "A standby that died long before has no part in it. Ask what made it possible that these writes were "
                "left behind.",
                "`lab.why(write)` of a lost write of red; its last step is the root",
            ),
        ),
        _names(
            1,
            "tokyo lost its power after green was written. Would the writes have arrived without that?",
            (
                "Look at when the last message of tokyo reached paris.",
                "What was long on its way when the power went was stopped by something earlier.",
                "`lab.why(write)` of a lost write of green; its last step is the root",
            ),
        ),
        _names(
            2,
            "A line that was cut and healed before blue was written lost nothing of it.",
            (
                "Look at what is between paris and tokyo when the last write of blue is acknowledged.",
                "The root is what stopped these writes, not what was wrong at another time.",
                "`lab.why(write)` of a lost write of blue; its last step is the root",
            ),
        ),
    ),
    ways={"by asking why": by_why, "by eye": by_eye},
    traps=(
        Trap(name="the wrong cluster", act=_but(1, "crash", "tokyo-1"), refused_by="green"),
        Trap(name="a sentence", act=lambda lab: (lab, "paris stepped down"), refused_by="three instants"),
        Trap(name="one of three", act=lambda lab: (lab, [roots_of(lab)[0]]), refused_by="three instants"),
        Trap(name="the first fault, whatever it was", act=_but(0, "crash"), refused_by="red"),
        Trap(name="the promotions", act=_promotions, refused_by="red"),
        Trap(name="the last writes", act=_last_writes, refused_by="red"),
        Trap(name="the promotion of green", act=_promotion_of(1), refused_by="green"),
        Trap(name="a line that was healed", act=_but(2, "partition"), refused_by="blue"),
        Trap(name="the healing", act=_but(2, "heal", last=True), refused_by="blue"),
    ),
)
