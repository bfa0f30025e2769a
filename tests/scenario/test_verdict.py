"""A verdict sets what was measured beside what was expected, and says what it cannot know."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest

from labkit.front.lab import Lab
from labkit.lab.invariants import STANDING, Violation
from labkit.lab.records.lag import Lag
from labkit.lab.records.ledger import CommittedWrite
from labkit.lab.records.loss_and_outage import Promotion, RecoveryLedger, RecoveryPoint
from labkit.scenario.measures import VerdictRow, point_text
from labkit.scenario.running import OVER, WAITING, WORKING
from labkit.scenario.scenario import Scenario
from labkit.scenario.steps.dispositions import StepResult
from labkit.scenario.verdict import Verdict, judge

Vary = Callable[..., str]
ScenarioOf = Callable[[str], Scenario]
SECOND_NS = 1_000_000_000
NOTHING = ("lost: 0\n  primary: tokyo\n", "{}\n")


def verdict_of(scenario: Scenario, results: int = 3, step_state: str = OVER, **changes: Any) -> Verdict:
    """The verdict on a run whose steps all went well, in a lab where tokyo is primary and paris follows it."""
    modes: dict[str, str] = changes.get("modes", {"paris": "secondary", "tokyo": "primary"})
    roots: dict[str, str] = changes.get("roots", {"paris": "aa", "tokyo": "aa"})
    kept = [StepResult(number, number, number, True, "") for number in range(1, results + 1)]
    broken: dict[str, Violation] = changes.get("broken", {})
    run: Any = SimpleNamespace(
        scenario=scenario,
        seed=7,
        results=changes.get("kept", kept),
        step_state=step_state,
        step_number=results + 1,
        faults={},
        looking=changes.get("looking", {}),
        ended=changes.get("ended", True),
        over_time=SimpleNamespace(rows=lambda: changes.get("timed", ()), sightings=lambda: ()),
        reached=SimpleNamespace(sightings=lambda: changes.get("reached", ())),
    )
    followed: dict[str, str] = changes.get("followed", {"paris": "tokyo"})
    queries: Any = SimpleNamespace(
        now=10 * SECOND_NS,
        blueprint=scenario.blueprint,
        mode_of=lambda name: modes[name],
        root_as_is=lambda name: roots[name],
        state_of=lambda name: changes.get("states", {}).get(name, ""),
        connection_of=lambda name: changes.get("connections", {}).get(name, ""),
        upstream_of=lambda name: followed.get(name, ""),
        lags=lambda: changes.get("lags", {}),
    )
    applying: bool = changes.get("applies", True)
    invariants: Any = SimpleNamespace(
        applies=lambda name: applying or name != "planned failover loses nothing",
        verdicts=lambda: {name: broken.get(name) for name in (*STANDING, *broken)},
    )
    return judge(run, queries, changes.get("ledger", RecoveryLedger()), invariants)


def row(verdict: Verdict, key: str) -> VerdictRow:
    (found,) = (row for row in verdict.rows if row.key == key)
    return found


def ledger_of(lost: int) -> RecoveryLedger:
    """Ten writes in paris, one each 100 ms from 1 s on; the fault at 2 s, and tokyo's first write at 5 s."""
    ledger = RecoveryLedger()
    for entry in range(1, 11):
        at_ns = SECOND_NS + entry * 100_000_000
        ledger.writes.append((at_ns, "writers-1", f"secret/data/{entry}", *CommittedWrite("paris", 0, entry)))
    missing = frozenset(range(11 - lost, 11))
    ledger.promotions.append(Promotion(4 * SECOND_NS, "tokyo", "paris", 0, 11, missing, 2 * SECOND_NS, False))
    ledger.writes.append((5 * SECOND_NS, "writers-1", "secret/data/11", *CommittedWrite("tokyo", 1, 11)))
    return ledger


def test_all_as_expected(vary: Vary, scenario_of: ScenarioOf) -> None:
    verdict = verdict_of(scenario_of(vary()))

    assert (verdict.exit_code, verdict.word) == (0, "as expected")
    assert verdict.summary == "A small lab: as expected (seed 7, 10s of lab time)"
    assert verdict.failures() == ()
    assert row(verdict, "timeline") == VerdictRow("timeline", "3 steps", "3 as written", "ok", "timeline")
    assert row(verdict, "lost") == VerdictRow("of them lost", "0", "0", "ok", "lost")
    assert row(verdict, "primary").measured == "tokyo"
    assert all(row(verdict, name) == VerdictRow(name, "held", "held", "ok", name) for name in STANDING)


@pytest.mark.parametrize(
    ("expected", "lost", "status"),
    [
        ("0", 2, "broken"),
        ("2", 2, "ok"),
        ("{at most: 2}", 2, "ok"),
        ("{at most: 1}", 2, "broken"),
        ("{at least: 3}", 2, "broken"),
    ],
)
def test_lost_writes_lie_within_their_bounds(
    expected: str, lost: int, status: str, vary: Vary, scenario_of: ScenarioOf
) -> None:
    verdict = verdict_of(scenario_of(vary(("lost: 0", f"lost: {expected}"))), ledger=ledger_of(lost))

    assert row(verdict, "lost").measured == str(lost)
    assert row(verdict, "lost").status == status
    assert verdict.exit_code == (0 if status == "ok" else 1)


@pytest.mark.parametrize(
    ("key", "expected", "measured", "status"),
    [
        ("rpo", "{at most: 1s}", "3 before, over 200ms", "ok"),
        ("rpo", "{at most: 199ms}", "3 before, over 200ms", "broken"),
        ("rpo", "200ms", "3 before, over 200ms", "ok"),
        ("rto", "{at least: 1s, at most: 3s}", "3s", "ok"),
        ("rto", "{at most: 2999ms}", "3s", "broken"),
    ],
)
def test_recovery_is_measured_in_time(
    key: str, expected: str, measured: str, status: str, vary: Vary, scenario_of: ScenarioOf
) -> None:
    verdict = verdict_of(scenario_of(vary(("lost: 0", f"{key}: {expected}"))), ledger=ledger_of(3))

    assert (row(verdict, key).measured, row(verdict, key).status) == (measured, status)


@pytest.mark.parametrize(
    ("point", "text"),
    [
        (RecoveryPoint(0, 0.0), "0s"),
        (RecoveryPoint(2, 1.5), "2 before, over 1.5s"),
        (RecoveryPoint(100, 0.0, 100, 95.0), "0 before, 100 after, over 1m35s"),
        (RecoveryPoint(5, 0.25, 3, 2.0), "2 before, over 250ms, 3 after, over 2s"),
    ],
)
def test_what_was_lost_before_the_fault_and_after_it_is_said_apart(point: RecoveryPoint, text: str) -> None:
    assert point_text(point) == text


@pytest.mark.parametrize(("bound", "status"), [("3s", "ok"), ("2999ms", "broken"), ("0s", "broken")])
def test_what_was_lost_after_the_fault_counts_too(bound: str, status: str, vary: Vary, scenario_of: ScenarioOf) -> None:
    ledger = ledger_of(0)
    for late in (1, 3):
        at_ns = (2 + late) * SECOND_NS
        ledger.writes.append((at_ns, "writers-1", f"secret/data/late-{late}", *CommittedWrite("paris", 0, 11 + late)))
    verdict = verdict_of(scenario_of(vary(("lost: 0", f"rpo: {{at most: {bound}}}"))), ledger=ledger)

    assert (row(verdict, "rpo").measured, row(verdict, "rpo").status) == ("0 before, 2 after, over 3s", status)


def test_a_promotion_that_nobody_wrote_to_has_no_recovery_time(vary: Vary, scenario_of: ScenarioOf) -> None:
    ledger = RecoveryLedger()
    ledger.promotions.append(Promotion(4, "tokyo", "paris", 0, 11, frozenset(), 2, False))
    verdict = verdict_of(scenario_of(vary(NOTHING)), ledger=ledger)

    assert row(verdict, "rto").measured == "no client wrote to the survivor"
    assert row(verdict, "rto").status == ""


def test_recovery_without_a_promotion_is_unknown(vary: Vary, scenario_of: ScenarioOf) -> None:
    verdict = verdict_of(scenario_of(vary(("lost: 0", "rpo: 0s\n  rto: {at most: 5s}"))))

    assert [(row(verdict, key).measured, row(verdict, key).status) for key in ("rpo", "rto")] == [
        ("no cluster was promoted", "unknown")
    ] * 2
    assert (verdict.exit_code, verdict.word) == (3, "unknown")


def test_what_has_no_expectation_is_listed_only(vary: Vary, scenario_of: ScenarioOf) -> None:
    verdict = verdict_of(scenario_of(vary(NOTHING)), ledger=ledger_of(3))

    assert [
        (row(verdict, key).expected, row(verdict, key).status) for key in ("lost", "rpo", "rto", "primary", "roots")
    ] == [("", "")] * 5
    assert verdict.exit_code == 0


@pytest.mark.parametrize(
    ("expected", "roots", "measured", "status"),
    [
        ("equal", {"paris": "aa", "tokyo": "aa"}, "equal", "ok"),
        ("equal", {"paris": "ab", "tokyo": "aa"}, "different: tokyo and paris differ", "broken"),
        ("different", {"paris": "ab", "tokyo": "aa"}, "different: tokyo and paris differ", "ok"),
        ("equal", {"paris": "", "tokyo": "aa"}, "paris has no active node", "unknown"),
    ],
)
def test_roots_are_compared_between_a_secondary_and_its_primary(
    expected: str, roots: dict[str, str], measured: str, status: str, vary: Vary, scenario_of: ScenarioOf
) -> None:
    verdict = verdict_of(scenario_of(vary(("lost: 0", f"roots: {expected}"))), roots=roots)

    assert row(verdict, "roots") == VerdictRow("roots", expected, measured, status, "roots")


@pytest.mark.parametrize("followed", [{}, {"paris": ""}, {"tokyo": "paris"}])
def test_roots_of_clusters_that_follow_nobody_are_unknown(
    followed: dict[str, str], vary: Vary, scenario_of: ScenarioOf
) -> None:
    verdict = verdict_of(scenario_of(vary(("lost: 0", "roots: equal"))), followed=followed)

    assert row(verdict, "roots").measured == "no cluster follows another"
    assert row(verdict, "roots").status == "unknown"


@pytest.mark.parametrize(
    ("expected", "paris", "tokyo", "measured", "status"),
    [
        ("tokyo", "secondary", "primary", "tokyo", "ok"),
        ("tokyo", "unknown", "primary", "tokyo (paris has no active node)", "ok"),
        ("paris", "unknown", "secondary", "none (paris has no active node)", "unknown"),
        ("paris", "unknown", "primary", "tokyo (paris has no active node)", "broken"),
        ("paris", "secondary", "secondary", "none", "broken"),
        ("tokyo", "primary", "primary", "paris, tokyo", "broken"),
        ("[tokyo, paris]", "primary", "primary", "paris, tokyo", "ok"),
        ("[]", "disabled", "secondary", "none", "ok"),
    ],
)
def test_who_is_primary(
    expected: str, paris: str, tokyo: str, measured: str, status: str, vary: Vary, scenario_of: ScenarioOf
) -> None:
    scenario = scenario_of(vary(("primary: tokyo\n", f"primary: {expected}\n")))
    verdict = verdict_of(scenario, modes={"paris": paris, "tokyo": tokyo})

    assert (row(verdict, "primary").measured, row(verdict, "primary").status) == (measured, status)


@pytest.mark.parametrize(("expected", "status"), [("held", "broken"), ("broken", "ok")])
def test_an_invariant_may_be_expected_to_break(expected: str, status: str, vary: Vary, scenario_of: ScenarioOf) -> None:
    found = Violation("one primary", 3 * SECOND_NS, "paris and tokyo accept writes")
    scenario = scenario_of(vary(("lost: 0", f"lost: 0\n  invariants: {{one primary: {expected}}}")))
    verdict = verdict_of(scenario, broken={"one primary": found})

    measured = "broken at 3s: paris and tokyo accept writes"
    assert row(verdict, "one primary") == VerdictRow("one primary", expected, measured, status, "one primary")


def test_an_invariant_that_should_break_and_did_not_is_not_as_expected(vary: Vary, scenario_of: ScenarioOf) -> None:
    scenario = scenario_of(vary(("lost: 0", "invariants: {one primary: broken}")))

    assert row(verdict_of(scenario), "one primary").status == "broken"


@pytest.mark.parametrize(("expected", "status"), [("", ""), ("held", "ok"), ("broken", "broken")])
def test_a_rule_on_what_was_not_planned_does_not_apply(
    expected: str, status: str, vary: Vary, scenario_of: ScenarioOf
) -> None:
    rule = "planned failover loses nothing"
    written = f"\n  invariants: {{{rule}: {expected}}}" if expected else ""
    verdict = verdict_of(scenario_of(vary(("lost: 0", f"lost: 0{written}"))), applies=False, broken={rule: None})

    assert row(verdict, rule) == VerdictRow(rule, expected, "does not apply", status, rule)


def test_lost_writes_that_were_acknowledged_after_the_fault_are_named(vary: Vary, scenario_of: ScenarioOf) -> None:
    ledger = ledger_of(3)
    ledger.writes.append((5 * SECOND_NS, "writers-1", "secret/data/12", *CommittedWrite("paris", 0, 12)))

    assert row(verdict_of(scenario_of(vary(NOTHING)), ledger=ledger), "lost").measured == "4, 1 of them after the fault"


def test_a_rule_of_ones_own_is_expected_to_hold(vary: Vary, scenario_of: ScenarioOf) -> None:
    verdict = verdict_of(scenario_of(vary()), broken={"no stale read": Violation("no stale read", 0, "stale")})

    assert row(verdict, "no stale read").status == "broken"


def test_a_failed_step_is_listed_with_its_message(vary: Vary, scenario_of: ScenarioOf) -> None:
    kept = [StepResult(1, 0, 1, False, "no answer")]
    verdict = verdict_of(scenario_of(vary()), kept=kept)

    assert row(verdict, "timeline").status == "broken"
    assert row(verdict, "step 1") == VerdictRow(
        "step 1: replicate paris to tokyo", "done", "refused: no answer", "broken", "step 1"
    )
    assert row(verdict, "step 2") == VerdictRow(
        "step 2: crash paris …", "done", "2 steps not begun", "unknown", "step 2"
    )
    assert verdict.exit_code == 1


@pytest.mark.parametrize(
    ("fails", "ok", "message", "expected", "measured", "status"),
    [
        ("true", False, "sealed", "refused", "refused: sealed", "ok"),
        ("sealed", False, "it is sealed", "refused, saying sealed", "refused: it is sealed", "ok"),
        ("sealed", False, "no answer", "refused, saying sealed", "refused: no answer", "broken"),
        ("true", True, "fine", "refused", "done", "broken"),
        ("maybe", True, "fine", "done or refused", "done", "ok"),
        ("maybe", False, "sealed", "done or refused", "refused: sealed", "ok"),
    ],
)
def test_a_step_that_had_to_fail_is_always_listed(
    fails: str, ok: bool, message: str, expected: str, measured: str, status: str, vary: Vary, scenario_of: ScenarioOf
) -> None:
    scenario = scenario_of(vary(("after: 2s", f"after: 2s, fails: {fails}")))
    kept = [StepResult(1, 0, 1, True, ""), StepResult(2, 1, 1, True, ""), StepResult(3, 1, 2, ok, message)]
    verdict = verdict_of(scenario, kept=kept)

    assert row(verdict, "step 3") == VerdictRow("step 3: promote tokyo", expected, measured, status, "step 3")


SECOND_STEP = ("{do: crash, target: paris, at: 5s}", "{do: seal, cluster: paris, at: 1500ms}")


@pytest.mark.parametrize(
    ("late_ns", "status"), [(100_000_000, None), (100_000_001, "unknown"), (580_000_000, "unknown")]
)
def test_a_step_that_began_late_is_reported(
    late_ns: int, status: str | None, vary: Vary, scenario_of: ScenarioOf
) -> None:
    began_ns = 1_500_000_000 + late_ns
    kept = [StepResult(1, SECOND_NS, began_ns, True, ""), StepResult(2, began_ns, began_ns, True, "")]
    verdict = verdict_of(scenario_of(vary(SECOND_STEP)), kept=[*kept, StepResult(3, began_ns, began_ns, True, "")])

    rows = [row for row in verdict.rows if row.key == "step 2 at"]
    assert [row.status for row in rows] == ([status] if status else [])
    assert verdict.exit_code == (3 if status else 0)
    if late_ns == 580_000_000:
        assert rows[0].measured == "written for 1.5s, began 2.08s"


def test_a_step_may_be_late_where_the_file_says_so(vary: Vary, scenario_of: ScenarioOf) -> None:
    kept = [StepResult(1, 0, 1, True, ""), StepResult(2, 3 * SECOND_NS, 1, True, ""), StepResult(3, 1, 2, True, "")]
    late = (SECOND_STEP[0], SECOND_STEP[1].replace("1500ms", "1500ms, late: ok"))
    verdict = verdict_of(scenario_of(vary(late)), kept=kept)

    assert row(verdict, "step 2 at").status == "ok"
    assert verdict.exit_code == 0


def test_a_step_that_began_after_a_fault_below_it_is_late(vary: Vary, scenario_of: ScenarioOf) -> None:
    began = {1: 6 * SECOND_NS, 2: 5 * SECOND_NS, 3: 9 * SECOND_NS}
    kept = [StepResult(number, began[number], began[number], True, "") for number in (2, 1, 3)]
    verdict = verdict_of(scenario_of(vary(("at: 1s", "after: 1s"))), kept=kept)

    assert row(verdict, "step 1 at").measured == "written above step 2, which began 5s, began 6s"
    assert verdict.exit_code == 3


def test_a_late_step_is_shown_at_its_instant(
    vary: Vary, scenario_file: Callable[..., Any], judged: Callable[[Lab], Verdict]
) -> None:
    lab = Lab.load(scenario_file(vary(SECOND_STEP, ("  - {do: promote, cluster: tokyo, after: 2s}\n", "")))).run()
    assert lab.scenario is not None
    verdict = judged(lab)

    assert "small.lab.yaml:11:36: step 2: seal paris: " in verdict.report(lab.scenario.scenario, lab.trace)
    assert row(verdict, "step 2 at").measured.startswith("written for 1.5s, began 2.")


def test_a_step_under_way_at_the_end_is_unknown(vary: Vary, scenario_of: ScenarioOf) -> None:
    verdict = verdict_of(scenario_of(vary()), results=1, step_state=WORKING)

    assert row(verdict, "step 2").measured == "still in progress at the end"
    assert row(verdict, "step 3").measured == "1 step not begun"
    assert verdict.exit_code == 3


def test_a_scenario_that_was_not_played_to_its_end_is_unknown(vary: Vary, scenario_of: ScenarioOf) -> None:
    verdict = verdict_of(scenario_of(vary()), results=2, step_state=WAITING, ended=False)

    assert row(verdict, "end") == VerdictRow("the end", "reached", "not reached at 10s", "unknown", "end")
    assert verdict.exit_code == 3


def test_broken_outweighs_unknown(vary: Vary, scenario_of: ScenarioOf) -> None:
    scenario = scenario_of(vary(("lost: 0", "lost: {at least: 1}\n  rto: {at most: 1s}")))

    assert verdict_of(scenario).exit_code == 1


def test_a_restored_lab_is_judged_like_the_other(
    vary: Vary, scenario_file: Callable[..., Any], judged: Callable[[Lab], Verdict]
) -> None:
    lab = Lab.load(scenario_file(vary())).run()

    assert judged(Lab.restore(lab.snapshot())) == judged(lab)
    assert judged(lab).exit_code == 0


# ---- lag


@pytest.mark.parametrize(
    ("expected", "lags", "status", "measured"),
    [
        ("lag: 0", {"paris": Lag(0, 0.0)}, "ok", "paris: level"),
        ("lag: 0", {"paris": Lag(1, 0.3)}, "broken", "paris: 1 entry behind"),
        (
            "lag: {at most: 5}",
            {"paris": Lag(5, 1.0), "lima": Lag(2, 9.0)},
            "ok",
            "paris: 5 entries behind; lima: 2 entries behind",
        ),
        (
            "lag: {at most: 4}",
            {"paris": Lag(0, 0.0), "lima": Lag(5, 9.0)},
            "broken",
            "paris: level; lima: 5 entries behind",
        ),
        ("lag: {at least: 4}", {"paris": Lag(inf, inf)}, "ok", "paris: no complete state yet"),
        ("lag: 0", {}, "unknown", "no cluster follows another"),
        ("lag time: {at most: 1s}", {"paris": Lag(5, 0.5)}, "ok", "paris: 500ms"),
        ("lag time: {at most: 1s}", {"paris": Lag(1, 1.5)}, "broken", "paris: 1.5s"),
        ("lag time: 0s", {"paris": Lag(inf, inf)}, "broken", "paris: no complete state yet"),
    ],
)
def test_the_secondary_that_is_furthest_behind_is_judged(
    expected: str, lags: dict[str, Lag], status: str, measured: str, vary: Vary, scenario_of: ScenarioOf
) -> None:
    scenario = scenario_of(vary(("lost: 0", expected)))
    found = row(verdict_of(scenario, lags=lags), expected.split(":")[0])

    assert (found.status, found.measured) == (status, measured)


def test_lag_is_listed_only_where_it_is_expected(vary: Vary, scenario_of: ScenarioOf) -> None:
    verdict = verdict_of(scenario_of(vary()), lags={"paris": Lag(3, 1.0)})

    assert [row.key for row in verdict.rows if row.key.startswith("lag")] == []
