"""The numbers of lesson 06, and by what each is known."""

from __future__ import annotations

from labkit.lessons.disaster.questions import QUICK_S, SLOW_S
from labkit.lessons.two_primaries.clean_up import keep_tokyo
from labkit.lessons.two_primaries.fence import FENCE, LATER, demote_first
from labkit.lessons.two_primaries.questions import WAITED_S
from labkit.lessons.two_primaries.split import takers
from labkit.lessons.two_primaries.stall import stall_long, stall_short
from labkit.lessons.worlds import branched
from tests.lessons.numbers.claims import done, example, given, imagined, known, measured, seconds
from tests.lessons.numbers.runs import Runs, begun, clusters, nodes


def histories(runs: Runs) -> int:
    """How many roots the clusters of the split have once each has taken an order of its own."""
    return len({runs["06"]["copy"][name].root for name in ("paris", "tokyo")})


def roots_after_the_repair() -> int:
    """How many roots there are once one cluster follows the other."""
    lab = begun("06", "clean_up")
    keep_tokyo(lab)
    lab.run("10s")
    return len({lab["paris"].root, lab["tokyo"].root})


def given_up() -> list[tuple[str, int]]:
    """What is given up where tokyo's history goes on."""
    _, found = keep_tokyo(begun("06", "clean_up"))
    return [(str(path), int(number)) for path, number in found]


def of_one_number() -> int:
    """How many contents the orders of a split have under one path and one version."""
    lab = begun("06", "clean_up")
    found: dict[tuple[str, str], set[str]] = {}
    for name in ("paris", "tokyo"):
        for key in lab[name].list("secret/metadata/orders").data["keys"]:
            versions = lab[name].get(f"secret/metadata/orders/{key}").data["versions"]
            for version in versions:
                data = lab[name].get(f"secret/data/orders/{key}?version={version}").data["data"]
                found.setdefault((key, version), set()).add(str(data))
    return max(map(len, found.values()))


def taken_over_within_s() -> int:
    """A pause, in seconds, in which another node takes over."""
    lab = begun("06", "stall")
    lab.pause("paris-1")
    lab.run("5s")
    return 5 if lab["paris"].active != "paris-1" else 0


def answered_with(runs: Runs) -> int:
    """What both clusters of the split answer to a write."""
    (status,) = set(runs["06"]["answers"].values())
    return int(status)


def taking(runs: Runs) -> int:
    """How many primaries of the split take writes when the rule speaks."""
    return len(takers(branched(runs["06"]["split"])))


def takers_of_an_ended_split() -> int:
    """How many clusters take writes once the split of exercise 2 is cleaned up."""
    lab = begun("06", "clean_up")
    keep_tokyo(lab)
    lab.run("10s")
    return len(takers(branched(lab)))


def asked_to_promote() -> int:
    """How many clusters a promotion sends a request to."""
    lab = begun("06", "fence")
    before = len(lab.trace)
    lab["tokyo"].promote()
    asked = [event for event in list(lab.trace)[before:] if getattr(event, "what", "") == "request"]
    return len({event.target.partition("-")[0] for event in asked})


def requests_of_a_switch() -> int:
    """How many requests the operator's order of steps has."""
    lab = begun("06", "fence")
    before = len(lab.trace.select("mode"))
    demote_first(lab)
    return len({(event.cluster, event.mode) for event in lab.trace.select("mode")[before:]})


CLAIMS = {
    "Two primaries: who stops": measured(lambda runs: taking(runs)),
    "no instant two clusters": measured(lambda runs: clusters()),
    "is three nodes": measured(lambda runs: nodes()),
    "between the two regions": measured(lambda runs: clusters()),
    "Ten seconds pass": given('split = split.run("10s")'),
    "two histories go on": measured(lambda runs: histories(runs)),
    "more than one way": known(lambda: int(len(FENCE.ways) > 1)),
    '[("orders/9", 1)': example(lambda: ("orders/9", 1) in given_up()),
    "A request to one node": done(stall_short, 'node="paris-1", timeout="1s"'),
    'node="paris-1", timeout="1s")`': done(stall_short, 'node="paris-1", timeout="1s"'),
    "Three clusters: let": measured(lambda runs: len(runs["06"]["three"].clusters)),
    "keeps one history": measured(lambda runs: roots_after_the_repair()),
    "The rule `one primary`": measured(lambda runs: takers_of_an_ended_split()),
    "nothing does: two primaries": measured(lambda runs: taking(runs)),
    "decides after 60 s instead of 5 s": known(lambda: [SLOW_S, QUICK_S]),
    "One history goes on": measured(lambda runs: roots_after_the_repair()),
    "('orders/9', 1)": example(lambda: ("orders/9", 1) in given_up()),
    "Exactly one cluster has to": measured(lambda runs: takers_of_an_ended_split()),
    "one of the two has to be stopped": measured(lambda runs: clusters()),
    "under one number": measured(lambda runs: int(of_one_number() == 2)),
    "One number may stand for two writes": measured(lambda runs: [1, of_one_number()]),
    "of the two, before `repoint`": measured(lambda runs: clusters()),
    "your two requests": measured(lambda runs: requests_of_a_switch()),
    '`lab.run("60s")`': known(lambda: seconds(LATER)),
    "What stops one node": imagined("any node, whichever it is that somebody stops"),
    "the rule `one primary`": measured(lambda runs: takers_of_an_ended_split()),
    "a write with 200": measured(lambda runs: answered_with(runs)),
    "a request to one cluster": measured(lambda runs: asked_to_promote()),
    "has its three nodes": measured(lambda runs: nodes()),
    "copies one history": measured(lambda runs: roots_after_the_repair()),
    "never joins two": measured(lambda runs: histories(runs)),
    "Ten seconds later": known(lambda: WAITED_S),
    "more than half of all machines": imagined("what a quorum is, in other systems than this"),
    "its own three nodes": measured(lambda runs: nodes()),
    "two clusters in this lab": measured(lambda runs: clusters()),
    "passes between the two": measured(lambda runs: clusters()),
    "merged the two histories": measured(lambda runs: histories(runs)),
    "between two answers to one question": imagined("what a rule that merges would have to decide"),
    '`lab.run("5s")`': measured(lambda runs: taken_over_within_s()),
    "for five seconds": done(stall_short, 'timeout="1s"', 'lab.run("4s")', running=True),
    "asked for a write now and a minute later": known(lambda: seconds(LATER) / 60),
    "the leader for a minute": done(stall_long, "30s", "10s", "20s", running=True, times=1 / 60),
}
