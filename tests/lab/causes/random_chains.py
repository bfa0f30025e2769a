"""Random labs, and rows of what happened in them, whose causes are looked for."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from labkit import Lab
from labkit.lab.causes.event_choice import EXPLAINED
from labkit.lab.plan.blueprint import ClientPlan, CloudPlan, WorkloadPlan, pair, triangle
from labkit.service.silence import Silence

MILLISECOND_NS, SECOND_NS = 1_000_000, 1_000_000_000
ACTS = 14


def labs(seed: int) -> Lab:
    """Play one random lab to its end; every second one has nodes whose requests take time."""
    rng = random.Random(seed)
    lab = Lab(blueprint(rng, slow=seed % 2 == 1), seed=seed)
    names = list(lab.clusters)
    for name in names[1:]:
        attempt(partial(lab.replicate, "paris", name))
    for _ in range(ACTS):
        lab.run(rng.choice(("1ms", "30ms", "400ms", "2s", "6s")))
        attempt(rng.choice(FAULTS)(lab, rng) if rng.random() < 0.6 else rng.choice(ASKED)(lab, rng))
    lab.run("10s")
    return lab


def blueprint(rng: random.Random, *, slow: bool) -> Any:
    """Two or three clusters, with writers and readers, perhaps with short journals, a cloud, or lossy lines."""
    plan, entries = rng.choice((pair, triangle))(), rng.choice((8, 16_384))
    service_ns = rng.choice((2, 10)) * MILLISECOND_NS if slow else 0
    clusters = tuple(replace(its, service_ns=service_ns, backlog_entries=entries) for its in plan.clusters)
    links = tuple(replace(its, loss_ppm=rng.choice((0, 0, 5_000))) for its in plan.links)
    work = tuple(
        WorkloadPlan(operation=name, every_ns=rng.choice((150, 400)) * MILLISECOND_NS, from_ns=3 * SECOND_NS)
        for name in ("put-secret", "get-secret")
    )
    how = rng.choice(({}, {"check_ns": SECOND_NS}, {"consistent": True}, {"timeout_ns": 300 * MILLISECOND_NS}))
    use = tuple(its.name for its in clusters)
    plan = replace(plan, clusters=clusters, links=links, cloud=CloudPlan(site="lisbon") if rng.random() < 0.3 else None)
    return plan.with_clients(ClientPlan(name="app", site="lisbon", use=use, workload=work, count=2, **how))


def attempt(act: Callable[[], Any]) -> None:
    """Do something that may not be possible now."""
    with suppress(Silence, RuntimeError, ValueError):
        act()


def _name(lab: Lab, rng: random.Random) -> str:
    return rng.choice(list(lab.clusters))


def _node(lab: Lab, rng: random.Random) -> str:
    return rng.choice([*lab.clusters, *lab.parts.nodes])


def _two(lab: Lab, rng: random.Random) -> tuple[str, str]:
    a, b = rng.sample(lab.blueprint.sites, 2)
    return a, b


def _ask(lab: Lab, rng: random.Random) -> Callable[[], Any]:
    method, path, body = rng.choice(REQUESTS)
    name = _name(lab, rng)
    token = rng.choice((lab[name].root_token, lab[name].root_token, "wrong"))
    return lambda: lab[name].request(method, path, body, {"X-Vault-Token": token}, timeout="5s")


def _fail_over(lab: Lab, rng: random.Random) -> Callable[[], Any]:
    """Begin a failover, which may wait for long until both clusters are level."""
    old, new = rng.sample(list(lab.clusters), 2)
    return lambda: lab.parts.console.start("failover", old=old, new=new)


def _promote(lab: Lab, rng: random.Random) -> Callable[[], Any]:
    """Begin a promotion; one that is not forced waits for hours behind a comparison that never ends."""
    name = _name(lab, rng)
    return lambda: lab.parts.console.start("promote", cluster=name, force=rng.random() < 0.5)


REQUESTS: tuple[tuple[str, str, Any], ...] = (
    ("POST", "secret/data/a", {"data": {"n": 1}}),
    ("GET", "secret/data/a", None),
    ("POST", "transit/keys/a", {}),
    ("POST", "sys/rotate", {}),
    ("POST", "sys/mounts/more", {"type": "kv"}),
    ("DELETE", "sys/mounts/more", None),
    ("POST", "sys/namespaces/team", {}),
    ("POST", "auth/token/create", {"ttl": "3s", "policies": ["default"]}),
    ("PUT", "sys/step-down", {}),
    ("PUT", "sys/seal", {}),
    ("POST", "sys/replication/reindex", {}),
    ("POST", "sys/replication/merkle-check", {}),
    ("POST", "sys/replication/recover", {}),
    ("GET", "sys/replication/dr/status", None),
)

FAULTS: tuple[Callable[[Lab, random.Random], Callable[[], Any]], ...] = (
    lambda lab, rng: lambda: lab.crash(_node(lab, rng)),
    lambda lab, rng: lambda: lab.restart(_name(lab, rng)),
    lambda lab, rng: lambda: lab.restart(_name(lab, rng)),
    lambda lab, rng: lambda: lab.crash_in_commit(_name(lab, rng)),
    lambda lab, rng: lambda: lab.pause(_node(lab, rng)),
    lambda lab, rng: lambda: lab.resume(_name(lab, rng)),
    lambda lab, rng: lambda: lab.skew(_node(lab, rng), "90s"),
    lambda lab, rng: lambda: lab.impersonate(_node(lab, rng)),
    lambda lab, rng: lambda: lab.expose(_name(lab, rng)),
    lambda lab, rng: lambda: lab.partition(*_two(lab, rng)),
    lambda lab, rng: lambda: lab.cut(*_two(lab, rng)),
    lambda lab, rng: lambda: lab.isolate(_two(lab, rng)[0]),
    lambda lab, rng: lambda: lab.heal(),
    lambda lab, rng: lambda: lab.heal(),
    lambda lab, rng: lambda: lab.slow(*_two(lab, rng), latency="700ms"),
    lambda lab, rng: lambda: lab.lose(*_two(lab, rng), 30),
    lambda lab, rng: lambda: lab.restore_links(),
    lambda lab, rng: lambda: lab.flap(*_two(lab, rng), down="700ms", up="2s"),
    lambda lab, rng: lambda: lab.steady(),
    lambda lab, rng: lambda: lab.corrupt(_name(lab, rng), rng.choice(("root", "page", "subpage", "storage"))),
)

ASKED: tuple[Callable[[Lab, random.Random], Callable[[], Any]], ...] = (
    _ask,
    _ask,
    _ask,
    lambda lab, rng: lambda: lab[_name(lab, rng)].unseal(),
    _promote,
    lambda lab, rng: lambda: lab[_name(lab, rng)].demote(),
    _fail_over,
    lambda lab, rng: lambda: lab.parts.console.start("repoint", cluster=_name(lab, rng), to=_name(lab, rng)),
    lambda lab, rng: lambda: lab[_name(lab, rng)].rekey(5, 3),
)


def chosen(lab: Lab, seed: int, count: int) -> list[Any]:
    """Choose rows of a lab's trace, as many of each kind, and what its ledger has of losses and promotions."""
    rng = random.Random(seed)
    rows: dict[Any, list[int]] = {}
    for number, event in enumerate(lab.trace):
        if event.kind in EXPLAINED:
            detail = getattr(event, "what", "") or getattr(event, "verb", "") or getattr(event, "outcome", "")
            rows.setdefault((event.kind, detail, getattr(event, "fate", "")), []).append(number)
    kinds = list(rows)
    found: list[Any] = [rng.choice(rows[rng.choice(kinds)]) for _ in range(count)]
    more = [*lab.ledger.promotions, *lab.ledger.lost(), *lab.ledger.failed_asks]
    return [*found, *rng.sample(more, min(len(more), count // 4))]
