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
from labkit.lab.records.ledger import FailedAsk
from labkit.lessons.plan import Exercise
from labkit.lessons.worlds import branched, is_changing
from labkit.vault.calls import Call

FIRST_REFUSAL, FORBIDDEN, NOT_FOUND = 400, 403, 404
ROLES, DATA = "sys/replication/", "/data/"
OPTION, CAS = "options.", "options.cas"
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
    refused = [ask for ask in refused if good_ns.get(ask.path, 0) < ask.at_ns and not _was_mended(lab, ask)]
    if not refused:
        return ()
    last = refused[-1]
    answer = _answered(last.path, last.status, last.reason)
    return (f"Refused since the start: {last.method} {last.path} at {_cluster(last)} answered {answer}.",)


def _was_mended(lab: Lab, ask: FailedAsk) -> bool:
    """Whether a cluster that refused to change its role has changed it since."""
    changes = lab.trace.select("mode", cluster=_cluster(ask))
    return ask.path.startswith(ROLES) and any(event.at_ns > ask.at_ns for event in changes)


def _cluster(ask: FailedAsk) -> str:
    return ask.asker.removesuffix("-operator")


def _answered(path: str, status: int, reason: str) -> str:
    """Return a refusal with its reason; of a secret's path that is none, what it lacks."""
    first, _, rest = path.partition("/")
    if not reason and status == NOT_FOUND and first == "secret" and rest:
        reason = f"it knows no such path; the contents of {rest} are at secret/data/{rest}"
    return f"{status}: {shorten(reason, MAX_REASON).rstrip('.')}" if reason else f"{status}"


def _slips_in_vault(vault: Vault, calls: list[Call]) -> tuple[str, ...]:
    by_path = {call.path: call for call in calls if is_changing(call.method)}
    latest, found = list(by_path.values())[-MAX_PATHS:], []
    refused = [call for call in latest if call.status >= FIRST_REFUSAL and call.status != FORBIDDEN]
    if refused:
        last = refused[-1]
        answer = _answered(last.path, last.status, _reason(branched(vault), last))
        found.append(f"Refused since the start: {last.method} {last.path} answered {answer}.")
    branch = branched(vault)
    for call in latest:
        ignored = ignored_names(branch, call)
        if ignored:
            names = ", ".join(f"`{name}`" for name in ignored)
            found.append(f"Ignored: {names} of {call.method} {call.path}; `?help=1` on that path lists its fields.")
    return tuple(found[:MAX_SAID])


def _reason(branch: Vault, call: Call) -> str:
    """Return why a call was refused, asked once more where it is refused alike."""
    answer = branch.request(call.method, call.path, call.body, {"X-Vault-Token": branch.root_token})
    return "; ".join(answer.errors) if answer.status == call.status else ""


def ignored_names(branch: Vault, call: Call) -> list[str]:
    """Return the names that a call sent and that its path does not take; none where it takes any."""
    declared = _fields(branch, call)
    unknown = [name for name in call.names if declared and name.partition(".")[0] not in declared]
    return unknown + [name for name in call.names if name.startswith(OPTION) and name != CAS and DATA in call.path]


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
