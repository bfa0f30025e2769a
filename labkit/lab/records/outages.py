"""Outages: since when something keeps a cluster from serving, or from shipping to another (D14).

A cause is what holds now, whichever fault brought it about: what changes nothing does not move its beginning, and what
is undone ends it.
"""

from __future__ import annotations

from collections.abc import Iterable

Cause = tuple[str, ...]

DOWN, FENCED, CUT, LEFT, REVOKED = "down", "fenced", "cut", "left", "revoked"
"""No active node; no client reaches it; the line between two is cut; it is not the primary of a replication set; it
revoked the id under which another follows it."""


class Outages:
    """What keeps clusters from serving or shipping now, each with the instant at which it began."""

    __slots__ = ("since",)

    def __init__(self, state: dict[Cause, int] | None = None) -> None:
        self.since: dict[Cause, int] = dict(state or {})

    def __repr__(self) -> str:
        return f"Outages({len(self.since)} causes)"

    def state(self) -> dict[Cause, int]:
        """Return the causes as plain values, in order: in which they were seen depends on how often was looked."""
        return dict(sorted(self.since.items()))

    def seen(self, causes: Iterable[Cause], at_ns: int) -> None:
        """Note which clusters are down or fenced and which lines are cut at an instant; what is not named has ended."""
        kept = {cause: since_ns for cause, since_ns in self.since.items() if cause[0] in (LEFT, REVOKED)}
        self.since = {**{cause: self.since.get(cause, at_ns) for cause in causes}, **kept}

    def serve(self, cluster: str, at_ns: int, *, down: bool) -> None:
        """Note whether one cluster is down; all else is as it was seen last."""
        if down:
            self.since.setdefault((DOWN, cluster), at_ns)
        else:
            self.since.pop((DOWN, cluster), None)

    def leave(self, cluster: str, set_id: str, at_ns: int) -> None:
        """A cluster ceased to be the primary of a replication set: it was demoted or disabled."""
        self.since.setdefault((LEFT, cluster, set_id), at_ns)

    def lead(self, cluster: str, set_id: str) -> None:
        """A cluster is the primary of a replication set."""
        self.since.pop((LEFT, cluster, set_id), None)

    def revoke(self, primary: str, secondary: str, at_ns: int) -> None:
        """A primary revoked the id under which a secondary follows it: nothing is shipped to that one any more."""
        self.since.setdefault((REVOKED, primary, secondary), at_ns)

    def follow(self, primary: str, secondary: str) -> None:
        """A secondary follows a primary under an id that was not revoked."""
        self.since.pop((REVOKED, primary, secondary), None)

    def fault_ns(self, primary: str, survivor: str, set_id: str) -> int | None:
        """Return when the earliest of what keeps a primary from serving, or shipping to a survivor, began.

        A cluster that is promoted again after its own demotion is both.
        """
        line = (CUT, *sorted((primary, survivor)))
        revoked = (REVOKED, primary, survivor)
        causes: tuple[Cause, ...] = ((LEFT, primary, set_id), (DOWN, primary), (FENCED, primary), revoked, line)
        return min((self.since[cause] for cause in causes if cause in self.since), default=None)
