"""Labs: a lab that is drawn for a seed, and any blueprint, as the lab section of a scenario file."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from labkit.hunt.draws import Draws
from labkit.lab.plan.blueprint import (
    BalancerPlan,
    Blueprint,
    ClientPlan,
    ClusterPlan,
    LinkPlan,
    NodeSettings,
    WorkloadPlan,
)
from labkit.scenario.value_types import BITS, read_duration, write_duration, write_share
from labkit.service.durations import format_duration

LabData = dict[str, Any]
CLIENTS_SITE = "lisbon"
WORK_FROM, WORK_UNTIL = "4s", "55s"
TOKEN_LIMITS: tuple[LabData, ...] = ({"ttl": "2s"}, {"ttl": "10s", "uses": 3}, {"ttl": "1h"})


def drawn_lab(draws: Draws) -> LabData:
    """Draw a pair or a triangle, with short or long backlogs, near or far apart, and clients at a place between."""
    clusters = ("paris", "tokyo", "lima")[: 3 if draws.chance(50) else 2]
    sites = [*clusters, CLIENTS_SITE]
    backlog = draws.one_of((8, 64, None))
    links = [
        {"between": [one, other], "latency": draws.one_of(("1ms", "20ms", "80ms", "200ms")), "jitter": "2ms"}
        for place, one in enumerate(sites)
        for other in sites[place + 1 :]
    ]
    return {
        "sites": sites,
        "links": links,
        "clusters": {
            name: {"site": name, "nodes": draws.one_of((1, 3, 3)), **({"backlog": backlog} if backlog else {})}
            for name in clusters
        },
        "clients": {"writers": _clients(draws, list(clusters)), **_more_clients(draws.apart("clients"), clusters)},
    }


def _clients(draws: Draws, clusters: list[str]) -> LabData:
    keys = draws.one_of((0, 3, 20))
    times = {"from": WORK_FROM, "until": WORK_UNTIL}
    work = [
        {"do": "put-secret", "every": draws.one_of(("100ms", "250ms", "1s")), **times, "keys": keys},
        {"do": "get-secret", "every": "500ms", **times, "keys": keys or 3},
        {"do": "encrypt", "every": "1s", **times},
    ]
    count = draws.one_of((1, 2, 3))
    return {"site": CLIENTS_SITE, "use": clusters, "count": count, "retries": draws.one_of((0, 4)), "work": work}


def _more_clients(draws: Draws, clusters: tuple[str, ...]) -> LabData:
    """Draw those who write and delete the same few secrets under check-and-set, and those who hold tokens."""
    found: LabData = {}
    times = {"from": WORK_FROM, "until": WORK_UNTIL}
    group = {"site": CLIENTS_SITE, "use": list(clusters)}
    if draws.chance(50):
        keys = draws.one_of((1, 2, 5))
        put = {"do": "put-secret", "every": draws.one_of(("300ms", "1s")), **times, "keys": keys}
        work = [
            {**put, "cas": True} if draws.chance(70) else put,
            {"do": "get-secret", "every": "700ms", **times, "keys": keys},
            {"do": "delete-secret", "every": draws.one_of(("2s", "5s")), **times, "keys": keys},
        ]
        found["sharers"] = {**group, "count": 2, "share": True, "retries": draws.one_of((0, 4)), "work": work}
    if draws.chance(50):
        limits = draws.one_of(TOKEN_LIMITS)
        work = [
            {"do": "create-token", "every": draws.one_of(("2s", "6s")), **times, **limits},
            {"do": "use-token", "every": "500ms", **times},
            {"do": "revoke-token", "every": draws.one_of(("7s", "20s")), **times},
        ]
        found["holders"] = {**group, "retries": draws.one_of((0, 4)), "work": work}
    return found


# ---- a blueprint as data


def lab_data(blueprint: Blueprint) -> LabData:
    """Return a blueprint as the lab section of a file; what is as it is unless written is left out."""
    found: LabData = {
        "sites": list(blueprint.sites),
        "links": [_link(plan) for plan in blueprint.links],
        "clusters": {plan.name: _cluster(plan) for plan in blueprint.clusters},
    }
    if blueprint.balancers:
        found["balancers"] = {plan.name: _balancer(plan) for plan in blueprint.balancers}
    if blueprint.cloud is not None:
        found["cloud"] = {"site": blueprint.cloud.site}
    if blueprint.clients:
        found["clients"] = {plan.name: _group(plan) for plan in blueprint.clients}
    return found


def _changed(plan: Any, keys: dict[str, tuple[str, Any]]) -> LabData:
    """Return the fields of a plan that are not as they are unless written: key, and how the value is written."""
    defaults = {field.name: field.default for field in fields(plan)}
    return {
        key: write(getattr(plan, name)) for name, (key, write) in keys.items() if getattr(plan, name) != defaults[name]
    }


def _as_is(value: Any) -> Any:
    return value


def _bits(value: int) -> str:
    unit = next(unit for unit in ("Mbit", "kbit", "bit") if value % BITS[unit] == 0)
    return f"{value // BITS[unit]}{unit}"


def _duration(duration_ns: int) -> str:
    """Write a duration for people where that is the same to the nanosecond, else as it is."""
    text = write_duration(duration_ns)
    return text if read_duration(text) == duration_ns else format_duration(duration_ns)


def _offset(value: int) -> str:
    return f"{'-' if value < 0 else ''}{_duration(abs(value))}"


def _link(plan: LinkPlan) -> LabData:
    keys = {
        "back_ns": ("back", _duration),
        "jitter_ns": ("jitter", _duration),
        "loss_ppm": ("loss", write_share),
        "bandwidth_bps": ("bandwidth", _bits),
        "distribution": ("distribution", _as_is),
    }
    return {"between": list(plan.between), "latency": _duration(plan.latency_ns), **_changed(plan, keys)}


def _cluster(plan: ClusterPlan) -> LabData:
    keys = {
        "nodes": ("nodes", _as_is),
        "shares": ("shares", _as_is),
        "threshold": ("threshold", _as_is),
        "version": ("version", _as_is),
        "backlog_entries": ("backlog", _as_is),
        "service_ns": ("service time", _duration),
        "fencing": ("fencing", _as_is),
        "each": ("each", lambda rows: {row.name: _node(row) for row in rows}),
    }
    return {"site": plan.site, **_changed(plan, keys)}


def _node(plan: NodeSettings) -> LabData:
    keys = {
        "version": ("version", _as_is),
        "service_ns": ("service time", _duration),
        "offset_ns": ("clock", _offset),
        "drift_ppm": ("drift", write_share),
    }
    return _changed(plan, keys)


def _balancer(plan: BalancerPlan) -> LabData:
    keys = {"check_ns": ("check", _duration), "fall": ("fall", _as_is), "ends_tls": ("ends tls", _as_is)}
    return {"site": plan.site, "use": list(plan.use), **_changed(plan, keys)}


def _group(plan: ClientPlan) -> LabData:
    keys = {
        "count": ("count", _as_is),
        "timeout_ns": ("timeout", _duration),
        "retries": ("retries", _as_is),
        "backoff_ns": ("backoff", _duration),
        "max_backoff_ns": ("backoff limit", _duration),
        "jitter_ppm": ("jitter", write_share),
        "budget_ppm": ("retry budget", write_share),
        "check_ns": ("health check", _duration),
        "fall": ("fall", _as_is),
        "consistent": ("consistent", _as_is),
        "through": ("through", _as_is),
        "share": ("share", lambda name: True if name == plan.name else name),
        "workload": ("work", lambda rows: [_work(row) for row in rows]),
    }
    return {"site": plan.site, "use": list(plan.use), **_changed(plan, keys)}


def _work(plan: WorkloadPlan) -> LabData:
    keys = {
        "from_ns": ("from", _duration),
        "until_ns": ("until", _duration),
        "size_bytes": ("size", lambda size: f"{size}B"),
        "keys": ("keys", _as_is),
        "cas": ("cas", _as_is),
        "ttl_ns": ("ttl", _duration),
        "uses": ("uses", _as_is),
        "role": ("role", _as_is),
        "machine": ("machine", _as_is),
        "by": ("by", _as_is),
        "role_id": ("role_id", _as_is),
        "secret_id": ("secret_id", _as_is),
        "user": ("user", _as_is),
        "password": ("password", _as_is),
    }
    return {"do": plan.operation, "every": _duration(plan.every_ns), **_changed(plan, keys)}
