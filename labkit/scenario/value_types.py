"""Value types: what a value in a scenario file may be, how it is read, and how it is written for people.

Durations are read as nanoseconds, shares as parts per million, bandwidths as bits per second, sizes as bytes.  A value
carries its unit; names are checked against those that the file itself declares, handed in as ``DeclaredNames``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from labkit.scenario.problems import describe_value, expected
from labkit.service.durations import MILLISECOND_NS, SECOND_NS, format_duration, parse_duration

MILLION = 1_000_000
HOUR_NS = 3_600 * SECOND_NS
MAX_SCENARIO_NS = 24 * HOUR_NS
MAX_DRIFT_PPM = 100_000

BITS = {"bit": 1, "kbit": 1_000, "Mbit": 1_000_000, "Gbit": 1_000_000_000}
BYTES = {"B": 1, "KiB": 1_024, "MiB": 1_048_576}

NAME = r"[a-z][a-z0-9]*(-[a-z0-9]+)*"
DURATION = r"(\d{1,15}(\.\d{1,9})?(ns|us|µs|ms|s|m|h|d))+"
SHARE = r"\d{1,3}(\.\d{1,4})?%"
LAG = r"lag (?:(at least|at most) )?(\S+)"
NUMBER = r"\d{1,12}(?:\.\d{1,9})?"
"""What is written, as regular expressions; those of JSON Schema mean the same."""

_NAME = re.compile(NAME)
_DURATION = re.compile(DURATION, re.ASCII)
_SHARE = re.compile(SHARE, re.ASCII)
_LAG = re.compile(LAG, re.ASCII)
_AMOUNT = re.compile(rf"({NUMBER})([A-Za-z]+)", re.ASCII)


class LagCondition(NamedTuple):
    """A condition on the lag of the secondary that is furthest behind: in entries, or in time; None is not a limit."""

    in_entries: bool
    low: int | None
    high: int | None

    def holds(self, entries: float, seconds: float) -> bool:
        """Whether a lag fulfils it."""
        value = entries if self.in_entries else seconds * SECOND_NS
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


class DeclaredNames(NamedTuple):
    """The names that a file declares; nodes follow from clusters."""

    sites: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    cluster_sites: tuple[tuple[str, str], ...] = ()
    node_clusters: tuple[tuple[str, str], ...] = ()
    groups: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: Any) -> DeclaredNames:
        """Collect the names in a document's data, even when other parts of it are wrong."""
        lab = _member(data, "lab", dict)
        sites = tuple([site for site in _member(lab, "sites", list) if isinstance(site, str)])
        clusters = {name: plan for name, plan in _member(lab, "clusters", dict).items() if isinstance(name, str)}
        counts = {name: plan.get("nodes", 3) if isinstance(plan, dict) else 3 for name, plan in clusters.items()}
        node_clusters = tuple(
            [
                (f"{name}-{number}", name)
                for name, count in counts.items()
                for number in range(1, 1 + (count if type(count) is int and count < 100 else 3))
            ]
        )
        cluster_sites = tuple(
            [(name, str(plan.get("site"))) for name, plan in clusters.items() if isinstance(plan, dict)]
        )
        nodes = tuple([node for node, _ in node_clusters])
        groups = tuple([name for name in _member(lab, "clients", dict) if isinstance(name, str)])
        return cls(sites, tuple(clusters), nodes, cluster_sites, node_clusters, groups)

    @property
    def sites_and_clusters(self) -> tuple[str, ...]:
        """Sites and clusters, each name once."""
        return tuple(dict.fromkeys((*self.sites, *self.clusters)))

    def site_of(self, name: str) -> str:
        """The site that a name means: that of a cluster, or the site itself."""
        return dict(self.cluster_sites).get(name, name)


def read_duration(value: Any) -> int:
    """Read ``80ms``, ``1.5s`` or ``1h30m`` as nanoseconds; ValueError for anything else, up to a day."""
    if isinstance(value, str) and _DURATION.fullmatch(value):
        # The service's own limit is far more than a day.
        with suppress(ValueError):
            duration_ns = parse_duration(value)
            if duration_ns <= MAX_SCENARIO_NS:
                return duration_ns
        raise ValueError(expected("a duration of at most 24h", value))
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        raise ValueError(f"expected a duration with its unit such as {value}s or {value}ms, got {value}")
    if isinstance(value, str) and value.startswith("-"):
        raise ValueError(expected("a duration from 0s up", value))
    raise ValueError(expected("a duration such as 80ms, 1.5s or 1h30m", value))


def read_share(value: Any) -> int:
    """Read ``0.01%`` as parts per million; ValueError for anything else."""
    if isinstance(value, str) and _SHARE.fullmatch(value):
        share_ppm = Fraction(value[:-1]) * MILLION / 100
        if share_ppm <= MILLION:
            return int(share_ppm)
    raise ValueError(expected("a share such as 0.5%, from 0% to 100%", value))


def read_offset(value: Any) -> int:
    """Read ``90s`` or ``-1.5s`` as nanoseconds that a clock is ahead; ValueError for anything else, up to a day."""
    behind = isinstance(value, str) and value.startswith("-")
    try:
        return -read_duration(value[1:]) if behind else read_duration(value)
    except ValueError:
        raise ValueError(expected("a duration of at most 24h such as 90s, or -90s for behind", value)) from None


def read_drift(value: Any) -> int:
    """Read ``0.02%`` or ``-0.02%`` as parts per million; ValueError for anything else, up to 10%."""
    text = value if isinstance(value, str) else ""
    with suppress(ValueError):
        drift_ppm = -read_share(text[1:]) if text[:1] == "-" else read_share(text)
        if abs(drift_ppm) <= MAX_DRIFT_PPM:
            return drift_ppm
    raise ValueError(expected("a share such as 0.02% or -0.02%, from -10% to 10%", value))


def read_bandwidth(value: Any) -> int:
    """Read ``200Mbit`` as bits per second; ValueError for anything else."""
    return _amount(value, BITS, "a bandwidth per second such as 200Mbit (bit, kbit, Mbit, Gbit)")


def read_size(value: Any) -> int:
    """Read ``64B`` or ``4KiB`` as bytes; ValueError for anything else, up to 1 MiB."""
    size_bytes = _amount(value, BYTES, "a size such as 64B or 4KiB (B, KiB, MiB)")
    if size_bytes > BYTES["MiB"]:
        raise ValueError(expected("a size of at most 1MiB", value))
    return size_bytes


def read_condition(text: Any) -> LagCondition:
    """Read ``lag 0``, ``lag at most 5`` or ``lag at least 2s``; ValueError for anything else."""
    found = _LAG.fullmatch(text) if isinstance(text, str) else None
    if found is not None:
        word, limit = found.groups()
        with suppress(ValueError):
            value = int(limit) if limit.isdigit() and len(limit) < 10 else read_duration(limit)
            low, high = (None if word == "at most" else value), (None if word == "at least" else value)
            return LagCondition(limit.isdigit(), low, high)
    raise ValueError(expected("a condition such as lag 0, lag at most 5 or lag at least 2s", text))


def write_duration(duration_ns: int) -> str:
    """Write a duration for people: from a second on rounded to 1 ms, from a millisecond on to 0.01 ms."""
    if duration_ns >= MILLISECOND_NS:
        step_ns = MILLISECOND_NS if duration_ns >= SECOND_NS else MILLISECOND_NS // 100
        duration_ns = (duration_ns + step_ns // 2) // step_ns * step_ns
    text = format_duration(duration_ns)
    return re.sub(r"(?<=[hm])0[ms]$", "", re.sub(r"(?<=m)0s$", "", text))


def write_share(share_ppm: int) -> str:
    """Write parts per million as a share: ``0.01%``."""
    whole, remainder = divmod(abs(share_ppm), MILLION // 100)
    return f"{'-' if share_ppm < 0 else ''}{whole}.{remainder:04d}".rstrip("0").rstrip(".") + "%"


def _amount(value: Any, units: Mapping[str, int], what: str) -> int:
    found = _AMOUNT.fullmatch(value) if isinstance(value, str) else None
    if found and found[2] in units:
        amount = Fraction(found[1]) * units[found[2]]
        if amount >= 1 and amount.denominator == 1:
            return int(amount)
    raise ValueError(expected(what, value))


def _member(value: Any, key: str, member_type: type) -> Any:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, member_type) else member_type()


def is_name(value: str) -> bool:
    """Whether a text is a name as files have them: lower-case letters, digits and hyphens, at most 32."""
    return len(value) <= 32 and _NAME.fullmatch(value) is not None


def _name(value: str) -> str:
    if not is_name(value):
        raise ValueError(expected("a name of lower-case letters, digits and hyphens, at most 32", value))
    return value


def _each_once(value: list[str]) -> list[str]:
    again = next((name for number, name in enumerate(value) if name in value[:number]), None)
    if again is not None:
        raise ValueError(f"expected each of them once, got {describe_value(again)} again")
    return value


def _known(what: str, names: Callable[[DeclaredNames], tuple[str, ...]]) -> AfterValidator:
    def check(value: str, info: ValidationInfo) -> str:
        known = names(info.context or DeclaredNames())
        # Without any declared name that is the problem, and not each use of one.
        if known and value not in known:
            raise ValueError(expected(what, value, known))
        return value

    return AfterValidator(check)


Duration = Annotated[int, BeforeValidator(read_duration)]
Offset = Annotated[int, BeforeValidator(read_offset)]
Drift = Annotated[int, BeforeValidator(read_drift)]
Share = Annotated[int, BeforeValidator(read_share)]
Bandwidth = Annotated[int, BeforeValidator(read_bandwidth)]
Size = Annotated[int, BeforeValidator(read_size)]
Name = Annotated[str, AfterValidator(_name)]
Site = Annotated[str, _known("a site", lambda names: names.sites)]
ClusterName = Annotated[str, _known("a cluster", lambda names: names.clusters)]
NodeName = Annotated[str, _known("a node", lambda names: names.nodes)]
GroupName = Annotated[str, _known("a group of clients", lambda names: names.groups)]
ClusterOrNode = Annotated[str, _known("a cluster or a node", lambda names: (*names.clusters, *names.nodes))]
SiteOrCluster = Annotated[str, _known("a site or a cluster", lambda names: names.sites_and_clusters)]
ClusterNames = Annotated[list[ClusterName], Field(min_length=2), AfterValidator(_each_once)]
SitePair = Annotated[list[Site], Field(min_length=2, max_length=2)]
SiteOrClusterPair = Annotated[list[SiteOrCluster], Field(min_length=2, max_length=2)]
