"""The bench as a whole: letting time pass, asking, going back, branching, and one seed that means one history."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import labkit.lab
from labkit import Lab
from labkit.lab.bench import Bench
from labkit.lab.cluster import Cluster
from labkit.lab.fault_verbs import FaultVerbs
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import Blueprint, ClusterPlan, pair
from labkit.lab.wire.turns import EachInTurn
from labkit.service.silence import Silence
from tests.counting import calls_made

SECOND_NS = 1_000_000_000

PACKAGE = Path(labkit.lab.__file__).parent


def stored(lab: Lab) -> dict[str, dict[str, bytes]]:
    return {name: store.state()["items"] for name, store in lab.parts.stores.items()}


# ---- what it shows, and what knows it

FRONT = {"load", "compare", "map", "timeline", "measures", "dashboard", "play", "serve", "save", "open"}


def test_it_is_what_a_lab_is_without_files_pictures_and_doors():
    def shown(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    assert shown(Lab) - shown(Bench) == FRONT
    assert Bench.__mro__ == (Bench, EachInTurn, FaultVerbs, object)


def test_what_is_made_from_it_restores_branches_and_goes_back_to_its_own_kind(calm_snapshot):
    class Shown(Cluster):
        __slots__ = ()

    class Own(Bench):
        _handle = Shown

    own = Own.restore(calm_snapshot)
    own.keep_checkpoints()
    found = [own, Own.pair(), Own.triangle(), own.branch("b"), own.run("2s"), own.at("3s"), Own.pair().at(0)]

    assert [type(lab) for lab in found] == [Own] * len(found)
    assert {type(cluster) for lab in found for cluster in lab.clusters.values()} == {Shown}
    assert repr(own) == f"Own(paris, tokyo; {own.now / SECOND_NS:.3f} s)"
    assert (repr(Bench.pair()), repr(Bench.pair()["paris"])) == (
        "Bench(paris, tokyo; 0.000 s)",
        "Cluster(paris, disabled)",
    )


def test_it_runs_as_a_lab_does(calm_snapshot, calm):
    bench = Bench.restore(calm_snapshot)

    assert bench.run("3s").trace.digest() == calm.run("3s").trace.digest()


def test_time_passes_for_a_part_of_a_second(calm_snapshot):
    bench = Bench.restore(calm_snapshot)
    began_ns = bench.now

    assert bench.run(0.5).now == began_ns + 500_000_000
    assert bench.run(until=began_ns / 1e9 + 1.5).now == began_ns + 1_500_000_000


def test_a_snapshot_with_a_scenario_is_refused_by_name(checkout):
    lab = Lab.load(checkout / "scenarios" / "first" / "split-brain.lab.yaml")
    snapshot, run = lab.snapshot(), lab.scenario
    assert run is not None

    said = f"^snapshot: expected one without a scenario, got one of '{run.title}'; use labkit.Lab.restore$"
    with pytest.raises(ValueError, match=said):
        Bench.restore(snapshot)
    assert repr(Lab.restore(snapshot).scenario) == repr(run)


def test_no_name_is_parsed():
    said = [path.name for path in PACKAGE.glob("*.py") if re.search(r"r?(partition|split)\(.-.[,)]", path.read_text())]

    assert said == []


class Written:
    """Writes down every call instead of doing it."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *given, **named: self.calls.append((name, given, named))


FORWARDED = [
    ("crash", ("paris",), {}),
    ("restart", ("paris-1",), {}),
    ("pause", ("paris-1",), {}),
    ("resume", ("paris",), {}),
    ("skew", ("paris", "90s"), {}),
    ("correct", ("paris",), {}),
    ("impersonate", ("paris",), {}),
    ("expose", ("paris",), {}),
    ("crash_in_commit", ("paris",), {}),
    ("flap", ("paris", "tokyo", "1s", "2s"), {}),
    ("steady", ("paris",), {}),
    ("duplicate", ("paris", "tokyo", 5), {}),
    ("partition", ("paris", "tokyo"), {}),
    ("cut", ("tokyo", "paris"), {}),
    ("isolate", ("tokyo",), {}),
    ("heal", (), {}),
    ("heal", ("paris", "tokyo"), {}),
    ("slow", ("paris", "tokyo"), {"latency": "1s"}),
    ("slow", ("paris", "tokyo"), {"factor": 3}),
    ("lose", ("paris", "tokyo", 2.5), {}),
    ("restore_links", ("paris",), {}),
    ("stray_write", ("tokyo",), {}),
    ("corrupt", ("tokyo",), {}),
    ("corrupt", ("tokyo", "page", "a"), {}),
]


@pytest.mark.parametrize(("verb", "given", "named"), FORWARDED)
def test_a_fault_is_asked_of_the_faults(quiet, verb, given, named):
    quiet._faults = Written()
    getattr(quiet, verb)(*given, **named)

    assert quiet.faults.calls == [(verb, given, named)]


@pytest.mark.parametrize(
    ("call", "runbook", "arguments"),
    [
        (lambda lab: lab.replicate("paris", "tokyo"), "replicate", {"primary": "paris", "secondary": "tokyo"}),
        (lambda lab: lab.failover("paris", "tokyo"), "failover", {"old": "paris", "new": "tokyo"}),
        (lambda lab: lab.seal("paris"), "seal", {"cluster": "paris"}),
        (lambda lab: lab.unseal("paris"), "unseal", {"cluster": "paris", "node": ""}),
        (lambda lab: lab.unseal("paris", "paris-2"), "unseal", {"cluster": "paris", "node": "paris-2"}),
    ],
)
def test_a_verb_of_several_requests_is_a_runbook(quiet, monkeypatch, call, runbook, arguments):
    seen: list[Any] = []
    monkeypatch.setattr(Lab, "work_through", lambda lab, name, **given: seen.append((name, given)))
    call(quiet)

    assert seen == [(runbook, arguments)]


# ---- building and looking


def test_a_lab_without_a_seed_has_the_seed_seven():
    assert (Lab.pair().seed, Lab.triangle().seed) == (7, 7)


def test_no_answer_leaves_the_clock_at_the_end_of_the_timeout(quiet):
    quiet.crash("paris")
    with pytest.raises(Silence, match="GET secret/data/a on paris: no answer within 7s of simulated time"):
        quiet["paris"].get("secret/data/a", timeout="7s")

    assert quiet.now == 7 * SECOND_NS
    with pytest.raises(Silence):
        quiet["paris"].get("secret/data/a")

    assert quiet.now == 37 * SECOND_NS, "thirty seconds when nothing is said"


def test_clusters_are_found_by_name(quiet):
    assert isinstance(quiet["paris"], Cluster)
    assert quiet["paris"] is quiet["paris"]
    with pytest.raises(ValueError, match=r"cluster: expected a cluster, got 'oslo'; there are: paris, tokyo"):
        quiet["oslo"]


def test_it_says_what_it_is_and_how_late(quiet):
    quiet.run("1500ms")

    assert repr(quiet) == "Lab(paris, tokyo; 1.500 s)"
    assert repr(Lab.triangle()) == "Lab(paris, tokyo, lima; 0.000 s)"


def test_a_lab_without_a_trace_does_the_same_and_keeps_none():
    traced, silent = Lab(pair(), seed=3), Lab(pair(), seed=3, trace=False)
    for lab in (traced, silent):
        lab.replicate("paris", "tokyo")
        lab.run("3s")

    assert len(silent.trace) == 0 < len(traced.trace)
    assert stored(silent) == stored(traced)
    assert silent.now == traced.now


# ---- time


def test_time_passes_for_a_duration_or_until_an_instant(quiet):
    assert quiet.run("1500ms").now == 1_500_000_000
    assert quiet.run(2).now == 3_500_000_000
    assert quiet.run(until="10s").now == 10_000_000_000


def test_time_passes_until_a_condition_holds(calm):
    calm["paris"].post("secret/data/app", {"data": {"a": 1}})
    calm.run(until=lambda lab: lab["tokyo"].root == lab["paris"].root)

    assert 75_000_000 < calm.now - calm_written_ns(calm) < 90_000_000, "one way to tokyo"


def calm_written_ns(lab: Lab) -> int:
    return lab.ledger.writes[-1].at_ns


def test_time_never_goes_back(quiet):
    quiet.run("5s")
    with pytest.raises(ValueError, match="until: expected an instant from now on, that is from 5s on, got '2s'"):
        quiet.run(until="2s")


def test_alone_it_plays_a_loaded_scenario_and_there_is_none(quiet):
    with pytest.raises(ValueError, match=r"give a duration such as lab.run\('30s'\)"):
        quiet.run()


def test_no_lag_is_given_of_a_cluster_that_does_not_exist(quiet):
    with pytest.raises(ValueError, match="primary: expected a cluster, got 'oslo'"):
        quiet.lag("oslo", "tokyo")
    with pytest.raises(ValueError, match="secondary: expected a cluster, got 'oslo'"):
        quiet.lag("paris", "oslo")


def test_a_step_is_the_next_thing_that_happens(quiet):
    due_ns = quiet.parts.clock.pending()[0][0]

    assert quiet.step()
    assert quiet.now == due_ns


@pytest.mark.parametrize(
    "act",
    [
        lambda lab: lab.run("1s"),
        lambda lab: lab.step(),
        lambda lab: lab["paris"].post("secret/data/inner", {"data": {}}),
        lambda lab: lab.replicate("paris", "tokyo"),
        lambda lab: lab["tokyo"].operation_token(),
    ],
)
def test_nothing_runs_inside_a_run_and_nothing_is_asked(quiet, act):
    serial = quiet.parts.console.serial
    with pytest.raises(RuntimeError, match="the clock is running"):
        quiet.run(until=lambda lab: lab.now and act(lab))

    assert quiet.parts.console.serial == serial
    assert quiet.parts.console.runbooks == {}
    assert quiet.run("1s").now > 1_000_000_000


# ---- asking


def test_an_answer_is_returned_and_not_kept(quiet):
    assert quiet._ask(Ask("paris", "GET", "sys/health")).status == 200
    assert quiet.parts.console.answers == {}


def test_a_refusal_is_an_answer_and_is_counted(quiet):
    assert quiet._ask(Ask("paris", "GET", "secret/data/app", token="hvs.wrong")).status == 403
    assert (quiet.ledger.refused, quiet.ledger.answered) == (1, 0)


@pytest.mark.parametrize(("primary", "secondary"), [("paris", "tokio"), ("parys", "tokyo")])
def test_a_cluster_that_is_not_there_is_refused_before_anything_happens(quiet, primary, secondary):
    with pytest.raises(
        ValueError, match=r"got '(tokio|parys)'; there are: paris, tokyo — did you mean '(tokyo|paris)'"
    ):
        quiet.replicate(primary, secondary)

    assert quiet["paris"].mode == "disabled"
    assert quiet.parts.console.runbooks == {}
    assert quiet.run("1s").now == SECOND_NS, "the lab stays open"


# ---- going back


def test_a_restored_lab_goes_on_as_the_saved_one_did(lab):
    snapshot = lab.snapshot()
    first = lab.run("3s")
    first.crash("paris-1")
    first.run("10s")
    second = Lab.restore(snapshot).run("3s")
    second.crash("paris-1")
    second.run("10s")

    assert second.trace.digest() == first.trace.digest()
    assert stored(second) == stored(first)
    assert second.ledger.state() == first.ledger.state()


def test_going_back_undoes_a_disaster(lab):
    lab["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    before = lab.snapshot()
    lab.crash("paris")
    lab = Lab.restore(before)

    assert lab["paris"].get("secret/data/app").data["data"] == {"user": "ada"}
    assert repr(before).startswith("Snapshot(at ")


def test_one_snapshot_serves_as_often_as_one_likes(lab):
    snapshot = lab.snapshot()
    digests = {Lab.restore(snapshot).run("2s").trace.digest() for _ in range(3)}

    assert len(digests) == 1


# ---- branching


def test_a_branch_has_the_same_luck_and_other_nonces(lab):
    lab.run("1s")
    here, there = lab.branch("here"), lab.branch("there")
    for one in (here, there):
        one.run("5s")

    assert here.trace.digest() == there.trace.digest(), "the same messages, delays and outcomes"
    fresh = {key for key in stored(here)["paris"] if key not in stored(lab)["paris"] and key in stored(there)["paris"]}
    encrypted = [key for key in fresh if not key.startswith("node/index/")]
    assert len(encrypted) > 10
    assert all(stored(here)["paris"][key] != stored(there)["paris"][key] for key in encrypted)


def test_a_branch_holds_the_same_secrets(lab):
    lab.run("2s")
    branch = lab.branch("what-if")
    path = lab.ledger.writes[0].path

    assert branch["paris"].get(path).data == lab["paris"].get(path).data


def test_what_is_done_in_a_branch_stays_there(lab):
    branch = lab.branch("what-if")
    branch.crash("paris")
    branch.run("5s")

    assert lab["paris"].active == "paris-1"
    assert branch["paris"].active == ""


def test_a_branch_of_a_branch_is_another_branch(lab):
    labels = [
        lab.parts.label.branch,
        lab.branch("a").parts.label.branch,
        lab.branch("a").branch("b").parts.label.branch,
    ]

    assert len(set(labels)) == 3


def test_a_restored_branch_stays_that_branch(lab):
    branch = lab.branch("what-if").run("1s")
    again = Lab.restore(branch.snapshot()).run("2s")

    assert stored(again) == stored(branch.run("2s"))


# ---- the trace of what became of whom


def test_the_trace_tells_every_mode_that_a_cluster_went_through(quiet):
    quiet.replicate("paris", "tokyo")
    quiet["paris"].demote()
    quiet.run("1s")
    quiet["tokyo"].promote()
    modes = {
        name: [(event.mode, event.state) for event in quiet.trace.select("mode", cluster=name)]
        for name in ("paris", "tokyo")
    }

    assert modes["paris"] == [("primary", "running"), ("secondary", "idle")]
    assert modes["tokyo"] == [
        ("secondary", "idle"),
        ("secondary", "merkle-diff"),
        ("secondary", "merkle-sync"),
        ("secondary", "stream-wals"),
        ("primary", "running"),
    ]


def test_the_trace_tells_who_leads_with_a_term_that_grows(lab):
    for _ in range(3):
        lab.crash(lab["paris"].active)
        lab.run("6s")
        for node in lab["paris"].nodes:
            lab.restart(node)
        lab["paris"].unseal()
    terms = [event.term for event in lab.trace.select("leader", cluster="paris")]

    assert terms == [1, 2, 3, 4]
    assert lab.trace.select("leader", cluster="paris")[-1].node == lab["paris"].active


def test_no_secret_is_in_the_trace(lab):
    lab["paris"].post("secret/data/app", {"data": {"password": "correct horse"}})
    lab.crash("paris")
    lab["tokyo"].promote()
    lab.run("2s")
    lines = "".join(lab.trace.lines())

    for secret in ("correct horse", lab["paris"].root_token, *lab["paris"].unseal_keys):
        assert secret not in lines
    assert "hvs." not in lines


@pytest.mark.parametrize("joined", ["pairs", "star"])
@pytest.mark.slow
def test_the_work_of_joining_and_running_grows_with_the_clusters(joined):
    def work(count: int) -> tuple[int, int]:
        plans = tuple(ClusterPlan(name=f"c{number}", site="paris", nodes=1) for number in range(count))
        lab = Lab(Blueprint(sites=("paris",), links=(), clusters=plans), trace=False)
        if joined == "star":
            for number in range(1, count - 1):
                lab.replicate("c0", f"c{number}")
            join = calls_made(lambda: lab.replicate("c0", f"c{count - 1}"))
        else:
            pairs = [(f"c{number}", f"c{number + 1}") for number in range(0, count, 2)]
            join = calls_made(lambda: [lab.replicate(*pair) for pair in pairs])
        return join, calls_made(lambda: lab.run("10s"))

    work(4)  # modules that are loaded late
    few, many = work(16), work(32)
    assert many[0] < 2.2 * few[0]
    assert many[1] < 2.2 * few[1]
