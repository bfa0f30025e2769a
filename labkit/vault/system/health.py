"""``sys/health`` and ``sys/leader``: how a node is, told to load balancers and clients without a token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.durations import format_instant
from labkit.service.errors import BadRequest, Unavailable
from labkit.service.message import Response, respond
from labkit.service.routing import Route
from labkit.vault.initialise import read_cluster
from labkit.vault.seal import seal_state

if TYPE_CHECKING:
    from labkit.vault.context import Context

SECOND_NS = 1_000_000_000

NEVER = "0001-01-01T00:00:00Z"
ALWAYS = ("open", "sealed", "standby", "any_mode", "any_namespace")

CODES = {
    "uninitialised": ("uninitcode", 501),
    "sealed": ("sealedcode", 503),
    "secondary": ("drsecondarycode", 472),
    "standby": ("standbycode", 429),
    "active": ("activecode", 200),
}
"""{how a node is: (parameter that sets its status, status)}, the first that fits counts."""


def health(
    ctx: Context,
    uninitcode: int | None,
    sealedcode: int | None,
    drsecondarycode: int | None,
    performancestandbycode: int | None,
    standbycode: int | None,
    activecode: int | None,
    standbyok: str | None,
    perfstandbyok: str | None,
) -> Response:
    """Tell how the node is; the status alone says it too, and HEAD has no more."""
    asked = {
        "uninitcode": uninitcode,
        "sealedcode": sealedcode,
        "drsecondarycode": drsecondarycode,
        "performancestandbycode": performancestandbycode,
        "standbycode": standbycode,
        "activecode": activecode,
    }
    for name, code in asked.items():
        if code is not None and not 100 <= code <= 599:
            raise BadRequest(f"{name} is an HTTP status between 100 and 599, not {code}")
    standby_will_do, _ = _switch("standbyok", standbyok), _switch("perfstandbyok", perfstandbyok)
    how = how_is(ctx)
    parameter, status = CODES[how]
    if how == "standby" and standby_will_do:
        parameter, status = CODES["active"]
    status = asked[parameter] or status
    return respond(status, None if ctx.request.method == "HEAD" else _describe(ctx, how))


def how_is(ctx: Context) -> str:
    """Name what a load balancer wants to know of the node: one of the keys of ``CODES``."""
    state = seal_state(ctx.core)
    if state != "unsealed":
        return state
    if ctx.core.mode().mode == "secondary":
        return "secondary"
    return "active" if ctx.core.duty.active else "standby"


def _switch(name: str, sent: str | None) -> bool:
    """Read a parameter that is on when it is there at all, unless it says false."""
    try:
        return sent is not None and (sent == "" or fields.to_flag(sent))
    except ValueError:
        raise BadRequest(f"{name} is true or false, not {sent}") from None


def _describe(ctx: Context, how: str) -> dict[str, Any]:
    core = ctx.core
    sealed = core.barrier is None
    body: dict[str, Any] = {
        "initialized": how != "uninitialised",
        "sealed": sealed,
        "standby": sealed or not core.duty.active,
        "performance_standby": False,
        "replication_performance_mode": "unknown" if sealed else "disabled",
        "replication_dr_mode": "unknown" if sealed else ctx.core.mode().mode,
        "server_time_utc": ctx.now // SECOND_NS,
        "version": core.settings.version,
    }
    if not sealed:
        body |= read_cluster(ctx)
    return body


def leader(ctx: Context) -> dict[str, Any]:
    """Tell which node of the cluster is the active one."""
    core = ctx.core
    duty, settings = core.duty, core.settings
    body: dict[str, Any] = {
        "ha_enabled": settings.high_availability,
        "is_self": False,
        "active_time": NEVER,
        "leader_address": "",
        "leader_cluster_address": "",
        "performance_standby": False,
        "performance_standby_last_remote_wal": 0,
    }
    if not settings.high_availability:
        return body
    if core.barrier is None:
        raise Unavailable("Vault is sealed", code="sealed")
    if duty.active:
        since = format_instant(duty.since_ns) if duty.since_ns else NEVER
        addresses = {"leader_address": settings.api_address, "leader_cluster_address": settings.cluster_address}
        return {**body, "is_self": True, "active_time": since, **addresses}
    return {**body, "leader_address": duty.leader, "leader_cluster_address": duty.leader_cluster}


ROUTES = (
    Route(
        "read",
        "health",
        health,
        (
            fields.integer("uninitcode", "status of a node that is not initialised, in place of 501"),
            fields.integer("sealedcode", "status of a sealed node, in place of 503"),
            fields.integer("drsecondarycode", "status of a disaster-recovery secondary, in place of 472"),
            fields.integer("performancestandbycode", "taken, but there are no performance standbys"),
            fields.integer("standbycode", "status of a standby, in place of 429"),
            fields.integer("activecode", "status of the active node, in place of 200"),
            fields.text("standbyok", "whether a standby answers as the active node does"),
            fields.text("perfstandbyok", "taken, but there are no performance standbys"),
        ),
        *ALWAYS,
        "bare",
    ),
    Route("read", "leader", leader, (), *ALWAYS, "bare"),
)
