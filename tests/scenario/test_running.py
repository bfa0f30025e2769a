"""A run works through a timeline step by step, and may be cut between any two events."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from labkit.front.lab import Lab
from labkit.lab.operations.operator_console import Finished
from labkit.scenario.running import Run
from labkit.scenario.scenario import Scenario
from labkit.scenario.steps.dispositions import StepResult

Vary = Callable[..., str]
ScenarioOf = Callable[[str], Scenario]
SECOND_NS = 1_000_000_000
START = (
    "timeline:\n  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}\n"
    "  - {do: crash, target: paris, at: 5s}\n  - {do: promote, cluster: tokyo, after: 2s}\n"
)


class Bench:
    """A tiny stand-in for a lab: a clock, a desk whose runbooks take three seconds, and a list of what happened."""

    def __init__(self, takes_ns: int = 3 * SECOND_NS, ends: dict[str, Finished] | None = None) -> None:
        self.now, self.seed, self.blueprint = 0, 7, None
        self.clock = self.console = self.trace = self.queries = self.ledger = self.meters = self
        self.last = self.changes = 0
        self.takes_ns, self.ends = takes_ns, ends or {}
        self.due: list[tuple[int, int, tuple[Any, ...]]] = []
        self.happened: list[tuple[Any, ...]] = []
        self.finished: dict[int, Finished] = {}
        self.serial = 0
        self.scenario: Run | None = None

    def at(self, when_ns: int, item: tuple[Any, ...]) -> None:
        assert pickle.loads(pickle.dumps(item)) == item
        self.serial += 1
        self.due.append((when_ns, self.serial, item))

    def start(self, name: str, **arguments: Any) -> int:
        self.serial += 1
        number = self.serial
        finished = self.ends.get(name, Finished(True, f"{name} is over"))
        if self.takes_ns:
            self.at(self.now + self.takes_ns, ("ended", "", (number, finished)))
        else:
            self.end(number, finished)
        return number

    def end(self, number: int, finished: Finished) -> None:
        assert self.scenario is not None
        self.finished[number] = finished
        self.scenario.on_runbook(number, finished)

    def record(self, event: tuple[Any, ...]) -> None:
        self.happened.append(event)

    def crash(self, target: str) -> None:
        self.happened.append(("crash", self.now, target))

    def play(self, until_ns: int = 100 * SECOND_NS) -> Bench:
        assert self.scenario is not None
        while self.due and not self.scenario.ended:
            self.due.sort()
            when_ns, _, (kind, _, payload) = self.due[0]
            if when_ns > until_ns:
                break
            self.due.pop(0)
            self.now = when_ns
            if kind == "scenario":
                self.scenario.on_timer(payload)
            else:
                self.end(*payload)
        return self


def bench_of(scenario: Scenario, takes_ns: int = 3 * SECOND_NS, **ends: Finished) -> Bench:
    bench = Bench(takes_ns, ends)
    bench.scenario = Run(bench, bench, bench, scenario)  # type: ignore[arg-type]  # a stand-in for parts and faults
    return bench


def steps(bench: Bench) -> list[tuple[float, str, str]]:
    rows = [event for event in bench.happened if event[0] == "step"]
    return [(at_ns / SECOND_NS, text, status) for _, at_ns, _, text, status in rows]


def test_a_step_begins_at_its_instant_or_when_the_one_before_ended(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(scenario_of(vary(("end: 10s", "end: 20s")))).play()

    assert steps(bench) == [
        (1, "replicate paris to tokyo", "begins"),
        (4, "replicate is over", "done"),
        (5, "crash paris", "begins"),
        (5, "crash paris", "done"),
        (7, "promote tokyo", "begins"),
        (10, "promote is over", "done"),
    ]
    assert ("crash", 5 * SECOND_NS, "paris") in bench.happened
    assert (bench.now, bench.finished) == (20 * SECOND_NS, {})


def test_an_operator_does_one_thing_after_the_other(vary: Vary, scenario_of: ScenarioOf) -> None:
    changes = ("do: crash, target: paris", "do: seal, cluster: paris"), ("end: 10s", "settle: 1s")
    bench = bench_of(scenario_of(vary(*changes)), takes_ns=9 * SECOND_NS).play()

    assert [row[0] for row in steps(bench)] == [1, 10, 10, 19, 21, 30]
    assert bench.now == 31 * SECOND_NS


def test_a_fault_keeps_its_instant_beside_a_runbook(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(scenario_of(vary(("end: 10s", "settle: 1s"))), takes_ns=9 * SECOND_NS).play()

    assert [row[:2] for row in steps(bench)] == [
        (1, "replicate paris to tokyo"),
        (5, "crash paris"),
        (5, "crash paris"),
        (10, "replicate is over"),
        (12, "promote tokyo"),
        (21, "promote is over"),
    ]
    assert ("crash", 5 * SECOND_NS, "paris") in bench.happened
    assert bench.now == 22 * SECOND_NS


def test_a_fault_without_an_instant_waits_for_the_runbook(vary: Vary, scenario_of: ScenarioOf) -> None:
    scenario = scenario_of(vary(("target: paris, at: 5s", "target: paris, after: 1s"), ("end: 10s", "settle: 1s")))
    bench = bench_of(scenario, takes_ns=9 * SECOND_NS).play()

    assert ("crash", 11 * SECOND_NS, "paris") in bench.happened


def test_a_fault_may_happen_at_the_first_instant(vary: Vary, scenario_of: ScenarioOf) -> None:
    timeline = "timeline:\n  - {do: crash, target: paris, at: 0s}\n"
    bench = bench_of(scenario_of(vary((START, timeline)))).play()

    assert ("crash", 0, "paris") in bench.happened


def test_a_run_has_the_seed_of_its_lab(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(scenario_of(vary()))

    assert bench.scenario is not None
    assert bench.scenario.seed == bench.seed


def test_the_same_scenario_begins_again_in_another_lab(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench, other = bench_of(scenario_of(vary())).play(6 * SECOND_NS), Bench()
    assert bench.scenario is not None
    other.scenario = bench.scenario.begun_again(other, other, other)  # type: ignore[arg-type]  # as in bench_of

    assert other.scenario.title == bench.scenario.title == "A small lab"
    assert (len(bench.scenario.results), other.scenario.results) == (2, [])
    assert steps(other.play()) == steps(bench.play())


def test_a_note_keeps_its_instant_too(vary: Vary, scenario_of: ScenarioOf) -> None:
    note = ("do: crash, target: paris, at: 5s", "do: note, text: half way, at: 5s")
    bench = bench_of(scenario_of(vary(note)), takes_ns=9 * SECOND_NS).play()

    assert ("note", 5 * SECOND_NS, "half way") in bench.happened


def test_a_fault_goes_before_a_step_that_has_not_begun(vary: Vary, scenario_of: ScenarioOf) -> None:
    timeline = (
        "timeline:\n  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}\n"
        "  - {do: promote, cluster: tokyo, at: 2s}\n  - {do: crash, target: paris, at: 3s}\n"
        "  - {do: demote, cluster: paris}\n"
    )
    bench = bench_of(scenario_of(vary((START, timeline), ("end: 10s", "end: 20s")))).play()

    begun = [(at_s, text) for at_s, text, status in steps(bench) if status == "begins"]
    assert begun == [(1, "replicate paris to tokyo"), (3, "crash paris"), (4, "promote tokyo"), (7, "demote paris")]


@pytest.mark.parametrize("takes_ns", [0, SECOND_NS])
def test_of_two_steps_of_one_instant_the_upper_goes_first(takes_ns: int, vary: Vary, scenario_of: ScenarioOf) -> None:
    timeline = (
        "timeline:\n  - {do: wait, for: 2s}\n  - {do: seal, cluster: paris, at: 5s}\n"
        "  - {do: crash, target: paris, at: 5s}\n  - {do: unseal, cluster: tokyo, at: 5s}\n"
    )
    bench = bench_of(scenario_of(vary((START, timeline))), takes_ns=takes_ns).play()

    begun = [text for _, text, status in steps(bench) if status == "begins"]
    assert begun == ["wait 2s", "seal paris", "crash paris", "unseal tokyo"]


def test_a_runbook_that_cannot_start_is_a_failed_step(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(scenario_of(vary()))

    def refuse(name: str, **arguments: Any) -> int:
        raise ValueError(f"{name} cannot begin")

    bench.start = refuse  # type: ignore[method-assign]  # that is the case
    bench.play()

    assert steps(bench)[-1] == (1, "replicate cannot begin", "failed")


def test_a_fault_that_fails_beside_a_runbook_lets_it_end(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(scenario_of(vary(("end: 10s", "settle: 1s"))), takes_ns=9 * SECOND_NS)

    def refuse(target: str) -> None:
        raise ValueError(f"{target} is nowhere")

    bench.crash = refuse  # type: ignore[method-assign]  # that is the case
    bench.play()

    assert [row[1:] for row in steps(bench)[-2:]] == [("paris is nowhere", "failed"), ("replicate is over", "done")]
    assert bench.now == 11 * SECOND_NS


def test_after_a_failed_step_no_fault_happens(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(scenario_of(vary()), replicate=Finished(False, "no answer from tokyo")).play()

    assert bench.happened[-1][:2] == ("step", 4 * SECOND_NS)


def test_a_runbook_may_end_before_its_start_returns(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(scenario_of(vary()), takes_ns=0).play()

    assert [row[0] for row in steps(bench)] == [1, 1, 5, 5, 7, 7]


def test_waiting_and_noting_are_steps(vary: Vary, scenario_of: ScenarioOf) -> None:
    timeline = (
        "timeline:\n  - {do: wait, for: 4s}\n  - {do: note, text: now then}\n  - {do: wait, for: 1s, after: 1s}\n"
    )
    bench = bench_of(scenario_of(vary((START, timeline), ("end: 10s", "settle: 2s")))).play()

    assert ("note", 4 * SECOND_NS, "now then") in bench.happened
    assert [row[0] for row in steps(bench)] == [0, 4, 4, 4, 5, 6]
    assert bench.now == 8 * SECOND_NS


def test_without_a_fixed_end_clients_finish_their_work_first(vary: Vary, scenario_of: ScenarioOf) -> None:
    work = "work: [{do: encrypt, every: 1s, until: 30s}]"
    group = f"  clients:\n    writers: {{site: tokyo, use: [paris], {work}}}\ntimeline:"
    bench = bench_of(scenario_of(vary(("timeline:", group), ("end: 10s", "settle: 2s")))).play()

    assert bench.now == 32 * SECOND_NS


def test_a_step_that_fails_stops_the_timeline(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(scenario_of(vary()), replicate=Finished(False, "no answer from tokyo")).play()

    assert steps(bench)[-1] == (4, "no answer from tokyo", "failed")
    assert bench.scenario is not None
    assert [result.ok for result in bench.scenario.results] == [False]
    assert bench.now == 10 * SECOND_NS


@pytest.mark.parametrize(("words", "goes_on"), [("true", True), ("sealed", True), ("in use", False)])
def test_a_step_that_was_to_fail_goes_on_with_the_expected_text(
    words: str, goes_on: bool, vary: Vary, scenario_of: ScenarioOf
) -> None:
    scenario = scenario_of(vary(("at: 1s", f"at: 1s, fails: {words}")))
    bench = bench_of(scenario, replicate=Finished(False, "tokyo is sealed")).play()

    assert bench.scenario is not None
    assert (len(bench.scenario.results) > 1) == goes_on


@pytest.mark.parametrize("ok", [True, False])
def test_a_step_that_may_be_refused_goes_on_either_way(ok: bool, vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(
        scenario_of(vary(("at: 1s", "at: 1s, fails: maybe"), ("end: 10s", "end: 20s"))),
        replicate=Finished(ok, "tokyo is sealed"),
    ).play()

    assert bench.scenario is not None
    assert [result.ok for result in bench.scenario.results] == [ok, True, True]
    assert steps(bench)[1] == (4, "tokyo is sealed", "done" if ok else "failed")


def test_a_fault_may_be_refused_too(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(scenario_of(vary(("paris, at: 5s", "paris, at: 5s, fails: maybe"), ("end: 10s", "end: 20s"))))

    def refuse(target: str) -> None:
        raise ValueError(f"{target} is nowhere")

    bench.crash = refuse  # type: ignore[method-assign]  # that is the case
    bench.play()

    assert bench.scenario is not None
    assert [result.ok for result in bench.scenario.results] == [True, False, True]


def test_a_step_that_was_to_fail_and_did_not_stops_the_timeline(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(scenario_of(vary(("at: 1s", "at: 1s, fails: true")))).play()

    assert len(steps(bench)) == 2


def test_the_end_comes_though_a_step_is_under_way(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(scenario_of(vary()), takes_ns=60 * SECOND_NS).play()

    assert bench.now == 10 * SECOND_NS
    assert bench.scenario is not None
    assert (bench.scenario.ended, bench.scenario.step_state) == (True, "working")


def test_somebody_elses_runbook_is_no_business_of_the_run(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(scenario_of(vary()))
    bench.end(99, Finished(True, "by hand"))
    bench.play(2 * SECOND_NS).end(98, Finished(False, "by hand"))

    assert bench.scenario is not None
    assert bench.scenario.results == []
    assert sorted(bench.finished) == [98, 99]


def test_a_fault_that_cannot_be_done_is_a_failed_step(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(scenario_of(vary()))

    def refuse(target: str) -> None:
        raise ValueError(f"{target} is nowhere")

    bench.crash = refuse  # type: ignore[method-assign]  # that is the case
    bench.play()

    assert steps(bench)[-1] == (5, "paris is nowhere", "failed")


@pytest.mark.parametrize(
    "cut_ns", [0, SECOND_NS, 2 * SECOND_NS, 5 * SECOND_NS, 6 * SECOND_NS, 8 * SECOND_NS, 12 * SECOND_NS]
)
def test_a_saved_run_goes_on_as_the_other_does(cut_ns: int, vary: Vary, scenario_of: ScenarioOf) -> None:
    scenario = scenario_of(vary(("end: 10s", "end: 20s")))
    whole = bench_of(scenario).play()
    bench = bench_of(scenario).play(cut_ns)
    assert bench.scenario is not None
    kept = pickle.loads(pickle.dumps(bench.scenario.state()))
    bench.scenario = Run.from_state(bench, bench, bench, kept)  # type: ignore[arg-type]  # a stand-in for parts and faults
    assert bench.scenario.state() == kept
    bench.play()

    assert bench.happened == whole.happened
    assert bench.scenario.results == whole.scenario.results  # type: ignore[union-attr]  # it has one


@pytest.mark.slow
def test_a_lab_goes_on_alike_wherever_it_is_cut(vary: Vary, scenario_file: Callable[..., Any]) -> None:
    work = "work: [{do: put-secret, every: 200ms, from: 2s}]"
    group = f"  clients:\n    writers: {{site: tokyo, use: [paris, tokyo], {work}}}\n"
    path = scenario_file(vary(("timeline:", f"{group}timeline:"), ("lost: 0", "lost: {at most: 9}")))
    whole = Lab.load(path).run()
    assert whole.scenario is not None
    expected = (whole.trace.digest(), whole.now, whole.scenario.results)
    events = count_events(path)

    for cut in [*range(0, events, events // 12), events - 1]:
        lab = Lab.load(path)
        deque((lab.step() for _ in range(cut)), maxlen=0)
        restored = Lab.restore(lab.snapshot()).run()
        assert restored.scenario is not None
        assert (restored.trace.digest(), restored.now, restored.scenario.results) == expected, cut
        assert restored.scenario.scenario.path == ""


def count_events(path: Any) -> int:
    lab, count = Lab.load(path), 0
    assert lab.scenario is not None
    while not lab.scenario.ended:
        lab.step()
        count += 1
    return count


def test_how_far_it_is_stands_in_words(vary: Vary, scenario_of: ScenarioOf) -> None:
    bench = bench_of(scenario_of(vary(("end: 10s", "end: 20s"))))
    run = bench.scenario
    assert run is not None

    said = [run.progress]
    for until_s in (2, 5, 8, 9, 11):
        bench.play(until_s * SECOND_NS)
        said.append(run.progress)
    assert said == [
        "before step 1: replicate paris to tokyo",
        "in step 1: replicate paris to tokyo",
        "before step 3: promote tokyo",
        "in step 3: promote tokyo",
        "in step 3: promote tokyo",
        "after the last step",
    ]


# ---- waiting until


UNTIL = (
    "timeline:\n  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}\n"
    "  - {do: partition, between: [paris, tokyo], at: 3s}\n"
    "  - {do: ask, cluster: paris, method: POST, path: secret/data/a, body: {data: {n: 1}}}\n"
)
REST = "  - {do: crash, target: paris, at: 5s}\n  - {do: promote, cluster: tokyo, after: 2s}\n"
WHOLE = "timeline:\n  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}\n" + REST


def results_of(text: str, scenario_of: ScenarioOf) -> list[StepResult]:
    scenario = scenario_of(text)
    lab = Lab(scenario.blueprint, 7)
    lab.scenario = Run(lab.parts, lab.faults, lab.invariants, scenario)
    lab.run()
    return lab.scenario.results


def test_a_step_waits_until_the_lag_is_as_wanted(vary: Vary, scenario_of: ScenarioOf) -> None:
    behind_and_level = ("{do: wait, until: lag at least 2s, within: 5s}", "{do: heal}", "{do: wait, until: lag 0}")
    steps = "".join(f"  - {step}\n" for step in behind_and_level)
    results = results_of(vary((WHOLE, UNTIL + steps), ("end: 10s", "settle: 1s")), scenario_of)
    behind, level = results[3], results[5]

    assert [result.ok for result in results] == [True] * 6
    assert 2.0 <= (behind.ended_ns - 3 * SECOND_NS) / SECOND_NS < 2.1
    assert 0 < level.ended_ns - level.began_ns < 20 * SECOND_NS


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ("{do: wait, until: lag 0, within: 500ms}", "not reached within 500ms: tokyo: 1 entry behind"),
        ("{do: wait, until: lag at least 9}", "not reached within 2m: tokyo: 1 entry behind"),
    ],
)
def test_a_condition_that_is_not_reached_fails_the_step(
    step: str, says: str, vary: Vary, scenario_of: ScenarioOf
) -> None:
    results = results_of(vary((WHOLE, f"{UNTIL}  - {step}\n"), ("end: 10s", "settle: 1s")), scenario_of)

    assert (results[-1].ok, results[-1].message) == (False, says)


def test_where_no_cluster_follows_another_no_lag_is_reached(vary: Vary, scenario_of: ScenarioOf) -> None:
    text = vary((WHOLE, "timeline:\n  - {do: wait, until: lag at least 0, within: 1s}\n"), ("end: 10s", "settle: 1s"))
    (result,) = results_of(text, scenario_of)

    assert (result.ok, result.message) == (False, "not reached within 1s: no cluster follows another")


def test_a_wait_for_a_condition_can_be_saved(vary: Vary, scenario_of: ScenarioOf) -> None:
    steps = "  - {do: wait, until: lag at least 2s}\n"
    scenario = scenario_of(vary((WHOLE, UNTIL + steps), ("end: 10s", "settle: 1s")))
    lab = Lab(scenario.blueprint, 7)
    lab.scenario = Run(lab.parts, lab.faults, lab.invariants, scenario)
    lab.run("4s")
    other = Lab.restore(lab.snapshot())
    for each in (lab, other):
        each.run()

    assert lab.scenario is not None
    assert other.scenario is not None
    assert other.scenario.results == lab.scenario.results
    assert other.trace.digest() == lab.trace.digest()


# ---- checks and kept values


CHECKED = (
    "timeline:\n  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}\n"
    "  - {do: partition, between: [paris, tokyo], at: 4s}\n"
    "  - {do: ask, cluster: paris, method: POST, path: auth/token/create, keep: {user: auth.client_token}}\n"
    "  - {do: check, roots: equal, at: 3500ms}\n"
    "  - {do: check, roots: different, lag: {at least: 1}}\n"
    "  - {do: ask, cluster: paris, method: GET, path: auth/token/lookup-self, token: $(user), keep: {again: data.id}}\n"
    "  - {do: ask, cluster: paris, method: GET, path: sys/health, answer: {has: {initialized: true}}}\n"
    "  - {do: check, roots: equal, at: 8s}\n"
)
LOOK = (START, CHECKED), ("equal, at: 3500ms", "different, after: 1s"), ("  lost: 0\n  primary: tokyo\n", "  lost: 0\n")


def test_a_check_judges_at_its_instant_and_stops_a_timeline_that_is_not_as_written(
    vary: Vary, scenario_file: Callable[..., Any], judged: Callable[[Lab], Any]
) -> None:
    lab = Lab.load(scenario_file(vary(*LOOK))).run()
    verdict = judged(lab)
    rows = [(row.what, row.measured, row.status) for row in verdict.rows if row.key.startswith("step")]

    assert rows == [
        ("step 4: roots", "different: paris and tokyo differ", "ok"),
        ("step 5: lag", "tokyo: 1 entry behind", "ok"),
        ("step 5: roots", "different: paris and tokyo differ", "ok"),
        ("step 7: ask paris GET sys/health", "200", "ok"),
        ("step 8: roots", "different: paris and tokyo differ", "broken"),
    ]
    assert verdict.exit_code == 1
    assert "step 8: roots: expected equal, got different: paris and tokyo differ (broken)" in str(
        verdict.report(lab.scenario.scenario, lab.trace)  # type: ignore[union-attr]  # it was loaded from a file
    )


def test_a_check_happens_beside_a_runbook_and_what_cannot_be_judged_is_not_as_written(
    vary: Vary, scenario_file: Callable[..., Any], judged: Callable[[Lab], Any]
) -> None:
    timeline = (
        "timeline:\n  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}\n"
        "  - {do: check, modes: {paris: primary, tokyo: disabled}, at: 1100ms}\n  - {do: check, rto: 1s, at: 4s}\n"
    )
    lab = Lab.load(scenario_file(vary((START, timeline), ("  lost: 0\n  primary: tokyo\n", "  lost: 0\n")))).run()
    assert lab.scenario is not None

    assert [(result.number, result.began_ns, result.ok) for result in lab.scenario.results] == [
        (2, 1_100_000_000, True),
        (1, SECOND_NS, True),
        (3, 4 * SECOND_NS, False),
    ]
    assert lab.scenario.results[2].message == "recovery time (RTO): expected 1s, got no cluster was promoted"
    assert judged(lab).exit_code == 1


def test_no_kept_value_stands_in_trace_report_or_verdict_and_a_cut_run_keeps_them(
    vary: Vary, scenario_file: Callable[..., Any], judged: Callable[[Lab], Any]
) -> None:
    path = scenario_file(vary(*LOOK))
    whole = Lab.load(path).run()
    for instant in range(0, 10, 3):
        cut = Lab.restore(pickle.loads(pickle.dumps(Lab.load(path).run(until=f"{instant}s").snapshot()))).run()
        assert cut.trace.digest() == whole.trace.digest()
        assert judged(cut) == judged(whole)
    assert whole.scenario is not None
    secret = whole.parts.console.kept["user"]
    texts = (
        "".join(whole.trace.lines()) + str(judged(whole)) + judged(whole).report(whole.scenario.scenario, whole.trace)
    )

    assert whole.parts.console.kept == {"user": secret, "again": secret}
    assert secret not in texts + repr(whole.scenario.state())
