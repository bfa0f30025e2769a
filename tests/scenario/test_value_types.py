"""Values carry their units, and are read exactly or refused in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from labkit.scenario.value_types import (
    MAX_SCENARIO_NS,
    ClusterName,
    ClusterOrNode,
    DeclaredNames,
    Name,
    NodeName,
    Site,
    SiteOrCluster,
    SitePair,
    read_bandwidth,
    read_condition,
    read_drift,
    read_duration,
    read_offset,
    read_share,
    read_size,
    write_duration,
    write_share,
)
from labkit.service.durations import SECOND_NS


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0s", 0),
        ("80ms", 80_000_000),
        ("1.5s", 1_500_000_000),
        ("1h30m", 5_400 * SECOND_NS),
        ("250us", 250_000),
        ("250µs", 250_000),
        ("1ns", 1),
        ("24h", MAX_SCENARIO_NS),
    ],
)
def test_durations_are_read_as_nanoseconds(text: str, nanoseconds: int) -> None:
    assert read_duration(text) == nanoseconds


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (20, "expected a duration with its unit such as 20s or 20ms, got 20"),
        ("-2s", "expected a duration from 0s up, got '-2s'"),
        ("25h", "expected a duration of at most 24h, got '25h'"),
        ("999999999999999h", "expected a duration of at most 24h, got '999999999999999h'"),
        ("20", "expected a duration such as 80ms, 1.5s or 1h30m, got '20'"),
        ("20 s", "expected a duration such as 80ms, 1.5s or 1h30m, got '20 s'"),
        ("", "expected a duration such as 80ms, 1.5s or 1h30m, got ''"),
        (True, "expected a duration such as 80ms, 1.5s or 1h30m, got true"),
        (1.5, "expected a duration such as 80ms, 1.5s or 1h30m, got 1.5"),
        (["1s"], "expected a duration such as 80ms, 1.5s or 1h30m, got a list"),
    ],
)
def test_other_values_are_refused_as_durations(value: Any, text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected") as caught:
        read_duration(value)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("text", "ppm"),
    [("0%", 0), ("0.01%", 100), ("0.0001%", 1), ("5%", 50_000), ("99.9999%", 999_999), ("100%", 1_000_000)],
)
def test_shares_are_read_as_parts_per_million_and_written_back(text: str, ppm: int) -> None:
    assert read_share(text) == ppm
    assert write_share(ppm) == text


@pytest.mark.parametrize("value", [5, "5", "101%", "-1%", "0.00001%", "1e1%", "%", 0.5, None])
def test_other_values_are_refused_as_shares(value: Any) -> None:
    with pytest.raises(ValueError, match=r"expected a share such as 0\.5%"):
        read_share(value)


@pytest.mark.parametrize(
    ("text", "in_entries", "low", "high"),
    [
        ("lag 0", True, 0, 0),
        ("lag at most 5", True, None, 5),
        ("lag at least 30", True, 30, None),
        ("lag at most 2s", False, None, 2 * SECOND_NS),
        ("lag at least 1.5s", False, 3 * SECOND_NS // 2, None),
        ("lag 0s", False, 0, 0),
    ],
)
def test_a_condition_limits_lag_in_entries_or_in_time(
    text: str, in_entries: bool, low: int | None, high: int | None
) -> None:
    assert read_condition(text) == (in_entries, low, high)


def test_a_condition_of_many_digits_is_none() -> None:
    assert read_condition("lag 999999999") == (True, 999_999_999, 999_999_999)
    with pytest.raises(ValueError, match="expected a condition"):
        read_condition("lag 1000000000")


def test_a_condition_holds_within_its_limits() -> None:
    inf = float("inf")

    assert [read_condition("lag at most 5").holds(entries, 99.0) for entries in (0, 5, 6, inf)] == [
        True,
        True,
        False,
        False,
    ]
    assert [read_condition("lag at least 2s").holds(0, seconds) for seconds in (1.9, 2.0, inf)] == [False, True, True]
    assert [read_condition("lag 0").holds(entries, 0.0) for entries in (0, 1)] == [True, False]


@pytest.mark.parametrize(
    "value",
    ["", "lag", "lag five", "lag at most", "lag below 5", "lag -1", "lag 5 s", "0", 0, None, ["lag 0"], "LAG 0"],
)
def test_other_values_are_refused_as_conditions(value: Any) -> None:
    with pytest.raises(ValueError, match="expected a condition such as lag 0, lag at most 5 or lag at least 2s, got"):
        read_condition(value)


@pytest.mark.parametrize(
    ("text", "bits"), [("1bit", 1), ("56kbit", 56_000), ("200Mbit", 200_000_000), ("1.5Gbit", 1_500_000_000)]
)
def test_bandwidths_are_read_as_bits_per_second(text: str, bits: int) -> None:
    assert read_bandwidth(text) == bits


@pytest.mark.parametrize("value", [200, "200", "200MB", "200mbit", "0Mbit", "0.1bit", "-1Mbit"])
def test_other_values_are_refused_as_bandwidths(value: Any) -> None:
    with pytest.raises(ValueError, match="expected a bandwidth per second such as 200Mbit"):
        read_bandwidth(value)


@pytest.mark.parametrize(("text", "size_bytes"), [("1B", 1), ("64B", 64), ("1.5KiB", 1_536), ("1MiB", 1_048_576)])
def test_sizes_are_read_as_bytes(text: str, size_bytes: int) -> None:
    assert read_size(text) == size_bytes


@pytest.mark.parametrize("value", ["1048577B", "1025KiB", "1.5MiB"])
def test_a_size_over_a_mebibyte_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match=f"expected a size of at most 1MiB, got '{value}'"):
        read_size(value)


@pytest.mark.parametrize("value", [64, "64", "64KB", "2MiB", "1.5B"])
def test_other_values_are_refused_as_sizes(value: Any) -> None:
    with pytest.raises(ValueError, match="expected a size"):
        read_size(value)


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0s"),
        (999, "999ns"),
        (800_000, "800µs"),
        (18_920_389, "18.92ms"),
        (3_230_975_832, "3.231s"),
        (60 * SECOND_NS, "1m"),
        (61 * SECOND_NS, "1m1s"),
        (5_400 * SECOND_NS, "1h30m"),
        (3_600 * SECOND_NS, "1h"),
        (36_000 * SECOND_NS, "10h"),
        (600 * SECOND_NS, "10m"),
        (59_999_999_999, "1m"),
    ],
)
def test_durations_are_written_for_people(nanoseconds: int, text: str) -> None:
    assert write_duration(nanoseconds) == text


@given(st.integers(0, MAX_SCENARIO_NS // 1_000_000))
def test_a_written_duration_is_read_as_the_same(milliseconds: int) -> None:
    assert read_duration(write_duration(milliseconds * 1_000_000)) == milliseconds * 1_000_000


def test_names_are_collected_from_what_is_there() -> None:
    lab = {
        "sites": ["paris", 7, "tokyo"],
        "clusters": {"a": {"site": "paris", "nodes": 2}, "b": None, "c": {"nodes": "x"}},
    }
    names = DeclaredNames.of({"lab": lab})

    assert names.sites == ("paris", "tokyo")
    assert names.clusters == ("a", "b", "c")
    assert names.nodes == ("a-1", "a-2", "b-1", "b-2", "b-3", "c-1", "c-2", "c-3")
    assert dict(names.node_clusters) == {node: node[0] for node in names.nodes}
    assert names.sites_and_clusters == ("paris", "tokyo", "a", "b", "c")
    assert (names.site_of("a"), names.site_of("tokyo")) == ("paris", "tokyo")


@pytest.mark.parametrize(("nodes", "counted"), [(1, 1), (99, 99), (100, 3), (True, 3)])
def test_so_many_nodes_of_a_cluster_have_names(nodes: Any, counted: int) -> None:
    assert len(DeclaredNames.of({"lab": {"clusters": {"a": {"nodes": nodes}}}}).nodes) == counted


@pytest.mark.parametrize("data", [None, [], "x", {"lab": None}, {"lab": {"sites": {}, "clusters": []}}])
def test_no_names_are_collected_from_nothing(data: Any) -> None:
    assert DeclaredNames.of(data) == DeclaredNames()


NAMES = DeclaredNames(("lyon",), ("paris",), ("paris-1",), (("paris", "lyon"),), (("paris-1", "paris"),))


@pytest.mark.parametrize(
    ("value_type", "known"),
    [
        (Site, ["lyon"]),
        (ClusterName, ["paris"]),
        (NodeName, ["paris-1"]),
        (ClusterOrNode, ["paris", "paris-1"]),
        (SiteOrCluster, ["lyon", "paris"]),
    ],
)
def test_a_name_is_one_that_the_file_declares(value_type: Any, known: list[str]) -> None:
    adapter = TypeAdapter(value_type)

    for name in ("lyon", "paris", "paris-1", "rome"):
        assert adapter.validate_python(name, context=DeclaredNames()) == name
        if name in known:
            assert adapter.validate_python(name, context=NAMES) == name
        else:
            with pytest.raises(ValidationError, match=f"got '{name}'"):
                adapter.validate_python(name, context=NAMES)


@pytest.mark.parametrize(
    ("value_type", "good", "bad"),
    [
        (Name, ["a", "a-1", "x" * 32], ["", "A", "a-", "-a", "a--b", "1a", "x" * 33]),
        (SitePair, [["a", "b"]], [["a"], ["a", "b", "c"]]),
    ],
)
def test_a_value_of_a_type_is_taken_as_it_is(value_type: Any, good: list[Any], bad: list[Any]) -> None:
    adapter = TypeAdapter(value_type)

    for value in good:
        assert adapter.validate_python(value) == value
    for value in bad:
        with pytest.raises(ValidationError):
            adapter.validate_python(value)


@pytest.mark.parametrize(("text", "ns"), [("90s", 90 * 10**9), ("-1.5s", -1_500_000_000), ("0s", 0)])
def test_an_offset_is_a_duration_of_either_sign(text: str, ns: int) -> None:
    assert read_offset(text) == ns


@pytest.mark.parametrize("value", ["--1s", "+1s", "25h", "-25h", 5, -5, None, ["1s"]])
def test_what_is_no_offset_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="expected a duration of at most 24h such as 90s, or -90s for behind"):
        read_offset(value)


@pytest.mark.parametrize(("text", "ppm"), [("0.02%", 200), ("-0.02%", -200), ("-10%", -100_000)])
def test_a_drift_is_a_share_of_either_sign(text: str, ppm: int) -> None:
    assert read_drift(text) == ppm
    assert write_share(ppm) == text


@pytest.mark.parametrize("value", ["10.1%", "-11%", "--1%", "1", 1, None])
def test_what_is_no_drift_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"expected a share such as 0\.02% or -0\.02%"):
        read_drift(value)
