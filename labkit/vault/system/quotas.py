"""Quotas: ``sys/quotas/rate-limit``, ``sys/quotas/lease-count``, and the configuration of rate limits.

A rule is written as a whole: what is not sent has its default.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest, NotFound
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.mounts import read_table
from labkit.vault.quotas import lease_counts, rate_limits
from labkit.vault.quotas.rules import LeaseCount, Quotas, RateLimit, Rule, Scope, read_quotas, write_quotas
from labkit.vault.storage.storage_view import StorageView

if TYPE_CHECKING:
    from labkit.vault.context import Context

MAX_RULES = 1_000
MAX_RATE = 10**9
MAX_EXEMPT = 1_000


class RateLimitRequest(NamedTuple):
    """The fields of a request to write a rate limit."""

    name: str
    path: str | None
    role: str | None
    rate: Any
    interval: int | None
    block_interval: int | None
    inheritable: bool | None


def write_rate_limit(ctx: Context, asked: RateLimitRequest) -> None:
    """Write a rate limit."""
    rate, interval_s, block_s = _rate(asked.rate), asked.interval or 1, asked.block_interval or 0
    quotas = read_quotas(ctx)
    scope = _scope(ctx, asked.path or "", asked.role or "")
    rule = RateLimit(asked.name, scope, _inheritable(scope, asked.inheritable), rate, interval_s, block_s)
    _store(ctx, quotas._replace(rate_limits=_with(quotas.rate_limits, rule)))


def write_lease_count(
    ctx: Context, name: str, path: str | None, role: str | None, max_leases: int | None, inheritable: bool | None
) -> None:
    """Write a limit of leases."""
    if max_leases is None or max_leases <= 0:
        raise BadRequest("'max_leases' is invalid: it must be greater than 0")
    quotas = read_quotas(ctx)
    scope = _scope(ctx, path or "", role or "")
    rule = LeaseCount(name, scope, _inheritable(scope, inheritable), max_leases)
    _store(ctx, quotas._replace(lease_counts=_with(quotas.lease_counts, rule)))


def _rate(sent: Any) -> float:
    try:
        rate = 0.0 if isinstance(sent, bool) else float(sent if isinstance(sent, (int, float, str)) else 0)
    except (ValueError, OverflowError):
        rate = 0.0
    if not isfinite(rate) or not 0 < rate <= MAX_RATE:
        raise BadRequest(f"'rate' is invalid: expected a number above 0 and up to {MAX_RATE}")
    return rate


def _inheritable(scope: Scope, sent: bool | None) -> bool:
    """Return whether child namespaces have the rule too: only one of a whole namespace may say so."""
    if sent and scope.mount:
        raise BadRequest("'inheritable' can only be set on the quota of a namespace; leave the mount out of 'path'")
    return not scope.path if sent is None else sent


def _scope(ctx: Context, path: str, role: str) -> Scope:
    """Return what a path is about: a namespace, a mount in it, or a path in that; raise BadRequest for nothing."""
    rest, namespace = path.strip("/") + "/" if path.strip("/") else "", ""
    table = read_table(ctx.full_storage)
    while rest and (child := table.child(rest)) is not None:
        namespace, rest = child.path, rest[len(child.name) :]
        table = read_table(StorageView(ctx, child.prefix))
    if not rest:
        if role:
            raise BadRequest("'role' needs the path of an auth method in 'path'")
        return Scope(namespace, "", "")
    mount = table.find(rest)
    if mount is None:
        raise BadRequest(f'invalid mount path "{rest}"')
    suffix = rest[len(mount.path) :].rstrip("/")
    if role:
        raise BadRequest(_why_no_role(namespace + mount.path, suffix))
    return Scope(namespace, mount.path, suffix)


def _why_no_role(path: str, suffix: str) -> str:
    if suffix:
        return "quotas cannot contain both a path suffix and a role"
    if "auth/" not in path:
        return f'mount path "{path}" is not a valid auth method and therefore unsuitable for use with role-based quotas'
    return f'mount path "{path}" does not support use with role-based quotas'


def _with(rules: tuple[Rule, ...], rule: Rule) -> tuple[Rule, ...]:
    """Return rules with one added, or in place of the one of its name; raise BadRequest where another says the same."""
    left = [other for other in rules if other.name != rule.name]
    for other in left:
        if other.scope == rule.scope:
            raise BadRequest(f'quota rule with similar properties exists under the name "{other.name}"')
    if len(left) == MAX_RULES:
        raise BadRequest(f"there are {MAX_RULES} quotas of this kind already; delete one first")
    left.append(rule)
    return tuple(sorted(left, key=_name_of))


def _name_of(rule: RateLimit | LeaseCount) -> str:
    return rule.name


def _store(ctx: Context, quotas: Quotas) -> None:
    write_quotas(ctx, quotas)
    counts = ctx.core.rate_counts
    ctx.after_commit = lambda: rate_limits.drop_unused(counts, quotas)


def _named(rules: tuple[Rule, ...], name: str) -> Rule:
    for rule in rules:
        if rule.name == name:
            return rule
    raise NotFound


def _listed(rules: tuple[Rule, ...]) -> dict[str, Any]:
    if not rules:
        raise NotFound
    return {"keys": [rule.name for rule in rules]}


def list_rate_limits(ctx: Context) -> dict[str, Any]:
    """List the rate limits of all namespaces."""
    return _listed(read_quotas(ctx).rate_limits)


def list_lease_counts(ctx: Context) -> dict[str, Any]:
    """List the limits of leases of all namespaces."""
    return _listed(read_quotas(ctx).lease_counts)


def read_rate_limit(ctx: Context, name: str) -> dict[str, Any]:
    """Read a rate limit."""
    rule = _named(read_quotas(ctx).rate_limits, name)
    whole = int(rule.rate)
    return {
        "type": "rate-limit",
        "name": name,
        "path": rule.scope.path,
        "role": "",
        "rate": whole if whole == rule.rate else rule.rate,
        "interval": rule.interval_s,
        "block_interval": rule.block_interval_s,
        "inheritable": rule.inheritable,
    }


def read_lease_count(ctx: Context, name: str) -> dict[str, Any]:
    """Read a limit of leases, with how many there are."""
    rule = _named(read_quotas(ctx).lease_counts, name)
    return {
        "type": "lease-count",
        "name": name,
        "path": rule.scope.path,
        "role": "",
        "max_leases": rule.max_leases,
        "counter": lease_counts.count(ctx, rule),
        "inheritable": rule.inheritable,
    }


def delete_rate_limit(ctx: Context, name: str) -> None:
    """Delete a rate limit; a missing one is not an error."""
    quotas = read_quotas(ctx)
    left = tuple([rule for rule in quotas.rate_limits if rule.name != name])
    if left != quotas.rate_limits:
        _store(ctx, quotas._replace(rate_limits=left))


def delete_lease_count(ctx: Context, name: str) -> None:
    """Delete a limit of leases; a missing one is not an error."""
    quotas = read_quotas(ctx)
    left = tuple([rule for rule in quotas.lease_counts if rule.name != name])
    if left != quotas.lease_counts:
        _store(ctx, quotas._replace(lease_counts=left))


def read_config(ctx: Context) -> dict[str, Any]:
    """Read the configuration of rate limits."""
    quotas = read_quotas(ctx)
    return {
        "enable_rate_limit_audit_logging": quotas.records_refusals,
        "enable_rate_limit_response_headers": quotas.answers_headers,
        "rate_limit_exempt_paths": list(quotas.exempt),
    }


def write_config(
    ctx: Context,
    rate_limit_exempt_paths: list[str] | None,
    enable_rate_limit_audit_logging: bool | None,
    enable_rate_limit_response_headers: bool | None,
) -> None:
    """Write the configuration of rate limits."""
    exempt = tuple(dict.fromkeys([path.lstrip("/") for path in rate_limit_exempt_paths or () if path.strip("/!")]))
    if len(exempt) > MAX_EXEMPT:
        raise BadRequest(f"rate_limit_exempt_paths: at most {MAX_EXEMPT}, not {len(exempt)}")
    records, answers = bool(enable_rate_limit_audit_logging), bool(enable_rate_limit_response_headers)
    write_quotas(ctx, read_quotas(ctx)._replace(exempt=exempt, records_refusals=records, answers_headers=answers))


NAME = fields.name("name", "name of the rule")
PATH = fields.text("path", "namespace, mount or path in one, where a final * stands for any rest; empty for all")
ROLE = fields.text("role", "refused: no auth method here has logins by role")
INHERITABLE = fields.flag("inheritable", "whether child namespaces have it too; so has the rule for all")

RATE_FIELDS = (
    NAME,
    PATH,
    ROLE,
    fields.anything("rate", "how many requests of one client are allowed in an interval"),
    fields.duration("interval", "how long the interval is; a second when left out"),
    fields.duration("block_interval", "how long a client is refused that sent too many"),
    INHERITABLE,
)
COUNT_FIELDS = (NAME, PATH, ROLE, fields.integer("max_leases", "how many leases there may be"), INHERITABLE)
CONFIG_FIELDS = (
    fields.text_list("rate_limit_exempt_paths", "beginnings of paths without a limit; with ! before it, with one"),
    fields.flag("enable_rate_limit_audit_logging", "whether refused requests are in the audit records"),
    fields.flag("enable_rate_limit_response_headers", "whether answers say how many requests are left"),
)

ROUTES = (
    Route("read", "quotas/config", read_config),
    Route("write", "quotas/config", write_config, CONFIG_FIELDS),
    Route("list", "quotas/rate-limit/", list_rate_limits),
    Route("read", "quotas/rate-limit/<name>", read_rate_limit, (NAME,)),
    Route("write", "quotas/rate-limit/<name>", write_rate_limit, Form(RateLimitRequest, RATE_FIELDS)),
    Route("delete", "quotas/rate-limit/<name>", delete_rate_limit, (NAME,)),
    Route("list", "quotas/lease-count/", list_lease_counts, (), "enterprise"),
    Route("read", "quotas/lease-count/<name>", read_lease_count, (NAME,), "enterprise"),
    Route("write", "quotas/lease-count/<name>", write_lease_count, COUNT_FIELDS, "enterprise"),
    Route("delete", "quotas/lease-count/<name>", delete_lease_count, (NAME,), "enterprise"),
)
