"""Opening: the instant at which a player opens: where a run first becomes interesting."""

from __future__ import annotations

from labkit.views.player.recorded.happenings import FAULT, RULE
from labkit.views.player.recorded.recording import Recording


def opening_ns(recording: Recording) -> int:
    """Return the first fault or broken rule, or before it what is lost; else the first message of interest; else 0."""
    marked = [one.at_ns for one in recording.happenings if one.kind in (FAULT, RULE)]
    weighty = [*marked[:1], *(loss.write.at_ns for loss in recording.losses)]
    rows = set(recording.interesting)
    return min(weighty, default=min((one.sent_ns for one in recording.messages if one.row in rows), default=0))
