"""A file becomes a scenario, or one error with everything that is wrong with it.

Each file in ``bad/`` has beside it the text of its error.  After a change of wording, look at what changed:
``python -m labkit check tests/scenario/bad/*.yaml`` prints them all.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.lab.plan.blueprint import ClusterPlan, LinkPlan, WorkloadPlan
from labkit.scenario.expect_keys import Expectations, ExpectedRange
from labkit.scenario.loading import load, loads
from labkit.scenario.problems import ScenarioError
from labkit.scenario.scenario import Scenario, Step
from tests.counting import calls_made
from tests.examples import examples

BAD = Path(__file__).with_name("bad")
SECOND_NS = 1_000_000_000

Vary = Callable[..., str]
ScenarioOf = Callable[[str], Scenario]


@pytest.mark.parametrize("name", sorted(path.stem for path in BAD.glob("*.yaml")))
def test_every_problem_of_a_bad_file_is_reported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BAD)

    with pytest.raises(ScenarioError) as caught:
        load(f"{name}.yaml")

    assert str(caught.value) + "\n" == (BAD / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(path.stem for path in BAD.glob("*.yaml")))
def test_an_error_is_short_and_gives_positions(name: str) -> None:
    lines = (BAD / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    problems = [line for line in lines if line.startswith((f"{name}.yaml:", "shared/"))]

    assert problems
    assert len(lines) <= 3 * len(problems)
    assert all(line.split(":")[1].isdigit() and line.split(":")[2].isdigit() for line in problems)
    assert all("expected" in line or "cannot be read: " in line for line in problems)


def test_a_step_may_stand_at_the_first_instant(vary: Vary, scenario_of: ScenarioOf) -> None:
    first, *_ = scenario_of(vary(("at: 1s", "at: 0s"))).timeline

    assert first.at_ns == 0


def test_clients_work_until_the_last_of_them_ends(vary: Vary, scenario_of: ScenarioOf) -> None:
    work = [f"{{do: get-secret, every: 1s, until: {until}}}" for until in ("3s", "8s")] + ["{do: encrypt, every: 1s}"]
    clients = f"  clients:\n    shop: {{site: paris, use: [paris], work: [{', '.join(work)}]}}\n"

    endless = f"  clients:\n    shop: {{site: paris, use: [paris], work: [{work[-1]}]}}\n"

    assert scenario_of(vary()).work_until_ns == 0
    assert scenario_of(vary(("timeline:", f"{endless}timeline:"))).work_until_ns == 0
    assert scenario_of(vary(("timeline:", f"{clients}timeline:"))).work_until_ns == 8 * SECOND_NS


def test_a_good_file_becomes_a_scenario(vary: Vary, scenario_of: ScenarioOf) -> None:
    text = vary(
        ("lab:\n", "about: >\n  Two lines\n  of text.\nseed: 12\nlab:\n"),
        ("latency: 80ms", "latency: 80ms, jitter: 2ms, loss: 0.01%, bandwidth: 200Mbit, distribution: normal"),
        ("{site: tokyo, nodes: 1}", "{site: tokyo, nodes: 2, shares: 1, threshold: 1, version: 1.15.0, backlog: 64}"),
        ("lost: 0", "lost: {at least: 1, at most: 3}\n  rto: {at most: 15s}\n  invariants: {one primary: broken}"),
    )

    scenario = scenario_of(text)

    assert (scenario.title, scenario.about, scenario.seed) == ("A small lab", "Two lines of text.", 12)
    assert scenario.blueprint.sites == ("paris", "tokyo")
    assert scenario.blueprint.links == (
        LinkPlan(
            between=("paris", "tokyo"),
            latency_ns=80_000_000,
            jitter_ns=2_000_000,
            loss_ppm=100,
            bandwidth_bps=200_000_000,
            distribution="normal",
        ),
    )
    assert scenario.blueprint.clusters == (
        ClusterPlan(name="paris", site="paris", nodes=1),
        ClusterPlan(name="tokyo", site="tokyo", nodes=2, shares=1, threshold=1, version="1.15.0", backlog_entries=64),
    )
    assert scenario.timeline == (
        Step(1, "replicate", (("primary", "paris"), ("secondary", "tokyo")), "replicate paris to tokyo", SECOND_NS),
        Step(2, "crash", (("target", "paris"),), "crash paris", 5 * SECOND_NS),
        Step(
            3,
            "promote",
            (("cluster", "tokyo"), ("force", False), ("furthest ahead", None)),
            "promote tokyo",
            None,
            2 * SECOND_NS,
        ),
    )
    assert scenario.expect == Expectations(
        (ExpectedRange("lost", 1, 3), ExpectedRange("rto", None, 15 * SECOND_NS)),
        None,
        ("tokyo",),
        (("one primary", "broken"),),
    )
    assert (scenario.end_ns, scenario.settle_ns) == (10 * SECOND_NS, 5 * SECOND_NS)


def test_clients_and_their_work_are_read(vary: Vary, scenario_of: ScenarioOf) -> None:
    work = "{do: put-secret, every: 100ms, from: 2s, until: 9s, size: 1KiB, keys: 5}"
    group = f"{{site: tokyo, use: [paris, tokyo], count: 2, timeout: 2s, retries: 0, backoff: 1s, work: [{work}]}}"
    scenario = scenario_of(vary(("timeline:", f"  clients:\n    writers: {group}\ntimeline:")))

    (plan,) = scenario.blueprint.clients
    assert (plan.name, plan.site, plan.use, plan.count) == ("writers", "tokyo", ("paris", "tokyo"), 2)
    assert (plan.timeout_ns, plan.retries, plan.backoff_ns) == (2 * SECOND_NS, 0, SECOND_NS)
    assert plan.workload == (
        WorkloadPlan(
            operation="put-secret",
            every_ns=100_000_000,
            from_ns=2 * SECOND_NS,
            until_ns=9 * SECOND_NS,
            size_bytes=1_024,
            keys=5,
        ),
    )
    assert scenario.work_until_ns == 9 * SECOND_NS


def test_the_least_is_a_title_and_a_lab(scenario_of: ScenarioOf) -> None:
    scenario = scenario_of("scenario: x\nlab: {sites: [here], clusters: {one: {site: here}}}\n")

    assert (scenario.timeline, scenario.expect, scenario.end_ns) == ((), Expectations(), None)


@pytest.mark.parametrize(
    ("written", "kept"), [("tokyo", ("tokyo",)), ("[tokyo, paris]", ("paris", "tokyo")), ("[]", ())]
)
def test_who_is_primary_may_be_one_many_or_none(
    written: str, kept: tuple[str, ...], vary: Vary, scenario_of: ScenarioOf
) -> None:
    assert scenario_of(vary(("primary: tokyo\n", f"primary: {written}\n"))).expect.primary == kept


def test_what_a_request_carries_may_be_null(vary: Vary, scenario_of: ScenarioOf) -> None:
    ask = "{do: ask, cluster: paris, method: POST, path: secret/data/app, body: {data: {a: null, b: [1, 2.5]}}, at: 5s}"
    scenario = scenario_of(vary(("{do: crash, target: paris, at: 5s}", ask)))

    assert dict(scenario.timeline[1].arguments)["body"] == {"data": {"a": None, "b": [1, 2.5]}}


def test_the_beginning_is_an_instant(vary: Vary, scenario_of: ScenarioOf) -> None:
    assert scenario_of(vary(("at: 1s", "at: 0s"))).timeline[0].at_ns == 0
    with pytest.raises(ScenarioError, match=r"step 2, at: expected an instant from 1s on, .* got 0s"):
        scenario_of(vary(("at: 5s", "at: 0s")))


def test_a_step_may_say_that_it_may_be_late(vary: Vary, scenario_of: ScenarioOf) -> None:
    scenario = scenario_of(vary(("after: 2s", "at: 9s, late: ok")))

    assert [step.late_ok for step in scenario.timeline] == [False, False, True]
    with pytest.raises(ScenarioError, match=r"step 3, late: expected ok, .* got true"):
        scenario_of(vary(("after: 2s", "at: 9s, late: true")))


def test_a_mistyped_key_is_one_problem_not_two(vary: Vary) -> None:
    with pytest.raises(ScenarioError) as caught:
        loads(vary(("cluster: tokyo, after", "clster: tokyo, after")).encode())

    assert [problem.text for problem in caught.value.problems] == [
        "step 3: expected a key, got 'clster' — did you mean 'cluster'?"
    ]


@pytest.mark.parametrize(
    ("site", "taken"),
    [
        *(("paris-0", False), ("paris-1", True), ("paris-2", True), ("paris-3", False), ("paris-operator", True)),
        *(("shop", True), ("shop-0", False), ("shop-1", True), ("shop-2", True), ("shop-3", False)),
    ],
)
def test_a_host_and_a_site_have_different_names(site: str, taken: bool, vary: Vary) -> None:
    group = "  clients:\n    shop: {site: paris, use: [paris], count: 2}\ntimeline:"
    text = vary(("site: paris, nodes: 1", "site: paris, nodes: 2"), ("timeline:", group))
    text = text.replace("[paris, tokyo]", f"[paris, {site}]").replace("site: tokyo", f"site: {site}")
    text = text[: text.index("timeline:")]
    if taken:
        with pytest.raises(ScenarioError, match=f"expected another name, since '{site}' is a site already"):
            loads(text.encode())
    else:
        assert loads(text.encode()).blueprint.sites == ("paris", site)


def test_a_scenario_may_end_when_its_last_step_can_be_over(vary: Vary, scenario_of: ScenarioOf) -> None:
    assert scenario_of(vary(("end: 10s", "end: 7s"))).end_ns == 7 * SECOND_NS
    with pytest.raises(ScenarioError, match=r"expected an instant from 7s on, .* got 6\.999s"):
        scenario_of(vary(("end: 10s", "end: 6999ms")))


@pytest.mark.parametrize(("group", "until_ns"), [("every: 1s", 0), ("every: 1s, until: 2s", 2 * SECOND_NS)])
def test_work_goes_on_to_the_end_unless_it_says(group: str, until_ns: int, vary: Vary, scenario_of: ScenarioOf) -> None:
    clients = f"  clients:\n    shop: {{site: paris, use: [paris], work: [{{do: encrypt, {group}}}]}}\ntimeline:"
    (plan,) = scenario_of(vary(("timeline:", clients))).blueprint.clients

    assert [work.until_ns for work in plan.workload] == [until_ns]


def test_a_scenario_of_the_project_is_good(checkout: Path) -> None:
    paths = sorted((checkout / "scenarios").rglob("*.lab.yaml"))

    assert paths
    assert len({load(path).title for path in paths}) == len(paths)


PIECES = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        " ",
        "\n",
        "  ",
        "-",
        "'",
        '"',
        "&a",
        "*a",
        "!!x",
        "#",
        "|",
        ">",
        "null",
        "0",
        "-1",
        "1e9",
        "\t",
        "é",
    ]
)


@settings(max_examples=examples(150))
@given(st.data())
def test_a_damaged_file_is_a_scenario_or_an_error(data: st.DataObject) -> None:
    text = (BAD / "unknown-verb.yaml").read_text(encoding="utf-8").replace("crsh", "crash")
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        text = text[:start] + data.draw(PIECES) + text[start + data.draw(st.integers(0, 12)) :]

    assert result(text.encode())


@settings(max_examples=examples(150))
@given(
    st.recursive(
        st.sampled_from([None, True, 0, -1, 1.5, "paris", "1s", "crash", "put-secret", "", "x" * 50]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["scenario", "lab", "sites", "links", "clusters", "clients", "timeline", "expect", "do", "at"]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=15,
    )
)
def test_any_data_is_a_scenario_or_an_error(data: object) -> None:
    from json import dumps

    assert result(dumps(data).encode())


def result(source: bytes) -> str:
    """The title of a scenario, or the text of an error; anything else is raised."""
    try:
        return loads(source).title
    except ScenarioError as error:
        return str(error)


@pytest.mark.parametrize(
    ("name", "most"), [("dr/rekeyed-while-cut-off", 6_900), ("cloud/outage-during-a-failover", 5_500)]
)
def test_reading_the_largest_shipped_files_takes_few_calls(name: str, most: int, checkout: Path) -> None:
    """A position is made of each value and key only, and nothing is looked for that the file does not have.

    The first took 15,200 calls and 3.3 ms at first, then 9,600 and 2.4 ms, the other 7,600 and 2.4 ms.
    """
    path = checkout / f"scenarios/{name}.lab.yaml"
    load(path)

    assert calls_made(lambda: load(path)) < most


def test_an_empty_value_is_found_also_in_a_lab_that_is_shared(tmp_path: Path) -> None:
    (tmp_path / "lab.lab.yaml").write_text("lab:\n  sites: [here]\n  clusters: {one: {site: }}\n")
    (tmp_path / "x.lab.yaml").write_text("scenario: x\nlab: lab.lab.yaml\n")

    with pytest.raises(ScenarioError, match=r"lab.lab.yaml:3:26: lab.clusters.one.site: expected .*, got nothing"):
        load(tmp_path / "x.lab.yaml")
