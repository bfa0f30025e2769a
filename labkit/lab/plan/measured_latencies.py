"""Measured latencies: round trips between regions of a public cloud, as others measured and published them.

A link may take one in place of a latency: half the round trip each way.  Only what was measured is here; nothing is
worked out from it.
"""

from __future__ import annotations

from typing import NamedTuple

from labkit.service.arguments import one_of, shown

MICROSECOND_NS = 1_000


class LatencySource(NamedTuple):
    """Where figures come from."""

    title: str
    address: str
    about: str


MATRIX = LatencySource(
    "AWS Region Latency Matrix",
    "https://cloudping.co/",
    "round trips between regions, to the row's region from the column's; the rows of Cape Town and Hong Kong",
)
PINGS = LatencySource(
    "Average of 10 pings from EC2 instances to the EC2 endpoint of another region",
    "https://gist.github.com/caius/21eca095ba281393f0616e2325410278",
    "six pairs of regions in North America and Europe",
)

PLACES = {
    "af-south-1": "Cape Town",
    "ap-east-1": "Hong Kong",
    "ap-northeast-1": "Tokyo",
    "ap-northeast-2": "Seoul",
    "ap-south-1": "Mumbai",
    "ap-southeast-1": "Singapore",
    "ap-southeast-2": "Sydney",
    "ca-central-1": "Montreal",
    "eu-central-1": "Frankfurt",
    "eu-north-1": "Stockholm",
    "eu-west-1": "Ireland",
    "eu-west-2": "London",
    "eu-west-3": "Paris",
    "sa-east-1": "São Paulo",
    "us-east-1": "Virginia",
    "us-west-1": "California",
    "us-west-2": "Oregon",
}

_COLUMNS = [
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-south-1",
    "ap-southeast-1",
    "ap-southeast-2",
    "ca-central-1",
    "eu-central-1",
    "eu-north-1",
    "eu-west-1",
    "eu-west-2",
    "eu-west-3",
    "sa-east-1",
    "us-east-1",
    "us-west-1",
    "us-west-2",
]
_CAPE_TOWN_US = (
    "285650 270480 151930 205240 295020 222160 155410 175370 156570 150060 147380 337250 226850 286560 278750"
)
_HONG_KONG_US = "52550 39730 93600 34010 125460 202720 198540 212870 257540 199300 196760 312320 202470 154930 146270"

ROUND_TRIPS_US: dict[LatencySource, dict[tuple[str, str], int]] = {
    MATRIX: {
        ("af-south-1", "ap-east-1"): 238_420,
        **{("af-south-1", region): int(trip) for region, trip in zip(_COLUMNS, _CAPE_TOWN_US.split(), strict=True)},
        **{("ap-east-1", region): int(trip) for region, trip in zip(_COLUMNS, _HONG_KONG_US.split(), strict=True)},
    },
    PINGS: {
        ("ca-central-1", "us-east-1"): 14_400,
        ("ca-central-1", "us-west-2"): 75_400,
        ("ca-central-1", "eu-west-1"): 68_600,
        ("ca-central-1", "eu-west-2"): 77_700,
        ("us-east-1", "us-west-2"): 71_400,
        ("us-east-1", "eu-west-1"): 66_600,
    },
}
"""{source: {two regions: microseconds there and back}}."""

_ALL = {pair: trip for pairs in ROUND_TRIPS_US.values() for pair, trip in pairs.items()}


def latency_ns(a: str, b: str) -> int:
    """Return half the measured round trip of two regions; ValueError for what is not a region or was not measured."""
    for region in (a, b):
        one_of("measured", "a region", region, PLACES)
    trip_us = _ALL.get((a, b)) or _ALL.get((b, a))
    if trip_us is None:
        partners = sorted({*partners_of(a), *partners_of(b)} - {a, b})
        text = f"measured: expected two regions between which a round trip was measured, got {shown(a)} and {shown(b)}"
        raise ValueError(f"{text}; measured with one of them: {', '.join(partners)}")
    return trip_us * MICROSECOND_NS // 2


def partners_of(region: str) -> list[str]:
    """Return the regions to which a round trip from a region was measured, sorted."""
    return sorted({other for pair in _ALL if region in pair for other in pair} - {region})
