"""Beginnings: what a campaign takes from a file or a lab: the lab, the timeline up to its first fault, conditions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from labkit.hunt.drawing import FIRST_NS, Beginning
from labkit.hunt.labs import lab_data
from labkit.hunt.schedule import FAULT_VERBS
from labkit.lab.plan.blueprint import Blueprint
from labkit.scenario.documents.matrix import checked, put_in
from labkit.scenario.documents.shared_lab import with_shared_lab
from labkit.scenario.documents.yaml_positions import read
from labkit.scenario.loading import interpret
from labkit.service.durations import SECOND_NS

CONDITIONS_TAKEN = ("always", "leads to")
NOT_ALONE = frozenset({"promote", "demote", "failover", "disable", "seal"})
"""Runbooks with which a drill begins; what a campaign does is drawn."""


def of_file(path: str) -> Beginning:
    """Read a scenario file, of a matrix the first combination; ScenarioError says what is wrong with it."""
    document, combinations = checked(with_shared_lab(read(path)))
    scenario = interpret(document, combinations[0])
    data = put_in(document, combinations[0]).data
    steps = []
    for step, raw in zip(scenario.timeline, data.get("timeline", ()), strict=True):
        if step.verb in FAULT_VERBS or step.verb in NOT_ALONE:
            break
        steps.append({**raw, "late": "ok"} if step.verb not in ("check", "note", "luck") else raw)
    after_ns = max((step.at_ns or 0 for step in scenario.timeline[: len(steps)]), default=0)
    waits_ns = sum(step.after_ns + (dict(step.arguments).get("for") or 0) for step in scenario.timeline[: len(steps)])
    return Beginning(
        lab=lab_data(scenario.blueprint),
        steps=tuple(steps),
        over_time=_without_steps({key: data.get(key, []) for key in CONDITIONS_TAKEN}),
        from_ns=max(FIRST_NS, after_ns + waits_ns + 3 * SECOND_NS),
    )


def of_blueprint(blueprint: Blueprint) -> Beginning:
    """Take a lab as it was built, and let its first cluster be the primary of the others."""
    primary, *others = [plan.name for plan in blueprint.clusters]
    steps = [{"do": "replicate", "primary": primary, "secondary": other, "at": "1s", "late": "ok"} for other in others]
    return Beginning(lab=lab_data(blueprint), steps=tuple(steps))


def _without_steps(conditions: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Return by kind the conditions that name no step, for those of the file are not played.

    Each has a name, that of its place unless the file gives another: it keeps it when others go.  Where another
    condition has that name, it is that of a place further down at which there is none.
    """
    taken = {condition.get("name") for rows in conditions.values() for condition in rows}
    return {kind: kept for kind, rows in conditions.items() if (kept := [*_named(kind, rows, taken)])}


def _named(kind: str, rows: list[dict[str, Any]], taken: set[str | None]) -> Iterator[dict[str, Any]]:
    """Yield the conditions of a kind that name no step, each with its name."""
    further = (f"{kind} {number}" for number in count(len(rows) + 1))
    free = (name for name in further if name not in taken)
    for number, condition in enumerate(rows, 1):
        place = f"{kind} {number}"
        name = condition.get("name") or (next(free) if place in taken else place)
        if "after" not in condition:
            yield {"name": name, **condition} | {"name": name}
