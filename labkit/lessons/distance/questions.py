"""Questions: how many writes are on the line when a region is lost, and what four times the distance makes of that."""

from __future__ import annotations

from labkit.front.lab import Lab
from labkit.lessons.distance.line import PATH
from labkit.lessons.plan import Question
from labkit.lessons.worlds import play
from labkit.trace import SECOND_NS

WRITES, FACTOR, GAP_MS = 100, 4, 10
SLOWED = f"factor {FACTOR}"
MS_NS, NEAR_MS = SECOND_NS // 1_000, 1


def lacks_loss(lab: Lab) -> str:
    """Say what is missing before the losses can be counted."""
    if not lab.trace.select("fault", verb="crash"):
        return "In this lab paris still runs: run the cell above first."
    if not lab.ledger.promotions:
        return "tokyo is not promoted yet, so nothing is lost so far: run the cell above first."
    return ""


def lacks_line(lab: Lab) -> str:
    """Say what is missing before the losses over the usual line can be counted."""
    lacks = lacks_loss(lab)
    if not lacks and lab.trace.select("fault", verb="slow"):
        return "The line of this lab was slowed, and this prediction is about one of 80 ms: run the cell above."
    return lacks or _lacks_rate(lab)


def lacks_distance(lab: Lab) -> str:
    """Say what is missing before the losses over a longer line can be counted."""
    slowed = lab.trace.select("fault", verb="slow")
    if not slowed:
        return "The line of this lab is as fast as before: run the cell above first."
    if slowed[-1].detail != SLOWED:
        return f"This lab's line is slowed by {slowed[-1].detail}, not by {SLOWED}: run the cell above."
    return lacks_loss(lab) or _lacks_rate(lab)


def _lacks_rate(lab: Lab) -> str:
    """Say in what the orders of a lab differ from those that a prediction is about."""
    crash_ns = lab.trace.select("fault", verb="crash")[0].at_ns
    taken = [write.at_ns for write in lab.ledger.writes if write.path.startswith(PATH) and write.at_ns <= crash_ns]
    if len(taken) != WRITES:
        return f"In this lab paris took {len(taken)} orders before the loss, not {WRITES}: run the cell above."
    gap_ms = (taken[-1] - taken[0]) / (WRITES - 1) / MS_NS
    if abs(gap_ms - GAP_MS) > NEAR_MS:
        return f"In this lab paris took an order each {gap_ms:.1f} ms, not each {GAP_MS} ms: run the cell above."
    after_ms = (crash_ns - taken[-1]) / MS_NS
    if after_ms > GAP_MS + NEAR_MS:
        return f"In this lab paris went down {after_ms:.0f} ms after the last order, not at once: run the cell above."
    return ""


def lost(lab: Lab) -> int:
    """Return how many acknowledged writes the survivor does not have."""
    return lab.ledger.rpo().writes


def why_line(lab: Lab) -> str:
    """Explain where the lost writes were."""
    point = lab.ledger.rpo()
    return (
        f"{len(lab.ledger.writes)} orders were acknowledged, {point.writes} of them are lost, the oldest "
        f"{point.seconds * 1000:.0f} ms before the crash. Acknowledged means stored in paris. The copy leaves at once "
        "and needs the whole way, so what was written during one crossing was on the line: rate × one way."
    )


def why_distance(lab: Lab) -> str:
    """Explain why unequal roots are no damage, and what distance costs."""
    return (
        f"{lost(lab)} orders were on the line: the same rate, over a line that takes {FACTOR} times as long. While "
        "anything is on its way the roots of both trees differ, and nothing is damaged: tokyo is a little behind."
    )


ON_THE_LINE = Question(
    name="line",
    asks=f"paris takes an order each 10 ms, {WRITES} of them, and acknowledges each. The line to tokyo takes 80 ms "
    "one way. Then paris loses its power for good. How many of the acknowledged orders does tokyo not have?",
    least=0,
    most=WRITES,
    near=1,
    measure=lost,
    needs=lacks_line,
    why=why_line,
    replies={
        0: "None would be missing if an acknowledgement waited for tokyo, or for a majority of all nodes. It waits "
        "for paris only.",
        16: "16 is what there and back holds. The copy needs one way only; the answer of tokyo carries no order.",
        WRITES: "All would be missing if copies were made now and then. Each write is sent on when it is stored.",
    },
    otherwise="Count what paris takes while one message crosses.",
    look="Press Later in the player until paris goes down: each cross on the lower way is an order. The squares below "
    "the map are parts of both trees that differ, more of them than orders; lesson 07 explains them.",
    draw=play,
)
FARTHER = Question(
    name="farther",
    asks=f"The same rate, but the line takes {FACTOR} times as long: 320 ms one way. How many are missing now?",
    least=0,
    most=WRITES,
    near=1,
    measure=lost,
    needs=lacks_distance,
    why=why_distance,
    replies={
        8: "8 would be right if only the rate counted. A longer line holds more of the same stream.",
        64: "64 is four times there and back. The stream fills one way.",
        2: "2 would be right if a slow line slowed the clients down. paris does not wait for it.",
    },
    otherwise="Multiply the rate by what one crossing takes.",
    look="Press Later in the player until paris goes down, and compare with the first run: how many crosses "
    "are there? Where they touch, the text beside the map counts them.",
    draw=play,
)
