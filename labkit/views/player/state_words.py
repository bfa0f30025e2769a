"""State words: the modes of clusters and the states of replication as a reader is shown them."""

from __future__ import annotations

STATES = {
    "idle": "idle",
    "stream-wals": "streaming",
    "merkle-diff": "comparing trees",
    "merkle-sync": "fetching keys",
    "running": "",
}
MODES = {"disabled": "not replicating"}


def in_words(mode: str, state: str) -> str:
    """Return what a cluster is: its mode, and the state of its replication where that says more."""
    words = STATES.get(state, state)
    return f"{MODES.get(mode, mode)}{f', {words}' if words else ''}"
