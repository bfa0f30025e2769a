"""What holds over time is judged as the table of verdicts says, at the instant, and alike wherever a run is cut."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

import pytest

from labkit import Lab
from labkit.scenario.conditions import compiled
from labkit.scenario.loading import loads
from labkit.scenario.measures import Seen
from labkit.scenario.running import Run
from labkit.scenario.scenario import Scenario
from labkit.scenario.timed.over_time import LOOK_NS
from labkit.scenario.verdict import Verdict, judge
from labkit.service.durations import SECOND_NS
from tests.counting import calls_made

HEAD = """\
scenario: A line is cut for twenty seconds
lab:
  sites: [paris, tokyo]
  links:
    - {between: [paris, tokyo], latency: 80ms}
  clusters:
    paris: {site: paris, nodes: 1}
    tokyo: {site: tokyo, nodes: 1}
  clients:
    writers: {site: paris, use: [paris], work: [{do: put-secret, every: 500ms, from: 3s}]}
timeline:
  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}
  - {do: partition, between: [paris, tokyo], at: 10s}
  - {do: heal, between: [paris, tokyo], after: 20s}
end: 50s
"""

ROWS = {
    "always": (
        ("{lag: {at most: 200}, from: 5s}", "held", "ok"),
        ("{lag: {at most: 10}, from: 5s}", "broken at 15s: lag: tokyo: 11 entries behind", "broken"),
        ("{lag time: {at most: 12s}, from: 5s}", "broken at 22.1s: lag time: tokyo: 12.1s", "broken"),
        ("{rto: {at most: 1s}}", "never judged", "unknown"),
        ("{lag: {at most: 5}, from: 60s}", "its window never opened", "unknown"),
        ("{invariants: {one primary: held}}", "held", "ok"),
        ("{roots: equal, from: 5s}", "held", "ok"),
        ("{differing: {at most: 2000}}", "held", "ok"),
        ("{observed: {merkle_sync: {at most: 0}}}", "broken at 2.122s: observed: merkle_sync: 1", "broken"),
    ),
    "eventually": (
        ("{lag: 0, within: 15s, after: step 3}", "true at 30.802s", "ok"),
        ("{lag: {at least: 15}, within: 20s, after: step 2}", "true at 17s", "ok"),
        ("{connections: {tokyo: ready}, within: 500ms, after: step 3}", "broken at 30.5s: ", "broken"),
        ("{lag: {at least: 77}, within: 5s, from: 20s}", "broken at 25s: lag: tokyo: ", "broken"),
        ("{lag: {at least: 777}, within: 30s, from: 40s}", "the file ended inside its window of 30s", "unknown"),
        ("{lag: 0, within: 1s, from: 60s}", "its window never opened", "unknown"),
        ("{rto: {at most: 1s}, within: 1s}", "could not be judged when its window closed: recovery time", "unknown"),
        ("{differing: {at least: 1}, within: 10s, after: {step: 2, began: 2s}}", "true at 22s", "ok"),
        ("{roots: equal, within: 15s, after: step 3}", "true at 30.802s", "ok"),
    ),
    "leads to": (
        ("{if: {lag: {at least: 15}}, then: {lag: 0}, within: 25s, from: 5s}", "answered once", "ok"),
        ("{if: {lag: {at least: 1}}, then: {lag: 0}, within: 30s, from: 5s}", "answered 4", "ok"),
        ("{if: {lag: {at least: 15}}, then: {lag: 0}, within: 2s}", "broken at 19s: lag: tokyo: ", "broken"),
        ("{if: {lag: {at least: 99}}, then: {lag: 0}, within: 2s, from: 3s}", "never asked for", "unknown"),
        ("{if: {lag: 0}, then: {lag: 5}, within: 5s, from: 49s}", "still owed at the end, since 49s", "unknown"),
        ("{if: {lag: 0}, then: {lag: 1}, within: 5s, from: 80s}", "its window never opened", "unknown"),
        ("{if: {lag: 0}, then: {rto: 1s}, within: 1s, from: 5s}", "an answer could not be judged when", "unknown"),
        ("{if: {lag: {at least: 15}}, then: {roots: equal}, within: 25s, from: 5s}", "answered once", "ok"),
        # Each is asked for 1 s after the one before: what closes 50 ms later is not the window of that one.
        ("{if: {lag: {at least: 1}}, then: {lag: 0}, within: 1050ms, from: 36s}", "answered 2", "ok"),
    ),
    "sometimes": (
        ("{observed: {merkle_sync: {at least: 1}}}", "true", "ok"),
        ("{lag: 777, from: 5s}", "not true", "broken"),
        ("{rto: 1s}", "never judged", "unknown"),
    ),
}
"""{kind: what is written, how the words begin that are measured, and the verdict}: each column of the table."""


def text_of(rows: dict[str, Any] = ROWS) -> str:
    lists = "".join(f"{kind}:\n" + "".join(f"  - {row[0]}\n" for row in found) for kind, found in rows.items())
    return f"{HEAD}{lists}covers: [merkle-diff to merkle-sync, connection lost, takeover]\n"


def lab_of(text: str, *, trace: bool = True) -> Lab:
    scenario = loads(text.encode(), "cut.lab.yaml")
    lab = Lab(scenario.blueprint, scenario.seed, trace=trace)
    lab.scenario = Run(lab.parts, lab.faults, lab.invariants, scenario)
    return lab


def verdict_of(lab: Lab) -> Verdict:
    assert lab.scenario is not None
    return judge(lab.scenario, lab.queries, lab.ledger, lab.invariants)


@pytest.fixture(scope="module")
def played() -> Lab:
    """The whole file, played once."""
    return lab_of(text_of()).run()


def judged_rows() -> Iterator[Any]:
    for kind, rows in ROWS.items():
        for number, (_, measured, status) in enumerate(rows, 1):
            yield pytest.param(f"{kind} {number}", measured, status, id=f"{kind} {number} {status}")


@pytest.mark.parametrize(("key", "measured", "status"), list(judged_rows()))
def test_each_column_of_the_table_of_verdicts(played: Lab, key: str, measured: str, status: str) -> None:
    (row,) = (row for row in verdict_of(played).rows if row.key == key)

    assert (row.measured[: len(measured)], row.status) == (measured, status)


def test_what_is_covered_is_reached_or_unknown(played: Lab) -> None:
    rows = {row.what: (row.measured, row.status) for row in verdict_of(played).rows if row.key.startswith("covers ")}

    assert rows == {
        "merkle-diff to merkle-sync": ("reached", "ok"),
        "connection lost": ("reached", "ok"),
        "takeover": ("not reached", "unknown"),
    }


MORE = [pytest.param(seed, seed < 27, marks=pytest.mark.slow) for seed in (25, 26, 28)]


@pytest.mark.parametrize(("seed", "trace"), [(24, True), (27, False), *MORE])
def test_a_run_that_is_cut_at_any_three_events_has_the_same_verdict(played: Lab, seed: int, trace: bool) -> None:
    wanted = [(row.what, row.measured, row.status) for row in verdict_of(played).rows]
    lab, draws = lab_of(text_of(), trace=trace), Random(seed)
    for _ in range(3):
        for _ in range(draws.randrange(1, 300)):
            lab.step()
        lab = Lab.restore(pickle.loads(pickle.dumps(lab.snapshot())))
    lab.run()

    assert [(row.what, row.measured, row.status) for row in verdict_of(lab).rows] == wanted
    assert not trace or lab.trace.digest() == played.trace.digest()


def test_a_lab_that_is_judged_is_otherwise_the_same() -> None:
    """But for the conditions' own state and what they put into the clock, with nothing broken."""
    held = {
        "always": (ROWS["always"][0], ROWS["always"][6]),
        "leads to": ROWS["leads to"][:2],
        "eventually": ROWS["eventually"][:2],
    }
    labs = [lab_of(text).run() for text in (HEAD, text_of(held))]
    first, second = (lab.snapshot().state for lab in labs)

    assert labs[0].trace.digest() == labs[1].trace.digest()
    assert [key for key in first if key != "trace" and first[key] != second[key]] == ["clock", "scenario"]


CALM = HEAD[: HEAD.index("  - {do: partition")].replace("500ms", "1s")


@cache
def calls_of_a_minute(text: str) -> int:
    lab = lab_of(f"{CALM}end: 120s\n{text}")
    lab.run("30s")
    return calls_made(lambda: lab.run("60s"))


@pytest.mark.parametrize(
    ("conditions", "share"),
    [
        (("{roots: equal, from: 5s}", "{roots: equal, from: 6s}"), 0.18),
        (("{lag time: {at most: 5s}, from: 5s}",), 0.18),
        pytest.param(("{roots: equal, from: 5s}",), 0.16, marks=pytest.mark.slow),
        pytest.param(("{roots: equal, from: 5s}", "{roots: equal, lag: 0, from: 6s}"), 0.25, marks=pytest.mark.slow),
        pytest.param(("{lag: {at most: 5}, from: 5s}",), 0.08, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_what_judging_adds_to_a_lab_of_one_write_a_second(conditions: tuple[str, ...], share: float) -> None:
    """In calls: of two that look at roots only one folds, and what it folded the next heartbeat does not fold."""
    plain = calls_of_a_minute("")
    judged = calls_of_a_minute("always:\n" + "".join(f"  - {row}\n" for row in conditions))

    assert plain < judged < (1 + share) * plain


def everything_that_is_missed(lab: Lab) -> list[str]:
    """Play a lab event by event: which condition holds, or does not, though nothing had it judged."""
    run, missed = lab.scenario, []
    assert run is not None
    seen = Seen(lab.queries, lab.ledger, lab.invariants)
    tests = [(timed, compiled(timed.condition, seen)) for timed in run.scenario.over_time]
    while not run.ended:
        lab.step()
        for (timed, test), judged in zip(tests, run.over_time._judged, strict=True):
            if judged.is_judged and timed.kind == "always" and test() is False:
                missed.append(f"{timed.text} at {lab.now}")
    return missed


SUDDEN = (
    *("{acknowledged: {at most: 20}}", "{lag: {at most: 9}, from: 5s}", "{primary: [paris, tokyo], from: 5s}"),
    *("{modes: {paris: primary}, from: 2s}", "{modes: {tokyo: secondary}, from: 2s}"),
    *("{states: {tokyo: stream-wals}, from: 5s}", "{connections: {tokyo: ready}, from: 5s}"),
    *("{connections: {tokyo: not ready}, from: 5s}", "{fetched: {at most: 3}}", "{observed: {stream_wals: 0}}"),
    *("{in doubt: 0}", "{refused: 0}", "{lost: 0}", "{rpo: {at most: 1ms}}", "{rto: {at most: 1s}}"),
    *("{states: {tokyo: running}, from: 30s}", "{modes: {paris: secondary}, from: 5s}"),
    *("{invariants: {one primary: held}}", "{primary: paris, from: 5s}", "{primary: [], from: 5s}"),
)
FALLS = """\
timeline:
  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}
  - {do: partition, between: [paris, tokyo], at: 10s}
  - {do: promote, cluster: tokyo, at: 30s}
  - {do: heal, between: [paris, tokyo], after: 2s}
  - {do: crash, target: paris, after: 2s}
  - {do: restart, target: paris, after: 5s}
  - {do: unseal, cluster: paris}
  - {do: pause, target: tokyo-1, after: 2s}
  - {do: resume, target: tokyo-1, after: 4s}
end: 60s
"""


@pytest.mark.parametrize("ending", [HEAD[HEAD.index("timeline") :], FALLS], ids=["cut", "falls"])
def test_no_change_passes_unjudged(ending: str) -> None:
    """Each condition is compiled and asked after every event: whenever one is false, it was judged by then."""
    text = HEAD[: HEAD.index("timeline")].replace("use: [paris]", "use: [paris, tokyo]") + ending
    lab = lab_of(text + "always:\n" + "".join(f"  - {row}\n" for row in SUDDEN))

    assert everything_that_is_missed(lab) == []
    broken = [row.key for row in verdict_of(lab).rows if row.key.startswith("always") and row.status == "broken"]
    assert len(broken) >= 10, "there was little to miss"


def test_time_alone_breaks_a_condition_on_a_lags_time_within_a_tenth_of_a_second() -> None:
    lab = lab_of(HEAD + "always: [{lag time: {at most: 12s}, from: 5s}]\n").run()
    (violation,) = (found for name, found in lab.invariants.broken.items() if name == "always 1")
    lag = lab.queries.lag("paris", "tokyo", violation.at_ns)

    assert 12 < lag.seconds <= 12 + LOOK_NS / SECOND_NS


def test_what_is_broken_is_named_by_its_name_in_reports_and_by_why() -> None:
    lab = lab_of(HEAD + "always:\n  - {lag: {at most: 10}, from: 5s, name: short lag}\n").run()
    verdict, run = verdict_of(lab), lab.scenario
    assert run is not None
    report = verdict.report(run.scenario, lab.trace)

    assert "cut.lab.yaml:17:5: short lag: expected always lag at most 10, from 5s on, got broken at 15s" in report
    assert "17 |   - {lag: {at most: 10}, from: 5s, name: short lag}" in report
    assert "the rule 'short lag' is broken: lag: tokyo: 11 entries behind" in str(lab.why("short lag"))


def test_after_its_end_a_run_judges_nothing() -> None:
    lab = lab_of(HEAD + "always: [{lag: {at most: 60}, from: 5s}]\n").run()
    lab.partition("paris", "tokyo")
    lab.run("60s")

    assert lab.lag("paris", "tokyo").entries > 60
    assert "always 1" not in lab.invariants.broken
    assert lab.invariants.followers == ()
    assert Lab.restore(lab.snapshot()).invariants.followers == ()


def test_a_run_that_is_stopped_early_says_what_is_open() -> None:
    lab = lab_of(text_of())
    lab.run("12s")
    rows = {row.key: row.status for row in verdict_of(lab).rows}

    assert (rows["end"], rows["always 1"], rows["eventually 1"]) == ("unknown", "ok", "unknown")


@pytest.mark.parametrize("item", ["eventually", "leads to"])
def test_a_window_that_closes_with_the_file_is_closed(item: str, scenario_of: Callable[[str], Scenario]) -> None:
    written = "{lag: 777, within: 10s, from: 40s}"
    if item == "leads to":
        written = "{if: {lag: {at least: 0}}, then: {lag: 777}, within: 10s, from: 40s}"
    lab = lab_of(f"{HEAD}{item}:\n  - {written}\n").run()
    (row,) = (row for row in verdict_of(lab).rows if row.key == f"{item} 1")

    assert (row.status, row.measured[:14]) == ("broken", "broken at 50s:")
