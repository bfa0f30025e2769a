"""Overlooked: what a cell that shows only its last line keeps from a reader: a write that was refused, a field ignored.

1. It is said beside a verdict, and judges nothing.
2. What was mended since is not said: only the last request to a path counts.  A missing permission (403) of a vault is
   not said either: lessons ask for it on purpose.
"""

from __future__ import annotations

from textwrap import shorten
from typing import Any

from labkit.front.lab import Lab
from labkit.front.vault import Vault
from labkit.lessons.plan import Exercise
from labkit.lessons.worlds import branched, is_changing
from labkit.vault.calls import Call

FIRST_REFUSAL, FORBIDDEN = 400, 403
MAX_REASON, MAX_SAID, MAX_PATHS = 160, 3, 20


def overlooked(exercise: Exercise, world: Any) -> tuple[str, ...]:
    """Return what was refused or ignored since the start of an exercise, as sentences."""
    assert exercise.start is not None, "asked before"
    begun = exercise.start()
    if isinstance(world, Lab):
        return _refused_in_lab(world, begun)
    if isinstance(world, Vault):
        return _slips_in_vault(world, list(world.calls)[len(begun.calls) :])
    return ()


def _refused_in_lab(lab: Lab, begun: Lab) -> tuple[str, ...]:
    new = lab.ledger.failed_asks[len(begun.ledger.failed_asks) :]
    refused = [ask for ask in new if is_changing(ask.method) and ask.status]
    good_ns = {write.path: write.at_ns for write in lab.ledger.writes}
    refused = [ask for ask in refused if good_ns.get(ask.path, 0) < ask.at_ns]
    if not refused:
        return ()
    last = refused[-1]
    cluster, reason = last.asker.removesuffix("-operator"), shorten(last.reason, MAX_REASON)
    answer = f"{last.status}: {reason}" if reason else f"{last.status}"
    return (f"Refused since the start: {last.method} {last.path} at {cluster} answered {answer}.",)


def _slips_in_vault(vault: Vault, calls: list[Call]) -> tuple[str, ...]:
    by_path = {call.path: call for call in calls if is_changing(call.method)}
    latest, found = list(by_path.values())[-MAX_PATHS:], []
    refused = [call for call in latest if call.status >= FIRST_REFUSAL and call.status != FORBIDDEN]
    if refused:
        asked = f"{refused[-1].method} {refused[-1].path}"
        found.append(f"Refused since the start: {asked} answered {refused[-1].status}; its `.errors` say why.")
    branch = branched(vault)
    for call in latest:
        ignored = ignored_names(branch, call)
        if ignored:
            names = ", ".join(f"`{name}`" for name in ignored)
            found.append(f"Ignored: {names} of {call.method} {call.path}; `?help=1` on that path lists its fields.")
    return tuple(found[:MAX_SAID])


def ignored_names(branch: Vault, call: Call) -> list[str]:
    """Return the names that a call sent and that its path does not take; none where it takes any."""
    declared = _fields(branch, call)
    return [name for name in call.names if declared and name.partition(".")[0] not in declared]


def _fields(branch: Vault, call: Call) -> set[str]:
    answer = branch.get(f"{call.path}?help=1")
    paths = answer.body["openapi"]["paths"] if answer.ok and answer.body else {}
    names: set[str] = set()
    for row in paths.values():
        asked = row.get("post" if call.method == "PUT" else call.method.lower(), {})
        for content in asked.get("requestBody", {}).get("content", {}).values():
            names |= set(content["schema"].get("properties", ()))
        names |= {one["name"] for one in asked.get("parameters", ()) if one.get("in") == "query"}
    return names
