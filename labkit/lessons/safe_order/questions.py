"""Questions: what a planned move loses when it is made at once, and what a short wait between its steps changes."""

from __future__ import annotations

from labkit.front.lab import Lab
from labkit.lessons.plan import Question
from labkit.lessons.worlds import play

ORDERS, WAIT_MS = 100, 200
PLANNED = "planned failover loses nothing"


def lacks_move(lab: Lab) -> str:
    """Say what is missing before the losses of a move can be counted."""
    if lab.trace.select("fault", verb="crash"):
        return "In this lab a node lost power: hand in the one in which the primary moved as planned."
    if not lab.trace.select("mode", cluster="paris", mode="secondary"):
        return "In this lab paris has not stepped down yet: run the cell above first."
    if not lab.ledger.promotions:
        return "In this lab tokyo is not promoted yet: run the cell above first."
    return ""


def pause_ms(lab: Lab) -> float:
    """Return how long after paris had stepped down tokyo became the primary, in milliseconds."""
    down = lab.trace.select("mode", cluster="paris", mode="secondary")[0].at_ns
    up = lab.trace.select("mode", cluster="tokyo", mode="primary")[0].at_ns
    return (up - down) / 1e6


def lacks_wait(lab: Lab) -> str:
    """Say what is missing before the losses of a move with a wait in it can be counted."""
    lacking = lacks_move(lab)
    if not lacking and pause_ms(lab) < WAIT_MS:
        return f"In this lab tokyo was promoted {pause_ms(lab):.0f} ms after paris stepped down: hand in the other one."
    return lacking


def lost(lab: Lab) -> int:
    """Return how many acknowledged writes the new primary does not have."""
    return lab.ledger.rpo().writes


def why_at_once(lab: Lab) -> str:
    """Explain what a plan alone does not protect."""
    said = "is broken" if lab.invariants.verdicts().get(PLANNED) else "holds"
    came, left = came_meanwhile(lab), lost(lab)
    return (
        f"tokyo was promoted {pause_ms(lab):.1f} ms after paris stepped down. {came} more stream "
        f"message{'' if came == 1 else 's'} of paris arrived in that time, and {left} acknowledged orders had "
        f"not arrived by then. The rule `{PLANNED}` {said}. A plan stops new writes; those on the line still need "
        "their 80 ms."
    )


def came_meanwhile(lab: Lab) -> int:
    """Return how many stream messages of paris reached tokyo after paris had stepped down and before the promotion."""
    down = lab.trace.select("mode", cluster="paris", mode="secondary")[0].at_ns
    up = lab.trace.select("mode", cluster="tokyo", mode="primary")[0].at_ns
    nodes = {*lab["tokyo"].nodes}
    streamed = lab.trace.select("message", what="stream", fate="delivered")
    return sum(down < event.at_ns <= up and event.target in nodes for event in streamed)


def why_after_a_wait(lab: Lab) -> str:
    """Explain what a demoted cluster still does."""
    return (
        f"tokyo was promoted {pause_ms(lab):.0f} ms after paris stepped down, and {lost(lab)} acknowledged orders are "
        "lost. A cluster that steps down takes no new writes, and still hands out what it has. 200 ms are more than "
        "one crossing of this line; on another line they may be less."
    )


AT_ONCE = Question(
    name="at_once",
    asks="paris takes an order each 10 ms, tokyo is 80 ms away. As planned, paris steps down, and tokyo is promoted "
    "at once. How many acknowledged orders are lost, give or take one?",
    least=0,
    most=ORDERS,
    near=1,
    measure=lost,
    needs=lacks_move,
    why=why_at_once,
    replies={
        0: "None would be lost if planned meant lossless. It means only that paris takes no more writes.",
        1: "One would be lost if each order waited for the one before to arrive. They follow each other on the line.",
        16: "Sixteen is there and back. What is lost was on its way there only.",
    },
    otherwise="A planned move loses what a disaster loses, if nobody waits: the rate, times one way.",
    look="Press Later in the player until tokyo is the primary, and count what is on the way from paris then: "
    "the text beside the map says which are stream messages.",
    draw=play,
)
PATIENT = Question(
    name="after_a_wait",
    asks=f"The same move, but {WAIT_MS} ms pass after paris stepped down, before tokyo is promoted. How many "
    "acknowledged orders are lost now?",
    least=0,
    most=ORDERS,
    measure=lost,
    needs=lacks_wait,
    why=why_after_a_wait,
    replies={
        7: "As many as before would be lost if a cluster that stepped down sent nothing any more. It still does.",
        8: "As many as a disaster loses would be lost if paris were dark. It is a secondary now, and still sends.",
        20: "Twenty orders would be lost if paris still took some. It refuses them, so clients know.",
    },
    otherwise="Think of what is on the line when paris steps down, and of how long one crossing takes.",
    look="Choose in the list below the pictures the row that says paris is secondary, and press Step above the map: "
    "what arrives at tokyo in the 80 ms after it?",
    draw=play,
)
