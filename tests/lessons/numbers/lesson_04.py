"""The numbers of lesson 04, and by what each is known."""

from __future__ import annotations

import math

from labkit import Vault
from labkit.lessons.distance.law import CASES, by_formula
from labkit.lessons.distance.line import measured as on_the_line
from labkit.lessons.distance.questions import FACTOR
from labkit.lessons.distance.silence import NAMES, impatient_and_dead, look, short_and_long_stall
from labkit.lessons.plan import Act
from labkit.service.silence import Silence
from tests.lessons.numbers.claims import answered, code_of, done, given, imagined, known, measured
from tests.lessons.numbers.runs import Runs, begun, crossing_ms, nodes


def nodes_of_which_one_runs() -> int:
    """How many nodes a cluster has that goes on while a single one of them runs."""
    lab = begun("04", "silence")
    for node in lab["paris"].nodes[:-1]:
        lab.crash(node)
    lab.run("20s")
    return nodes() if lab["paris"].active == lab["paris"].nodes[-1] else 0


def silent_and_stored(node: str, timeout: str) -> tuple[bool, int]:
    """Send to a node as the hint says: whether that meets silence, and how many are stored then."""
    lab = begun("04", "silence")
    path = "secret/data/orders/one"
    try:
        token = {"X-Vault-Token": lab["paris"].root_token}
        lab["paris"].request("POST", path, {"data": {}}, token, node=node, timeout=timeout)
    except Silence:
        return True, len(look(lab).stored)
    return False, 0


def too_short_us() -> int:
    """A time, in microseconds, within which no answer comes."""
    silent, _ = silent_and_stored("paris-1", "100us")
    return 100 if silent else 0


def compared_within_s() -> int:
    """After how many seconds the pair of the backlog has compared: those that the remark says."""
    lab = begun("04", "backlog")
    lab.partition("paris", "tokyo")
    for number in range(70):
        lab["paris"].post(f"secret/data/orders/{number}", {"data": {"n": number}})
    lab.heal()
    lab.run("10s")
    return 10 if lab.trace.select("observed", what="merkle_diff") and lab["paris"].root == lab["tokyo"].root else 0


def answered_within_ms() -> int:
    """Within how many milliseconds, whole ones, a node that leads has answered a write."""
    lab = begun("04", "silence")
    before = lab.now
    lab["paris"].post("secret/data/orders/one", {"data": {}})
    return math.ceil((lab.now - before) / 1e6)


def far_ms(runs: Runs) -> int:
    """How long one way takes over the longer line of the lesson, in milliseconds."""
    lab = runs["04"]["far"]
    (fault,) = lab.trace.select("fault", verb="slow")
    found = lab.trace.select("message", what="stream", fate="delivered")
    return round(1e-7 * min(event.at_ns - event.sent_ns for event in found if event.sent_ns > fault.at_ns)) * 10


def least_repeats() -> int:
    """How often a number would be used at the least if any were used again: no version's number comes twice."""
    vault, given = Vault.dev(seed=1), []
    for number in range(4):
        given.append(vault.post("secret/data/app", {"data": {"n": number}}).data["version"])
        vault.put("secret/destroy/app", {"versions": [given[-1]]})
    return 2 if len(set(given)) == len(given) else 1


def faults(way: Act, verb: str) -> list[str]:
    """What a way does of one verb in its exercise."""
    lab = begun("04", "silence")
    way(lab)
    return [event.target for event in lab.trace.select("fault", verb=verb)]


def ratio(faster: int, farther: int) -> int:
    """How much more a line holds, measured, at another rate or distance."""
    least = on_the_line(0.01, 0.08, 401)
    return round(on_the_line(0.01 / faster, 0.08 * farther, 402) / least)


CLAIMS = {
    "is three nodes": measured(lambda runs: nodes()),
    "takes 80 ms one way": measured(lambda runs: crossing_ms(runs["04"]["lab"])),
    "takes four times as long": given('slow("paris", "tokyo", factor=4)'),
    "80 ms": measured(lambda runs: crossing_ms(runs["04"]["lab"])),
    "320 ms": measured(lambda runs: far_ms(runs)),
    "the seconds between two writes": imagined("two that follow each other, whichever they are"),
    "for 5 ms between two writes": known(lambda: [1000 * CASES[1][0], 2]),
    "compares it with five labs": known(lambda: len({seed for _, _, seed in CASES})),
    "3: two silences": known(lambda: [3, len(NAMES)]),
    "Two silences": known(lambda: len(NAMES)),
    "loses three in ten": known(lambda: [int(code_of("04").partition("percent=")[2][:2]) / 10, 10]),
    "a number is never used twice": measured(lambda runs: least_repeats()),
    "your two data centres": imagined("what the learners have at their work"),
    'after `lab.run("10s")`': measured(lambda runs: compared_within_s()),
    "`expected(0.03, 0.08)`": known(lambda: CASES[4][:2]),
    "return one number": measured(lambda runs: len([by_formula(0.03, 0.08)])),
    "for twice the rate": known(lambda: CASES[0][0] / CASES[1][0]),
    "Twice the rate has to put twice as much": measured(lambda runs: [2, ratio(2, 1)]),
    "for 10 ms and for 5 ms between": known(lambda: [1000 * CASES[0][0], 1000 * CASES[1][0]]),
    "for three times the distance": known(lambda: round(CASES[3][1] / CASES[0][1])),
    "for 80 ms and for 240 ms": known(lambda: [1000 * CASES[0][1], 1000 * CASES[3][1]]),
    "each 10 ms, {} of them": given("orders(lab, 0.010)", times=1000),
    "16 is what there and back holds": answered(),
    "8 would be right": answered(),
    "64 is four times there and back": known(lambda: [8 * 2 * FACTOR, FACTOR]),
    "2 would be right": answered(),
    "none of the two": known(lambda: len(NAMES)),
    '`timeout="100us"`': measured(lambda runs: too_short_us()),
    "asked of the two": known(lambda: len(NAMES)),
    "each of the two": known(lambda: len(NAMES)),
    "one of the three runs": measured(lambda runs: nodes_of_which_one_runs()),
    "crash or pause one node": measured(lambda runs: len(faults(impatient_and_dead, "crash"))),
    "One of the two": known(lambda: len(NAMES)),
    "Stall the leader twice": measured(lambda runs: len(faults(short_and_long_stall, "pause"))),
    "its power; a second later": given('lab.run("1s")\ndone'),
    "is there within a millisecond": measured(lambda runs: answered_within_ms()),
    "`lab.resume` it within a second": done(short_and_long_stall, '"secret/data/orders/one", "1s"'),
}
