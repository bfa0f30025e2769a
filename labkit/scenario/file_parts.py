"""Model: the sections of a scenario file as pydantic models; a field's description is what a problem says was expected.

A model sees one section and the names that the file declares; what must hold between sections is checked in
``loading``.  A field whose default is None may be left out, but not left empty: that is checked there too.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, get_args

from pydantic import AfterValidator, BaseModel, Field, model_validator

from labkit.lab.plan.measured_latencies import latency_ns
from labkit.scenario.client_parts import ClientsPart, Interval, WorkPart, lasting
from labkit.scenario.expect_keys import (
    COUNTS,
    TIMES,
    CountRange,
    ExpectPart,
    GroupPart,
    LoginsPart,
    Part,
    StepsPart,
    TimeRange,
    one_of,
)
from labkit.scenario.problems import FieldError
from labkit.scenario.timed.situations import SITUATIONS
from labkit.scenario.value_types import (
    Bandwidth,
    ClusterName,
    Drift,
    Duration,
    Name,
    NodeName,
    Offset,
    Share,
    Site,
    SitePair,
)
from labkit.service.durations import MILLISECOND_NS, SECOND_NS

MAX_SEEDS = 10_000
MAX_TIMELINE_STEPS = 200
DISTRIBUTIONS = ("constant", "uniform", "normal", "exponential", "heavy")


Latency = Annotated[Duration, lasting(MILLISECOND_NS // 1_000)]


def _measured(value: list[str]) -> list[str]:
    try:
        latency_ns(*value)
    except ValueError as error:
        raise ValueError(str(error).removeprefix("measured: ")) from None  # the file's key is named before it
    return value


Regions = Annotated[list[str], Field(min_length=2, max_length=2), AfterValidator(_measured)]


class LinkPart(Part):
    """One link between two sites."""

    between: SitePair = Field(description="two sites such as [paris, tokyo]")
    latency: Latency | None = Field(None, description="a duration such as 80ms, one way; this or measured")
    measured: Regions | None = Field(
        None,
        description="two regions such as [eu-west-3, ap-east-1] whose measured latency it has (labkit help regions)",
    )
    back: Latency | None = Field(
        None, description="a duration such as 120ms from the second to the first, if it differs"
    )
    jitter: Duration = Field(0, description="a duration such as 2ms, a random delay from 0 up to it is added")
    loss: Share = Field(0, description="a share such as 0.01%")
    bandwidth: Bandwidth = Field(0, description="a bandwidth per second such as 200Mbit; no limit unless given")
    distribution: Annotated[str, one_of("a distribution", DISTRIBUTIONS)] = Field(
        "constant",
        description="a distribution: constant, uniform (half to 1.5 of it), normal, exponential, heavy",
    )

    @model_validator(mode="after")
    def _one_latency(self) -> LinkPart:
        if self.latency is not None and self.measured is not None:
            raise FieldError("expected latency or measured, got both", "measured")
        if self.latency is None and self.measured is None:
            raise ValueError("expected latency (a duration such as 80ms, one way) or measured, got neither")
        return self

    @property
    def latency_ns(self) -> int:
        """The latency, given or measured."""
        if self.measured is not None:
            return latency_ns(*self.measured)
        assert self.latency is not None
        return self.latency


class NodePart(Part):
    """What one node of a cluster has of its own."""

    version: str | None = Field(
        None, pattern=r"^\d{1,3}\.\d{1,3}\.\d{1,3}(\+ent)?$", description="a version such as 1.17.0+ent"
    )
    service_time: Duration | None = Field(
        None, alias="service time", description="a duration such as 50ms that it works on each request"
    )
    clock: Offset = Field(0, description="a duration that its wall clock is ahead such as 90s, or behind such as -90s")
    drift: Drift = Field(0, description="a share such as 0.02%, or -0.02% for a clock that is slow")


class ClusterPart(Part):
    """One cluster."""

    site: Site = Field(description="the site of its nodes")
    nodes: int = Field(3, ge=1, le=9, description="a number of nodes from 1 to 9")
    shares: int = Field(5, ge=1, le=10, description="a number of key shares from 1 to 10")
    threshold: int = Field(3, ge=1, le=10, description="a number of key shares, enough to unseal it")
    version: str = Field(
        "1.16.3+ent", pattern=r"^\d{1,3}\.\d{1,3}\.\d{1,3}(\+ent)?$", description="a version such as 1.16.3+ent"
    )
    backlog: int = Field(
        16_384, ge=8, le=1_048_576, description="a number of journal entries that it keeps for secondaries, from 8 up"
    )
    service_time: Duration = Field(
        0,
        alias="service time",
        description="a duration such as 5ms that a node works on each request, one after another",
    )
    fencing: bool = Field(True, description="false for a store that takes the writes of a leader that was overtaken")
    each: dict[NodeName, NodePart] = Field(
        {}, description="a mapping of nodes to what they have of their own such as {paris-2: {service time: 50ms}}"
    )

    @model_validator(mode="after")
    def _threshold_fits(self) -> ClusterPart:
        if self.threshold > self.shares or (self.threshold == 1) != (self.shares == 1):
            text = "expected a threshold from 2 to the number of shares (or 1 of 1)"
            raise FieldError(
                f"{text}, got {self.threshold} of {self.shares}",
                "threshold" if "threshold" in self.model_fields_set else "shares",
            )
        return self


class BalancerPart(Part):
    """A load balancer."""

    site: Site = Field(description="the site of its host")
    use: list[ClusterName] = Field(min_length=1, description="clusters in order of preference such as [paris, tokyo]")
    check: Interval = Field(SECOND_NS, description="a duration such as 1s between two checks of each node's health")
    fall: int = Field(2, ge=1, le=100, description="a number of failed checks that take a node out of service")
    ends_tls: bool = Field(
        False, alias="ends tls", description="true to read requests, false to pass connections through"
    )


class CloudPart(Part):
    """The simulated cloud, on a host of its own."""

    site: Name = Field(description="the site of its host such as paris")


class LabPart(Part):
    """What the lab is built from."""

    sites: list[Name] = Field(min_length=1, max_length=16, description="a list of sites such as [paris, tokyo]")
    links: list[LinkPart] = Field([], description="a list of links such as {between: [paris, tokyo], latency: 80ms}")
    clusters: dict[Name, ClusterPart] = Field(
        min_length=1, max_length=8, description="a mapping of names to clusters such as {paris: {site: paris}}"
    )
    balancers: dict[Name, BalancerPart] = Field(
        {},
        max_length=8,
        description="a mapping of names to load balancers such as {front: {site: paris, use: [paris]}}",
    )
    cloud: CloudPart | None = Field(None, description="the cloud from which machines log in such as {site: paris}")
    clients: dict[Name, ClientsPart] = Field(
        {},
        max_length=16,
        description="a mapping of names to groups of clients such as {writers: {site: paris, use: [paris]}}",
    )


class MatrixPart(BaseModel):
    """What a matrix may have beside its names; it is read in ``matrix``."""

    exclude: list[dict[str, Any]] = Field(
        [], description="a list of combinations that are left out such as [{latency: 20ms, nodes: 1}]"
    )
    include: list[dict[str, Any]] = Field(
        [], description="a list of combinations that are added such as [{latency: 1s, nodes: 9}]"
    )


class FilePart(Part):
    """The whole file; its sections are validated one by one, so that the errors of one do not hide those of another."""

    scenario: str = Field(min_length=1, max_length=200, description="a title")
    about: str = Field("", description="a paragraph")
    lesson: str = Field("", max_length=400, description="a sentence: what it shows, printed after the verdict")
    seed: int = Field(7, ge=0, description="a whole number from 0 up")
    seeds: int | None = Field(
        None,
        ge=1,
        le=MAX_SEEDS,
        description=f"a number of runs from 1 to {MAX_SEEDS:,} such as 200, with the seeds 0 to 199; in place of seed",
    )
    matrix: dict[str, Any] | None = Field(
        None,
        description="a mapping of names to lists such as {latency: [20ms, 80ms]}, for values such as $(matrix.latency)",
    )
    lab: dict[str, Any] = Field(
        description="a mapping of sites, links, clusters and clients, or a file with one such as ../two.lab.yaml"
    )
    timeline: list[Any] = Field(
        [], max_length=MAX_TIMELINE_STEPS, description=f"a list of at most {MAX_TIMELINE_STEPS} steps"
    )
    end: Duration | None = Field(None, description="an instant such as 60s")
    settle: Duration = Field(5 * SECOND_NS, description="a duration such as 5s")
    expect: dict[str, Any] = Field({}, description="a mapping of what is expected such as {lost: 0}")
    always: list[Any] = Field([], max_length=100, description="a list of conditions such as {lag: {at most: 200}}")
    eventually: list[Any] = Field(
        [], max_length=100, description="a list of conditions such as {roots: equal, within: 15s}"
    )
    leads_to: list[Any] = Field(
        [],
        alias="leads to",
        max_length=100,
        description="a list such as {if: {connections: {tokyo: not ready}}, then: {lag: 0}, within: 40s}",
    )
    sometimes: list[Any] = Field([], max_length=100, description="a list of conditions such as {roots: different}")
    covers: list[Annotated[str, one_of("a situation", tuple(SITUATIONS))]] = Field(
        [],
        max_length=100,
        description="a list of situations such as [takeover, merkle-diff to merkle-sync] (labkit help situations)",
    )

    @model_validator(mode="after")
    def _seed_or_seeds(self) -> FilePart:
        if self.seeds is not None and "seed" in self.model_fields_set:
            raise FieldError("expected seed or seeds, got both", "seeds")
        return self


class Inner(NamedTuple):
    """What is below a key: the model, and whether there are many of it, in a list or by name."""

    model: type[BaseModel]
    many: bool = False


def fields_of(model: type[BaseModel]) -> dict[str, str]:
    """Return the keys of a mapping as a file spells them, each with what is expected there."""
    return {field.alias or name: field.description or "" for name, field in model.model_fields.items()}


INNER: dict[tuple[type, str], Inner] = {
    (LabPart, "links"): Inner(LinkPart, many=True),
    (LabPart, "clusters"): Inner(ClusterPart, many=True),
    (LabPart, "balancers"): Inner(BalancerPart, many=True),
    (LabPart, "cloud"): Inner(CloudPart),
    (LabPart, "clients"): Inner(ClientsPart, many=True),
    (ClusterPart, "each"): Inner(NodePart, many=True),
    (ClientsPart, "work"): Inner(WorkPart, many=True),
    **{(ExpectPart, key): Inner(CountRange) for key in COUNTS},
    **{(ExpectPart, key): Inner(TimeRange) for key in TIMES},
    (ExpectPart, "steps"): Inner(StepsPart),
    (ExpectPart, "observed"): Inner(CountRange, many=True),
    (ExpectPart, "lags"): Inner(CountRange, many=True),
    (ExpectPart, "lag times"): Inner(TimeRange, many=True),
    (ExpectPart, "logins"): Inner(LoginsPart),
    (ExpectPart, "clients"): Inner(GroupPart, many=True),
    **{(LoginsPart, key): Inner(CountRange) for key in fields_of(LoginsPart)},
    **{(GroupPart, key): Inner(CountRange) for key in fields_of(GroupPart) if key != "latency"},
    (GroupPart, "latency"): Inner(TimeRange),
}


def part_at(model: type[BaseModel], path: tuple[str | int, ...]) -> tuple[type[BaseModel], str]:
    """Follow a path from a model: return the innermost model on it, and what is expected at its end."""
    description, inner = "", None
    for key in path:
        if inner is not None and inner.many:
            model, inner = inner.model, None
            continue
        model, inner = (inner.model, None) if inner is not None else (model, None)
        description = fields_of(model).get(str(key), description)
        inner = _declared(model, str(key)) or _annotated(model, str(key))
    return (inner.model if inner is not None and not inner.many else model), description


def _declared(model: type[BaseModel], key: str) -> Inner | None:
    """Return what is below a key, by the table, of a model or of one that it extends."""
    return next((INNER[kind, key] for kind in model.__mro__ if (kind, key) in INNER), None)


def _annotated(model: type[BaseModel], key: str) -> Inner | None:
    """Return what is below a key of a step, by the type of its value."""
    types = [field.annotation for name, field in model.model_fields.items() if (field.alias or name) == key]
    for found in (*types, *(inner for kind in types for inner in get_args(kind))):
        if isinstance(found, type) and issubclass(found, BaseModel):
            return Inner(found)
    return None
