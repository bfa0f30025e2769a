"""Alarms: a function that promotes when a region is lost, and neither when a node dies nor when a line flaps."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from labkit.front.lab import Lab
from labkit.lab.snapshot import Snapshot
from labkit.lessons.attempts import is_blank
from labkit.lessons.disaster.region import calm_pair, takes_writes
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.said import raised
from labkit.lessons.worlds import mode_said

Act = Callable[[Lab], Any]


class Alarm(NamedTuple):
    """What became of a lab once a function had dealt with its alarm; ``error`` is what it raised.

    ``call`` counts the calls of the function up to this one.
    """

    promoted: bool
    primary: str
    takes_writes: bool
    paris_goes_on: bool
    error: str
    call: int

    @property
    def is_answered(self) -> bool:
        """Whether tokyo takes writes as a primary, as where the region is lost."""
        return self.primary == "primary" and self.takes_writes

    @property
    def is_left_alone(self) -> bool:
        """Whether paris goes on and tokyo was not promoted, as where it is not."""
        return self.paris_goes_on and not self.promoted

    @property
    def again(self) -> str:
        """Say that the first call was right, and a later one was not."""
        return f"; right at first, and not when it was called again, as call {self.call}" if self.call > CASES else ""


class AlarmsSeen(NamedTuple):
    """All three; of each the first call that was not right, if any."""

    node: Alarm
    line: Alarm
    region: Alarm


def _node_dies(lab: Lab) -> None:
    lab.crash("paris-1")


def _line_flaps(lab: Lab) -> None:
    lab.partition("paris", "tokyo")


def _region_is_lost(lab: Lab) -> None:
    lab.crash("paris")


ALARMS = {"node": (_node_dies, 51), "line": (_line_flaps, 52), "region": (_region_is_lost, 53)}
CASES = len(ALARMS)
ORDER = ("node", "line", "region", "region", "node", "line")
"""Each comes twice, in another order: who counts calls finds out nothing."""


@cache
def _kept(name: str) -> Snapshot:
    fault, seed = ALARMS[name]
    lab = calm_pair(seed)
    fault(lab)
    return lab.snapshot()


def alarmed(name: str) -> Lab:
    """Return a lab in which one of the three has just happened: node, line or region."""
    return Lab.restore(_kept(name))


def look(function: Act) -> AlarmsSeen:
    """Let the function deal with each alarm twice, in a lab of its own each time."""
    dealt = [(name, _deal(function, alarmed(name), call)) for call, name in enumerate(ORDER, 1)]
    return AlarmsSeen(*[_worse(name, [alarm for other, alarm in dealt if other == name]) for name in ALARMS])


def _worse(name: str, alarms: list[Alarm]) -> Alarm:
    wrong = [one for one in alarms if not (one.is_answered if name == "region" else one.is_left_alone)]
    return (wrong or alarms)[0]


def _deal(function: Act, lab: Lab, call: int) -> Alarm:
    error = ""
    try:
        function(lab)
    except Exception as failure:  # the reader's own
        error = raised(failure)
    promoted = bool(lab.trace.select("mode", cluster="tokyo", mode="primary"))
    return Alarm(promoted, lab["tokyo"].mode, takes_writes(lab, "tokyo"), takes_writes(lab, "paris"), error, call)


def by_a_write(lab: Lab) -> None:
    """Ask paris for a write from beside it, as a client does, and give it half a minute."""
    try:
        lab["paris"].post("secret/data/alarm", {"data": {}}, timeout="30s")
    except TimeoutError:
        lab["tokyo"].promote()


def by_health(lab: Lab) -> None:
    """Look at paris five times; only if no node of it leads in any of them, promote."""
    for _ in range(5):
        lab.run("5s")
        if lab["paris"].mode == "primary":
            return
    lab["tokyo"].promote()


def _at_once(lab: Lab) -> None:
    lab["tokyo"].promote()


def _impatient(lab: Lab) -> None:
    try:
        lab["paris"].post("secret/data/alarm", {"data": {}}, timeout="500ms")
    except TimeoutError:
        lab["tokyo"].promote()


def _watches_the_lag(lab: Lab) -> None:
    by_a_write(lab)
    lab.run("2s")
    if lab["tokyo"].mode == "secondary" and lab.lag("paris", "tokyo").entries:
        lab["tokyo"].promote()


def _waits(lab: Lab) -> None:
    lab.run("60s")


def _leaves_replication(lab: Lab) -> None:
    lab.run("10s")
    if lab["paris"].mode != "primary":
        lab["tokyo"].disable()


def _wrong_cluster(lab: Lab) -> None:
    lab.run("10s")
    if lab["paris"].mode != "primary":
        lab["paris"].promote()


def _counts_calls() -> Act:
    """Promote at each third call, whatever happened."""
    calls: list[Lab] = []

    def act(lab: Lab) -> None:
        calls.append(lab)
        if len(calls) % CASES == 0:
            lab["tokyo"].promote()

    return act


def _fences_first(lab: Lab) -> None:
    lab.run("10s")
    try:
        lab["paris"].demote()
    except RuntimeError:
        lab["tokyo"].promote()


def _stopped(seen: AlarmsSeen) -> str:
    case = "one node of paris died" if not seen.node.paris_goes_on else "only the line was cut"
    return f"{case}, tokyo was not promoted, and paris takes no writes any more: nobody does"


def remark(seen: AlarmsSeen) -> str:
    """Say what tells the three apart."""
    return (
        "A dead leader is replaced by another node within seconds, and over a cut line paris still answers whoever "
        "asks beside it. Only where paris itself is silent for longer than that is the region lost."
    )


def _raised(alarm: Alarm) -> str:
    return f"; it raised {alarm.error}" if alarm.error else ""


THREE_ALARMS = Exercise(
    name="alarms",
    title="Three alarms",
    goal="a function of the lab, called when something has just happened, that promotes tokyo where paris is lost, and "
    "leaves it a secondary where a node died or the line between the regions is cut.",
    look=look,
    takes=("a function of the lab",),
    untouched=is_blank,
    remark=remark,
    conditions=(
        Condition(
            name="a node",
            holds=lambda seen: not seen.node.promoted,
            says=lambda seen: f"one node of paris died, and tokyo was promoted: two primaries{seen.node.again}",
            asks="When a node dies, the cluster helps itself.",
            hints=(
                "Let some seconds pass, and look at `lab[\"paris\"].active`: which node leads, or `''` for none.",
                "Two more nodes wait until the time for which the first one leads, its lease, has ended: some seconds, "
                "and not a promotion.",
                'give `lab["paris"].post(..., timeout="30s")` the time to be answered',
            ),
        ),
        Condition(
            name="a line",
            holds=lambda seen: not seen.line.promoted,
            says=lambda seen: (
                f"only the line was cut, paris took writes all the time, and tokyo was promoted{seen.line.again}"
            ),
            asks="When only the line is cut, paris goes on, and no second primary may begin.",
            hints=(
                "Who asks, and from where? Compare what tokyo hears with what a client beside paris hears.",
                "Seen from tokyo a cut line and a lost region look alike. Somebody beside paris sees the difference.",
                '`lab["paris"].post(...)` is asked from beside paris',
            ),
        ),
        Condition(
            name="paris goes on",
            holds=lambda seen: seen.node.paris_goes_on and seen.line.paris_goes_on,
            says=_stopped,
            asks="Where a node died or the line is cut, paris has to go on taking writes, and you must not stop it.",
            hints=(
                "Write to paris after your function, in a lab in which one node died.",
                "What is done to be safe is done in all three cases: only in one of them paris is lost.",
                "find out first, by requests and time; leave `demote()`, `seal()` and `lab.crash` out",
            ),
        ),
        Condition(
            name="a region",
            holds=lambda seen: seen.region.is_answered,
            says=lambda seen: (
                f"paris was lost; tokyo is {mode_said(seen.region.primary)} and takes "
                + ("writes" if seen.region.takes_writes else "no writes")
                + _raised(seen.region)
                + seen.region.again
            ),
            asks="When the region is lost, tokyo has to take writes, as a primary.",
            hints=(
                "Call your function with a lab whose paris you crashed, and look at `lab.map()`.",
                "What nobody answers in half a minute does not come back by waiting.",
                '`lab["tokyo"].promote()` where paris raised TimeoutError',
            ),
        ),
    ),
    ways={"by a write": by_a_write, "by health": by_health},
    traps=(
        Trap(name="promote at once", act=_at_once, refused_by="a node"),
        Trap(name="impatient", act=_impatient, refused_by="a node"),
        Trap(name="watches the lag", act=_watches_the_lag, refused_by="a line"),
        Trap(name="counts its calls", act=_counts_calls(), refused_by="a line"),
        Trap(name="fences first", act=_fences_first, refused_by="paris goes on"),
        Trap(name="waits", act=_waits, refused_by="a region"),
        Trap(name="leaves replication", act=_leaves_replication, refused_by="a region"),
        Trap(name="promotes the lost one", act=_wrong_cluster, refused_by="a region"),
    ),
)
