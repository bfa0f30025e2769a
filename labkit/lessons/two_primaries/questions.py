"""Questions: how many clusters take writes behind a cut line, and what healing makes of two histories."""

from __future__ import annotations

from labkit.front.lab import Lab
from labkit.lessons.plan import Question
from labkit.lessons.two_primaries.split import PAIR, modes, takers
from labkit.lessons.worlds import branched, play
from labkit.service.durations import SECOND_NS

OWN = "secret/data/orders/own"
WAITED_S = 10


def _promoted_ns(lab: Lab) -> int:
    events = lab.trace.select("mode", cluster="tokyo", mode="primary")
    return events[-1].at_ns if events else -1


def lacks_promotion(lab: Lab) -> str:
    """Say what is missing before two primaries can be counted."""
    if not lab.trace.select("fault", verb="partition"):
        return "In this lab no line is cut yet: run the cell above first."
    if _promoted_ns(lab) < 0:
        return "In this lab tokyo is not promoted yet: run the cell above first."
    if lab.now - _promoted_ns(lab) < WAITED_S * SECOND_NS:
        return f"Let {WAITED_S} seconds pass after the promotion: run the cell above first."
    return ""


def writers(lab: Lab) -> int:
    """Return how many clusters take a write now, asked in a branch."""
    return len(takers(branched(lab)))


def why_both(lab: Lab) -> str:
    """Explain why nothing stopped the old primary."""
    took = takers(branched(lab))
    first = lab.trace.select("invariant", name="one primary")
    since = f" Since {first[0].at_ns / SECOND_NS:.1f} s the rule `one primary` is broken." if first else ""
    return (
        f"Asked in a copy of this lab, {' and '.join(took) or 'no cluster'} answered a write with 200.{since} "
        "A promotion is a request to one cluster. It sends the old primary nothing, and over a cut line nothing would "
        "arrive. paris still has its three nodes and its leader, so it goes on."
    )


def lacks_rejoin(lab: Lab) -> str:
    """Say what is missing before the fate of paris's own write can be seen."""
    if modes(lab) != {"paris": "secondary", "tokyo": "primary"}:
        return "In this lab paris does not follow tokyo yet: run the cell above first."
    if ("tokyo", "paris") not in lab.queries.streaming_pairs():
        return "paris is still being brought up to date: let a few seconds pass first."
    return ""


def copies(lab: Lab) -> int:
    """Return how many clusters hold the order that paris took by itself; paris is asked once it serves."""
    branch = branched(lab)
    held = int(branch["tokyo"].get(OWN).status == 200)
    branch["paris"].disable()
    return held + int(branch["paris"].get(OWN).status == 200)


def why_gone(lab: Lab) -> str:
    """Explain what following another cluster does to a history of one's own."""
    lost = lab.ledger.rpo().after_fault
    return (
        f"The ledger counts {lost} acknowledged write{'' if lost == 1 else 's'} lost after the fault. paris compared "
        "what it holds with what tokyo holds, and took over all that differed: what tokyo does not have is deleted. "
        "Replication copies one history; it never joins two."
    )


TWO = Question(
    name="two",
    asks="The line between paris and tokyo is cut, and tokyo is promoted. Ten seconds later, how many clusters take "
    "writes?",
    least=0,
    most=len(PAIR),
    measure=writers,
    needs=lacks_promotion,
    why=why_both,
    replies={
        1: "One is what a quorum gives, a rule by which only the side that sees more than half of all machines goes "
        "on. Each cluster chooses its leader among its own three nodes, and asks nobody else.",
        0: "None is what a system gives that stops when in doubt. This one leaves the doubt to whoever promotes.",
    },
    otherwise="There are two clusters in this lab.",
    look="Press Later in the player until tokyo is the primary: what passes between the two, and what is "
    "paris then? A cross is a heartbeat of before the cut; a promotion sends paris nothing.",
    draw=play,
)
OWN_WRITE = Question(
    name="own",
    asks="During the split paris acknowledged an order that tokyo never saw. The line is healed, and paris follows "
    "tokyo. How many clusters still hold that order?",
    least=0,
    most=len(PAIR),
    measure=copies,
    needs=lacks_rejoin,
    why=why_gone,
    replies={
        2: "Both would hold it if healing merged the two histories. What is copied is what the primary holds, and "
        "no rule decides between two answers to one question.",
        1: "One would hold it if a cluster kept what it acknowledged. Once paris is a secondary it is a copy of "
        "tokyo, whatever it promised before.",
    },
    otherwise="There are two clusters in this lab.",
    look="Press Later in the player until paris compares trees: which pages differ, and what is sent after that?",
    draw=play,
)
