"""Questions: how many writes are on the line when a region is lost, and what four times the distance makes of that."""

from __future__ import annotations

from labkit.front.lab import Lab
from labkit.lessons.plan import Question
from labkit.lessons.worlds import play

WRITES, FACTOR = 100, 4


def lacks_loss(lab: Lab) -> str:
    """Say what is missing before the losses can be counted."""
    if not lab.trace.select("fault", verb="crash"):
        return "In this lab paris still runs: run the cell above first."
    if not lab.ledger.promotions:
        return "tokyo is not promoted yet, so nothing is lost so far: run the cell above first."
    return ""


def lacks_distance(lab: Lab) -> str:
    """Say what is missing before the losses over a longer line can be counted."""
    if not lab.trace.select("fault", verb="slow"):
        return "The line of this lab is as fast as before: run the cell above first."
    return lacks_loss(lab)


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
    needs=lacks_loss,
    why=why_line,
    replies={
        0: "None would be missing if an acknowledgement waited for tokyo, or for a majority of all nodes. It waits "
        "for paris only.",
        16: "16 is what there and back holds. The copy needs one way only; the answer of tokyo carries no order.",
        WRITES: "All would be missing if copies were made now and then. Each write is sent on when it is stored.",
    },
    otherwise="Count what paris takes while one message crosses.",
    look="Press Later in the player until paris goes down: each cross on the lower way is an "
    "order; one above is on its way back. The squares below the map count what differs; lesson 07 explains them.",
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
