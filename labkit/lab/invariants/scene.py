"""Scene: what one standing rule is given of its lab, and what each rule looks like to ``Invariants``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from labkit.lab.queries import Queries

Judgements = Mapping[type, Callable[[Any], None]]
"""Which reports a rule judges, and by what; each is called once the books have taken the report."""


class Scene(NamedTuple):
    """What a rule asks and where it says what it found; ``corrupted`` names the clusters damaged on purpose."""

    queries: Queries
    found: Callable[[str, str], None]
    corrupted: Mapping[str, bool]


class LabFollower(Protocol):
    """Conditions that are judged while a lab goes on: of a scenario, or that a lab watches."""

    @property
    def judgements(self) -> Mapping[type, tuple[Callable[[Any], None], ...]]:
        """The reports that can change them, each with what takes it, once the books and the rules have."""

    def on_found(self) -> None:
        """A rule was broken."""

    def check_at_rest(self) -> None:
        """The lab stands still."""


class StandingRule:
    """One standing rule: what it judges, what it keeps for that, and how often it judged."""

    __slots__ = ("_scene", "judged")

    def __init__(self, scene: Scene, state: Mapping[str, Any]) -> None:
        self._scene = scene
        self.judged: int = state.get("occurred", 0)  # files of earlier versions say only whether it did: True is 1

    def __repr__(self) -> str:
        return f"{type(self).__name__}({f'judged {self.judged} times' if self.judged else 'no occasion yet'})"

    @property
    def occurred(self) -> bool:
        """Whether there was any occasion to break it."""
        return self.judged > 0

    @property
    def judgements(self) -> Judgements:
        """The reports that it judges."""
        return {}

    def check_at_rest(self) -> None:
        """The lab stands still: judge what is too costly at each event."""

    def state(self) -> dict[str, Any]:
        """Return what it keeps as plain values."""
        return {"occurred": self.judged}
