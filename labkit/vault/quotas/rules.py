"""Rules of quotas: what they are about, which one decides about a request, how they are stored.

One rule of each kind decides, the most specific one: of the whole path, of the longest path with a final ``*``, of the
mount, of the namespace; else that of the nearest parent namespace that is inheritable.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from labkit.service.record import NamedTuple
from labkit.vault.mounts import QUOTAS
from labkit.vault.storage.barrier import BarrierError
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context

EXEMPT = (
    *("sys/generate-recovery-token/attempt", "sys/generate-recovery-token/update", "sys/generate-root/attempt"),
    *("sys/generate-root/update", "sys/health", "sys/seal-status", "sys/unseal"),
)
"""What begins with one of these is exempt from rate limits until the configuration says otherwise."""


class Scope(NamedTuple):
    """What a rule is about: a namespace's path, a mount's path in it, and the rest of a path; empty for all."""

    namespace: str
    mount: str
    suffix: str

    @property
    def path(self) -> str:
        """The whole path."""
        return self.namespace + self.mount + self.suffix


class RateLimit(NamedTuple):
    """So many requests of one client in each interval; ``rate`` is the number as it was sent."""

    name: str
    scope: Scope
    inheritable: bool
    rate: float
    interval_s: int
    block_interval_s: int

    @property
    def requests(self) -> int:
        """The whole number of requests in an interval."""
        return max(1, int(self.rate + 0.5))


class LeaseCount(NamedTuple):
    """How many leases there may be."""

    name: str
    scope: Scope
    inheritable: bool
    max_leases: int


class Quotas(NamedTuple):
    """All rules, sorted by name, and the configuration of rate limits."""

    rate_limits: tuple[RateLimit, ...] = ()
    lease_counts: tuple[LeaseCount, ...] = ()
    exempt: tuple[str, ...] = EXEMPT
    records_refusals: bool = False
    answers_headers: bool = False


Rule = TypeVar("Rule", RateLimit, LeaseCount)


class Rules(dict[Scope, Rule]):
    """Rules of one kind by what they are about; ``lengths`` are those of suffixes with a ``*``, by their mount.

    So the rules of a path are looked for by a few of its beginnings, not by all.
    """

    __slots__ = ("lengths",)

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        super().__init__()
        found: set[tuple[str, str, int]] = set()
        for rule in rules:
            self[rule.scope] = rule
            namespace, mount, suffix = rule.scope
            if suffix.endswith("*"):
                found.add((namespace, mount, len(suffix) - 1))
        self.lengths: dict[tuple[str, str], list[int]] = {}
        for namespace, mount, length in sorted(found, reverse=True):
            self.lengths.setdefault((namespace, mount), []).append(length)


class InForce(NamedTuple):
    """The stored quotas, and their rules by what they are about."""

    quotas: Quotas
    rate_limits: Rules[RateLimit]
    lease_counts: Rules[LeaseCount]


NONE = InForce(Quotas(), Rules(), Rules())


def _decode(stored: bytes) -> InForce:
    rates, counts, exempt, records, answers = decode_record(stored)
    quotas = Quotas(
        tuple([RateLimit(row[0], Scope(*row[1]), *row[2:]) for row in rates]),
        tuple([LeaseCount(row[0], Scope(*row[1]), *row[2:]) for row in counts]),
        tuple(exempt),
        records,
        answers,
    )
    return InForce(quotas, Rules(quotas.rate_limits), Rules(quotas.lease_counts))


def read_quotas(ctx: Context) -> Quotas:
    """Return all quotas and their configuration."""
    return (ctx.full_storage.decoded(QUOTAS, _decode) or NONE).quotas


def write_quotas(ctx: Context, quotas: Quotas) -> None:
    """Store all quotas when the step commits."""
    if quotas == NONE.quotas:
        ctx.full_storage.delete(QUOTAS)
    else:
        ctx.full_storage.put(QUOTAS, encode_record(list(quotas)))


def forget(ctx: Context, namespace: str, mount: str = "") -> None:
    """Delete the rules of a mount, or of a namespace, that is deleted."""
    if ctx.read(QUOTAS) is None:
        return
    quotas = read_quotas(ctx)

    def left(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        return tuple([rule for rule in rules if not (rule.scope.namespace == namespace and _within(rule, mount))])

    write_quotas(ctx, quotas._replace(rate_limits=left(quotas.rate_limits), lease_counts=left(quotas.lease_counts)))


def move(ctx: Context, old: Scope, new: Scope) -> None:
    """Let the rules of a mount follow it to its new path."""
    if ctx.read(QUOTAS) is None:
        return
    quotas = read_quotas(ctx)

    def moved(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        return tuple(
            [rule._replace(scope=new._replace(suffix=rule.scope.suffix)) if at(rule) else rule for rule in rules]
        )

    def at(rule: RateLimit | LeaseCount) -> bool:
        return rule.scope[:2] == old[:2]

    write_quotas(ctx, quotas._replace(rate_limits=moved(quotas.rate_limits), lease_counts=moved(quotas.lease_counts)))


def _within(rule: RateLimit | LeaseCount, mount: str) -> bool:
    return not mount or rule.scope.mount == mount


def rule_for(rules: Rules[Rule], place: Scope) -> Rule | None:
    """Return the rule that decides about a request to a place."""
    if not rules:
        return None
    for scope in _narrowing(place, rules.lengths.get((place.namespace, place.mount), ())):
        if scope in rules:
            return rules[scope]
    parent = place.namespace
    while parent:
        parent = parent[: parent.rstrip("/").rfind("/") + 1]
        found = rules.get(Scope(parent, "", ""))
        if found is not None and found.inheritable:
            return found
    return None


def _narrowing(place: Scope, lengths: Iterable[int]) -> Iterable[Scope]:
    """Return the scopes that may decide about a place, the most specific first; ``lengths`` as ``Rules`` has them."""
    namespace, mount, suffix = place
    if mount:
        if suffix:
            yield place
        for length in lengths:
            if length <= len(suffix):
                yield Scope(namespace, mount, suffix[:length] + "*")
        yield Scope(namespace, mount, "")
    yield Scope(namespace, "", "")


def place_of(ctx: Context) -> Scope:
    """Return where a request goes."""
    assert ctx.resolved is not None
    mount = ctx.resolved.mount
    found = mount.path if mount is not None else ""
    return Scope(ctx.namespace.path, found, ctx.path[len(found) :].rstrip("/"))


def rules_in_force(ctx: Context) -> InForce:
    """Return all quotas as a request meets them: none where the record does not open, which is reported (C12)."""
    try:
        return ctx.full_storage.decoded(QUOTAS, _decode) or NONE
    except BarrierError:
        ctx.core.note_damage(QUOTAS)
        return NONE
