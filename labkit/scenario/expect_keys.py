"""Expect keys: what a file expects of a lab, at its end or in a check: the keys, their values, and as plain data.

1. A key is a measure (``measures``): a count or a time, which has a range; a word for each named cluster; or one word.
   A new measure is a field of ExpectPart, a row of COUNTS, TIMES or WORDS, and what is measured for it.
2. ``Expectations`` is what a run keeps of it: plain values, so that a saved run needs no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from labkit.lab.invariants import STANDING
from labkit.scenario.problems import FieldError, expected
from labkit.scenario.value_types import ClusterName, Duration, GroupName, write_duration
from labkit.vault.replication.mode import TRANSITIONS as MODES
from labkit.vault.replication.state import CONNECTION_STATES
from labkit.vault.replication.state import TRANSITIONS as SYNC_STATES

COUNTS = ("acknowledged", "lost", "in doubt", "refused", "lag", "differing", "fetched")
OTHER_KEYS = {"unknown": "in doubt"}
"""Keys of earlier files, and what they are called now."""

TIMES = ("rpo", "rto", "lag time")
RANGES = (*COUNTS, "steps done", "steps refused", "steps skipped", *TIMES)
"""Measures that have a range; steps are counted below one key."""

STEPS = ("done", "refused", "skipped")
NOT_READY = "not ready"
WORDS = {
    "modes": tuple(MODES),
    "states": ("running", *SYNC_STATES),
    "connections": (*CONNECTION_STATES, NOT_READY),
}
"""{measure: the words that a cluster may have}."""

BY_NAME = ("lags", "lag times", "logins", "clients")
"""Keys whose ranges are those of a cluster, of an outcome, or of a group of clients."""

OBSERVABLE = (
    *("guard_found", "missing_guard", "stream_wals", "stream_gap", "replication_connected", "replication_disconnected"),
    *("merkle_diff", "merkle_diff_empty", "merkle_sync", "merkle_loop", "roots_differ", "contents_differ"),
    *(
        "reindex_started",
        "reindexed",
        "reindex_differences",
        "connection_refused",
        "secondary_revoked",
        "upstream_refused",
    ),
    *("message refused", "stepped down", "stored value damaged", "token revoked", "operation token issued"),
    "primary_announced",
    *("login refused", "cloud call failed"),
)
"""What nodes observe and a file may count."""


def one_of(what: str, known: tuple[str, ...]) -> AfterValidator:
    """Accept only these names, or nothing."""

    return AfterValidator(partial(_check_one_of, what, known))


def _check_one_of(what: str, known: tuple[str, ...], value: str) -> str:
    if value is not None and value not in known:
        raise ValueError(expected(what, value, known))
    return value


class Part(BaseModel):
    """A mapping of a scenario file: only the declared keys, no conversion of types."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Range(Part):
    """A range of values; a plain value means exactly that one."""

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return value if isinstance(value, dict) else {"exactly": value}

    @model_validator(mode="after")
    def _not_empty(self) -> _Range:
        exactly, low, high = self.limits()
        if exactly is not None and (low, high) != (None, None):
            raise FieldError("expected exactly, or at least and at most, got both", "exactly")
        if exactly is None and low is None and high is None:
            raise ValueError("expected at least, at most or exactly, got none of them")
        if low is not None and high is not None and low > high:
            raise FieldError(f"expected no more than at most ({self.write(high)}), got {self.write(low)}", "at least")
        return self

    def write(self, value: int) -> str:
        """Write a value for people."""
        return str(value)

    def limits(self) -> tuple[int | None, int | None, int | None]:
        """The declared values: exactly, at least, at most."""
        values = self.model_dump()
        return values["exactly"], values["at_least"], values["at_most"]


class CountRange(_Range):
    """A range of numbers."""

    exactly: int | None = Field(None, ge=0, description="a whole number from 0 up")
    at_least: int | None = Field(None, alias="at least", ge=0, description="a whole number from 0 up")
    at_most: int | None = Field(None, alias="at most", ge=0, description="a whole number from 0 up")


class TimeRange(_Range):
    """A range of durations."""

    exactly: Duration | None = Field(None, description="a duration such as 1s")
    at_least: Duration | None = Field(None, alias="at least", description="a duration such as 1s")
    at_most: Duration | None = Field(None, alias="at most", description="a duration such as 1s")

    def write(self, value: int) -> str:
        """Write a duration for people."""
        return write_duration(value)


def _clusters(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


COUNT = "a number, or a range such as {at most: 30}"
TIME = "a duration, or a range such as {at most: 15s}"
HELD = ("held", "broken")
ROOTS = ("equal", "different")


Modes = dict[ClusterName, Annotated[str, one_of("a mode", WORDS["modes"])]]
States = dict[ClusterName, Annotated[str, one_of("a state", WORDS["states"])]]
Connections = dict[ClusterName, Annotated[str, one_of("a state of a connection", WORDS["connections"])]]


class StepsPart(Part):
    """How many steps ended in which way: skipped ones are not refused."""

    done: CountRange | None = Field(None, description=f"{COUNT}: steps that were done")
    refused: CountRange | None = Field(None, description=f"{COUNT}: steps that were refused, as fails: maybe allows")
    skipped: CountRange | None = Field(None, description=f"{COUNT}: steps that when: done, or refused, left out")

    @model_validator(mode="after")
    def _counts_something(self) -> StepsPart:
        if self.done is None and self.refused is None and self.skipped is None:
            raise ValueError(f"expected how many were {', '.join(STEPS[:-1])} or {STEPS[-1]}, got none of them")
        return self


class LoginsPart(Part):
    """How many logins ended in which way."""

    answered: CountRange | None = Field(None, description=f"{COUNT}: logins that gave a token")
    refused: CountRange | None = Field(None, description=f"{COUNT}: logins that were refused")
    in_doubt: CountRange | None = Field(None, alias="in doubt", description=f"{COUNT}: logins without an answer")

    @model_validator(mode="after")
    def _counts_something(self) -> LoginsPart:
        return _says_something(self)


class GroupPart(Part):
    """What a group of clients got."""

    answered: CountRange | None = Field(None, description=f"{COUNT}: operations that were answered with success")
    acknowledged: CountRange | None = Field(None, description=f"{COUNT}: writes that were acknowledged")
    refused: CountRange | None = Field(None, description=f"{COUNT}: operations that were refused")
    in_doubt: CountRange | None = Field(
        None, alias="in doubt", description=f"{COUNT}: operations that may have happened or not"
    )
    latency: TimeRange | None = Field(None, description=f"{TIME}: the longest from an operation's begin to its answer")

    @model_validator(mode="after")
    def _counts_something(self) -> GroupPart:
        return _says_something(self)


Counting = TypeVar("Counting", bound=Part)


def _says_something(part: Counting) -> Counting:
    if not part.model_fields_set:
        keys = [field.alias or name for name, field in type(part).model_fields.items()]
        raise ValueError(f"expected {', '.join(keys[:-1])} or {keys[-1]}, got none of them")
    return part


class ExpectPart(Part):
    """What is expected: at the end every invariant is expected to hold unless it says otherwise, in a check none."""

    acknowledged: CountRange | None = Field(None, description=COUNT)
    lost: CountRange | None = Field(None, description=COUNT)
    in_doubt: CountRange | None = Field(
        None, alias="in doubt", description=f"{COUNT}: operations that may have happened or not"
    )
    refused: CountRange | None = Field(None, description=COUNT)
    steps: StepsPart | None = Field(None, description="how many steps ended in which way, such as {refused: 2}")
    rpo: TimeRange | None = Field(None, description=f"{TIME}: how far lost writes reach before the fault, and after it")
    rto: TimeRange | None = Field(None, description=TIME)
    lag: CountRange | None = Field(None, description=f"{COUNT}: entries that the last secondary has not applied")
    lag_time: TimeRange | None = Field(None, alias="lag time", description=TIME)
    lags: dict[ClusterName, CountRange] = Field(
        {}, description="a mapping of secondaries to entries they have not applied such as {tokyo: {at most: 5}}"
    )
    lag_times: dict[ClusterName, TimeRange] = Field(
        {},
        alias="lag times",
        description="a mapping of secondaries to how long the oldest entry waits such as {tokyo: {at most: 2s}}",
    )
    differing: CountRange | None = Field(
        None,
        description=f"{COUNT}: keys that secondaries do not hold as their primary",
    )
    fetched: CountRange | None = Field(None, description=f"{COUNT}: keys that comparisons have fetched so far")
    roots: Annotated[str | None, one_of("equal or different", ROOTS)] = Field(None, description="equal or different")
    primary: Annotated[list[ClusterName] | None, BeforeValidator(_clusters)] = Field(
        None, description="a cluster, or a list of those that are primary"
    )
    modes: Modes = Field({}, description="a mapping of clusters to modes such as {tokyo: secondary}")
    states: States = Field({}, description="a mapping of clusters to states such as {tokyo: stream-wals}")
    connections: Connections = Field(
        {}, description="a mapping of secondaries to the state of their connection such as {tokyo: ready}, or not ready"
    )
    observed: dict[Annotated[str, one_of("what nodes observe", OBSERVABLE)], CountRange] = Field(
        {}, description="a mapping of what nodes observe to how often they did, such as {merkle_loop: {at least: 1}}"
    )
    logins: LoginsPart | None = Field(
        None, description="how many logins ended in which way, such as {refused: {at most: 2}}"
    )
    clients: dict[GroupName, GroupPart] = Field(
        {}, description="a mapping of groups of clients to what they got such as {writers: {in doubt: 0, latency: 2s}}"
    )
    invariants: dict[
        Annotated[str, one_of("an invariant", STANDING)], Annotated[str, one_of("held or broken", HELD)]
    ] = Field({}, description="a mapping such as {one primary: broken}")


class ExpectedRange(NamedTuple):
    """The values that a measure may have; None is not a limit."""

    measure: str
    low: int | None = None
    high: int | None = None


class NamedRange(NamedTuple):
    """The values that a measure of something may have: a key, whose it is, and of a group of clients what of it."""

    key: str
    name: str
    part: str
    low: int | None = None
    high: int | None = None

    @property
    def is_time(self) -> bool:
        """Whether it is a time, in nanoseconds."""
        return self.part == "latency" or self.key == "lag times"

    @property
    def title(self) -> str:
        """What is measured, in words."""
        if self.key == "clients":
            return f"{self.name}: {self.part}"
        return f"logins {self.name}" if self.key == "logins" else f"{self.key.removesuffix('s')} of {self.name}"

    @property
    def range_text(self) -> str:
        """The range, for people."""
        return range_text(write_duration if self.is_time else str, ExpectedRange(self.key, self.low, self.high))


class Expectations(NamedTuple):
    """What a file expects; None where it does not mention it.

    ``words`` are rows of measure, cluster and word; ``observed`` the ranges of counts by what was observed, ``named``
    those of clusters, logins and groups of clients.
    """

    ranges: tuple[ExpectedRange, ...] = ()
    roots: str | None = None
    primary: tuple[str, ...] | None = None
    invariants: tuple[tuple[str, str], ...] = ()
    words: tuple[tuple[str, str, str], ...] = ()
    observed: tuple[ExpectedRange, ...] = ()
    named: tuple[NamedRange, ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Expectations:
        """Build them from an ExpectPart's values by key."""
        primary, steps = values.get("primary"), values.get("steps") or {}
        counted = {**values, **{f"steps {how}": limits for how, limits in steps.items()}}
        return cls(
            ranges=tuple([_range(key, counted[key]) for key in RANGES if counted.get(key) is not None]),
            roots=values.get("roots"),
            primary=None if primary is None else tuple(sorted(primary)),
            invariants=tuple((values.get("invariants") or {}).items()),
            words=tuple([(key, name, word) for key in WORDS for name, word in (values.get(key) or {}).items()]),
            observed=tuple([_range(kind, limits) for kind, limits in (values.get("observed") or {}).items()]),
            named=tuple(_named(values)),
        )

    @property
    def text(self) -> str:
        """All of it in words: ``roots different, state of tokyo idle``."""
        writers: dict[str, Callable[[int], str]] = {
            **dict.fromkeys(RANGES, str),
            **dict.fromkeys(TIMES, write_duration),
        }
        parts = [f"{row.measure} {range_text(writers[row.measure], row)}" for row in self.ranges]
        parts += [f"roots {self.roots}"] if self.roots else []
        parts += [f"primary {' and '.join(self.primary) or 'none'}"] if self.primary is not None else []
        parts += [f"{measure.removesuffix('s')} of {cluster} {word}" for measure, cluster, word in self.words]
        parts += [f"{row.measure} {range_text(str, row)}" for row in self.observed]
        parts += [f"{row.title} {row.range_text}" for row in self.named]
        return ", ".join([*parts, *(f"{name} {verdict}" for name, verdict in self.invariants)])

    @classmethod
    def from_state(cls, state: tuple[Any, ...]) -> Expectations:
        """Build them again from plain values."""
        ranges, roots, primary, invariants, words, observed, *named = state  # earlier ones end there
        counted = tuple([ExpectedRange(OTHER_KEYS.get(name, name), *limits) for name, *limits in ranges])
        seen = tuple([ExpectedRange(*row) for row in observed])
        by_name = tuple([NamedRange(*row) for rows in named for row in rows])
        return cls(counted, roots, primary, invariants, words, seen, by_name)


def _range(measure: str, limits: Mapping[str, int | None]) -> ExpectedRange:
    exactly = limits["exactly"]
    low, high = (limits["at least"], limits["at most"]) if exactly is None else (exactly, exactly)
    return ExpectedRange(measure, low, high)


def _named(values: Mapping[str, Any]) -> Iterator[NamedRange]:
    for key in BY_NAME:
        for name, limits in (values.get(key) or {}).items():
            if limits is None:
                continue
            parts = limits.items() if key == "clients" else (("", limits),)
            for part, its in parts:
                if its is not None:
                    yield NamedRange(key, name, part, *_range(key, its)[1:])


def range_text(write: Callable[[int], str], expected: ExpectedRange | None) -> str:
    """Write a range for people; an empty text when nothing is expected."""
    if expected is None:
        return ""
    low, high = (None if end is None else write(end) for end in (expected.low, expected.high))
    if low == high:
        return str(low)
    return " and ".join(f"{word} {end}" for word, end in (("at least", low), ("at most", high)) if end is not None)
