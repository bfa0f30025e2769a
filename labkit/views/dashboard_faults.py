"""Dashboard faults: the faults that have a button, and those of nodes and lines that are chosen from a list.

Each control is one call of a verb of the lab; its line of Python does the same.  What there is stands in the table of
faults.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.lab.fault_table import FAULTS, LAYERS, LINE, NODE

if TYPE_CHECKING:
    from labkit.lab.faults import LabFaults


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


def _forms(target: str) -> tuple[FaultForm, ...]:
    """Return the forms of all faults with such a target."""
    return tuple(
        [
            FaultForm(choice.words, fault.method, fault.opposite.method, choice.given, choice.named)
            for fault in FAULTS
            if fault.target == target and fault.opposite is not None
            for choice in fault.choices
        ]
    )


LAYERS_UPWARDS = (*LAYERS[-2::-1], LAYERS[-1])  # what can be corrupted: the index upwards, then the store
NODE_FAULTS, LINE_FAULTS = _forms(NODE), _forms(LINE)
BUTTONS = {fault.name: fault.button for fault in FAULTS if fault.button is not None}


def names_of_buttons(*targets: str) -> tuple[str, ...]:
    """Return the faults with such targets that have a button."""
    return tuple([fault.name for fault in FAULTS if fault.target in targets and fault.name in BUTTONS])


def form_of(forms: tuple[FaultForm, ...], words: str) -> FaultForm:
    """Return the form with these words."""
    return next(form for form in forms if form.words == words)


def act(faults: LabFaults, verb: str, given: tuple[Any, ...], named: dict[str, Any]) -> Act:
    """Return the act that calls a verb of the lab's faults."""
    arguments = [*map(_written, given), *(f"{name}={_written(value)}" for name, value in named.items())]
    return Act(f"lab.{verb}({', '.join(arguments)})", lambda: getattr(faults, verb)(*given, **named))


def _written(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
