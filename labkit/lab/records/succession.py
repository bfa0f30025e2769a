"""Succession: which promotions were planned: those whose upstream was demoted for them, and by nobody else.

1. A promotion is planned where the survivor's upstream is demoted: a secondary of their set that follows nobody yet.
2. It is not where another cluster has taken that one's place: it was promoted since, or was primary of the set when the
   upstream was demoted, as one is that comes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Modes = Mapping[str, tuple[str, str, str]]
"""{cluster: (mode, state, replication set)}."""


class Succession:
    """The demoted clusters whose place another has taken (``succeeded``), by the modes and upstreams of the books."""

    __slots__ = ("_modes", "_upstreams", "succeeded")

    def __init__(self, modes: Modes, upstreams: Mapping[str, str], succeeded: Iterable[str] = ()) -> None:
        self._modes, self._upstreams = modes, upstreams
        self.succeeded = tuple(succeeded)

    def __repr__(self) -> str:
        return f"Succession({len(self.succeeded)} succeeded)"

    def is_planned(self, upstream: str, set_id: str) -> bool:
        """Whether a promotion of who follows this cluster in a replication set is planned."""
        return self._is_demoted(upstream, set_id) and upstream not in self.succeeded

    def demote(self, cluster: str) -> None:
        """A cluster was demoted; its mode is still the one before, or known to be the one after."""
        set_id = self._modes.get(cluster, ("", "", ""))[2]
        others = [mode for name, (mode, _, of_set) in self._modes.items() if name != cluster and of_set == set_id]
        apart = tuple([name for name in self.succeeded if name != cluster])
        self.succeeded = (*apart, cluster) if "primary" in others else apart

    def promote(self, survivor: str, set_id: str) -> None:
        """A cluster was promoted: it takes the place of each demoted one of its set, and nobody has its own."""
        demoted = [name for name in self._upstreams if self._is_demoted(name, set_id)]
        taken = dict.fromkeys((*self.succeeded, *demoted))
        self.succeeded = tuple([name for name in taken if name != survivor])

    def _is_demoted(self, cluster: str, set_id: str) -> bool:
        mode, _, of_set = self._modes.get(cluster, ("", "", ""))
        return (mode, of_set) == ("secondary", set_id) and not self._upstreams.get(cluster)
