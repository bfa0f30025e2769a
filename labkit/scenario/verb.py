"""Verb: what a row of the table of verbs is, its parameters, and how a step with it is described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from labkit.scenario.problems import expected
from labkit.scenario.value_types import ClusterName, Drift, Offset, Share, read_duration, write_duration, write_share

if TYPE_CHECKING:
    from labkit.lab.faults import LabFaults

Arguments = Mapping[str, Any]
Text = Annotated[str, Field(min_length=1)]

RUNBOOK, FAULT, STORY = "runbook", "fault", "story"


class Parameter(NamedTuple):
    """One parameter of a verb: its name, its type, what to write there, the words before it in a sentence."""

    name: str
    value_type: Any
    expected: str
    words: str = ""
    default: Any = ...
    shown: bool = True

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is ...


@dataclass(frozen=True, eq=False)
class Verb:
    """One verb: its kind, what it does, its parameters, and for a fault the verb of the lab.

    ``options`` are the parameters that its runbook takes as one argument; ``words`` describes a step in another way.
    """

    name: str
    kind: str
    about: str
    parameters: tuple[Parameter, ...] = ()
    undo: str = ""
    fault: Callable[[LabFaults, Arguments], Any] | None = None
    one_of: tuple[str, ...] = ()
    needs_one: bool = False
    options: tuple[str, ...] = ()
    words: Callable[[Arguments], str] | None = None

    @cached_property
    def parameter_names(self) -> frozenset[str]:
        """The keys of a step that are parameters of this verb."""
        return frozenset(parameter.name for parameter in self.parameters)

    def describe(self, arguments: Arguments) -> str:
        """Return what a step does in a few words: ``repoint paris to tokyo``."""
        if self.words is not None:
            return f"{self.name} {self.words(arguments)}"
        parts = [self.name]
        for parameter in self.parameters:
            value = arguments.get(parameter.name, parameter.default)
            if parameter.shown and value not in (None, "", False, ...):
                parts += [parameter.words, _value_text(parameter, value)]
        return " ".join(part for part in parts if part)

    def runbook_arguments(self, arguments: Arguments) -> dict[str, Any]:
        """Return a step's arguments as its runbook takes them."""
        options = {name: arguments[name] for name in self.options if arguments.get(name)}
        left_out = {name for name in self.one_of if arguments.get(name) is None}
        given = {
            name.replace(" ", "_"): value
            for name, value in arguments.items()
            if name not in self.options and name not in left_out
        }
        return {**given, "options": options} if options else given


def _value_text(parameter: Parameter, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return " and ".join(value)
    if BeforeValidator(read_duration) in get_args(parameter.value_type):
        return write_duration(value)
    if parameter.value_type in (Share, Drift):
        return write_share(value)
    if parameter.value_type is Offset:
        return f"{'-' if value < 0 else ''}{write_duration(abs(value))}"
    return "" if value is True else str(value)


def cluster_parameter(what: str, name: str = "cluster", words: str = "") -> Parameter:
    """Return the parameter that names a cluster, which does what is said of it."""
    return Parameter(name, ClusterName, f"the cluster that {what}", words)


def known_as(what: str, known: tuple[str, ...]) -> AfterValidator:
    """Accept only these names."""
    return AfterValidator(partial(_check_known, what, known))


def known_names(parameter: Parameter) -> tuple[str, ...]:
    """Return the names that ``known_as`` accepts for a parameter; none for one without it."""
    for part in get_args(parameter.value_type)[1:]:
        check = getattr(part, "func", None)
        if isinstance(check, partial) and check.func is _check_known:
            names: tuple[str, ...] = check.args[1]
            return names
    return ()


def _check_known(what: str, known: tuple[str, ...], value: str) -> str:
    if value not in known:
        raise ValueError(expected(what, value, known))
    return value
