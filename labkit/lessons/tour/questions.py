"""Questions: how many of five acknowledged orders survive the loss of a region, at once and a second later."""

from __future__ import annotations

from labkit.front.lab import Lab
from labkit.lessons.plan import Question
from labkit.lessons.worlds import branched, play
from labkit.trace import SECOND_NS

ORDERS = 5
PATH = "secret/data/orders"
AT_ONCE_S = 0.1
"""Five orders, one each 10 ms, and the loss are no farther apart than that."""


def acknowledged(lab: Lab) -> int:
    """Return how many orders were acknowledged."""
    return len({write.path for write in lab.ledger.writes if write.path.startswith(PATH)})


def waited_s(lab: Lab) -> float:
    """Return how many seconds lay between the last order and the loss; -1 while nothing is lost."""
    crashes = lab.trace.select("fault", verb="crash")
    times = [write.at_ns for write in lab.ledger.writes]
    return (crashes[0].at_ns - max(times)) / SECOND_NS if crashes and times else -1.0


def ahead_s(lab: Lab) -> float:
    """Return how many seconds before the loss the first order was acknowledged."""
    return (
        lab.trace.select("fault", verb="crash")[0].at_ns - min(write.at_ns for write in lab.ledger.writes)
    ) / SECOND_NS


def lacks_disaster(lab: Lab) -> str:
    """Say what is missing before survivors can be counted."""
    if acknowledged(lab) < ORDERS:
        return f"In this lab there are {acknowledged(lab)} orders so far: run the cell above first."
    if not lab.trace.select("fault", verb="crash"):
        return "In this lab paris still runs: run the cell above first."
    if lab["tokyo"].mode != "primary":
        return "tokyo is not promoted yet: run the cell above first."
    return ""


def lacks_loss_at_once(lab: Lab) -> str:
    """Say what is missing before the first case can be counted: the lab of the changed one shows something else."""
    lacks = lacks_disaster(lab)
    if not lacks and ahead_s(lab) > AT_ONCE_S:
        early = f"In this lab paris was lost {ahead_s(lab):.2f} s after the first order, not at once"
        return f"{early}: run the cell above."
    return lacks


def lacks_second(lab: Lab) -> str:
    """Say what is missing before the changed case can be counted."""
    lacks = lacks_disaster(lab)
    if not lacks and waited_s(lab) < 1:
        return "In this lab paris was lost right after the last order: run the cell above first."
    return lacks


def survivors(lab: Lab) -> int:
    """Return how many orders tokyo has, asked in a branch."""
    branch = branched(lab)
    return sum(branch["tokyo"].get(f"{PATH}/{number}").ok for number in range(1, ORDERS + 1))


def why(lab: Lab) -> str:
    """Explain where the orders were when paris was lost."""
    return (
        f"{acknowledged(lab)} orders were acknowledged, and {survivors(lab)} are in tokyo. paris was lost "
        f"{ahead_s(lab):.2f} s after the first acknowledgement and {waited_s(lab):.2f} s after the last; a message to "
        f"tokyo takes a little over 0.08 s. Acknowledged means stored in paris. {_on_its_way(lab)}"
    )


def _on_its_way(lab: Lab) -> str:
    """Say what became of the orders on the line, where there were any."""
    if survivors(lab) == acknowledged(lab):
        return "Each order had left at once, and none was on its way any more."
    return (
        "What is on its way when paris goes down goes down with it: the machines that would send it again, and the "
        "region's part of the line."
    )


SURVIVE = Question(
    name="survive",
    asks="Five orders are written to paris, one each 10 ms, and each is acknowledged. 10 ms after the last one the "
    "region is lost, and a second later tokyo is promoted. How many of the five does tokyo have?",
    least=0,
    most=ORDERS,
    measure=survivors,
    needs=lacks_loss_at_once,
    why=why,
    replies={
        5: "Five would be right if an acknowledgement meant stored in both. It means stored in paris.",
        4: "Four would be right if only the last order were late. The first one was on its way as well.",
    },
    otherwise="Some would be there if the orders had been spread over a longer time than one crossing.",
    look="Press Later in the player until paris goes down: each cross on the lower way to tokyo is an order, where "
    "it was then. The squares below the map are parts of what both hold that differ, more of them than orders: "
    "lesson 07 explains them. `labkit help words` has the other words beside the map, such as seal, term and guard.",
    draw=play,
)
SECOND = Question(
    name="second",
    asks="The same again, but one second passes between the last order and the loss. How many of the five does tokyo "
    "have now?",
    least=0,
    most=ORDERS,
    measure=survivors,
    needs=lacks_second,
    why=why,
    replies={
        0: "None would be right if copies were made now and then. Each order leaves when it is stored.",
        4: "Four would be right if the last one waited for a next one. Nothing waits: each travels by itself.",
    },
    otherwise="Compare one second with what a message needs to tokyo.",
    look="Press Later in the player until paris goes down: is an order still on the way to tokyo?",
    draw=play,
)
