"""Causes: nine chains that read as they should, each of which breaks when its root is taken away; and controls.

A cause is tested by intervention: without the root that a chain ends at, what the chain explains does not happen.
``python tests/lab/test_causes.py`` writes the texts in ``causes`` again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.causes.event_choice import EXPLAINED
from labkit.lab.causes.explanation import BEGINNING, FAULT, NOT_RECORDED, OPERATOR, WORK, Root
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.causes.why import MAX_STEPS, explain
from labkit.lab.plan.blueprint import Blueprint, ClientPlan, WorkloadPlan, pair
from labkit.scenario.running import Run
from tests.counting import calls_made
from tests.lab.causes import random_chains
from tests.torture.test_random_labs import run as random_lab

SECOND_NS = 1_000_000_000
SCENARIOS = Path(__file__).parents[3] / "scenarios"
KEPT = Path(__file__).parent


def shop(*, every_ms: int = 250, backlog: int = 16, **how: Any) -> Blueprint:
    """The pair with one client beside paris that writes, over backlogs of a few entries."""
    work = WorkloadPlan(operation="put-secret", every_ns=every_ms * 1_000_000, until_ns=9 * SECOND_NS)
    how = {"site": "paris", "use": ("paris",), "retries": 0, **how}
    chosen = pair().with_clients(ClientPlan(name="shop", workload=(work,), **how))
    return replace(chosen, clusters=tuple(replace(plan, backlog_entries=backlog) for plan in chosen.clusters))


def replicating(blueprint: Blueprint | None = None) -> Lab:
    """Paris and tokyo, with tokyo streaming, at 3 s."""
    lab = Lab(blueprint or pair())
    lab.replicate("paris", "tokyo")
    return lab.run(until="3s")


def crashed_client(*, root: bool) -> Lab:
    """A client's write during a crash."""
    lab = Lab(shop()).run(until="1990ms")
    if root:
        lab.crash("paris")
    return lab.run("2s")


def failed_over(*, root: bool) -> Lab:
    """A failover after a crash, with a client that follows."""
    lab = replicating(shop(use=("paris", "tokyo"), retries=3))
    if root:
        lab.crash("paris")
    lab.run("2s")
    lab["tokyo"].promote()
    return lab.run("3s")


def short_backlog(*, root: bool) -> Lab:
    """A line that is cut for longer than the backlog lasts."""
    lab = replicating(shop(every_ms=100))
    lab.run("100ms")
    if root:
        lab.partition("paris", "tokyo")
    lab.run("4s")
    lab.heal()
    return lab.run("3s")


def two_primaries(*, root: bool) -> Lab:
    """A promotion beside a live primary."""
    lab = replicating()
    lab.partition("paris", "tokyo")
    lab.run("1s")
    if root:
        lab["tokyo"].promote()
    return lab.run("1s")


def taken_over(*, root: bool) -> Lab:
    """A leader that stands still."""
    lab = Lab.pair().run(until="2500ms")
    if root:
        lab.pause("paris-1")
    return lab.run("5s")


def behind(*, root: bool) -> Lab:
    """A survivor without the client's last write, which the client sends the index of."""
    lab = replicating(shop(use=("paris", "tokyo"), consistent=True, retries=4, check_ns=SECOND_NS // 4))
    if root:
        lab.cut("paris", "tokyo")
    lab.run("1s")
    lab.crash("paris")
    lab.heal()
    lab["tokyo"].promote()
    return lab.run("5s")


def refused_token(*, root: bool) -> Lab:
    """An activation token whose primary cannot be reached."""
    lab = Lab.pair()
    lab["paris"].enable_primary()
    answer = lab["paris"].post("sys/replication/dr/primary/secondary-token", {"id": "tokyo"})
    if root:
        lab.cut("tokyo", "paris")
    lab["tokyo"].post("sys/replication/dr/secondary/enable", {"token": answer.wrap_info["token"]})
    return lab


def cut_off(*, root: bool) -> Lab:
    """A secondary whose site is cut off."""
    lab = replicating()
    if root:
        lab.isolate("tokyo")
    return lab.run("20s")


def corrupted(*, root: bool) -> Lab:
    """A secondary whose index is damaged at its root."""
    lab = replicating()
    lab["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    lab.run("1s")
    if root:
        lab.corrupt("tokyo", layer="root")
    return lab.run("4s")


DRILLS: dict[str, tuple[Callable[..., Lab], str, str]] = {
    "write in doubt": (crashed_client, "in doubt", FAULT),
    "recovery": (failed_over, "recovery", FAULT),
    "comparison": (short_backlog, "tokyo: merkle-diff", FAULT),
    "two primaries": (two_primaries, "one primary", OPERATOR),
    "takeover": (taken_over, "paris: leads", FAULT),
    "behind the index": (behind, "refused", FAULT),
    "refused token": (refused_token, "refused", FAULT),
    "cut off": (cut_off, "tokyo: disconnected", FAULT),
    "merkle loop": (corrupted, "tokyo: merkle_loop", FAULT),
}


@pytest.mark.parametrize("name", DRILLS)
def test_a_chain_reads_as_it_should(name):
    drill, event, origin = DRILLS[name]
    lab = drill(root=True)

    found = lab.why(event)

    assert str(found) == (KEPT / f"{name}.txt").read_text().rstrip("\n")
    assert found.origin == origin
    assert found.steps == Lab.restore(lab.snapshot()).why(event).steps == lab.branch("b").why(event).steps


@pytest.mark.parametrize("name", DRILLS)
def test_without_its_root_what_a_chain_explains_does_not_happen(name):
    drill, event, _ = DRILLS[name]
    lab = drill(root=False)

    try:
        found = lab.why(event)
    except ValueError:
        return
    assert found.origin != FAULT, "another event, with another root"


def test_the_row_of_a_step_is_the_one_that_shows_it():
    lab = crashed_client(root=True)
    rows: list[Any] = list(lab.trace)

    outcome, message, fault = [rows[step.row] for step in lab.why("unknown").steps if step.row is not None]

    assert (outcome.kind, message.fate, fault.verb) == ("outcome", "lost", "crash")


@pytest.mark.parametrize(
    ("event", "origin"),
    [
        ("paris-1: unsealed", BEGINNING),
        ("paris: leads", BEGINNING),
        ("paris: primary", OPERATOR),
        ("tokyo: stream-wals", OPERATOR),
        ("tokyo-2: sealed", OPERATOR),
        ("shop-1: answered", WORK),
    ],
)
def test_an_event_without_a_fault_ends_at_who_asked_for_it_or_at_the_beginning(event, origin):
    found = replicating(shop()).why(event)

    assert found.origin == origin


@pytest.mark.parametrize("seed", [0, *[pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 40)]])
def test_any_event_of_a_random_lab_has_a_chain_that_never_goes_forward_in_time(seed):
    lab = random_lab(seed)
    run = RecordedRun(lab.trace, lab.ledger, lab.queries)
    kinds: Counter[tuple[Any, ...]] = Counter()
    events: list[Any] = [*lab.ledger.promotions, *list(lab.ledger.failed_asks)[:9], *lab.ledger.lost()[:9]]
    for number, row in enumerate(run.rows):
        if row[0] in EXPLAINED:
            kind = row[0], row[-1] if row[0] in ("message", "mode") else row[2 if row[0] == "note" else 3]
            kinds[kind] += 1
            if kinds[kind] < 4:
                events.append(number)

    for event in events:
        found = explain(run, lab.invariants, event)
        times = [step.at_ns for step in found.steps]
        assert times == sorted(times, reverse=True), str(found)
        assert len(times) < MAX_STEPS, str(found)


@pytest.mark.parametrize(
    "seed",
    [
        0,
        7,
        9,
        77,
        91,
        95,
        134,
        *[pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 41) if seed not in (7, 9)],
    ],
)
@pytest.mark.slow
def test_every_chain_of_a_random_lab_ends_at_a_root_and_claims_what_the_trace_holds(seed):
    """Fifty events each; 2,000 of forty labs, half of which take time for requests, where the slow ones are run too."""
    lab = random_chains.labs(seed)
    run = RecordedRun(lab.trace, lab.ledger, lab.queries)

    for event in random_chains.chosen(lab, seed, 50):
        found = explain(run, lab.invariants, event)
        times = [step.at_ns for step in found.steps]
        assert found.origin != NOT_RECORDED, f"{event}: {found}"
        assert times == sorted(times, reverse=True), f"{event}: {found}"
        for step in found.steps:
            assert step.row is None or claims(run, step), str(step)
        if found.origin == FAULT and found.root.row is not None:
            assert (found.cause.what, found.cause.origin) == (
                run.rows[found.root.row][2 if run.rows[found.root.row][0] == "fault" else 3],
                FAULT,
            )


def claims(run: RecordedRun, step: Any) -> bool:
    """Whether what a step says agrees with its row, and with the run: instants, hosts, and fates."""
    row = run.rows[step.row]
    if row[0] == "message":
        named = (
            row[3].removesuffix("-impostor") in step.sentence or row[4] in step.sentence or "operator" in step.sentence
        )
        lost = "is lost" not in step.sentence or row[7] == "lost" or "acknowledged" in step.sentence
        return named and lost
    if row[0] == "fault":
        return row[1] == step.at_ns and all(
            site in step.sentence for site in row[3].split(" ") if site not in ("<>", ">", "all")
        )
    return row[0] not in ("leader", "mode", "note", "step") or run.at_ns(step.row) == step.at_ns


def test_a_promotion_s_losses_are_explained_in_one_answer():
    lab = replicating(shop(use=("paris", "tokyo"), every_ms=40, backlog=16_384))
    lab.run("2s").crash("paris")
    lab["tokyo"].promote()
    lost = lab.ledger.lost()
    found = lab.why("lost")

    said = found.steps[0].sentence
    assert len(lost) > 1
    assert said.startswith(f"{len(lost)} acknowledged writes are lost by the promotion of tokyo: ")
    counts = [int(part.split(" ")[0]) for part in said.split(": ", 1)[1].split("; ")]
    assert sum(counts) == len(lost)
    assert found.steps[1].sentence.startswith("tokyo is promoted without the write of shop-1")
    assert found.cause == Root(FAULT, "crash", ("paris-1",))


def test_losses_before_and_after_a_promotion_are_told_apart():
    lab = replicating(shop(use=("paris",), every_ms=50))
    lab.run("1s").partition("paris", "tokyo")
    lab.run("500ms")
    lab["tokyo"].promote(force=True)
    lab.run("1s")
    said = lab.why("lost").steps[0].sentence

    assert " acknowledged by paris after it, from " in said
    assert said.count("; ") >= 1


@pytest.mark.parametrize("service_ms", [0, 2, 40])
def test_a_chain_passes_through_a_queue_to_who_asked(service_ms):
    blueprint = pair()
    slow = tuple(replace(plan, service_ns=service_ms * 1_000_000) for plan in blueprint.clusters)
    lab = replicating(replace(blueprint, clusters=slow))
    lab["tokyo"].promote(force=True)

    for event in ("one primary", "promotion", "tokyo: secondary", "tokyo: primary"):
        found = lab.why(event)
        assert found.origin == OPERATOR
        assert found.cause.what == "request"
        assert found.cause.hosts[0] == "tokyo-operator"


def scenario_files() -> list[Any]:
    """The shipped scenarios, all but one of them slow; without the one in which any of four damages would do."""
    found = sorted((path.name.removesuffix(".lab.yaml"), path) for path in SCENARIOS.glob("*/*.lab.yaml"))
    return [
        pytest.param(path, id=name, marks=[] if name == "stalled-leader" else pytest.mark.slow)
        for name, path in found
        if name != "every-layer"
    ]


@pytest.mark.parametrize("path", scenario_files())
def test_without_the_step_that_is_a_root_the_very_event_does_not_happen(path):
    lab = Lab.load(path).run()
    run = RecordedRun(lab.trace, lab.ledger, lab.queries)
    roots: dict[int, list[int]] = {}
    for number in sampled(run):
        found = explain(run, lab.invariants, number)
        step = run.step_at(found.root.row or 0) if found.origin == FAULT else None
        if step is not None:
            roots.setdefault(run.rows[step][2], []).append(number)

    for step_number, numbers in roots.items():
        rows = set(without(path, step_number))
        left = [str(explain(run, lab.invariants, number)) for number in numbers if run.rows[number] in rows]
        assert left == [], f"without step {step_number}"


def sampled(run: RecordedRun) -> Iterator[int]:
    """Up to three rows of each kind that something may have led to."""
    kinds: Counter[Any] = Counter()
    for number, row in enumerate(run.rows):
        kind = row[0], row[3] if row[0] in ("observed", "outcome") else row[-1]
        if row[0] in ("observed", "leader", "mode", "invariant") or (row[0] == "outcome" and row[7] != "answered"):
            kinds[kind] += 1
            if kinds[kind] <= 3:
                yield number


def without(path: Path, step_number: int) -> list[tuple[Any, ...]]:
    """What a scenario's trace holds when one of its steps is only a remark."""
    lab = Lab.load(path)
    assert lab.scenario is not None
    scenario = lab.scenario.scenario
    steps = [
        step._replace(verb="note", arguments=(("text", "nothing"),), fails=None) if step.number == step_number else step
        for step in scenario.timeline
    ]
    other = Lab(lab.blueprint, lab.seed)
    other.scenario = Run(other.parts, other.faults, other.invariants, replace(scenario, timeline=tuple(steps)))
    other.run()
    return RecordedRun(other.trace, other.ledger, other.queries).rows


def test_why_changes_nothing():
    lab = taken_over(root=True)
    before = lab.snapshot().state

    lab.why("paris: leads")

    assert lab.snapshot().state == before


def test_without_a_trace_nothing_can_be_explained():
    with pytest.raises(ValueError, match=r"^why: expected a lab that keeps a trace, got one with trace=False$"):
        Lab(pair(), trace=False).why(0)


def test_a_chain_takes_no_more_in_a_trace_that_is_many_times_as_long():
    lab = crashed_client(root=True)
    rows, short = len(lab.trace), calls_made(lambda: lab.why("unknown"))
    for _ in range(300):
        lab["tokyo"].get("sys/health")
    long = calls_made(lambda: lab.why("unknown"))

    assert len(lab.trace) > 10 * rows
    assert long < 2 * short


if __name__ == "__main__":
    for name, (drill, event, _) in DRILLS.items():
        (KEPT / f"{name}.txt").write_text(f"{drill(root=True).why(event)}\n")
