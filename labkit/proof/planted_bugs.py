"""Planted bugs: mistakes made on purpose around the shipped code, to see that a search finds them.

1. A bug changes what ``on`` is given or returns, what answers a question, or how a node stands for election; the
   shipped code stays as it is.
2. A search must find each, but one whose ``harmless`` says why it breaks nothing: that one is a control, and a search
   that complains of it complains of too much.
3. ``keeps_old``: messages about what is over stay in the search, since the bug does not ignore them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from labkit.lab.nodes.election import (
    LEASE_NS,
    RENEW_NS,
    RENEWED,
    Candidacy,
    Lease,
    read_lease,
    stand,
    write_lease,
)
from labkit.proof.bounds import Bounds
from labkit.proof.primary import Answers
from labkit.vault.replication import serving_secondaries
from labkit.vault.replication.events import Event, Pushed, Replace, ReplyArrived, TimerFired
from labkit.vault.replication.serving_secondaries import QUESTIONS
from labkit.vault.replication.state import State, Step
from labkit.vault.replication.sync import on
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.storage import StaleTerm, Storage

REPLICATION, ELECTION = "replication", "election"
"""The machines that have planted bugs."""


class PlantedBug(NamedTuple):
    """A mistake: what it is, the code with it, the bounds of a search for it, and in which machine it is."""

    about: str
    on: Callable[[State, Event], Step] = on
    answers: Answers = QUESTIONS
    bounds: Bounds = Bounds()
    keeps_old: bool = False
    harmless: str = ""
    stand: Callable[..., Candidacy] = stand
    machine: str = REPLICATION


def _gap_ignored(state: State, event: Event) -> Step:
    if isinstance(event, Pushed) and event.payload.get("entries") and state.position is not None:
        before = event.payload["entries"][0][0] - 1
        if state.stream and event.payload["serial"] == state.stream and before > state.position:
            return on(state._replace(position=before), event)
    return on(state, event)


def _complete_between(state: State, event: Event) -> Step:
    after, effects = on(state, event)
    partial = [effect for effect in effects if isinstance(effect, Replace) and not effect.complete]
    if partial:
        after = after._replace(complete=True)
        effects = [effect._replace(complete=True) if effect in partial else effect for effect in effects]
    return after, effects


def _deletions_forgotten(state: State, event: Event) -> Step:
    after, effects = on(state, event)
    return after, [
        effect._replace(changes=tuple([change for change in effect.changes if change[1] is not None]))
        if isinstance(effect, Replace)
        else effect
        for effect in effects
    ]


def _stale_answer(state: State, event: Event) -> Step:
    if isinstance(event, ReplyArrived) and event.rpc == state.awaiting:
        event = event._replace(payload={**event.payload, "serial": state.serial})
    return on(state, event)


def _stale_stream(state: State, event: Event) -> Step:
    if not isinstance(event, Pushed) or event.payload["serial"] == state.stream:
        return on(state, event)
    after, effects = on(state._replace(stream=event.payload["serial"]), event)
    return (after._replace(stream=state.stream) if after.stream else after), effects


def _stale_push(state: State, event: Event) -> Step:
    if isinstance(event, Pushed) and state.stream:
        event = event._replace(payload={**event.payload, "serial": state.stream})
    return on(state, event)


def _from_newest(journal: Journal, question: Mapping[str, Any]) -> dict[str, Any]:
    answer = serving_secondaries.guard_hash(journal, question)
    return {**answer, "index": journal.last} if answer["found"] else answer


def _fetch_newest(journal: Journal, question: Mapping[str, Any]) -> dict[str, Any]:
    return serving_secondaries.fetch_keys(journal, {**question, "generation": journal.last})


def _never_compared(journal: Journal, question: Mapping[str, Any]) -> dict[str, Any]:
    return serving_secondaries.guard_hash(journal, {**question, "compare": True})


def _dead_unnoticed(state: State, event: Event) -> Step:
    if isinstance(event, TimerFired) and event.name == "heartbeat":
        state = state._replace(heard_ns=event.at.now_ns)
    return on(state, event)


def _taken_early(store: Storage, node: str, term: int, now_ns: int, candidate: bool = True) -> Candidacy:
    return stand(store, node, term, now_ns if term else now_ns + RENEW_NS, candidate)


def _renewed_for_another(store: Storage, node: str, term: int, now_ns: int, candidate: bool = True) -> Candidacy:
    lease = _held(store)
    if lease is None or not term or lease.holder in ("", node):
        return stand(store, node, term, now_ns, candidate)
    renewed = Lease(lease.holder, lease.term, now_ns + LEASE_NS)
    try:
        write_lease(store, renewed)
    except StaleTerm:
        return stand(store, node, term, now_ns, candidate)
    return Candidacy(RENEWED, renewed)


def _held(store: Storage) -> Lease | None:
    try:
        return read_lease(store)
    except ValueError:
        return None


SOUND = PlantedBug("none: the shipped code")
SMALL = Bounds(writes=2, cuts=1)

PLANTED_BUGS = {
    "gap-ignored": PlantedBug(
        "an entry is applied although the one before it did not arrive",
        _gap_ignored,
        bounds=SMALL._replace(network="losing"),
    ),
    "stream-from-newest": PlantedBug(
        "the stream begins at the newest entry, not at that of the guard",
        answers={**QUESTIONS, "guard_hash": _from_newest},
        bounds=SMALL,
    ),
    "fetch-newest": PlantedBug(
        "keys are fetched as they are now, not as they were at the entry that was compared",
        answers={**QUESTIONS, "fetch_keys": _fetch_newest},
        bounds=SMALL,
    ),
    "complete-between": PlantedBug(
        "the contents count as complete between two batches of fetched keys", _complete_between, bounds=SMALL
    ),
    "deletions-forgotten": PlantedBug(
        "keys that the primary does not have are not deleted", _deletions_forgotten, bounds=SMALL
    ),
    "stale-answer": PlantedBug(
        "an answer to an earlier question of the same kind is accepted",
        _stale_answer,
        bounds=Bounds(writes=1, cuts=1, network="duplicating"),
        keeps_old=True,
    ),
    "stale-stream": PlantedBug(
        "a push of an earlier stream is accepted, also while contents are compared",
        _stale_stream,
        bounds=Bounds(writes=3, cuts=1, network="late"),
        keeps_old=True,
    ),
    "guards-never-compared": PlantedBug(
        "a secondary that comes back is compared whole, though the backlog has its guard",
        answers={**QUESTIONS, "guard_hash": _never_compared},
        bounds=SMALL,
    ),
    "dead-connection-unnoticed": PlantedBug(
        "a connection on which nothing is answered any more is kept for good", _dead_unnoticed, bounds=SMALL
    ),
    "lease-taken-early": PlantedBug(
        "a node takes the lease a second before its time is over", stand=_taken_early, machine=ELECTION
    ),
    "lease-renewed-for-another": PlantedBug(
        "a node that was overtaken renews the lease of its successor as if it were its own",
        stand=_renewed_for_another,
        machine=ELECTION,
    ),
    "stale-push": PlantedBug(
        "a push of an earlier stream is accepted while another stream is open",
        _stale_push,
        bounds=Bounds(writes=1, cuts=1, network="duplicating"),
        keeps_old=True,
        harmless="within one history a number stands for one entry, whichever stream brings it, and it is applied only "
        "when it is the next",
    ),
}
