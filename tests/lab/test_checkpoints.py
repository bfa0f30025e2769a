"""Checkpoints: any instant of a lab that keeps them can be gone back to, and the lab goes on from there as it did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.checkpoints import mark_of
from tests.counting import calls_made
from tests.torture import test_random_labs as drills

SCENARIO = Path(__file__).parents[2] / "scenarios" / "first" / "split-brain.lab.yaml"
SECOND_NS = 1_000_000_000


@pytest.fixture(scope="module")
def driven(replicating_snapshot):
    """A lab with checkpoints that is driven by hand: a crash, a request, a cut that ends, a promotion."""
    lab = Lab.restore(replicating_snapshot)
    lab.keep_checkpoints("2s")
    lab.run(until="5s")
    lab.crash("paris-1")
    lab.run(until="9s")
    lab["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    lab.partition("paris", "tokyo")
    lab.run(until="12s")
    lab.heal()
    lab["tokyo"].promote()
    lab.run(until="15s")
    return lab


def followed(lab: Lab, until: str) -> Lab:
    """The same lab, driven in the same way up to an instant."""
    until_ns = int(until.removesuffix("ms")) * 1_000_000
    acts: list[tuple[int, Callable[[], object]]] = [
        (5, lambda: lab.crash("paris-1")),
        (9, lambda: lab["paris"].post("secret/data/app", {"data": {"user": "ada"}})),
        (9, lambda: lab.partition("paris", "tokyo")),
        (12, lambda: lab.heal()),
        (12, lambda: lab["tokyo"].promote()),
    ]
    for at_s, act in acts:
        if at_s * SECOND_NS <= until_ns:
            lab.run(until=max(at_s * SECOND_NS, lab.now) // SECOND_NS) if at_s * SECOND_NS > lab.now else None
            act()
    return lab.run(until=until)


MORE = [
    pytest.param(instant, marks=pytest.mark.slow) for instant in ("2500ms", "4999ms", "7321ms", "11999ms", "13000ms")
]


@pytest.mark.parametrize("instant", ["5000ms", "9500ms", *MORE])
def test_the_lab_is_as_one_that_was_stopped_then(driven, replicating_snapshot, instant):
    found, stopped = driven.at(instant), followed(Lab.restore(replicating_snapshot), instant)

    assert found.now == stopped.now
    assert found.trace.digest() == stopped.trace.digest()
    assert plain(found) == plain(stopped)


def test_it_goes_on_as_the_lab_did_until_something_was_done_by_hand(driven):
    found = driven.at("5500ms").run(until="9s")

    assert found.trace.digest() == driven.at("8999ms").run(until="9s").trace.digest()
    assert driven.at("9s").parts.console.asks
    assert not found.parts.console.asks
    assert found.now == 9 * SECOND_NS


def test_something_else_may_be_done_there_and_the_first_lab_stays_as_it_is(driven):
    before = driven.trace.digest()

    other = driven.at("7s")
    other.restart("paris")
    other.run("3s")

    assert driven.trace.digest() == before
    assert not driven.trace.is_the_same_until(other.now, other.trace)
    assert other.at("6s").trace.digest() == driven.at("6s").trace.digest(), "it has the checkpoints up to there"
    assert other.at("9s").now == 9 * SECOND_NS, "and keeps its own from there on"


def test_an_instant_at_which_something_was_done_is_as_it_was_after_that(driven):
    assert driven.at("5s").trace.select("fault", target="paris-1")
    assert not driven.at("4999999999ns").trace.select("fault")


def test_in_the_middle_of_a_wait_what_was_asked_is_under_way(driven):
    asked = next(
        event for event in driven.trace.select("message", target="paris-operator") if event.at_ns > 9 * SECOND_NS
    )

    found = driven.at(f"{(asked.sent_ns + asked.at_ns) // 2}ns")

    assert any(item[0] == "deliver" and item[1] == "paris-operator" for _, item in found.parts.clock.pending())


def test_now_and_the_beginning_can_be_gone_back_to_and_the_future_cannot(driven):
    assert driven.at("15s").trace.digest() == driven.trace.digest()
    with pytest.raises(ValueError, match=r"^instant: expected an instant up to now, that is up to 15s, got '15001ms'"):
        driven.at("15001ms")
    with pytest.raises(
        ValueError, match=r"^instant: expected one that can be gone back to, got '1s'; kept: checkpoints"
    ):
        driven.at("1s")


def test_a_lab_that_was_only_run_needs_no_checkpoints():
    lab = Lab.load(SCENARIO)
    lab.run()

    found = lab.at("9s")

    assert found.now == 9 * SECOND_NS
    assert found.run().trace.digest() == lab.trace.digest()


@pytest.mark.parametrize("trace", [True, False])
def test_a_lab_that_was_driven_by_hand_without_checkpoints_says_so(trace, busy_blueprint):
    lab = Lab(busy_blueprint, trace=trace)
    lab.crash("tokyo")
    lab.run("3s")

    with pytest.raises(ValueError, match=r"kept: no checkpoint; what was done by hand before cannot be repeated"):
        lab.at("1s")
    assert lab.at("3s").now == lab.now


def test_a_lab_without_a_trace_has_checkpoints_as_well(busy_blueprint):
    lab = Lab(busy_blueprint, trace=False)
    lab.keep_checkpoints()
    lab.crash("tokyo")
    lab.run("3s")

    assert not lab.at("1500ms").queries.is_running("tokyo-1")


def test_what_is_done_past_the_lab_is_noticed_and_never_made_up(calm):
    calm.keep_checkpoints("1m")
    calm.run(until="4s")
    calm.parts.stores["paris"].claim(99)  # no verb, and nothing that shows
    calm.run(until="8s")

    with pytest.raises(ValueError, match="cannot be repeated"):
        calm.at("7s")
    calm.keep_checkpoints()
    calm.run("1s")
    assert calm.at("8500ms").now == 8_500_000_000


def test_rules_of_ones_own_are_watched_there_too(calm):
    calm.keep_checkpoints()
    calm.watch("late", lambda lab: lab.now < 6 * SECOND_NS)
    calm.run(until="5s")
    calm.crash("tokyo-3")
    calm.run(until="7s")

    assert calm.at("6s").run("1s").invariants.broken["late"].at_ns == 7 * SECOND_NS


def test_a_branch_and_a_restored_lab_begin_without_checkpoints(driven):
    for other in (driven.branch("b"), Lab.restore(driven.snapshot())):
        with pytest.raises(ValueError, match="kept: no checkpoint"):
            other.at("9s")


@pytest.mark.slow
def test_checkpoints_change_nothing(replicating_snapshot, driven):
    assert followed(Lab.restore(replicating_snapshot), "15000ms").trace.digest() == driven.trace.digest()


def test_there_are_never_more_than_the_limit_and_what_is_left_reaches_back(calm):
    calm.keep_checkpoints("100ms", limit=8)
    calm.run("1m")
    kept = calm._passage.checkpoints
    assert kept is not None

    assert len(kept.kept) <= 8
    assert kept.kept[0].at_ns < 3 * SECOND_NS, "the first followed what was done by hand"
    assert calm.at("30s").now == 30 * SECOND_NS


def test_of_what_was_done_by_hand_the_oldest_goes(calm):
    calm.keep_checkpoints("1m", limit=4)
    for _ in range(12):
        calm.slow("paris", "tokyo", factor=2)
        calm.restore_links()
        calm.run("100ms")
    with pytest.raises(ValueError, match=r"kept: checkpoints from \d"):
        calm.at("2600ms")
    assert calm.at(f"{calm.now - 150_000_000}ns").now == calm.now - 150_000_000


def test_a_step_at_a_time_is_kept_as_well(calm):
    calm.keep_checkpoints("1s")
    while calm.now < 5 * SECOND_NS:
        calm.step()

    assert calm.at("4s").now == 4 * SECOND_NS


@pytest.mark.parametrize(
    "act",
    [
        lambda lab: lab.slow("paris", "tokyo", factor=2),
        lambda lab: lab.crash("paris-2"),
        lambda lab: lab.pause("paris-2"),
        lambda lab: lab.corrupt("paris"),
        lambda lab: lab.branch("x"),
        lambda lab: lab["paris"].files.write("/etc/x.pem", b"x"),
        lambda lab: lab["paris"].files.block("/etc/x.pem"),
        lambda lab: lab.parts.console.start("seal", cluster="paris"),
        lambda lab: lab.network.send("paris-1", "tokyo-1", "forged", None, 1),
    ],
)
def test_whatever_is_done_by_hand_leaves_another_mark(calm, act):
    before = mark_of(calm.parts)

    act(calm)

    assert mark_of(calm.parts) != before


# ---- random drills


def drilled(seed: int, stops: list[int] | None = None) -> Iterator[tuple[Lab, int]]:
    """A random lab, and after each passage of time when that began; ``stops`` are further instants to stop at."""
    world = drills.World(seed * 4, cuts=False)
    if stops is None:
        world.lab.keep_checkpoints(f"{world.random.randrange(200, 5_000)}ms")
    else:
        world.random.randrange(200, 5_000)
    if world.random.random() < 0.8:
        world.lab.replicate("paris", "tokyo")
    for _ in range(10):
        drills.attempt(world, world.any(drills.request, drills.runbook, drills.fault, drills.fault))
        began_ns = world.lab.now
        length = world.duration()
        end_ns = began_ns + {"1ms": 10**6, "30ms": 3 * 10**7, "100ms": 10**8, "300ms": 3 * 10**8}.get(
            length, int(length.removesuffix("ms").removesuffix("s")) * SECOND_NS
        )
        for stop_ns in sorted(stop for stop in stops or () if began_ns < stop < end_ns):
            world.lab.run(until=f"{stop_ns}ns")
            yield world.lab, stop_ns
        world.lab.run(until=f"{end_ns}ns")
        if stops is None:
            yield world.lab, began_ns


@pytest.mark.parametrize("seed", [3, *[pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 24)]])
def test_any_instant_of_a_random_drill_can_be_gone_back_to(seed):
    random, windows = Random(seed), []
    lab = None
    for lab, began_ns in drilled(seed):
        windows.append((began_ns, lab.now))
    assert lab is not None
    stops = {began_ns + random.randrange(1, end_ns - began_ns): end_ns for began_ns, end_ns in windows[::2]}
    for stopped, stop_ns in drilled(seed, list(stops)):
        found = lab.at(f"{stop_ns}ns")
        assert found.trace.digest() == stopped.trace.digest(), stop_ns
        assert plain(found) == plain(stopped), stop_ns
        found.parts.clock.run(until_ns=stops[stop_ns])
        assert [row == lab_row for row, lab_row in zip(found.trace, lab.trace, strict=False)].count(False) == 0


def plain(lab: Lab) -> dict[str, Any]:
    """A lab's state, sequences that grow as they are however they are split, and of each Merkle index the root.

    A lab that is stopped compares roots at rest, and so folds its indexes and asks its rules sooner.
    """
    roots = {name: lab.queries.root(name) for name in lab.clusters}
    state = dict(lab.snapshot().state)
    nodes = {name: {**node, "vault": {**node["vault"], "journal": None}} for name, node in state["nodes"].items()}
    broken = state["invariants"]["broken"]
    return {**state, "trace": lab.trace.digest(), "ledger": joined(state["ledger"]), "nodes": nodes} | {
        "invariants": broken,
        "roots": roots,
    }


def joined(value: Any) -> Any:
    """Chunks of rows as one sequence of rows."""
    if isinstance(value, dict):
        return {name: joined(part) for name, part in value.items()}
    if isinstance(value, tuple) and all(
        isinstance(chunk, tuple) and set(map(type, chunk)) <= {tuple} for chunk in value
    ):
        return sum(value, ())
    return value


CALLS_PER_CHECKPOINT = 427  # packed rows have more parts than a list, and each standing rule has its state
"""Of a pair that replicates, with three nodes each.  It may fall, and rises only with a line that says why."""


def test_a_checkpoint_takes_no_more_calls_than_it_did(calm_snapshot):
    lab = Lab.restore(calm_snapshot)
    lab.run("2s")
    lab.snapshot()

    assert calls_made(lab.snapshot) <= CALLS_PER_CHECKPOINT
