"""A step waits for its turn, for another step, or for a condition; what is skipped is recorded."""

from __future__ import annotations

import pickle
import random
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labkit.front.lab import Lab
from labkit.scenario.verdict import Verdict

Vary = Callable[..., str]
Written = Callable[..., Path]
Judged = Callable[[Lab], Verdict]
SECOND_NS = 1_000_000_000

HEAD = "timeline:\n  - {do: replicate, primary: paris, secondary: tokyo, at: 1s, name: join}\n"
OLD = (
    "timeline:\n  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}\n"
    "  - {do: crash, target: paris, at: 5s}\n  - {do: promote, cluster: tokyo, after: 2s}\n"
)
REST = ("  lost: 0\n  primary: tokyo\n", "  lost: 0\n"), ("end: 10s", "settle: 1s")


@pytest.fixture
def played(vary: Vary, scenario_file: Written) -> Callable[..., Lab]:
    """Play a timeline below a replicate at 1 s; the lab at its end."""

    def of(*steps: str) -> Lab:
        text = HEAD + "".join(f"  - {{{step}}}\n" for step in steps)
        return Lab.load(scenario_file(vary((OLD, text), *REST))).run()

    return of


def results(lab: Lab) -> dict[int, tuple[float, bool, bool]]:
    """Of each step when it began in seconds, whether it was done, and whether it was skipped."""
    assert lab.scenario is not None
    return {row.number: (row.began_ns / SECOND_NS, row.ok, row.skipped) for row in lab.scenario.results}


SEAL = "do: seal, cluster: tokyo, fails: maybe"  # refused by a secondary


@pytest.mark.parametrize(
    ("steps", "ended"),
    [
        ((SEAL, "do: heal, when: done"), ["refused", "skipped"]),
        ((SEAL, "do: heal, idle: fine, when: refused"), ["refused", "done"]),
        (("do: note, text: x", "do: heal, idle: fine, when: done"), ["done", "done"]),
        (("do: note, text: x", "do: heal, idle: fine, when: refused"), ["done", "skipped"]),
        ((SEAL, "do: heal, when: done", "do: restore, idle: fine, when: refused"), ["refused", "skipped", "done"]),
        ((SEAL, "do: heal, when: done", "do: restore, when: done"), ["refused", "skipped", "skipped"]),
        ((SEAL, "do: note, text: x, at: 9s", "do: heal, when: done"), ["refused", "done", "skipped"]),
    ],
)
def test_a_step_is_skipped_unless_the_one_above_ended_as_it_wants(
    steps: tuple[str, ...], ended: list[str], played: Callable[..., Lab], judged: Judged
) -> None:
    lab = played(*steps)
    words = ["skipped" if skipped else "done" if ok else "refused" for _, ok, skipped in results(lab).values()]
    verdict = judged(lab)

    assert words == ["done", *ended]
    assert verdict.exit_code == 0
    said = [row.measured for row in verdict.rows if row.measured.startswith("skipped")]
    assert len(said) == ended.count("skipped")
    assert len(lab.trace.select("step", status="skipped")) == len(said)


def test_a_step_waits_for_its_condition_in_its_turn(played: Callable[..., Lab]) -> None:
    cut, ready = "when: {connections: {tokyo: not ready}}", "when: {connections: {tokyo: ready}}"
    lab = played(
        "do: partition, between: [paris, tokyo]",
        f"do: ask, cluster: paris, method: GET, path: sys/health, {cut}",
        "do: heal",
        f"do: ask, cluster: paris, method: GET, path: sys/health, {ready}",
    )
    began = {number: began_s for number, (began_s, _, _) in results(lab).items()}

    assert began[2] + 1 < began[3]
    assert round((began[3] - began[2]) * 1_000) % 10 == 0  # it looks each 10 ms
    assert began[4] < began[5]
    assert all(ok for _, ok, _ in results(lab).values())


@pytest.mark.parametrize(("more", "within_s"), [("within: 3s", 3), ("within: 1s", 1), ("fails: maybe", 120)])
def test_a_step_that_waits_in_vain_is_refused(more: str, within_s: float, played: Callable[..., Lab]) -> None:
    lab = played(f"do: seal, cluster: paris, when: {{modes: {{tokyo: primary}}}}, {more}", "do: heal")
    assert lab.scenario is not None
    first, refused, *rest = lab.scenario.results

    assert (refused.ok, refused.ended_ns - first.ended_ns) == (False, within_s * SECOND_NS)
    assert refused.message.startswith("not reached within ")
    assert refused.message.endswith(": mode of tokyo: secondary")
    assert len(rest) == (1 if "maybe" in more else 0)


def test_a_wait_lasts_until_any_condition_holds_and_says_what_it_waits_for(played: Callable[..., Lab]) -> None:
    lab = played(
        "do: partition, between: [paris, tokyo]",
        "do: wait, until: {connections: {tokyo: not ready}}, within: 1m",
        "do: wait, until: {connections: {tokyo: ready}}, within: 2s, fails: maybe",
        "do: wait, until: lag 0, within: 1s",
    )
    found = results(lab)
    assert lab.scenario is not None
    texts = [step.text for step in lab.scenario.scenario.timeline[2:]]

    assert texts == [
        "wait until connection of tokyo not ready within 1m",
        "wait until connection of tokyo ready within 2s",
        "wait until lag 0 within 1s",
    ]
    waited = {row.number: (row.ok, row.message) for row in lab.scenario.results}
    assert waited[3] == waited[5] == (True, "")
    assert waited[4][1].startswith("not reached within 2s: connection of tokyo: ")
    assert not waited[4][0]
    assert found[3][0] + 10 < found[4][0]


def test_a_fault_happens_beside_as_soon_as_its_condition_holds(played: Callable[..., Lab]) -> None:
    lab = played(
        "do: failover, old: paris, new: tokyo, at: 5s",
        "do: note, text: demoted, when: {modes: {paris: secondary}}",
        "do: note, text: over, after: step 2",
        "do: seal, cluster: tokyo",
    )
    found = results(lab)
    assert lab.scenario is not None
    failover = next(row for row in lab.scenario.results if row.number == 2)

    assert failover.began_ns / SECOND_NS < found[3][0] < failover.ended_ns / SECOND_NS
    assert found[4][0] == failover.ended_ns / SECOND_NS == found[5][0]


def test_the_steps_below_do_not_wait_for_what_happens_beside(played: Callable[..., Lab]) -> None:
    lab = played(
        "do: heal, after: 1s, when: {modes: {paris: disabled}}, within: 8s", "do: disable, cluster: paris, at: 5s"
    )
    found = results(lab)

    assert found[3][0] == 5
    assert 5 < found[2][0] < 5.1


def test_a_step_counts_from_the_beginning_or_the_end_of_another(played: Callable[..., Lab]) -> None:
    lab = played(
        "do: wait, for: 4s, name: pause",
        "do: crash, target: paris, after: {step: pause, began: 1s}",
        "do: note, text: x, after: {step: pause, ended: 2s}",
        "do: restart, target: paris, at: 20s",
        "do: unseal, cluster: paris, after: {step: pause, began: 30s}",
    )
    found = results(lab)
    pause_s = found[2][0]

    assert (found[3][0], found[4][0], found[6][0]) == (pause_s + 1, pause_s + 6, pause_s + 30)


def test_a_step_in_its_turn_waits_for_the_one_that_it_follows(played: Callable[..., Lab]) -> None:
    lab = played(
        "do: heal, when: {modes: {tokyo: secondary}}, name: cure",
        "do: crash, target: tokyo, after: {step: join, ended: 6s}, name: blow",
        "do: seal, cluster: paris, after: {step: blow, began: 1s}",
    )
    found, blow_s = results(lab), results(lab)[3][0]

    assert found[4][0] == blow_s + 1


def test_once_the_timeline_is_stopped_nobody_looks(played: Callable[..., Lab], judged: Judged) -> None:
    lab = played("do: heal, when: {modes: {tokyo: primary}}", "do: seal, cluster: tokyo")

    assert sorted(results(lab)) == [1, 3]
    assert lab.now < 5 * SECOND_NS
    verdict = judged(lab)
    assert verdict.exit_code == 1
    assert "1 step not begun" in [row.measured for row in verdict.rows]


def test_at_the_end_it_is_said_what_a_step_waited_for(vary: Vary, scenario_file: Written, judged: Judged) -> None:
    steps = (
        "  - {do: heal, when: {modes: {paris: secondary}}}\n"
        "  - {do: seal, cluster: paris, when: {modes: {tokyo: primary}}}\n"
    )
    lab = Lab.load(scenario_file(vary((OLD, HEAD + steps), REST[0]))).run()
    rows = [(row.what, row.measured, row.status) for row in judged(lab).rows if row.key.startswith("step")]

    assert rows == [
        ("step 2: heal", "waited for mode of paris secondary at the end", "unknown"),
        ("step 3: seal paris", "waited for mode of tokyo primary at the end", "unknown"),
    ]


ALL = (
    SEAL,
    "do: heal, when: done",
    "do: partition, between: [paris, tokyo], after: {step: 2, ended: 1s}, name: apart",
    "do: ask, cluster: paris, method: GET, path: sys/health, when: {connections: {tokyo: not ready}}",
    "do: heal, after: {step: apart, began: 20s}",
    "do: note, text: joined, when: {connections: {tokyo: ready}}",
    "do: seal, cluster: paris, when: {modes: {tokyo: primary}}, within: 2s, fails: maybe",
    "do: wait, until: {lags: {tokyo: {at least: 1000}}}, within: 1s, fails: maybe",
)


@pytest.mark.parametrize("seed", [0, *[pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2)]])
def test_a_run_that_waits_goes_on_alike_wherever_it_is_cut(
    seed: int, vary: Vary, scenario_file: Written, judged: Judged
) -> None:
    path = scenario_file(vary((OLD, HEAD + "".join(f"  - {{{step}}}\n" for step in ALL)), *REST))
    whole, counted, events = Lab.load(path).run(), Lab.load(path), 0
    while not counted.scenario.ended:  # type: ignore[union-attr]  # it was loaded from a file
        counted.step()
        events += 1
    draws: Any = random.Random(seed)
    for cut in sorted(draws.sample(range(events), 3)):
        lab = Lab.load(path)
        deque((lab.step() for _ in range(cut)), maxlen=0)
        restored = Lab.restore(pickle.loads(pickle.dumps(lab.snapshot()))).run()

        assert (restored.trace.digest(), judged(restored)) == (whole.trace.digest(), judged(whole))
        assert results(restored) == results(whole)


COUNTED = (SEAL, "do: heal, when: done", "do: note, text: x")


@pytest.mark.parametrize(
    ("expected", "rows"),
    [
        ("{refused: 1}", [("steps refused", "1", "1", "ok")]),
        ("{refused: {at most: 0}}", [("steps refused", "at most 0", "1", "broken")]),
        ("{skipped: 1, done: 1}", [("steps done", "1", "2", "broken"), ("steps skipped", "1", "1", "ok")]),
    ],
)
def test_steps_are_counted_by_how_they_ended(
    expected: str, rows: list[tuple[str, ...]], vary: Vary, scenario_file: Written, judged: Judged
) -> None:
    text = HEAD + "".join(f"  - {{{step}}}\n" for step in COUNTED)
    path = scenario_file(vary((OLD, text), ("  lost: 0\n  primary: tokyo\n", f"  steps: {expected}\n"), REST[1]))
    lab = Lab.load(path).run()
    verdict = judged(lab)

    assert [tuple(row)[:4] for row in verdict.rows if row.key.startswith("steps")] == rows
    assert lab.scenario is not None
    assert {row.key for row in verdict.rows if lab.scenario.scenario.position_of(row.key) is not None} >= {
        row[0] for row in rows
    }


def test_a_check_and_a_condition_count_the_steps_so_far(played: Callable[..., Lab]) -> None:
    lab = played(
        *COUNTED,
        "do: check, steps: {refused: 1, skipped: 1, done: 2}",
        "do: heal, idle: fine, when: {steps: {done: 3}}",
    )

    assert [ok for _, ok, _ in results(lab).values()] == [True, False, False, True, True, True]


def test_a_skipped_step_is_not_late(played: Callable[..., Lab], judged: Judged) -> None:
    slow = "do: wait, until: lag at least 5, within: 8s, at: 3s, fails: maybe"

    for when, exit_code in (("done", 0), ("refused", 3)):
        verdict = judged(played(slow, f"do: restore, at: 5s, idle: fine, when: {when}"))
        assert verdict.exit_code == exit_code
        assert [row.key for row in verdict.rows if row.status == "unknown"] == ["step 3 at"] * (exit_code == 3)
