"""``sys/metrics``: what a node counts, as JSON or as text for Prometheus (its exposition format, version 0.0.4).

Each gauge is counted when it is asked for; nothing is kept for it, so there are no counters and no samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.service import fields
from labkit.service.durations import format_instant
from labkit.service.errors import BadRequest
from labkit.service.message import Response
from labkit.service.routing import Route
from labkit.vault import leases, token_index
from labkit.vault.mounts import read_table
from labkit.vault.system.mounted import AUTH

if TYPE_CHECKING:
    from labkit.vault.context import Context

PROMETHEUS = "prometheus"
FORMATS = (None, "", PROMETHEUS)
TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Gauge(NamedTuple):
    """One number: its name with dots, what it counts, its value, and its labels in order."""

    name: str
    about: str
    value: int
    labels: tuple[tuple[str, str], ...] = ()


def read_metrics(ctx: Context, format: str | None) -> dict[str, Any] | Response:  # noqa: A002  # the parameter's name
    """Return what this node counts; with ``format=prometheus`` as text."""
    if format not in FORMATS:
        raise BadRequest(f"format is {PROMETHEUS}, or left out for JSON; got {format!r:.40}")
    gauges = _gauges(ctx)
    if format == PROMETHEUS:
        body: Any = exposition(gauges)
        return Response(200, {"Content-Type": TEXT_TYPE, "Cache-Control": "no-store"}, body)
    rows = [{"Name": one.name, "Value": one.value, "Labels": dict(one.labels)} for one in gauges]
    return {"Timestamp": format_instant(ctx.now), "Gauges": rows, "Points": [], "Counters": [], "Samples": []}


def exposition(gauges: tuple[Gauge, ...]) -> str:
    """Write gauges as Prometheus reads them: what each name counts, then a line for each of its values."""
    lines: list[str] = []
    for place, gauge in enumerate(gauges):
        name = gauge.name.replace(".", "_")
        if not place or gauges[place - 1].name != gauge.name:
            lines += [f"# HELP {name} {gauge.about}", f"# TYPE {name} gauge"]
        labels = ",".join([f'{label}="{_escaped(text)}"' for label, text in gauge.labels])
        lines.append(f"{name}{'{' + labels + '}' if labels else ''} {gauge.value}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _gauges(ctx: Context) -> tuple[Gauge, ...]:
    core, mounts = ctx.core, read_table(ctx.namespace_storage).mounts
    of_node = (("cluster", core.settings.cluster_name),)
    at_auth = sum([mount.path.startswith(AUTH) for mount in mounts])
    entries = "mounts in a mount table"
    made = leases.counts(ctx)
    return (
        Gauge(
            "vault.core.active",
            "1 where the active node answers, as for a standby",
            int(core.leadership.active),
            of_node,
        ),
        Gauge("vault.core.unsealed", "1 on a node that is unsealed", int(not ctx.keys.sealed), of_node),
        Gauge("vault.core.mount_table.num_entries", entries, at_auth, (("type", "auth"),)),
        Gauge("vault.core.mount_table.num_entries", entries, len(mounts) - at_auth, (("type", "logical"),)),
        Gauge("vault.expire.num_leases", "leases that have not ended", sum(made.values())),
        *[
            Gauge("vault.expire.leases.by_path", "leases that a path made", number, (("path", path),))
            for path, number in made.items()
        ],
        Gauge("vault.barrier.encryptions", "values that this node encrypted under the newest key", _encryptions(ctx)),
        Gauge("vault.token.count", "tokens that are stored", len(token_index.index_of(ctx))),
    )


def _encryptions(ctx: Context) -> int:
    barrier = ctx.keys.barrier
    assert barrier is not None, "only an unsealed node answers this"
    return barrier.encryptions


# What is measured, for monitoring; a token that may read it is needed.
ROUTES = (
    Route(
        "read", "metrics", read_metrics, (fields.text("format", "prometheus for text; JSON otherwise"),), "no_envelope"
    ),
)
