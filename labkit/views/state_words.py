"""State words: modes of clusters, states of replication and details of faults as a reader is shown them."""

from __future__ import annotations

import re

from labkit.service.durations import MILLISECOND_NS

STATES = {
    "idle": "idle",
    "stream-wals": "streaming",
    "merkle-diff": "comparing trees",
    "merkle-sync": "fetching keys",
    "running": "",
}
MODES = {"disabled": "not replicating"}
PERCENT_PPM = 10_000


NO_ACTIVE_NODE = "no active node"


def out_of_service(what: str, detail: str) -> tuple[str, str]:
    """Return in words what a cluster is that serves nobody, and how its nodes are: where all stand by, none is down."""
    return (NO_ACTIVE_NODE, "its nodes stand by") if detail == NO_ACTIVE_NODE else (what, detail)


def in_words(mode: str, state: str) -> str:
    """Return what a cluster is: its mode, and the state of its replication where that says more."""
    words = STATES.get(state, state)
    return f"{MODES.get(mode, mode)}{f', {words}' if words else ''}"


def detail_in_words(detail: str) -> str:
    """Return what a fault's event says of it, in the units of people: ``200000 ppm`` is 20 %."""
    detail = re.sub(r"(\d+) ppm", lambda found: f"{int(found[1]) / PERCENT_PPM:g} %", detail)
    detail = re.sub(r"(\d+) ns", lambda found: f"{int(found[1]) / MILLISECOND_NS:g} ms", detail)
    return re.sub(r"constant\(([^()]*)\)", r"\1", detail)
