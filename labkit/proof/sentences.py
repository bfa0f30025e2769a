"""Sentences: a way through the model of replication as a reader follows it, one sentence per event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from labkit.proof.network_kinds import NetworkKind
from labkit.proof.parcels import ANNOUNCEMENT, ANSWER, OLD, PUSH, QUESTION, REFUSAL, Parcel
from labkit.proof.steps import (
    BEAT,
    BEGAN,
    CAUGHT,
    CUT,
    DELIVERED,
    GAVE_UP,
    RESTARTED,
    TOOK_OVER,
    TRIED,
    WROTE,
    Occurrence,
)

PLAIN = {
    BEGAN: "The secondary begins to connect.",
    GAVE_UP: "No heartbeat was answered for too long: the connection is over.",
    TRIED: "The backoff is over: the secondary connects again.",
    RESTARTED: "Another node of the secondary becomes active, and begins from what is stored.",
    TOOK_OVER: "Another node of the primary becomes active: its backlog is empty, and it has no stream.",
}


def sentences(way: Iterable[Occurrence], parcels: list[Parcel], kind: NetworkKind) -> Iterator[str]:
    """Yield what happened, event by event."""
    number = 0
    for event in way:
        if event.kind == WROTE:
            number += 1
            key, value = event.about
            wrote = f"{key} deleted" if value is None else f"{key} = {value.decode()}"
            yield f"The primary commits entry {number}: {wrote}."
        elif event.kind == CAUGHT:
            lost = " and ".join(parcels[question].rpc for question in event.caught)
            yield f"{_event(event.about, parcels, kind)} It asks {lost}, and {kind.about}, that question among it."
        else:
            yield _event(event, parcels, kind)


def _event(event: Occurrence, parcels: list[Parcel], kind: NetworkKind) -> str:
    if event.kind in (DELIVERED, BEAT):
        return arrival(parcels[event.about])
    if event.kind == CUT:
        named = [parcels[number] for number in (event.about, *event.caught) if number is not None and number >= 0]
        which = "".join(f" ({_name(parcel)})" for parcel in named)
        return f"{kind.about[0].upper()}{kind.about[1:]}{which}."
    return PLAIN[event.kind]


def arrival(parcel: Parcel) -> str:
    """Return what happens when a message arrives."""
    message = parcel.message()
    old = ", which is about what is over" if OLD in (message.get("serial"), message.get("asked")) else ""
    if parcel.kind == QUESTION:
        return f"The question {parcel.rpc}, held back until now{old}, reaches node {parcel.node} of the primary."
    if parcel.kind == PUSH:
        entries = " and ".join(str(number) for number, _ in message.get("entries", ()))
        return f"A push arrives{old}: {f'entry {entries}' if entries else 'the entries are gone'}."
    if parcel.kind == REFUSAL:
        return f"Node {parcel.node} refuses {parcel.rpc}{old}, and names node {message['addresses'][0]}."
    if parcel.kind == ANNOUNCEMENT:
        return f"Node {message['address']} of the primary announces itself, with term {message['term']}."
    if parcel.rpc == "echo":
        way = "aside" if message["aside"] else "after all before it"
        return f"A heartbeat, {way}, is answered{old}: entry {message['sent']} was pushed last."
    return f"The answer to {parcel.rpc} arrives{old}: {_answered(parcel.rpc, message)}."


def _answered(rpc: str, message: dict[str, Any]) -> str:
    if message.get("gone"):
        return "the entries are gone"
    if rpc == "guard_hash":
        if message["found"]:
            return f"found at entry {message['index']}"
        return f"not found, compare with entry {message['generation']}"
    if rpc == "conflicting_pages":
        return f"pages that differ: {len(message['pages'])}"
    if rpc == "sub_page_hashes":
        return f"keys in what differs: {len(message['leaves'])}"
    if rpc == "fetch_keys":
        return ", ".join(f"{key} = {value.decode()}" if value else f"{key} is gone" for key, value in message["values"])
    return f"entries follow from {message['from']}"


def _name(parcel: Parcel) -> str:
    known = {ANSWER: f"the answer to {parcel.rpc}", PUSH: "a push", ANNOUNCEMENT: "an announcement"}
    return known.get(parcel.kind) or f"the {parcel.kind} {parcel.rpc}"
