"""Traffic: how many bytes each mechanism put on the wire, and between whom.

1. A message belongs to one mechanism, by its kind; a request or answer of the API by who its ends are.
2. It counts with its whole size on the wire, headers included, once its flight has ended; what is on its way does not
   count yet.  A datagram that comes twice counts twice.
3. Lost messages are sent messages too: their bytes are part of the sum, and named beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from labkit.lab.hosts.impostor import name_of
from labkit.lab.plan.blueprint import Blueprint
from labkit.trace import Trace

CLIENTS, OPERATORS, BETWEEN = "client requests", "operator requests", "requests between clusters"
MECHANISMS = {
    "forwarded_request": "forwarding",
    "forwarded_answer": "forwarding",
    "bootstrap_request": "bootstrap",
    "bootstrap_answer": "bootstrap",
    "guard_hash": "connecting",
    "challenge": "connecting",
    "disconnect": "connecting",
    "conflicting_pages": "comparison",
    "sub_page_hashes": "comparison",
    "fetch_keys": "fetch of keys",
    "stream_wals": "streaming",
    "stream": "streaming",
    "echo": "heartbeats",
    "announcement": "announcements",
    "root_key": "root key",
    "forged": "forged messages",
}
"""The mechanism of each kind of message but the API's requests and answers."""

API_KINDS = ("request", "response")
ORDER = tuple(dict.fromkeys((CLIENTS, OPERATORS, BETWEEN, *MECHANISMS.values())))
OPERATOR, IMPOSTOR = "operators", "impostors"


class Flow(NamedTuple):
    """What one mechanism sent from one party to another: messages, their bytes, and those of both that were lost.

    A party is a cluster, a group of clients, a load balancer, the operators, or impostors.
    """

    mechanism: str
    source: str
    target: str
    messages: int
    size_bytes: int
    lost_messages: int
    lost_bytes: int


class Slice(NamedTuple):
    """What one mechanism sent within a stretch of time: when it begins, messages and their bytes."""

    mechanism: str
    from_ns: int
    messages: int
    size_bytes: int


def flows(trace: Trace, blueprint: Blueprint) -> tuple[Flow, ...]:
    """Return what each mechanism sent, by parties: the largest part of a mechanism first."""
    party_of, mechanism_of = _parties(blueprint), _mechanisms(blueprint)
    counted: dict[tuple[str, str, str], list[int]] = {}
    for (what, source, target), counts in _counts(trace).items():
        ends = (mechanism_of(what, source, target), party_of(source), party_of(target))
        total = counted.setdefault(ends, [0, 0, 0, 0])
        total[:] = [mine + more for mine, more in zip(total, counts, strict=True)]
    found = [Flow(*ends, *counts) for ends, counts in counted.items()]
    return tuple(sorted(found, key=lambda flow: (_place(flow.mechanism), -flow.size_bytes, flow.source, flow.target)))


def slices(trace: Trace, blueprint: Blueprint, slice_ns: int) -> tuple[Slice, ...]:
    """Return what each mechanism sent in each slice of time, by when it was sent; slices with nothing are left out."""
    mechanism_of = _mechanisms(blueprint)
    counted: dict[tuple[str, str, str], dict[int, list[int]]] = {}
    for _, sent_ns, _, source, target, what, size_bytes, _ in _messages(trace):
        per_slice = counted.setdefault((what, source, target), {})
        counts = per_slice.setdefault(sent_ns // slice_ns, [0, 0])
        counts[0] += 1
        counts[1] += size_bytes
    merged: dict[tuple[str, int], list[int]] = {}
    for ends, per_slice in counted.items():
        mechanism = mechanism_of(*ends)
        for number, (messages, size_bytes) in per_slice.items():
            total = merged.setdefault((mechanism, number), [0, 0])
            total[0] += messages
            total[1] += size_bytes
    found = [Slice(mechanism, number * slice_ns, *counts) for (mechanism, number), counts in merged.items()]
    return tuple(sorted(found, key=lambda one: (_place(one.mechanism), one.from_ns)))


def _messages(trace: Trace) -> Iterable[tuple[str, int, int, str, str, str, int, str]]:
    return (row for chunk in trace.state()[1] for row in chunk if row[0] == "message")


def _counts(trace: Trace) -> dict[tuple[str, str, str], list[int]]:
    """Count messages by kind and hosts: all, their bytes, the lost ones, and theirs."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for _, _, _, source, target, what, size_bytes, fate in _messages(trace):
        counts = found.get((what, source, target))
        if counts is None:
            counts = found[what, source, target] = [0, 0, 0, 0]
        counts[0] += 1
        counts[1] += size_bytes
        if fate == "lost":
            counts[2] += 1
            counts[3] += size_bytes
    return found


def _parties(blueprint: Blueprint) -> Callable[[str], str]:
    """Return what names the party that a host belongs to; a host of none is its own."""
    party = {node: plan.name for plan in blueprint.clusters for node in plan.node_names}
    party |= {name_of(node): IMPOSTOR for node in party}
    party |= {plan.operator_host: OPERATOR for plan in blueprint.clusters}
    party |= {name: group.name for group in blueprint.clients for name in group.names}
    return lambda host: party.get(host, host)


def _mechanisms(blueprint: Blueprint) -> Callable[[str, str, str], str]:
    """Return what names the mechanism of a message, by its kind and hosts; an unknown kind is its own."""
    nodes = {node for plan in blueprint.clusters for node in plan.node_names}
    operators = {plan.operator_host for plan in blueprint.clusters}

    def mechanism_of(what: str, source: str, target: str) -> str:
        if what not in API_KINDS:
            return MECHANISMS.get(what, what)
        if source in operators or target in operators:
            return OPERATORS
        return BETWEEN if source in nodes and target in nodes else CLIENTS

    return mechanism_of


def _place(mechanism: str) -> tuple[int, str]:
    return (ORDER.index(mechanism), "") if mechanism in ORDER else (len(ORDER), mechanism)
