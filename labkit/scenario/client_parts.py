"""Client parts: the models of a group of clients and of its work, in the lab section of a scenario file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from labkit.cloud.development import MACHINES
from labkit.lab.plan.workload_operations import (
    CLOUD,
    ISSUING,
    LOGIN,
    NEEDED,
    OF_LOGIN,
    OPERATIONS,
    OPTIONS,
    TAKING,
)
from labkit.scenario.expect_keys import Part, one_of
from labkit.scenario.problems import FieldError, expected
from labkit.scenario.value_types import ClusterName, Duration, Name, Share, Site, Size, is_name, write_duration
from labkit.service.durations import MILLISECOND_NS, SECOND_NS

MAX_USES = 1_000_000
SHARE = "true for keys that all its clients use, or a group that has share: true, whose keys they use"


def lasting(min_ns: int) -> AfterValidator:
    """Accept durations from a shortest one up."""

    def check(value: int) -> int:
        if value < min_ns:
            raise ValueError(f"expected a duration from {write_duration(min_ns)} up, got {write_duration(value)}")
        return value

    return AfterValidator(check)


def _whole_seconds(value: int) -> int:
    if not value or value % SECOND_NS:
        raise ValueError(expected("a duration of whole seconds such as 30s", write_duration(value)))
    return value


def _share(value: Any) -> bool | str:
    """Read what a group shares: true, false, or the name of a group."""
    if isinstance(value, bool) or (isinstance(value, str) and is_name(value)):
        return value
    raise ValueError(expected(SHARE, value))


Interval = Annotated[Duration, lasting(MILLISECOND_NS)]


class WorkPart(Part):
    """One thing that each client of a group does at a steady rate."""

    do: Annotated[str, one_of("an operation", OPERATIONS)] = Field(description="one of " + ", ".join(OPERATIONS))
    every: Interval = Field(description="a duration such as 100ms, from one operation to the next")
    from_: Duration = Field(0, alias="from", description="an instant such as 2s")
    until: Duration | None = Field(None, description="an instant such as 60s; the end unless given")
    size: Size = Field(64, description="a size such as 64B or 4KiB")
    keys: int = Field(0, ge=0, le=100_000, description="a number of keys to go round, or 0 for a new one each time")
    cas: bool = Field(False, description="true to put a secret only while it has the version that the client last saw")
    ttl: Annotated[Duration, AfterValidator(_whole_seconds)] | None = Field(
        None,
        description="a duration of whole seconds such as 30s that a created token lives; the service's unless given",
    )
    uses: int | None = Field(
        None,
        ge=1,
        le=MAX_USES,
        description="how often each created token may be used, from 1 up; no limit unless given",
    )
    role: str | None = Field(
        None, min_length=1, description="a role of auth/cloud/ such as app, to log in by; web unless given"
    )
    machine: Annotated[str | None, one_of("a machine of the cloud", MACHINES)] = Field(
        None, description=f"the machine that logs in, one of {', '.join(MACHINES)}; web-1 unless given"
    )
    by: Annotated[str | None, one_of("a type of login", tuple(OF_LOGIN))] = Field(
        None, description=f"how it logs in, one of {', '.join(OF_LOGIN)}, at auth/ and that name; cloud unless given"
    )
    role_id: str | None = Field(None, min_length=1, description="the role id that a program logs in with by approle")
    secret_id: str | None = Field(
        None, min_length=1, description="the secret id beside it; none for a role that asks for none"
    )
    user: str | None = Field(None, min_length=1, description="the name of a user who logs in by userpass")
    password: str | None = Field(None, min_length=1, description="the password of that user")

    @model_validator(mode="after")
    def _has_options_of_its_own(self) -> WorkPart:
        for key, operation in OPTIONS.items():
            if self.do != operation and key in self.model_fields_set:
                raise FieldError(f"expected {key} beside {operation} only, got it beside {self.do}", key)
        return self

    @model_validator(mode="after")
    def _says_how_it_logs_in(self) -> WorkPart:
        by = self.by or CLOUD
        for other, keys in OF_LOGIN.items():
            strange = next((key for key in keys if other != by and key in self.model_fields_set), None)
            if strange:
                raise FieldError(f"expected {strange} beside by: {other} only, got it beside by: {by}", strange)
        missing = [key for key in OF_LOGIN[by] if key in NEEDED and getattr(self, key) is None]
        if self.do == LOGIN and missing:
            raise FieldError(f"expected {' and '.join(missing)} too, to log in by {by}", "by")
        return self

    @model_validator(mode="after")
    def _ends_after_its_start(self) -> WorkPart:
        if self.until is not None and self.until <= self.from_:
            text = (
                f"expected an instant later than from ({write_duration(self.from_)}), got {write_duration(self.until)}"
            )
            raise FieldError(text, "until")
        return self


class ClientsPart(Part):
    """A group of clients."""

    site: Site = Field(description="the site of its hosts")
    use: list[ClusterName] = Field(min_length=1, description="clusters in order of preference such as [paris, tokyo]")
    count: int = Field(1, ge=1, le=100, description="a number of clients from 1 to 100")
    timeout: Interval = Field(SECOND_NS, description="a duration such as 1s")
    retries: int = Field(3, ge=0, le=1_000, description="a number of further attempts, from 0 up")
    backoff: Interval = Field(200 * MILLISECOND_NS, description="a duration such as 200ms between two attempts")
    backoff_limit: Interval | None = Field(
        None, alias="backoff limit", description="a duration such as 10s up to which each pause is twice the last one"
    )
    jitter: Share = Field(0, description="a share such as 20% by which pauses are longer or shorter")
    retry_budget: Share = Field(
        0, alias="retry budget", description="a share such as 10%: one further attempt for each ten operations"
    )
    health_check: Interval | None = Field(
        None,
        alias="health check",
        description="a duration such as 1s: check all nodes so often, use one that is in service",
    )
    fall: int = Field(2, ge=1, le=100, description="a number of failed checks that take a node out of service")
    through: Name | None = Field(None, description="a load balancer, when they know nothing else")
    consistent: bool = Field(False, description="true to send X-Vault-Index, so that no answer is older than a write")
    share: Annotated[bool | str, BeforeValidator(_share)] = Field(False, description=SHARE)
    work: list[WorkPart] = Field(
        [], max_length=20, description="a list of operations such as {do: put-secret, every: 100ms}"
    )

    @model_validator(mode="after")
    def _gets_the_tokens_that_it_takes(self) -> ClientsPart:
        named = [work.do for work in self.work]
        taking = next((name for name in named if name in TAKING), None)
        if taking is not None and not any(name in ISSUING for name in named):
            raise FieldError(f"expected {' or '.join(ISSUING)} too, since {taking} takes the tokens of these", "work")
        return self


Found = tuple[tuple[str | int, ...], str]
"""What is wrong: where, below the group, and the text."""


def errors_of_group(name: str, groups: Mapping[str, ClientsPart], *, has_cloud: bool) -> Iterator[Found]:
    """Yield what is wrong with a group of clients within its lab."""
    group = groups[name]
    sharing = [other for other, part in groups.items() if part.share is True]
    if isinstance(group.share, str) and group.share not in sharing:
        yield ("share",), expected(SHARE, group.share, sharing)
    for place, work in enumerate(group.work):
        if work.do == LOGIN and (work.by or CLOUD) == CLOUD and not has_cloud:
            text = "expected a cloud in the lab too such as {site: paris}, for login, or by: approle or userpass"
            yield ("work", place, "do"), text


def shared_keys(name: str, group: ClientsPart) -> str:
    """Return the name under which the keys of a group stand; an empty text where each client has its own."""
    return group.share if isinstance(group.share, str) else name if group.share else ""
