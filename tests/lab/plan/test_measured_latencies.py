"""Measured latencies: those that were published, with their sources, and no others."""

from __future__ import annotations

import pytest

from labkit.lab.plan.blueprint import LinkPlan
from labkit.lab.plan.measured_latencies import PLACES, ROUND_TRIPS_US, latency_ns, partners_of


def test_a_link_takes_half_the_round_trip_each_way():
    assert latency_ns("us-east-1", "eu-west-1") == latency_ns("eu-west-1", "us-east-1") == 33_300_000
    link = LinkPlan.measured(("paris", "hong-kong"), ("eu-west-3", "ap-east-1"))
    assert (link.between, link.latency_ns) == (("paris", "hong-kong"), 98_380_000)


def test_each_figure_has_a_source_and_each_region_a_place():
    for source, pairs in ROUND_TRIPS_US.items():
        assert source.address.startswith("https://")
        assert {region for pair in pairs for region in pair} <= set(PLACES)
        assert all(10_000 < trip_us < 400_000 for trip_us in pairs.values())
    assert "ap-east-1" in partners_of("eu-west-3")


@pytest.mark.parametrize(
    ("regions", "says"),
    [
        (("eu-west-9", "ap-east-1"), "measured: expected a region, got 'eu-west-9'; there are: af-south-1"),
        (("eu-west-3", 7), "measured: expected a region, got 7"),
        (
            ("eu-west-3", "sa-east-1"),
            "measured: expected two regions between which a round trip was measured, got 'eu-west-3' and 'sa-east-1'; "
            "measured with one of them: af-south-1, ap-east-1",
        ),
        (("eu-west-3", "eu-west-3"), "measured: expected two regions between which"),
    ],
)
def test_what_was_not_measured_is_one_sentence(regions, says):
    with pytest.raises(ValueError, match="^" + says):
        latency_ns(*regions)
