"""Quiet: every fault is undone, every node started and opened, and then nothing happens for a long time.

1. What was promised for later is judged here: a secondary that does not catch up has no excuse any more.
2. A cluster that an operator fenced comes back as in a runbook, or stays fenced.
   A node that was to go down in its next commit is not, once it was started again, though it was up.
3. A lab in which something is left is not quiet, and its seed is not judged.
"""

from __future__ import annotations

from labkit.hunt.operators import BETWEEN_NS, come_back, open_again
from labkit.hunt.schedule import Schedule, StepData
from labkit.lab.bench import Bench
from labkit.lab.invariants.catching_up import PATIENCE_NS
from labkit.scenario.value_types import write_duration
from labkit.service.durations import SECOND_NS

QUIET_NS = 2 * PATIENCE_NS
RESTS_NS = (5 * SECOND_NS, 40 * SECOND_NS)
"""Until nodes are started and opened again: a new leader has claimed the store, a connection was tried again."""


def undo_all(schedule: Schedule, *, cloud: bool, replicates: bool = True) -> None:
    """Undo every fault, start and open every node, and let those come back that were fenced.

    Where no cluster replicates nobody takes over, so no runbook has fenced any.
    """
    names, fenced = schedule.names, schedule.fenced if replicates else ()
    steps: list[StepData] = [{"do": "cloud-recover"}, {"do": "cloud-restore"}] if cloud else []
    if fenced:
        sites = {names.sites[name] for name in fenced}
        free = [pair for pair in names.pairs if not sites.intersection(pair)]
        steps += [{"do": verb, "between": list(pair)} for pair in free for verb in ("steady", "heal")]
    else:
        steps += [{"do": "steady"}, {"do": "heal"}]
    steps.append({"do": "restore"})
    open_names = [name for name in names.clusters if name not in fenced]
    steps += [{"do": verb, "target": name} for name in names.clusters for verb in ("resume", "expose", "correct")]
    steps += [{"do": "restart", "target": name} for name in open_names]
    for step in steps:
        schedule.then(step, BETWEEN_NS, if_done=False)
    schedule.now_ns += 3 * SECOND_NS
    for name in open_names:
        schedule.then({"do": "unseal", "cluster": name}, BETWEEN_NS, if_done=False)
    for name in fenced:
        for other in names.clusters:
            if other != name:
                come_back(schedule, name, other)
        open_again(schedule, name)
        schedule.then({"do": "steady", "target": name}, if_done=False)
    for rest_ns in RESTS_NS:  # one that was to go down in its next commit does so as it leads, or follows, again
        schedule.then({"do": "wait", "for": write_duration(rest_ns)}, if_done=False)
        for name in open_names:
            schedule.then({"do": "restart", "target": name}, BETWEEN_NS, if_done=False)
        schedule.then({"do": "wait", "for": write_duration(3 * SECOND_NS)}, if_done=False)
        for name in names.clusters:
            schedule.then({"do": "unseal", "cluster": name}, BETWEEN_NS, if_done=False)


def what_is_left(lab: Bench) -> str:
    """Return what is not undone, or not open, in a lab; empty for one that is quiet."""
    parts, queries = lab.parts, lab.queries
    if not parts.network.is_whole or parts.network.impaired():
        return "a line is not as it was"
    if any(row.flaps for row in parts.flapping.values()):
        return "a line flaps"
    for name, node in parts.nodes.items():
        impostor = parts.impostors.get(name)
        if not queries.is_running(name):
            return f"{name} is down"
        if node.vault.sealed:
            return f"{name} is sealed"
        if queries.is_paused(name) or (impostor is not None and impostor.present) or node.clock.error_ns:
            return f"{name} is not itself"
    return ""
