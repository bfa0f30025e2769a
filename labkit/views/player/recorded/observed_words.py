"""Observed words: what a node observed of itself, in the words of `labkit help words` where the trace has its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from labkit.lab.wire.addresses import host_of
from labkit.trace import ObservedEvent
from labkit.views.state_words import STATES
from labkit.views.trace_lines import TEXTS

SYNC_STATE = "sync_state"
STILL_SECONDARY = "the cluster is secondary now"  # why a secondary's replication stops where it begins again


def observed_in_words(event: ObservedEvent) -> str:
    """Return what a node observed; of what has no words of its own the trace's name and fields."""
    say = WORDS.get(event.what)
    return TEXTS["observed"](event) if say is None else f"{event.node} {say(dict(event.fields))}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _state(fields: Mapping[str, Any]) -> str:
    before, after = (STATES.get(fields[name], fields[name]) for name in ("before", "after"))
    return f"goes from {before} to {after}: {fields['because']}"


def _stopped(fields: Mapping[str, Any]) -> str:
    if fields["reason"] == STILL_SECONDARY:
        return "ends its replication and begins again: what it is to follow was changed"
    return f"ends its replication as a secondary: {fields['reason']}"


WORDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "sealed": lambda fields: "is sealed" + (f": {fields['reason']}" if "reason" in fields else ""),
    SYNC_STATE: _state,
    "replication_connected": lambda fields: f"is connected to {host_of(fields['address'])}",
    "replication_stopped": _stopped,
    "replication_disconnected": lambda fields: f"lost the connection to its primary: {fields['reason']}",
    "missing_guard": lambda fields: "finds no place in the primary's journal by its guard: it compares trees",
    "guard_found": lambda fields: f"finds its place in the primary's journal by its guard: entry {fields['index']}",
    "merkle_diff": lambda fields: (
        f"compared trees: {_counted(fields['pages'], 'page')} {'differs' if fields['pages'] == 1 else 'differ'}"
    ),
    "merkle_diff_empty": lambda fields: "compared trees: nothing differs",
    "merkle_sync": lambda fields: f"fetches {_counted(fields['fetch'], 'key')}, deletes {fields['delete']}",
    "stream_wals": lambda fields: f"streams from entry {fields['from']} on; the newest is {fields['last']}",
    "reindex_stage": lambda fields: f"reindexes: from {fields['before']} to {fields['after']}",
    "roots_differ": lambda fields: f"has another root than its primary at entry {fields['position']}",
}
"""{what the trace calls it: what the node does or did}."""
