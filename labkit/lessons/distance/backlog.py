"""Backlog: let the line be cut for so long that the pair has to compare, in place of streaming what was missed."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from labkit.front.lab import Lab
from labkit.lab.fault_table import AROUND, FAULTS, LINE, WAY
from labkit.lab.plan.blueprint import pair
from labkit.lessons.distance.line import PATH, since
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart
from labkit.trace import SECOND_NS

ENTRIES, SETTLING = 64, "20s"
OF_LINES = frozenset([row.verb for row in FAULTS if row.target in (LINE, WAY, AROUND) or row.line_is])


class BacklogSeen(NamedTuple):
    """What happened since the start: writes, comparisons, faults that are no line; then the line and both in the end.

    ``state`` is that of tokyo; empty where nobody says it.  ``later``: it compared only after the lab was handed in.
    ``waited_s`` passed between the last fault or heal before a comparison and the comparison.
    """

    writes: int
    compared: int
    others: tuple[str, ...]
    is_cut: bool
    roots_equal: bool
    state: str
    later: bool
    waited_s: float = 0.0


@KeptStart
def start() -> Lab:
    """Return a calm pair whose primary remembers its last 64 entries only."""
    blueprint = pair()
    clusters = tuple([replace(plan, backlog_entries=ENTRIES) for plan in blueprint.clusters])
    lab = Lab(replace(blueprint, clusters=clusters), seed=41)
    lab.replicate("paris", "tokyo")
    lab["paris"].post(f"{PATH}/first", {"data": {}})
    lab.run("5s")
    return lab


def look(branch: Lab) -> BacklogSeen:
    """Let the branch settle, and read what happened since the start."""
    begun = start()
    before = len(since(branch, begun, "observed", what="merkle_diff"))
    branch.run(SETTLING)
    faults = dict.fromkeys([event.verb for event in since(branch, begun, "fault")])
    others = [verb for verb in faults if verb not in OF_LINES]
    changed = [f"{event.cluster} {event.mode}" for event in since(branch, begun, "mode") if event.mode != "secondary"]
    synced = since(branch, begun, "observed", what="merkle_diff")
    left = since(branch, begun, "observed", what="replication_stopped")
    return BacklogSeen(
        writes=len(branch.ledger.writes) - len(begun.ledger.writes),
        compared=len(synced),
        others=(*others, *changed, *[event.what for event in left]),
        is_cut=bool(branch.queries.reach().cut),
        roots_equal=branch["paris"].root == branch["tokyo"].root,
        state=str(branch["tokyo"].status()["state"]) if branch["tokyo"].active else "",
        later=len(synced) > before,
        waited_s=_waited_s(branch, begun),
    )


def _waited_s(branch: Lab, begun: Lab) -> float:
    compares = since(branch, begun, "mode", cluster="tokyo", state="merkle-diff")
    first_ns = compares[0].at_ns if compares else 0
    before = [event.at_ns for event in since(branch, begun, "fault") if event.at_ns <= first_ns]
    return float((first_ns - before[-1]) / SECOND_NS) if before else 0.0


def remark(seen: BacklogSeen) -> str:
    """Say why the pair did not compare at once, and where that can be seen which happened in the check's copy only."""
    said = (
        f"The pair began to compare {seen.waited_s:.1f} s after the line was whole. tokyo finds out about a cut when "
        "heartbeats stay away, and asks again after pauses, each longer than the last; until they compare, "
        "`lab.timeline()` still calls it streaming."
    )
    if not seen.later:
        return said
    return f'{said} The check let a copy go on; in yours they compare after `lab.run("10s")`.'


def many_secrets(lab: Lab) -> None:
    """Cut the line, write more secrets than are remembered, and heal it."""
    lab.partition("paris", "tokyo")
    for number in range(ENTRIES + 6):
        lab["paris"].post(f"secret/data/orders/{number}", {"data": {"n": number}})
    lab.run("2s")
    lab.heal()
    lab.run("10s")


def one_secret(lab: Lab) -> None:
    """Cut one direction, write one secret again and again, and heal it."""
    lab.cut("paris", "tokyo")
    lab.run("5s")
    for number in range(2 * ENTRIES):
        lab["paris"].post("secret/data/orders/same", {"data": {"n": number}})
    lab.run("2s")
    lab.heal()
    lab.run("10s")


def _too_short(lab: Lab) -> None:
    lab.partition("paris", "tokyo")
    for number in range(ENTRIES // 2):
        lab["paris"].post(f"{PATH}/{number}", {"data": {"n": number}})
    lab.heal()
    lab.run("10s")


def _joined_again(lab: Lab) -> None:
    lab["tokyo"].disable()
    lab["tokyo"].enable_secondary("paris")
    lab.run("10s")


def _crashed(lab: Lab) -> None:
    lab.crash("paris-1")
    lab.run("5s")
    lab.restart("paris-1")
    lab.run("5s")


def _tokyo_restarted(lab: Lab) -> None:
    lab.crash("tokyo")
    for number in range(ENTRIES + 6):
        lab["paris"].post(f"{PATH}/{number}", {"data": {"n": number}})
    lab.restart("tokyo")
    lab.run("10s")


def _all_lost(lab: Lab) -> None:
    many_secrets(lab)
    lab.lose("paris", "tokyo", percent=100)
    lab["paris"].post(f"{PATH}/more", {"data": {}})


def _never_healed(lab: Lab) -> None:
    lab.partition("paris", "tokyo")
    for number in range(ENTRIES + 6):
        lab["paris"].post(f"{PATH}/{number}", {"data": {"n": number}})
    lab.run("10s")


def _cut_again(lab: Lab) -> None:
    many_secrets(lab)
    lab.partition("paris", "tokyo")
    lab["paris"].post(f"{PATH}/more", {"data": {}})


def _damaged(lab: Lab) -> None:
    lab.corrupt("tokyo", layer="page")
    lab["paris"].post(f"{PATH}/more", {"data": {}})
    lab.run("10s")


def _other_side(lab: Lab) -> None:
    lab.partition("paris", "tokyo")
    for number in range(ENTRIES + 6):
        lab["tokyo"].post(f"{PATH}/{number}", {"data": {"n": number}})
    lab.heal()
    lab.run("10s")


def _never_compared(seen: BacklogSeen) -> str:
    if not seen.writes:
        return "no cluster took a write since the start, so tokyo missed none"
    became = "it streamed them all"
    if not seen.roots_equal:
        became = "it still lacks some; `lab.restore_links()` mends a line that loses messages, `lab.heal()` does not"
    return f"{seen.writes} writes since the start, and tokyo never compared: {became}"


BACKLOG = Exercise(
    name="backlog",
    title="Beyond the backlog",
    goal=f"after a fault of the line tokyo compares with paris in place of streaming, and in the end their roots are "
    f"equal; this pair's backlog has {ENTRIES} entries.",
    start=start,
    look=look,
    remark=remark,
    conditions=(
        Condition(
            name="the line only",
            holds=lambda seen: not seen.others,
            says=lambda seen: f"besides the line, this happened: {', '.join(seen.others)}",
            asks="Only the line may fail: no node, no damage, and both stay in replication.",
            hints=(
                "Look at the faults in `lab.timeline()`.",
                "A node that was restarted cannot open what it stores, and a cluster that joins again compares anyway.",
                "begin again, with `lab.partition(...)` and `lab.heal()`",
            ),
        ),
        Condition(
            name="healed",
            holds=lambda seen: seen.compared > 0 or not seen.is_cut,
            says=lambda seen: (
                f"{seen.writes} writes since the start, and the line is still cut: tokyo cannot ask for any"
            ),
            asks="tokyo has to come back, so that it can ask for what it missed.",
            hints=(
                "Look in `lab.map()`: is the line whole?",
                "Over a cut line nothing is streamed, and nothing compared.",
                '`lab.heal("paris", "tokyo")`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="compared",
            holds=lambda seen: seen.compared > 0,
            says=_never_compared,
            asks="tokyo has to come back to a primary that no longer remembers all that it missed.",
            hints=(
                'Look at `lab.lag("paris", "tokyo").entries` before the line is healed.',
                f"What is in the backlog is streamed. It holds {ENTRIES} entries, and each write is one.",
                f"`lab.partition(...)`, more than {ENTRIES} writes at paris, and then `lab.heal()`",
            ),
        ),
        Condition(
            name="equal",
            holds=lambda seen: seen.roots_equal and seen.state == "stream-wals",
            says=lambda seen: (
                f"{SETTLING} later the state of tokyo is {seen.state or 'unknown'}, and the roots are "
                + ("equal" if seen.roots_equal else "not equal")
            ),
            asks="In the end both have to hold the same, and stream.",
            hints=(
                "Look in `lab.map()`: is the line whole?",
                "Over a line that is cut, or loses what is sent, nothing is made equal.",
                "`lab.heal()`, or `lab.restore_links()` for a line that loses or is slow",
            ),
        ),
    ),
    ways={"many secrets": many_secrets, "one secret, often": one_secret},
    traps=(
        Trap(name="cut too short", act=_too_short, refused_by="compared"),
        Trap(name="the wrong cluster", act=_other_side, refused_by="compared"),
        Trap(name="never healed", act=_never_healed, refused_by="healed"),
        Trap(name="a crash in place of a cut", act=_crashed, refused_by="the line only"),
        Trap(name="tokyo fails and is restarted", act=_tokyo_restarted, refused_by="the line only"),
        Trap(name="a line that loses everything", act=_all_lost, refused_by="equal"),
        Trap(name="disabled and joined again", act=_joined_again, refused_by="the line only"),
        Trap(name="damage", act=_damaged, refused_by="the line only"),
        Trap(name="cut again", act=_cut_again, refused_by="equal"),
    ),
)
