"""The numbers of lesson 09, and by what each is known."""

from __future__ import annotations

from labkit.lessons.failing_drill.cause import FOLDERS, by_why, roots_of
from labkit.lessons.failing_drill.drill import DRILL, TRIED_SEEDS, by_expect
from labkit.lessons.failing_drill.drills import CRASH_S, NO_EXPECTATIONS, PLANTED, PROMOTE_S, SEEDS, read
from labkit.lessons.failing_drill.questions import STRICT, losing
from labkit.lessons.failing_drill.rule import (
    LIMIT,
    MAX_BEHIND,
    SOUND,
    WORLDS,
    as_a_condition,
    as_a_function,
    falls_behind,
    world,
)
from labkit.lessons.failing_drill.rule import PLANTED as PLANTED_OF_RULES
from labkit.lessons.judging import judge
from labkit.lessons.said import RIGHT
from labkit.trace import SECOND_NS
from tests.lessons.numbers.claims import done, example, given, imagined, known, measured
from tests.lessons.numbers.runs import Runs, begun, clusters


def writes_per_second() -> float:
    """How often the client of the rule's labs writes, in a second."""
    lab = world(0)
    before = len(lab.ledger.writes)
    lab.run("2s")
    return (len(lab.ledger.writes) - before) / 2


def spaces_before_a_step() -> int:
    """How many spaces stand before the dash of a step in the drill."""
    lines = [line for line in NO_EXPECTATIONS.splitlines() if line.lstrip().startswith("- {do: ")]
    (found,) = {len(line) - len(line.lstrip()) for line in lines}
    return found


def gap_ms() -> float:
    """How long it is from one write of the drill's client to the next, in milliseconds."""
    (client,) = read(NO_EXPECTATIONS).blueprint.clients
    (work,) = client.workload
    return work.every_ns / 1e6


def copy_takes_ms(runs: Runs) -> list[float]:
    """How long copies are on the line in the runs of the drill, in milliseconds: from and to, in tens."""
    found = [
        (event.at_ns - event.sent_ns) / 1e6
        for lab in runs["09"]["empty"]
        for event in lab.trace.select("message", what="stream", fate="delivered")
        if event.source.startswith("paris")
    ]
    return [round(min(found), -1), round(max(found), -1)]


def lost_of_a_few(runs: Runs) -> list[int]:
    """How many writes the runs of the drill lose: the fewest, the most."""
    lost = {lab.ledger.rpo().writes for lab in runs["09"]["empty"]}
    return [min(lost), max(lost)]


def half_in_words(runs: Runs) -> list[float]:
    """What part of the runs would pass by a wrong model, which no run shows: more than half of them lose a write."""
    labs = runs["09"]["strict"]
    return [1 / 2, 1 / 2] if losing(labs) > len(labs) / 2 else []


def behind_of_every_fault() -> int:
    """How many writes tokyo is behind where a planted fault has made it fall behind, whichever it is."""
    found = set()
    for happens in PLANTED_OF_RULES.values():
        lab = world(0)
        happens(lab)
        falls_behind(lab, MAX_BEHIND + 1)
        found.add(lab.lag("paris", "tokyo").entries)
    (behind,) = found
    return int(behind)


def behind_at_the_limit() -> int:
    """How many writes tokyo is behind in the world that ends just before a rule has to speak."""
    lab = world(0)
    SOUND[LIMIT](lab)
    return int(lab.lag("paris", "tokyo").entries)


def acknowledged_after_ms() -> float:
    """How long an answer of paris is on its way to the drill's client, in milliseconds."""
    links = read(NO_EXPECTATIONS).blueprint.links
    (way,) = [link.latency_ns for link in links if set(link.between) == {"lisbon", "paris"}]
    return way / 1e6


def factor() -> float:
    """How many times as slow a planted fault makes the line."""
    lab = world(0)
    PLANTED_OF_RULES["the line is slow"](lab)
    (fault,) = lab.trace.select("fault", verb="slow")
    return float(fault.detail.removeprefix("factor "))


CLAIMS = {
    "it with twenty seeds": known(lambda: SEEDS),
    "with twenty seeds": measured(lambda runs: len(runs["09"]["strict"])),
    "expect: {lost: 0}": given("expect: {lost: 0}"),
    "pass with six seeds": known(lambda: len(TRIED_SEEDS)),
    "in three more runs": known(lambda: len(PLANTED)),
    "two seconds after its promotion": known(lambda: PLANTED["the survivor dies"].at_s - PROMOTE_S),
    "expect: {rto: {at most: 9s}}": example(
        lambda: judge(DRILL, (f"{NO_EXPECTATIONS}\nexpect: {{rto: {{at most: 9s}}}}\n",)).outcome == RIGHT
    ),
    "ten times a second": measured(lambda runs: writes_per_second()),
    "more than twenty writes behind, and not before": known(lambda: MAX_BEHIND),
    "tried in twelve labs": known(lambda: WORLDS),
    "and in three in which": known(lambda: len(PLANTED_OF_RULES)),
    "In this run three losses": known(lambda: len(FOLDERS)),
    "the root of three losses": known(lambda: len(FOLDERS)),
    "[1.5, 2.5, 3.5]": example(
        lambda: bool({1.5, 2.5, 3.5} & {round(root, 1) for root in roots_of(begun("09", "cause"))})
    ),
    "Twenty regions cannot be lost": known(lambda: SEEDS),
    "roots of two clusters": measured(lambda runs: clusters()),
    "it is stored twice": imagined("a wrong choice of a recall, which no run shows"),
    "list of three instants": measured(lambda runs: len(roots_of(begun("09", "cause")))),
    "not three instants": measured(lambda runs: len(roots_of(begun("09", "cause")))),
    "Three numbers are wanted": measured(lambda runs: len(roots_of(begun("09", "cause")))),
    "`event.at_ns / 1e9` for each of three events": measured(
        lambda runs: [SECOND_NS, len(roots_of(begun("09", "cause")))]
    ),
    "has two spaces and a dash": known(lambda: spaces_before_a_step()),
    "at 5 s any more": known(lambda: CRASH_S),
    "promoted at 6 s": known(lambda: PROMOTE_S),
    "The loss of paris at 5 s and the promotion of tokyo at 6 s": known(lambda: [CRASH_S, PROMOTE_S]),
    "now one write, now none": measured(lambda runs: lost_of_a_few(runs)[1]),
    "`lost: {at most: 2}`": done(by_expect, "at most: 2"),
    "for a second and a half before": known(lambda: [1, CRASH_S - 1 - PLANTED["copies stop"].at_s]),
    "lost its power two seconds": known(lambda: PLANTED["the survivor dies"].at_s - PROMOTE_S),
    "lost one write or more": measured(lambda runs: min(n for n in lost_of_a_few(runs) if n)),
    "Who plays one seed": imagined("a reader who would play a single seed"),
    "`expect: {lost: 0}`. One write comes each 100 ms. Its acknowledgement needs 15 ms to lisbon, its copy 40 to "
    "160 ms": measured(lambda runs: [0, 1, gap_ms(), acknowledged_after_ms(), *copy_takes_ms(runs)]),
    "its acknowledgement, 15 ms after it": known(lambda: acknowledged_after_ms()),
    "give or take two": known(lambda: STRICT.near),
    "Half of them would pass if a write were on the line half": measured(half_in_words),
    "is just twenty writes behind": measured(lambda runs: behind_at_the_limit()),
    "was 21 writes behind": measured(lambda runs: behind_of_every_fault()),
    '{"lag": {"at most": 20}}': known(lambda: as_a_condition()["lag"]["at most"]),
    "entries <= 20": done(as_a_function, "entries <= 20"),
    "fifty times as slow": measured(lambda runs: factor()),
    "factor=50)": measured(lambda runs: factor()),
    "the three instants down": measured(lambda runs: len(roots_of(begun("09", "cause")))),
    "one write of each folder": measured(lambda runs: len(by_why(begun("09", "cause"))[1]) / len(FOLDERS)),
}
