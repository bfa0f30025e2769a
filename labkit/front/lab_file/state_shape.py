"""State shape: what a lab's state has at its top, and how many hosts its blueprint plans, judged before a lab is built.

What stands deeper is for the part of the lab that takes it; a part that cannot makes no lab.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

from labkit.front.lab_file.errors import LabFileError
from labkit.front.lab_file.field_kinds import kinds_of
from labkit.lab.measures.request_record import ROW_TYPES
from labkit.lab.measures.tree_record import ROW_LENGTHS
from labkit.lab.plan.blueprint import Blueprint
from labkit.service.arguments import shown
from labkit.sim.network import NetworkState
from labkit.trace import EVENTS

PICTURES = "pictures"
MAX_USED_NODES = 4_000_000
"""How many nodes there may be in what all groups of clients and load balancers use, each counted as often as used."""


class StateShape(NamedTuple):
    """The parts that each saved state has, and of which kind they are."""

    branch_label: str
    luck: tuple[Any, ...]
    branches: int
    trace: tuple[bool, tuple[tuple[tuple[Any, ...], ...], ...]]
    clock: tuple[int, tuple[tuple[int, tuple[str, str, Any]], ...]]
    random_streams: tuple[tuple[str, int], ...]
    drawn_once: dict[str, tuple[int, ...]]
    network: NetworkState
    stores: dict[str, dict[str, Any]]
    files: dict[str, dict[str, Any]]
    blocked_files: dict[str, dict[str, Any]]
    nodes: dict[str, dict[str, Any]]
    processes: dict[str, Any]
    passages: dict[str, Any]
    clients: dict[str, dict[str, Any]]
    balancers: dict[str, Any]
    clouds: dict[str, dict[str, Any]]
    impostors: dict[str, Any]
    hosts: tuple[str, ...]
    console: dict[str, Any]
    ledger: dict[str, Any]
    flapping: tuple[tuple[Any, ...], ...]
    bookkeeping: dict[str, Any]
    invariants: dict[str, Any]
    conditions: tuple[Any, ...]
    scenario: dict[str, Any] | None


BY_NAME = ("stores", "files", "nodes", "processes", "passages", "clients", "balancers", "clouds", "impostors")
"""What a state has of each cluster, node or client, by its name."""


def has_same_names(saved: dict[str, Any], again: dict[str, Any]) -> bool:
    """Whether two states are of the same clusters, nodes and clients."""
    return all(saved[part].keys() == again[part].keys() for part in BY_NAME)


def judge_state(state: dict[str, Any]) -> None:
    """Return if a state has its parts, each of its kind, and no other; LabFileError names the first that is wrong.

    A tree record is there where pictures are kept.
    """
    strange = [name for name in state if name not in (*StateShape._fields, PICTURES)]
    if strange:
        raise LabFileError(f"the lab's state: expected no {strange[0]!r:.40}")
    for name, kind in kinds_of(StateShape):
        if name not in state or not kind(state[name]):
            raise LabFileError(f"the lab's state: {name} is missing or of another kind")
    for chunk in state["trace"][1]:
        for event in chunk:
            if type(event[0] if event else None) is not str or len(EVENTS.get(event[0], ())) != len(event) - 1:
                raise LabFileError("the lab's trace: expected an event of a known kind, with the fields of that kind")
    if PICTURES in state:
        _judge_pictures(state[PICTURES])


def judge_plans(blueprint: Blueprint, state: dict[str, Any]) -> None:
    """Return if a blueprint plans as many hosts as the state has, at sites of its network.

    It counts only: no name is made of a blueprint before, which may say a billion nodes in a few bytes.
    """
    planned = {
        "nodes": [plan.nodes for plan in blueprint.clusters],
        "clients": [group.count for group in blueprint.clients],
        "balancers": [1] * len(blueprint.balancers),
    }
    for part, counts in planned.items():
        if min(counts, default=1) < 1 or sum(counts) != len(state[part]):
            wanted, had = sum(counts), len(state[part])
            raise LabFileError(f"the lab's state: expected the {part} of its blueprint, {shown(wanted)}, got {had}")
    strange = sorted({*blueprint.sites}.difference(state["network"].topology[0]))
    if strange:
        raise LabFileError(f"the lab's blueprint: expected sites of its network, got {shown(strange[0])}")


def judge_uses(blueprint: Blueprint) -> None:
    """Return if clients and load balancers use so few nodes in all that a plan of each can be made for each of them."""
    sizes = {plan.name: plan.nodes + len(plan.each) for plan in blueprint.clusters}
    uses = [group.use for group in blueprint.clients] + [plan.use for plan in blueprint.balancers]
    if sum(sizes.get(cluster, 1) for use in uses for cluster in use) > MAX_USED_NODES:
        most = f"at most {MAX_USED_NODES:,} nodes in what clients and load balancers use"
        raise LabFileError(f"the lab's blueprint: expected {most}, got more")


def _judge_pictures(record: Any) -> None:
    """Return if a tree record has its parts and rows of known kinds."""
    if type(record) is not dict or {*record, "requests"} != {"rows", "requests", "floors", "reached"}:
        raise LabFileError("the lab's state: expected pictures with rows, requests, floors and reached")
    requests = record.get("requests", ())  # none in files of earlier versions
    for chunks in (record["rows"], requests):
        if type(chunks) is not tuple or not all(type(chunk) is tuple for chunk in chunks):
            raise LabFileError("the lab's pictures: expected rows in chunks")
    for row in chain.from_iterable(requests):
        if type(row) is not tuple or tuple(map(type, row)) != ROW_TYPES:
            raise LabFileError("the lab's pictures: expected a request with its row, asker, numbers and path")
    for chunk in record["rows"]:
        for row in chunk:
            kinds = [type(part) for part in row[:3]] if type(row) is tuple else []
            if kinds != [str, int, str] or ROW_LENGTHS.get(row[0]) != len(row):
                raise LabFileError("the lab's pictures: expected a row of a known kind, with the parts of that kind")
