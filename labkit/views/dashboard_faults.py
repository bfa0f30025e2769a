"""Dashboard faults: the faults of nodes and lines that are chosen from a list, each with the verb that undoes it.

Each form is one call of a verb of the lab; its line of Python does the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from labkit.lab.faults import LabFaults

LAYERS = ("subpage", "page", "subtree", "root", "storage")


class Act(NamedTuple):
    """What a control does: its line of Python, and the call that does the same."""

    line: str
    call: Callable[[], object]


class FaultForm(NamedTuple):
    """A fault that can be chosen: its words in the list, the verb with what it takes beside its target, the undoing."""

    words: str
    verb: str
    undoing: str
    given: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()

    def make(self, faults: LabFaults, *targets: str) -> Act:
        """Return the act that makes the fault."""
        return act(faults, self.verb, (*targets, *self.given), dict(self.named))

    def undo(self, faults: LabFaults, *targets: str) -> Act:
        """Return the act that undoes it."""
        return act(faults, self.undoing, targets, {})


NODE_FAULTS = (
    FaultForm("crash inside its next commit", "crash_in_commit", "restart"),
    FaultForm("clock 90 s ahead", "skew", "correct", ("90s",)),
    FaultForm("clock 2 % too fast", "skew", "correct", (), (("drift", 2),)),
    FaultForm("impostor in its place", "impersonate", "expose"),
)
LINE_FAULTS = (
    FaultForm("1 s one way", "slow", "restore_links", (), (("latency", "1s"), ("one_way", True))),
    FaultForm("1 s both ways", "slow", "restore_links", (), (("latency", "1s"),)),
    FaultForm("ten times as slow", "slow", "restore_links", (), (("factor", 10),)),
    FaultForm("loses 5 % of messages", "lose", "restore_links", (5,)),
    FaultForm("doubles 20 % of datagrams", "duplicate", "restore_links", (20,)),
    FaultForm("down 2 s, up 3 s, and so on", "flap", "steady", ("2s", "3s")),
)


def form_of(forms: tuple[FaultForm, ...], words: str) -> FaultForm:
    """Return the form with these words."""
    return next(form for form in forms if form.words == words)


def act(faults: LabFaults, verb: str, given: tuple[Any, ...], named: dict[str, Any]) -> Act:
    """Return the act that calls a verb of the lab's faults."""
    arguments = [*map(_written, given), *(f"{name}={_written(value)}" for name, value in named.items())]
    return Act(f"lab.{verb}({', '.join(arguments)})", lambda: getattr(faults, verb)(*given, **named))


def _written(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
