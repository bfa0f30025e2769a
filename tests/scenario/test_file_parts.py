"""The sections of a file are declared once, with the words that a problem uses."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from labkit.lab.plan.blueprint import Blueprint, ClientPlan, ClusterPlan, LinkPlan, WorkloadPlan
from labkit.scenario.client_parts import ClientsPart, WorkPart
from labkit.scenario.expect_keys import CountRange, ExpectPart, GroupPart, LoginsPart, StepsPart, TimeRange
from labkit.scenario.file_parts import (
    DISTRIBUTIONS,
    INNER,
    BalancerPart,
    CloudPart,
    ClusterPart,
    FilePart,
    LabPart,
    LinkPart,
    NodePart,
    fields_of,
    part_at,
)
from labkit.scenario.scenario import Scenario
from labkit.scenario.value_types import DeclaredNames

PARTS: list[type[BaseModel]] = [
    FilePart,
    LabPart,
    LinkPart,
    ClusterPart,
    NodePart,
    BalancerPart,
    CloudPart,
    ClientsPart,
    WorkPart,
    ExpectPart,
    GroupPart,
    LoginsPart,
    StepsPart,
    CountRange,
    TimeRange,
]
NAMES = DeclaredNames(("paris", "tokyo"), ("paris", "tokyo"), ("paris-1",))


@pytest.mark.parametrize("part", PARTS)
def test_every_field_says_what_is_expected(part: type[BaseModel]) -> None:
    assert all(text for text in fields_of(part).values())


@pytest.mark.parametrize("part", PARTS)
def test_no_part_takes_an_unknown_key(part: type[BaseModel]) -> None:
    with pytest.raises(ValidationError) as caught:
        part.model_validate({"surely not": 1}, context=NAMES)

    assert "extra_forbidden" in {row["type"] for row in caught.value.errors()}


@pytest.mark.parametrize(
    ("path", "model", "text"),
    [
        (("sites",), LabPart, "a list of sites such as [paris, tokyo]"),
        (("sites", 1), LabPart, "a list of sites such as [paris, tokyo]"),
        (("links", 0), LinkPart, "a list of links such as {between: [paris, tokyo], latency: 80ms}"),
        (("links", 0, "loss"), LinkPart, "a share such as 0.01%"),
        (("clusters", "site", "nodes"), ClusterPart, "a number of nodes from 1 to 9"),
        (("clients", "work", "work", 3, "size"), WorkPart, "a size such as 64B or 4KiB"),
    ],
)
def test_a_path_leads_to_the_innermost_part(path: tuple[str | int, ...], model: type[BaseModel], text: str) -> None:
    assert part_at(LabPart, path) == (model, text)


@pytest.mark.parametrize(
    ("model", "key"), [(LabPart, "links"), (LabPart, "clusters"), (LabPart, "clients"), (ClientsPart, "work")]
)
def test_a_list_or_mapping_of_parts_is_of_the_part_that_holds_it(model: type[BaseModel], key: str) -> None:
    assert part_at(model, (key,)) == (model, fields_of(model)[key])
    assert part_at(model, (key, 0))[0] is INNER[model, key].model


def test_ranges_are_found_on_the_path() -> None:
    assert part_at(ExpectPart, ("rpo", "at most")) == (TimeRange, "a duration such as 1s")
    assert part_at(ExpectPart, ("lost",))[0] is CountRange


def test_every_part_inside_another_is_on_the_map() -> None:
    assert {inner.model for inner in INNER.values()} == {*PARTS, StepsPart} - {FilePart, LabPart, ExpectPart}


@pytest.mark.parametrize(
    ("value", "limits"),
    [
        (0, (0, None, None)),
        ({"at most": 30}, (None, None, 30)),
        ({"at least": 1, "at most": 2}, (None, 1, 2)),
        ({"at least": 2, "at most": 2}, (None, 2, 2)),
        ({"exactly": 4}, (4, None, None)),
    ],
)
def test_a_plain_number_means_exactly_that(value: Any, limits: tuple[int | None, ...]) -> None:
    assert CountRange.model_validate(value).limits() == limits


@pytest.mark.parametrize("value", [{}, {"exactly": 1, "at most": 2}, {"at least": 3, "at most": 2}, "3", -1, True])
def test_an_empty_range_is_refused(value: Any) -> None:
    with pytest.raises(ValidationError):
        CountRange.model_validate(value)


@pytest.mark.parametrize(
    ("part", "value", "text"),
    [
        (CountRange, {"at least": 3, "at most": 2}, "expected no more than at most (2), got 3"),
        (TimeRange, {"at least": "90s", "at most": "2s"}, "expected no more than at most (2s), got 1m30s"),
    ],
)
def test_a_range_is_written_as_in_the_file(part: type[BaseModel], value: Any, text: str) -> None:
    with pytest.raises(ValidationError) as refused:
        part.model_validate(value)
    (problem,) = refused.value.errors()

    assert problem["msg"].endswith(text)
    assert problem["ctx"]["error"].key == "at least"


def test_what_is_left_out_is_what_a_blueprint_takes() -> None:
    cluster = ClusterPart.model_validate({"site": "paris"}, context=NAMES)
    clients = ClientsPart.model_validate({"site": "paris", "use": ["paris"]}, context=NAMES)
    work = WorkPart.model_validate({"do": "encrypt", "every": "1s"}, context=NAMES)
    link = LinkPart.model_validate({"between": ["paris", "tokyo"], "latency": "1ms"}, context=NAMES)
    wire = LinkPlan(between=("paris", "tokyo"), latency_ns=10**6)
    plan, group = ClusterPlan(name="paris", site="paris"), ClientPlan(name="c", site="paris", use=("paris",))
    workload = WorkloadPlan(operation="encrypt", every_ns=10**9)

    assert (cluster.nodes, cluster.shares, cluster.threshold, cluster.version, cluster.backlog) == (
        *(plan.nodes, plan.shares, plan.threshold, plan.version, plan.backlog_entries),
    )
    assert (link.jitter, link.loss, link.bandwidth, link.distribution) == (
        *(wire.jitter_ns, wire.loss_ppm, wire.bandwidth_bps, wire.distribution),
    )
    assert (clients.count, clients.timeout, clients.retries, clients.backoff) == (
        *(group.count, group.timeout_ns, group.retries, group.backoff_ns),
    )
    assert (work.from_, work.until or 0, work.size, work.keys) == (
        *(workload.from_ns, workload.until_ns, workload.size_bytes, workload.keys),
    )


def test_what_a_file_leaves_out_is_what_a_scenario_takes() -> None:
    file = FilePart.model_validate({"scenario": "x", "lab": {}})
    scenario = Scenario(
        title="x", blueprint=Blueprint(sites=("a",), links=(), clusters=(ClusterPlan(name="a", site="a"),))
    )

    assert (file.about, file.seed, file.end, file.settle) == (
        *(scenario.about, scenario.seed, scenario.end_ns, scenario.settle_ns),
    )
    assert (file.timeline, file.expect) == ([], {})


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_every_distribution_can_be_wired(name: str) -> None:
    from labkit.lab.build import SHAPES

    assert name in SHAPES
    assert len(SHAPES) == len(DISTRIBUTIONS)


def test_the_ranges_that_are_said_of_distributions_are_drawn() -> None:
    from labkit.lab.build import SHAPES

    latency, least, most = 80_000_000, 0, 2**64 - 1
    drawn = {name: SHAPES[name](latency) for name in DISTRIBUTIONS}
    ends = {name: (one.delay_ns(least), one.delay_ns(most)) for name, one in drawn.items()}
    said = LinkPart.model_fields["distribution"].description

    assert said == ("a distribution: constant, uniform (half to 1.5 of it), normal, exponential, heavy")
    assert ends["constant"] == (latency, latency)
    assert ends["uniform"] == (latency // 2, latency * 3 // 2)
    assert drawn["normal"].second_ns == latency // 10
    assert (ends["exponential"][0], drawn["exponential"].typical_ns) == (latency // 2, latency)
    assert ends["heavy"] == (latency, latency * 20)


@pytest.mark.parametrize(
    ("shares", "threshold", "good"), [(5, 3, True), (1, 1, True), (2, 2, True), (3, 1, False), (2, 3, False)]
)
def test_a_threshold_can_be_reached(shares: int, threshold: int, good: bool) -> None:
    plan = {"site": "paris", "shares": shares, "threshold": threshold}
    if good:
        assert ClusterPart.model_validate(plan, context=NAMES).threshold == threshold
    else:
        with pytest.raises(ValidationError, match="expected a threshold"):
            ClusterPart.model_validate(plan, context=NAMES)


NAMED = {"site": "paris"}
GROUP = {"site": "paris", "use": ["paris"]}
WORK = {"do": "encrypt", "every": "1s"}
LINK = {"between": ["paris", "tokyo"], "latency": "1ms"}
FILE = {"scenario": "x", "lab": {}}
LIMITS = [
    (ClusterPart, NAMED, "nodes", [1, 9], [0, 10]),
    (ClusterPart, {**NAMED, "threshold": 2}, "shares", [2, 10], [1, 11]),
    (ClusterPart, {**NAMED, "shares": 10}, "threshold", [2, 10], [0, 1, 11]),
    (ClusterPart, NAMED, "backlog", [8, 1_048_576], [7, 1_048_577]),
    (ClusterPart, NAMED, "version", ["1.2.3", "1.16.3+ent", "999.0.0"], ["1.2", "1.2.3.4", "1000.0.0", "1.2.3+x"]),
    (WorkPart, WORK, "keys", [0, 100_000], [-1, 100_001]),
    (WorkPart, WORK, "every", ["1ms"], ["999us", "0s"]),
    (WorkPart, {**WORK, "from": "2s"}, "until", ["2001ms"], ["2s", "1s"]),
    (WorkPart, WORK, "do", ["get-secret"], ["crash"]),
    (ClientsPart, GROUP, "count", [1, 100], [0, 101]),
    (ClientsPart, GROUP, "retries", [0, 1_000], [-1, 1_001]),
    (ClientsPart, GROUP, "work", [[], [WORK] * 20], [[WORK] * 21]),
    (ClientsPart, GROUP, "use", [["paris"]], [[]]),
    (LinkPart, LINK, "latency", ["1us"], ["999ns", "0s"]),
    (LinkPart, LINK, "jitter", ["0s"], ["-1s"]),
    (LinkPart, LINK, "distribution", ["heavy"], ["heavier"]),
    *((CountRange, {}, key, [0], [-1]) for key in ("exactly", "at least", "at most")),
    *((TimeRange, {}, key, ["0s"], ["-1s"]) for key in ("exactly", "at least", "at most")),
    (FilePart, FILE, "scenario", ["x", "x" * 200], ["", "x" * 201]),
    (FilePart, FILE, "seed", [0], [-1]),
    (FilePart, FILE, "timeline", [[], [{}] * 200], [[{}] * 201]),
]


@pytest.mark.parametrize(("part", "whole", "key", "good", "bad"), LIMITS)
def test_a_value_at_its_limit_is_taken_and_one_beyond_it_is_not(
    part: Any, whole: dict[str, Any], key: str, good: list[Any], bad: list[Any]
) -> None:
    for value in good:
        part.model_validate({**whole, key: value}, context=NAMES)
    for value in bad:
        with pytest.raises(ValidationError) as refused:
            part.model_validate({**whole, key: value}, context=NAMES)
        assert len(refused.value.errors()) == 1


@pytest.mark.parametrize(
    ("sites", "clusters", "good"),
    [(1, 1, True), (16, 8, True), (0, 1, False), (17, 1, False), (1, 0, False), (16, 9, False)],
)
def test_a_lab_has_so_many_sites_and_clusters(sites: int, clusters: int, good: bool) -> None:
    names = [f"site-{number}" for number in range(max(sites, 1))]
    context = DeclaredNames(tuple(names), tuple(f"c-{number}" for number in range(clusters)))
    plan = {
        "sites": names[:sites],
        "clusters": {name: {"site": "site-0"} for name in context.clusters},
    }
    if good:
        assert len(LabPart.model_validate(plan, context=context).clusters) == clusters
    else:
        with pytest.raises(ValidationError, match=r"at (least|most)"):
            LabPart.model_validate(plan, context=context)


@pytest.mark.parametrize(("groups", "good"), [(0, True), (16, True), (17, False)])
def test_a_lab_has_so_many_groups_of_clients(groups: int, good: bool) -> None:
    group = {"site": "paris", "use": ["paris"]}
    clients = {f"group-{number}": group for number in range(groups)}
    plan = {"sites": ["paris", "tokyo"], "clusters": {"paris": {"site": "paris"}}, "clients": clients}
    if good:
        assert len(LabPart.model_validate(plan, context=NAMES).clients) == groups
    else:
        with pytest.raises(ValidationError, match="at most 16"):
            LabPart.model_validate(plan, context=NAMES)


@pytest.mark.parametrize(
    ("part", "whole", "key"),
    [
        (ClusterPart, {"site": "paris", "threshold": 9}, "threshold"),
        (ClusterPart, {"site": "paris", "shares": 2}, "shares"),
        (WorkPart, {"do": "encrypt", "every": "1s", "from": "2s", "until": "1s"}, "until"),
        (CountRange, {"exactly": 1, "at most": 2}, "exactly"),
    ],
)
def test_what_is_wrong_between_two_keys_names_the_one_to_look_at(part: Any, whole: dict[str, Any], key: str) -> None:
    with pytest.raises(ValidationError) as refused:
        part.model_validate(whole, context=NAMES)
    (problem,) = refused.value.errors()

    assert problem["ctx"]["error"].key == key
