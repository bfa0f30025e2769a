"""Read log: every version of a secret that was committed or hidden, and what every reading of one was answered.

1. Versions stand in the order of their commits, acknowledged or not; readings in the order of their answers.
2. It holds paths, numbers and times, never a value.
3. Where ``newest`` says how many, only the newest of both are kept (``chunks``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.lab.records.chunks import Chunks
from labkit.lab.wire.seen_versions import HiddenVersions, SeenVersion


class VersionMade(NamedTuple):
    """A version of a secret and the number of the commit that made it; version 0 is the end of all before it.

    Of ``ANY_SECRET`` it is the end of what nobody named.
    """

    commit: int
    path: str
    version: int
    created: str


ANY_SECRET = SeenVersion("", 0, "")
"""The end of secrets of one history of which nobody says which they are: any may have ended with its versions."""


class VersionsHidden(NamedTuple):
    """Versions of a secret that a commit hid, or showed again: which; none for the newest of then."""

    commit: int
    path: str
    numbers: tuple[int, ...]
    hidden: bool


class AnsweredRead(NamedTuple):
    """What a reading was answered: when it was sent and answered, by whom, whose, and what it showed.

    ``history`` is the one that the cluster wrote then (-1: not known), ``next_commit`` the number of the lab's next.
    ``with_data``: it showed what the version holds, and not only that there is one.
    """

    started_ns: int
    at_ns: int
    client: str
    cluster: str
    path: str
    version: int
    created: str
    history: int
    next_commit: int
    with_data: bool = True


class ReadLog:
    """The versions of secrets that a lab's clusters made and hid, and the readings of them."""

    __slots__ = ("hidden", "reads", "versions")

    def __init__(self, state: dict[str, Any] | None = None, newest: int = 0) -> None:
        state = state or {}
        self.versions: Chunks[VersionMade] = Chunks(state.get("versions", ()), VersionMade._make, newest)
        self.hidden: Chunks[VersionsHidden] = Chunks(state.get("hidden", ()), VersionsHidden._make, newest)
        self.reads: Chunks[AnsweredRead] = Chunks(state.get("reads", ()), lambda row: AnsweredRead(*row), newest)

    def __repr__(self) -> str:
        return f"ReadLog({len(self.reads)} reads of {len(self.versions)} versions)"

    def make(self, commit: int, made: SeenVersion) -> None:
        """Note a version that a commit made."""
        self.versions.append((commit, *made))

    def end_any(self, commit: int) -> None:
        """Note a commit that may have ended any secrets of its history, where any was ever made."""
        if len(self.versions):
            self.make(commit, ANY_SECRET)

    def hide(self, commit: int, hidden: HiddenVersions) -> None:
        """Note the versions that a commit hid or showed again."""
        self.hidden.append((commit, *hidden))

    def read(
        self,
        times: tuple[int, int],
        ends: tuple[str, str],
        seen: SeenVersion,
        place: tuple[int, int],
        *,
        with_data: bool = True,
    ) -> None:
        """Note what a reading showed: sent and answered when, client and cluster, its history and the next commit."""
        self.reads.append((*times, *ends, *seen, *place, with_data))

    def state(self) -> dict[str, Any]:
        """Return the log as plain values; sealed chunks are shared (R3)."""
        hidden = {"hidden": self.hidden.state()} if len(self.hidden) else {}  # none in files of earlier versions
        return {"versions": self.versions.state(), "reads": self.reads.state(), **hidden}
