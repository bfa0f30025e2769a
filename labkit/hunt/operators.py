"""Operators: what whoever runs the clusters does, as blocks of steps in a schedule.

1. One who keeps to runbooks looks at the modes of all clusters before each, and goes on only when the step above was
   done: whoever is promoted is the only one, for the old primary is fenced, or was demoted.
2. A fenced cluster comes back only once it is a secondary; its fence goes last.
3. One who is careless does single steps, whenever.  What breaks by that is a lesson about operating, no fault of the
   service.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.hunt.draws import Draws
from labkit.hunt.requests import REQUESTS, REST, REST_NS, WRONG_TOKEN
from labkit.hunt.schedule import Schedule, StepData
from labkit.hunt.swarm import Swarm
from labkit.service.durations import MILLISECOND_NS, SECOND_NS

LOOKS = "10s"
"""How long an operator waits for a cluster to be what the runbook wants."""

BETWEEN_NS = 200 * MILLISECOND_NS
PAUSES_NS = (300 * MILLISECOND_NS, 2 * SECOND_NS, 5 * SECOND_NS)


def _modes(**modes: str) -> dict[str, Any]:
    return {"modes": modes}


def planned_failover(schedule: Schedule, draws: Draws, swarm: Swarm) -> None:
    """Move the primary as planned, if both are what they are to be."""
    old, new = _two(schedule, draws)
    if old in schedule.fenced or new in schedule.fenced:
        return
    schedule.when(_modes(**{old: "primary", new: "secondary"}))
    schedule.then({"do": "failover", "old": old, "new": new})
    schedule.demotes = True


def unplanned_failover(schedule: Schedule, draws: Draws, swarm: Swarm) -> None:
    """Fence the old primary, or see to it that it is down, and promote one of the others, all of them secondaries."""
    free = [name for name in schedule.names.clusters if name not in schedule.fenced]
    if len(free) < 2:
        return
    old = draws.one_of(free)
    others = [name for name in schedule.names.clusters if name != old]
    new = draws.one_of([name for name in free if name != old])
    dead = draws.chance(50) and not schedule.demotes  # else it may be down because it was demoted
    schedule.when(_modes(**({} if dead else {old: "primary"}), **dict.fromkeys(others, "secondary")))
    schedule.fence(old)
    schedule.then({"do": draws.one_of(("crash", "isolate")), "target": old})
    forced = {"force": True} if draws.chance(15) else {}
    schedule.then({"do": "promote", "cluster": new, **forced}, draws.one_of(PAUSES_NS))
    for other in others:
        if other != new:
            schedule.then({"do": "repoint", "cluster": other, "to": new})
    if draws.chance(60):
        schedule.now_ns += draws.one_of(PAUSES_NS)
        come_back(schedule, old, new)
        if draws.chance(30):
            schedule.then({"do": "failover", "old": new, "new": old}, 3 * SECOND_NS)


def bring_back(schedule: Schedule, draws: Draws, swarm: Swarm) -> None:
    """Let a cluster that was fenced come back as a secondary of another."""
    if schedule.fenced:
        old = draws.one_of(schedule.fenced)
        come_back(schedule, old, draws.one_of([name for name in schedule.names.clusters if name != old]))


def come_back(schedule: Schedule, old: str, new: str) -> None:
    """Start a fenced cluster behind its fence, demote it, open the fence once it is a secondary, and re-point it.

    Nothing is done unless the other is the primary.
    """
    schedule.demotes = True
    schedule.when(_modes(**{new: "primary"}))
    schedule.then({"do": "isolate", "target": old})
    schedule.then({"do": "restart", "target": old}, BETWEEN_NS)
    schedule.then({"do": "unseal", "cluster": old}, SECOND_NS)
    schedule.then({"do": "demote", "cluster": old}, BETWEEN_NS)
    schedule.when(_modes(**{new: "primary", old: "secondary"}), LOOKS)
    schedule.then({"do": "heal", "target": old})
    schedule.then({"do": "repoint", "cluster": old, "to": new}, BETWEEN_NS)


def open_again(schedule: Schedule, old: str) -> None:
    """Open the fence of a cluster that nobody took over from: all others are secondaries."""
    others = [name for name in schedule.names.clusters if name != old]
    schedule.when(_modes(**dict.fromkeys(others, "secondary")))
    schedule.then({"do": "restart", "target": old})
    schedule.then({"do": "heal", "target": old}, BETWEEN_NS)
    schedule.then({"do": "unseal", "cluster": old}, SECOND_NS)


def reindex(schedule: Schedule, draws: Draws, swarm: Swarm) -> None:
    """Make an index again."""
    how = draws.one_of(({}, {"diff": True}, {"force": True}, {"skip_flush": True}))
    schedule.begin({"do": "reindex", "cluster": draws.one_of(schedule.names.clusters), **how})


def requests(schedule: Schedule, draws: Draws, swarm: Swarm) -> None:
    """Send requests of one of the kinds that are on."""
    if swarm.requests:
        kind = draws.one_of(swarm.requests)
        send(schedule, draws, kind, _usually_first(schedule, draws))


def more_requests(schedule: Schedule, draws: Draws, swarm: Swarm) -> None:
    """Send requests of a kind that is on, those for a secondary to one that is a secondary at first."""
    if swarm.requests:
        kind = draws.one_of(swarm.requests)
        others = schedule.names.clusters[1:]
        for_another = kind == WRONG_TOKEN and others and draws.chance(80)
        send(schedule, draws, kind, draws.one_of(others) if for_another else _usually_first(schedule, draws))


def send(schedule: Schedule, draws: Draws, kind: str, cluster: str) -> None:
    """Send the requests of a kind to a cluster, one after the other."""
    for step in REQUESTS[kind](draws, cluster):
        if step == REST:  # steps with instants follow: nothing has to wait here
            schedule.now_ns += REST_NS
            continue
        schedule.begin(step)
        schedule.now_ns += BETWEEN_NS


def _careless(verb: str, **options: Any) -> Callable[[Schedule, Draws, Swarm], None]:
    def block(schedule: Schedule, draws: Draws, swarm: Swarm) -> None:
        one, other = _two(schedule, draws)
        wanted: dict[str, StepData] = {
            "repoint": {"cluster": one, "to": other},
            "replicate": {"primary": one, "secondary": other},
            "enable-secondary": {"cluster": one, "primary": other},
        }
        schedule.begin({"do": verb, **wanted.get(verb, {"cluster": one}), **options})

    return block


def _usually_first(schedule: Schedule, draws: Draws) -> str:
    """Draw a cluster: more often than not the one that was the primary at first."""
    clusters = schedule.names.clusters
    return clusters[0] if draws.chance(60) else draws.one_of(clusters)


def _two(schedule: Schedule, draws: Draws) -> tuple[str, str]:
    """Draw two different clusters; of a lab with one cluster, that one twice."""
    one = draws.one_of(schedule.names.clusters)
    return one, draws.one_of([name for name in schedule.names.clusters if name != one] or [one])


OPERATOR_BLOCKS: dict[str, Callable[[Schedule, Draws, Swarm], None]] = {
    "planned failover": planned_failover,
    "unplanned failover": unplanned_failover,
    "return": bring_back,
    "reindex": reindex,
    "requests": requests,
    "promote by force": _careless("promote", force=True),
    **{
        verb: _careless(verb)
        for verb in (
            "promote",
            "demote",
            "repoint",
            "disable",
            "replicate",
            "enable-primary",
            "enable-secondary",
            "seal",
            "unseal",
        )
    },
}
