"""``sys/health`` and ``sys/leader``: the state of a node, for load balancers and for clients without a token."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.durations import SECOND_NS, format_instant
from labkit.service.errors import NODE_SEALED, BadRequest, Unavailable
from labkit.service.message import Response, respond
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.seal_keys import SEALED
from labkit.vault.sealing.initialise import read_cluster
from labkit.vault.sealing.seal import seal_state

if TYPE_CHECKING:
    from labkit.vault.context import Context


NEVER = "0001-01-01T00:00:00Z"
ALWAYS = ("unauthenticated", "while_sealed", "on_standby", "any_mode", "any_namespace")

_STATUS = re.compile(r"\+?0*[1-5][0-9][0-9]", re.ASCII)

CODES = {
    "uninitialised": ("uninitcode", 501),
    "sealed": ("sealedcode", 503),
    "secondary": ("drsecondarycode", 472),
    "standby": ("standbycode", 429),
    "active": ("activecode", 200),
}
"""{state of a node: (parameter that sets its status, status)}; the first that fits counts."""


class HealthRequest(NamedTuple):
    """The statuses that a request sets in place of the usual ones."""

    uninitcode: str | None
    sealedcode: str | None
    drsecondarycode: str | None
    performancestandbycode: str | None
    standbycode: str | None
    activecode: str | None
    standbyok: str | None
    perfstandbyok: str | None


def health(ctx: Context, asked: HealthRequest) -> Response:
    """Return the node's state; the status says it too, and HEAD has only that."""
    sent = {name: code for name, code in asked._asdict().items() if name.endswith("code") and code is not None}
    if not all(map(_STATUS.fullmatch, sent.values())):
        raise BadRequest  # real servers say no more
    standby_will_do, _ = _switch("standbyok", asked.standbyok), _switch("perfstandbyok", asked.perfstandbyok)
    state = node_state(ctx)
    parameter, status = CODES[state]
    if state == "standby" and standby_will_do:
        parameter, status = CODES["active"]
    status = int(sent.get(parameter, status))
    return respond(status, None if ctx.request.method == "HEAD" else _describe(ctx, state))


def node_state(ctx: Context) -> str:
    """Return the node's state: one of the keys of ``CODES``."""
    state = seal_state(ctx.core)
    if state != "unsealed":
        return state
    if ctx.core.replica.mode.mode == "secondary":
        return "secondary"
    return "active" if ctx.core.leadership.active else "standby"


def _switch(name: str, sent: str | None) -> bool:
    """Read a parameter that is on when it is sent, unless it says false."""
    try:
        return sent is not None and (sent == "" or fields.to_flag(sent))
    except ValueError:
        raise BadRequest(f"{name} is true or false, not {sent}") from None


def _describe(ctx: Context, state: str) -> dict[str, Any]:
    core = ctx.core
    sealed = core.keys.sealed
    body: dict[str, Any] = {
        "initialized": state != "uninitialised",
        "sealed": sealed,
        "standby": sealed or not core.leadership.active,
        "performance_standby": False,
        "replication_performance_mode": "unknown" if sealed else "disabled",
        "replication_dr_mode": "unknown" if sealed else ctx.core.replica.mode.mode,
        "server_time_utc": ctx.now // SECOND_NS,
        "version": core.settings.version,
    }
    if not sealed:
        body |= read_cluster(ctx)
    return body


def leader(ctx: Context) -> dict[str, Any]:
    """Return which node of the cluster is the active one."""
    core = ctx.core
    duty, settings = core.leadership, core.settings
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
    if core.keys.sealed:
        raise Unavailable(SEALED, code=NODE_SEALED)
    if duty.active:
        since = format_instant(duty.since_ns) if duty.since_ns else NEVER
        addresses = {"leader_address": settings.api_address, "leader_cluster_address": settings.cluster_address}
        return {**body, "is_self": True, "active_time": since, **addresses}
    return {**body, "leader_address": duty.leader, "leader_cluster_address": duty.leader_cluster}


def _status(name: str, said: str) -> fields.Field:
    """Return the field of a status, which is judged as it is sent."""
    return fields.text(name, said)._replace(kind="integer")


ROUTES = (
    Route(
        "read",
        "health",
        health,
        Form(
            HealthRequest,
            (
                _status("uninitcode", "status of a node that is not initialised, in place of 501"),
                _status("sealedcode", "status of a sealed node, in place of 503"),
                _status("drsecondarycode", "status of a disaster-recovery secondary, in place of 472"),
                _status("performancestandbycode", "taken, but there are no performance standbys"),
                _status("standbycode", "status of a standby, in place of 429"),
                _status("activecode", "status of the active node, in place of 200"),
                fields.text("standbyok", "whether a standby answers as the active node does"),
                fields.text("perfstandbyok", "taken, but there are no performance standbys"),
            ),
        ),
        *ALWAYS,
        "no_envelope",
    ),
    Route("read", "leader", leader, (), *ALWAYS, "no_envelope"),
)
