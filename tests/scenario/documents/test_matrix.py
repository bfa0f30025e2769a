"""Values of a matrix are put in whole, in the order in which they are written; problems name the combination."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from pickle import dumps
from pickle import loads as unpickled

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.front.lab import Lab, lab_of
from labkit.scenario.documents.matrix import MAX_COMBINATIONS, combinations_of, put_in
from labkit.scenario.documents.yaml_positions import parse
from labkit.scenario.loading import load, load_all
from labkit.scenario.problems import ScenarioError
from labkit.scenario.verdict import Verdict
from tests.examples import examples

Vary = Callable[..., str]
Written = Callable[..., Path]
Judged = Callable[[Lab], Verdict]

MATRIX = "matrix:\n  latency: [20ms, 80ms, 200ms]\n  nodes: [1, 3]\n"
USES = (("latency: 80ms", "latency: $(matrix.latency)"), ("nodes: 1", "nodes: $(matrix.nodes)"))


def with_matrix(vary: Vary, more: str = "", *changes: tuple[str, str]) -> str:
    return vary(*USES, *changes, ("lab:\n", f"{MATRIX}{more}lab:\n"))


def combinations(text: str) -> list[dict[str, object]]:
    return [dict(combination.values) for combination in combinations_of(parse(text.encode(), "x")).found]


def test_each_combination_is_a_scenario_of_its_own(vary: Vary, scenario_file: Written) -> None:
    scenarios = load_all(scenario_file(with_matrix(vary)))

    assert [scenario.combination.text for scenario in scenarios] == [
        *("latency: 20ms, nodes: 1", "latency: 20ms, nodes: 3", "latency: 80ms, nodes: 1"),
        *("latency: 80ms, nodes: 3", "latency: 200ms, nodes: 1", "latency: 200ms, nodes: 3"),
    ]
    assert [scenario.blueprint.links[0].latency_ns // 1_000_000 for scenario in scenarios] == [20, 20, 80, 80, 200, 200]
    assert [scenario.blueprint.clusters[0].nodes for scenario in scenarios] == [1, 3, 1, 3, 1, 3]


def test_a_file_is_its_first_combination_until_another_is_chosen(vary: Vary, scenario_file: Written) -> None:
    path = scenario_file(with_matrix(vary))

    assert load(path) == load_all(path)[0]
    assert Lab.load(path).blueprint.links[0].latency_ns == 20_000_000
    assert lab_of(load_all(path)[5], seed=3).blueprint.links[0].latency_ns == 200_000_000


def test_some_are_left_out_before_others_are_added(vary: Vary) -> None:
    more = "  exclude: [{latency: 20ms}, {latency: 200ms, nodes: 1}]\n  include: [{nodes: 1, latency: 20ms}]\n"

    assert combinations(with_matrix(vary, more)) == [
        {"latency": "80ms", "nodes": 1},
        {"latency": "80ms", "nodes": 3},
        {"latency": "200ms", "nodes": 3},
        {"latency": "20ms", "nodes": 1},
    ]


@pytest.mark.parametrize(("count", "good"), [(16, True), (17, False)])
def test_there_are_at_most_so_many(count: int, good: bool) -> None:
    rows = "".join(f"  {name}: {list(range(size))}\n" for name, size in (("a", count), ("b", 16)))
    found = combinations_of(parse(f"matrix:\n{rows}".encode(), "x"))

    assert (found.problems == ()) == good
    assert len(found.found) == (MAX_COMBINATIONS if good else 1)


def test_leaving_out_makes_a_large_one_small_enough() -> None:
    rows = "".join(f"  {name}: {list(range(size))}\n" for name, size in (("a", 17), ("b", 16)))

    assert len(combinations(f"matrix:\n{rows}  exclude: [{{a: 3}}]\n")) == 256


def test_what_is_put_in_keeps_its_kind_and_its_position() -> None:
    text = "matrix:\n  v: [3, 1.5, true, word, '3x']\nlist: [$(matrix.v), {key: $(matrix.v)}]\nother: $(kept)\n"
    document = parse(text.encode(), "x")
    found = [put_in(document, combination) for combination in combinations_of(document).found]

    assert [changed.data["list"] for changed in found] == [[v, {"key": v}] for v in (3, 1.5, True, "word", "3x")]
    assert {changed.data["other"] for changed in found} == {"$(kept)"}
    assert found[0].position(("list", 1, "key")) == document.position(("list", 1, "key"))
    assert document.data["list"][0] == "$(matrix.v)"


def test_values_are_compared_as_they_are_written() -> None:
    found = combinations_of(parse(b"matrix:\n  v: [1, '1', true, 'true']\n", "x"))

    assert [problem.text for problem in found.problems] == [
        "matrix.v: expected each value once, got '1' again",
        "matrix.v: expected each value once, got 'true' again",
    ]


def test_a_problem_of_some_combinations_names_one(vary: Vary, scenario_file: Written) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(scenario_file(with_matrix(vary).replace("200ms", "fast"), "x.lab.yaml"))

    (problem,) = caught.value.problems
    assert problem.text.endswith("got 'fast' (with latency: fast, nodes: 1 and 1 other combination)")
    assert caught.value.lines[problem.position.line - 1][problem.position.column - 1 :].startswith("$(matrix.latency)")


def test_a_problem_of_all_with_what_is_put_in_names_one(vary: Vary, scenario_file: Written) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(scenario_file(with_matrix(vary).replace("nodes: [1, 3]", "nodes: [12]")))

    (problem,) = caught.value.problems
    assert problem.text.endswith("got 12 (with latency: 20ms, nodes: 12 and 2 other combinations)")


def test_a_problem_of_all_is_said_once_and_names_none(vary: Vary, scenario_file: Written) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(scenario_file(with_matrix(vary, "", ("do: crash", "do: crahs"))))

    assert [problem.text for problem in caught.value.problems] == [
        "step 2, do: expected a verb, got 'crahs' — did you mean 'crash'?"
    ]


def test_a_cluster_called_matrix_has_its_token_where_there_is_no_matrix(vary: Vary, scenario_file: Written) -> None:
    ask = "{do: ask, cluster: matrix, method: GET, path: sys/health, token: $(matrix.root), at: 5s}"
    text = vary(("{do: crash, target: paris, at: 5s}", ask), ("paris: {site", "matrix: {site"))
    text = text.replace("primary: paris", "primary: matrix")

    assert dict(load(scenario_file(text)).timeline[1].arguments)["token"] == "$(matrix.root)"
    with pytest.raises(ScenarioError, match=r"lab\.clusters: expected another name"):
        load(scenario_file(text.replace("lab:\n", "matrix: {a: [1, 2]}\nlab:\n", 1)))


def test_a_verdict_names_the_combination_also_after_a_cut(vary: Vary, scenario_file: Written, judged: Judged) -> None:
    scenario = load_all(scenario_file(with_matrix(vary)))[3]
    lab = lab_of(scenario, 4).run("3s")
    cut = Lab.restore(unpickled(dumps(lab.snapshot())))
    for going_on in (lab, cut):
        going_on.run()

    assert judged(lab) == judged(cut)
    assert judged(cut).summary == "A small lab: as expected (latency: 80ms, nodes: 3, seed 4, 10s of lab time)"


def test_a_report_says_how_to_play_that_combination_again(vary: Vary, scenario_file: Written, judged: Judged) -> None:
    path = scenario_file(with_matrix(vary, "", ("lost: 0", "lost: 3")))
    scenario = load_all(path)[3]
    lab = lab_of(scenario, 4).run()

    report = judged(lab).report(scenario, lab.trace)
    assert report.endswith(f"labkit run {path} --seed 4 --only latency=80ms-nodes=3")


@settings(max_examples=examples(150))
@given(
    st.recursive(
        st.sampled_from([None, True, 0, 1.5, "x", "$(matrix.a)", "${matrix.a}", "a $(matrix.a)", "$(kept)"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["a", "b", "exclude", "include", "$(matrix.a)"]), inner, max_size=3)
        ),
        max_leaves=12,
    ),
    st.sampled_from(["lab", "timeline", "expect", "seeds", "end", "scenario"]),
)
def test_any_matrix_is_read_or_refused(written: object, key: str) -> None:
    from json import dumps as text_of

    document = parse(text_of({"matrix": written, key: written}).encode(), "x")
    found = combinations_of(document)

    assert found.found
    for combination in found.found:
        put_in(document, combination)
    assert found.problems or "$(matrix.a)" not in str(put_in(document, found.found[0]).data[key]) or key == "seeds"
