"""Part shapes: of which kinds numbers and names in the state of stores, clients, balancers, ledger and rules are.

1. What is named here is read long after a lab was built, when it would end the run; a part's other members are judged
   by the part itself.
2. A member that is missing has its default, as in files of earlier versions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from labkit.front.lab_file.errors import LabFileError
from labkit.front.lab_file.field_kinds import kinds_of
from labkit.lab.records.ledger import CommittedWrite


class StoreShape(NamedTuple):
    """A cluster's store."""

    items: dict[str, bytes]
    leaves: dict[str, bytes]
    term: int


class ChecksShape(NamedTuple):
    """The health checks of a client or a load balancer."""

    round: int
    failures: dict[str, int]
    serving: tuple[str, ...]
    chosen: str


class ClientShape(NamedTuple):
    """A client."""

    position: int
    serial: int
    token: str
    down: bool
    credit_ppm: int
    refused_messages: int


class LedgerShape(NamedTuple):
    """What operations came to, and the commits whose answers somebody waits for."""

    counts: dict[str, int]
    waiting: dict[tuple[str, int], dict[int, CommittedWrite]]


class RulesShape(NamedTuple):
    """How often the standing rules were judged, and what each keeps."""

    planned: int
    judged: dict[str, int]
    rules: dict[str, dict[str, Any]]


class RuleShape(NamedTuple):
    """What one standing rule keeps."""

    occurred: int | bool  # whether it was, in files of earlier versions


def judge_parts(state: dict[str, Any]) -> None:
    """Return if what is named here is of its kind; LabFileError names the first that is not, and whose it is."""
    for whose, shape, part in _parts(state):
        if type(part) is not dict:
            raise LabFileError(f"the lab's state: {whose} is of another kind")
        for name, kind in kinds_of(shape):
            if name in part and not kind(part[name]):
                raise LabFileError(f"the lab's state: {name} of {whose} is of another kind")


def _parts(state: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield each part: whose it is, its shape, and what the state has of it."""
    yield "the ledger", LedgerShape, state["ledger"]
    yield "the rules", RulesShape, state["invariants"]
    for name, rule in state["invariants"].get("rules", {}).items():
        yield f"the rule {name:.40}", RuleShape, rule
    for name, store in state["stores"].items():
        yield f"the store of {name:.40}", StoreShape, store
    for name, client in state["clients"].items():
        yield f"{name:.40}", ClientShape, client
        if client.get("checks") is not None:
            yield f"the checks of {name:.40}", ChecksShape, client["checks"]
    for name, balancer in state["balancers"].items():
        checks = balancer.get("checks", {}) if type(balancer) is dict else balancer
        yield f"the checks of {name:.40}", ChecksShape, checks
