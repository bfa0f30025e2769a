"""The numbers of lesson 00, and by what each is known."""

from __future__ import annotations

from labkit.lessons.tour.questions import ORDERS, acknowledged
from labkit.lessons.tour.sixth import SAVE_THE_SIXTH, TAKEOVER, wait_before
from tests.lessons.numbers.claims import answered, done, given, imagined, known, listed, measured, seconds
from tests.lessons.numbers.runs import begun, clusters, crossing_ms, crossing_s, nodes


def leaders_after_a_loss() -> int:
    """Lose the leader of paris: how many other nodes lead after the time of a takeover."""
    lab = begun("00", "sixth")
    lab.crash("paris-1")
    lab.run(TAKEOVER)
    return len({lab["paris"].active} & {"paris-2", "paris-3"})


def orders_on_both_sides() -> int:
    """How many orders both clusters have where the exercise begins."""
    lab = begun("00", "sixth")
    assert lab["paris"].root == lab["tokyo"].root
    return len(lab["paris"].list("secret/metadata/orders").data["keys"])


CLAIMS = {
    "from one number, the **seed**": listed("**seed**"),
    "## Two regions": measured(lambda runs: clusters()),
    "has three **nodes**": measured(lambda runs: nodes()),
    "so there are two clusters": measured(lambda runs: clusters()),
    "joining the two took": listed("paris is the **primary**", "tokyo is a **secondary**"),
    "The same five orders": measured(lambda runs: acknowledged(runs["00"]["later"])),
    "one second more": given('later.run("1s")\nlater.crash'),
    "Both clusters below have five orders": measured(lambda runs: orders_on_both_sides()),
    "more than one way": known(lambda: int(len(SAVE_THE_SIXTH.ways) > 1)),
    "more of two clusters": measured(lambda runs: clusters()),
    "a little over 0.08 s": measured(lambda runs: crossing_s()),
    "a little more than 80 ms": measured(lambda runs: crossing_ms()),
    "to tokyo, 80 ms one way": measured(lambda runs: crossing_ms()),
    "Five orders are written": known(lambda: ORDERS),
    "one each 10 ms": given('    lab.run("10ms")\nlab.crash'),
    "10 ms after the last one": given('    lab.run("10ms")\nlab.crash'),
    "How many of the five": known(lambda: ORDERS),
    "Five would be right": answered(),
    "Four would be right": answered(),
    "but one second passes": given('later.run("1s")\nlater.crash'),
    "Compare one second": given('later.run("1s")\nlater.crash'),
    '`lab.run("15s")`': known(lambda: seconds(TAKEOVER)),
    "when one node is lost": measured(lambda runs: leaders_after_a_loss()),
    '`lab.run("1s")` before the loss': done(wait_before, 'lab.run("1s")\n    lab.crash'),
    "## A second earlier": given('later.run("1s")\nlater.crash'),
    "An hour takes a moment here": imagined("any time that is simulated, however long it is"),
    "lost, and a second later": given('lab.run("1s")\nlab["tokyo"].promote()'),
    "the order a second to arrive": done(wait_before, 'lab.run("1s")\n    lab.crash'),
}
