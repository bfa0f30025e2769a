"""Proving: searching a model of replication to the end, and checking what the search took for granted.

A search shows that every state within the bounds keeps the properties.  It drops messages about questions and streams
that are over; that these are ignored in every state that was reached is checked afterwards, so it shows the same as
one that keeps them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from labkit.proof.bounds import Bounds
from labkit.proof.planted_bugs import SOUND, PlantedBug
from labkit.proof.replication import Replication
from labkit.proof.search import MAX_STATES, Found, Model, search, stuck
from labkit.proof.sentences import arrival, sentences

NO_END = "without any further fault, what is to come of it is never reached"
NO_WAY_ON = "without any further fault, the contents of the newest entry are never reached"


class Proof(NamedTuple):
    """What was shown: counts; which property is broken, and the events that lead there, in sentences.

    ``dropped``: how many messages about what is over were seen; ``leads_on``: whether it was checked that every state
    leads to a level stream.
    """

    found: Found
    broken: str
    way: tuple[str, ...]
    dropped: int
    leads_on: bool


def prove(
    bounds: Bounds,
    bug: PlantedBug = SOUND,
    *,
    leads_on: bool = False,
    max_states: int = MAX_STATES,
    report: Callable[[int, int], None] | None = None,
) -> Proof:
    """Search a model; with ``leads_on`` also that every state leads to a level stream."""
    model = Replication(bounds, bug)
    found, reached = search(model, max_states, report)
    broken, way = found.broken, found.way
    if not broken:
        broken = _not_ignored(model)
    checked = leads_on and found.exhausted and not broken
    if checked:
        ends = stuck(model, reached)
        if ends is not None:
            broken, way = NO_WAY_ON, ends
    described = tuple(sentences(way, model.steps.messages.parcels, model.kind))
    return Proof(found._replace(way=way), broken, described, len(model.steps.dropped()), checked)


def prove_small(model: Model[Any], described: Callable[[Any], str], max_states: int = MAX_STATES) -> Proof:
    """Search a model of which every state can be kept, also that each leads to what is to be reached."""
    found, reached = search(model, max_states)
    broken, way = found.broken, found.way
    if found.exhausted:
        ends = stuck(model, reached)
        if ends is not None:
            broken, way = NO_END, ends
    return Proof(found, broken, tuple(map(described, way)), 0, found.exhausted and not broken)


def _not_ignored(model: Replication) -> str:
    """Return which message about what is over changes something; an empty text when none does."""
    somewhere = model.steps.not_ignored()
    if somewhere is None:
        return ""
    return f"a message about what is over is not ignored: {arrival(model.steps.messages.parcels[somewhere[1]])}"
