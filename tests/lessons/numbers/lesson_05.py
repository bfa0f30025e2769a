"""The numbers of lesson 05, and by what each is known."""

from __future__ import annotations

from labkit.lessons.catalogue import plan
from labkit.lessons.disaster.alarms import ALARMS, alarmed, by_a_write, by_health
from labkit.lessons.disaster.by_hand import ATTEMPT, by_requests
from labkit.lessons.disaster.outlived import MAX_NEAR_S, by_lag, by_version
from labkit.lessons.disaster.questions import QUICK_S, SLOW_S
from labkit.trace import SECOND_NS
from tests.lessons.numbers.claims import answered, done, given, imagined, known, listed, measured
from tests.lessons.numbers.runs import begun, clusters, crossing_ms, nodes, pair


def dark_for_s() -> float:
    """For how many seconds paris has been dark where the exercise by hand begins."""
    lab = begun("05", "by_hand")
    return round((lab.now - lab.trace.select("fault", verb="crash")[-1].at_ns) / SECOND_NS, 3)


def shares() -> list[int]:
    """How many key shares an attempt needs, and how many there are."""
    lab = begun("05", "by_hand")
    body = lab["tokyo"].post(f"{ATTEMPT}/attempt", {}, token="").body
    return [body["required"], len(lab["paris"].unseal_keys)]


def progress_after_a_wrong_one() -> int:
    """The progress of an attempt after two shares, of which the last one asked for was of another cluster."""
    lab = begun("05", "by_hand")
    tokyo = lab["tokyo"]
    nonce = tokyo.post(f"{ATTEMPT}/attempt", {}, token="").body["nonce"]
    for share in (*lab["paris"].unseal_keys[:2], lab["tokyo"].unseal_keys[2]):
        tokyo.post(f"{ATTEMPT}/update", {"key": share, "nonce": nonce}, token="")
    return int(tokyo.get(f"{ATTEMPT}/attempt", token="").body["progress"])


def primaries_after(alarm: str) -> int:
    """How many clusters are primaries when tokyo is promoted at an alarm."""
    lab = alarmed(alarm)
    lab["tokyo"].promote()
    lab.run("10s")
    return sum(lab[name].mode == "primary" for name in ("paris", "tokyo"))


def died(name: str) -> int:
    """How many nodes of paris have died at an alarm."""
    return len(alarmed(name).trace.select("fault", verb="crash"))


def level_lag() -> int:
    """The lag of a pair once nothing is on the line."""
    return int(pair().lag("paris", "tokyo").entries)


def other_choices() -> int:
    """How many choices stand beside "one of the two"."""
    (choices,) = [recall.choices for recall in plan("05").recalls if "one of the two" in recall.choices]
    return len(choices) - 1


CLAIMS = {
    "takes people twenty seconds": given('lab.run("20s")'),
    "after twenty seconds": given('lab.run("20s")'),
    "Twenty seconds are long": given('lab.run("20s")'),
    "switch after five seconds": known(lambda: QUICK_S),
    "only one node is lost": given('crash("paris-1")'),
    "is three nodes": measured(lambda runs: nodes()),
    "the other two wait": measured(lambda runs: nodes() - 1),
    "1: three alarms": known(lambda: [1, len(ALARMS)]),
    "Three alarms": known(lambda: len(ALARMS)),
    "one of the three cases": known(lambda: len(ALARMS)),
    "been dark for twenty seconds": measured(lambda runs: dark_for_s()),
    "takes one share": listed("`key`"),
    "Three of five are needed": measured(lambda runs: shares()),
    "factor=4)`, and let": imagined("how far apart the reader lets the clusters be"),
    "come twice as fast": imagined("how fast the reader lets them come"),
    "How do the two become equal": measured(lambda runs: clusters()),
    "one of the two": known(other_choices),
    "one node of paris died": measured(lambda runs: died("node")),
    "promoted: two primaries": measured(lambda runs: primaries_after("node")),
    "Two more nodes wait": measured(lambda runs: nodes() - 1),
    "where nobody writes it is 0": measured(lambda runs: level_lag()),
    "Here it may take two seconds": known(lambda: MAX_NEAR_S),
    'lab.run("50ms")`': done(by_lag, 'lab.run("50ms")'),
    '`lab["paris"].post(..., timeout="30s")`': done(by_a_write, 'timeout="30s"'),
    "in which one node died": measured(lambda runs: died("node")),
    "in all three cases": known(lambda: len(ALARMS)),
    "in half a minute": done(by_a_write, 'timeout="30s"', times=1 / 60),
    "of 3 shares": measured(lambda runs: shares()[0]),
    "from three shares": measured(lambda runs: shares()[0]),
    "Three of five shares": measured(lambda runs: shares()),
    "the progress to 0": measured(lambda runs: progress_after_a_wrong_one()),
    "each of three shares of paris": measured(lambda runs: shares()[0]),
    '"key_version": 1`': done(by_version, '"key_version": 1'),
    "the lag is 0": measured(lambda runs: level_lag()),
    "crossing of the line takes 80 ms": measured(lambda runs: crossing_ms(runs["05"]["lab"])),
    "In two copies": known(lambda: len((QUICK_S, SLOW_S))),
    "one each 10 ms": given("calm.now / 1e9 + 0.01", times=1000),
    "tokyo is 80 ms away": measured(lambda runs: crossing_ms(runs["05"]["lab"])),
    "After 20 s": given('lab.run("20s")'),
    "Sixteen is there and back": answered(),
    "after 5 s. They need 80 ms": measured(lambda runs: [QUICK_S, crossing_ms(runs["05"]["lab"])]),
    "give it half a minute": done(by_a_write, 'timeout="30s"', times=1 / 60),
    "Look at paris five times": done(by_health, "range(5)"),
    "give three shares": done(by_requests, "unseal_keys[:3]"),
    "wants a minute, to be sure": known(lambda: SLOW_S / 60),
}
