"""Questions: how many orders a lost region takes with it, and what a quick decision saves."""

from __future__ import annotations

from labkit.front.lab import Lab
from labkit.lessons.disaster.region import ORDERS, PATH
from labkit.lessons.plan import Question
from labkit.lessons.worlds import branched, play
from labkit.service.durations import SECOND_NS

QUICK_S, SLOW_S = 5, 60
FEWER, SAME, MORE = "fewer are lost", "the same are lost", "more are lost"


def _crashed_ns(lab: Lab) -> int:
    """When the last node of paris lost its power; -1 while one runs."""
    crashed = {event.target: event.at_ns for event in lab.trace.select("fault", verb="crash")}
    nodes = lab["paris"].nodes
    return max(crashed[name] for name in nodes) if crashed.keys() >= set(nodes) else -1


def lacks_promotion(lab: Lab) -> str:
    """Say what is missing before the losses can be counted."""
    if _crashed_ns(lab) < 0:
        return "In this lab paris still has power: run the cell above first."
    if not lab.trace.select("mode", cluster="tokyo", mode="primary"):
        return "In this lab tokyo is not promoted yet: run the cell above first."
    return ""


def lost(lab: Lab) -> int:
    """Return how many acknowledged writes the survivor does not have."""
    return lab.ledger.rpo().writes


def why_on_the_line(lab: Lab) -> str:
    """Explain where the lost orders were when the power went."""
    point, pause = lab.ledger.rpo(), lab.ledger.rto()
    return (
        f"The ledger counts {point.writes} of {ORDERS} acknowledged orders lost: those of the last "
        f"{point.seconds:.2f} s before the fault, as one crossing of the line takes 80 ms. How far back the loss "
        f"reaches is the recovery point (RPO). No write was taken for {pause.seconds:.1f} s: that is the recovery "
        "time (RTO)."
    )


def lacks_crash(lab: Lab) -> str:
    """Say what is missing before two decisions can be compared."""
    if _crashed_ns(lab) < 0:
        return "In this lab paris still has power: run the cell above first."
    if lab.trace.select("mode", cluster="tokyo", mode="primary"):
        return "In this lab tokyo is promoted already: hand in the one in which nobody has decided yet."
    if lab.now - _crashed_ns(lab) > QUICK_S * SECOND_NS:
        return f"More than {QUICK_S} s have passed since the fault: run the cell above again."
    return ""


def decided(lab: Lab, after_s: int) -> tuple[int, float]:
    """Return lost orders and seconds without writes when tokyo is promoted so long after the fault, in a branch."""
    branch = branched(lab)
    branch.run(until=_crashed_ns(lab) / SECOND_NS + after_s)
    branch["tokyo"].promote()
    branch["tokyo"].post(f"{PATH}/first", {"data": {}})
    return branch.ledger.rpo().writes, branch.ledger.rto().seconds


def what_hurry_does(lab: Lab) -> str:
    """Return whether the quick decision loses fewer, the same or more."""
    quick, slow = decided(lab, QUICK_S)[0], decided(lab, SLOW_S)[0]
    return SAME if quick == slow else FEWER if quick < slow else MORE


def why_the_same(lab: Lab) -> str:
    """Explain what the time to decide changes and what it does not."""
    rows = [(after_s, *decided(lab, after_s)) for after_s in (QUICK_S, SLOW_S)]
    said = "; ".join(f"decided after {s} s: {count} lost, {gone:.1f} s without writes" for s, count, gone in rows)
    return (
        f"In two copies of this lab, {said}. What is lost was decided before anybody knew of the fault: by the "
        "distance, and by how much was written. People decide how long nothing is written, and whether the fault was "
        "one at all."
    )


LOST = Question(
    name="lost",
    asks=f"paris acknowledges {ORDERS} orders, one each 10 ms, and loses power. tokyo is 80 ms away. After 20 s "
    "tokyo is promoted. How many of the acknowledged orders are lost, give or take one?",
    least=0,
    most=ORDERS,
    near=1,
    measure=lost,
    needs=lacks_promotion,
    why=why_on_the_line,
    replies={
        0: "None would be lost if acknowledged meant stored in both regions. It means stored in paris.",
        1: "One would be lost if each order waited for the one before to arrive. They follow each other on the line.",
        16: "Sixteen is there and back. What is lost was on its way there only.",
        ORDERS: "All would be lost if copies were made now and then. Each order is sent as soon as it is stored.",
    },
    otherwise="What is lost is what was on the line: the rate, times one way.",
    look="Press Later in the player until paris goes down. Each cross on the lower way is an order: "
    "count them. The one on the upper way is an answer of tokyo to an earlier one, which the player counts as well.",
    draw=play,
)
HURRY = Question(
    name="hurry",
    asks=f"The same fault. One operator promotes tokyo {QUICK_S} s after it, another one after {SLOW_S} s. What does "
    "the quick decision change about the orders that are lost?",
    choices=(FEWER, SAME, MORE),
    measure=what_hurry_does,
    needs=lacks_crash,
    why=why_the_same,
    replies={
        FEWER: "Fewer would be lost if more were lost as time passes. paris has no power: nothing more is lost, and "
        "nothing more arrives.",
        MORE: "More would be lost if messages were still on their way after 5 s. They need 80 ms.",
    },
    otherwise="Think of what is still under way when the decision is made.",
)
