"""Fault verbs: the verbs of scenario files for what takes effect at once, one for each row of the table of faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter as PythonParameter
from inspect import getdoc, signature
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator

from labkit.lab import fault_table
from labkit.lab.fault_table import FAULTS, Fault, FaultField
from labkit.lab.faults import LabFaults
from labkit.scenario.problems import expected
from labkit.scenario.value_types import (
    ClusterName,
    ClusterOrNode,
    Drift,
    Duration,
    Offset,
    Share,
    SiteOrCluster,
    SiteOrClusterPair,
    write_duration,
)
from labkit.scenario.verb import FAULT, Arguments, Parameter, Text, Verb, known_as


class Target(NamedTuple):
    """A target as files name it: parameters, the method's arguments for them, and of which only one may be given."""

    parameters: tuple[Parameter, ...]
    given: Callable[[Arguments], tuple[str, ...]]
    one_of: tuple[str, ...] = ()


class ValueKind(NamedTuple):
    """A kind of values: what they are in files, and what the method takes for one."""

    value_type: Any
    given: Callable[[Any], Any] = lambda value: value


def _around(arguments: Arguments) -> tuple[str, ...]:
    return tuple(arguments["between"] or ([arguments["target"]] if arguments["target"] else ()))


_BETWEEN = Parameter("between", SiteOrClusterPair, "two sites or clusters such as [paris, tokyo]", "between")
_SITE = Parameter("target", SiteOrCluster, "a site, or a cluster at the site that is meant")
_WAY = (
    Parameter("from", SiteOrCluster, "the site or cluster whose messages are lost", "from"),
    Parameter("to", SiteOrCluster, "the site or cluster that they were sent to", "to"),
)
_AROUND = (_BETWEEN._replace(default=None), _SITE._replace(default=None))
_HOSTS = Parameter("target", ClusterOrNode, "a cluster or one of its nodes")

TARGETS = {
    fault_table.NODE: Target((_HOSTS,), lambda arguments: (arguments["target"],)),
    fault_table.LINE: Target((_BETWEEN,), lambda arguments: tuple(arguments["between"])),
    fault_table.WAY: Target(_WAY, lambda arguments: (arguments["from"], arguments["to"])),
    fault_table.SITE: Target((_SITE,), lambda arguments: (arguments["target"],)),
    fault_table.AROUND: Target(_AROUND, _around, ("between", "target")),
    fault_table.CLUSTER: Target((), lambda arguments: ()),  # a field of its own says what the cluster does
    fault_table.CLOUD: Target((), lambda arguments: ()),
}
KINDS = {
    fault_table.CLUSTER_NAME: ValueKind(ClusterName),
    fault_table.TEXT: ValueKind(Text),
    fault_table.FLAG: ValueKind(bool),
    fault_table.WHOLE: ValueKind(int),
    fault_table.DURATION: ValueKind(Duration, lambda value: f"{value}ns"),
    fault_table.OFFSET: ValueKind(Offset, lambda value: f"{value}ns"),
    fault_table.DRIFT: ValueKind(Drift, lambda value: value / 10_000),
    fault_table.SHARE: ValueKind(Share, lambda value: value / 10_000),
}


def _verb(fault: Fault) -> Verb:
    """Return the verb of a row: its sentence and its defaults are those of the method."""
    target, opposite, taken = TARGETS[fault.target], fault.opposite, _taken(fault)
    return Verb(
        fault.verb,
        FAULT,
        (getdoc(getattr(LabFaults, fault.method)) or "").partition("\n\n")[0],
        (*target.parameters, *(_parameter(field, taken[field.name]) for field in fault.fields)),
        undo="" if opposite is None else opposite.verb,
        fault=partial(_make, fault),
        one_of=fault.one_of or target.one_of,
        needs_one=bool(fault.one_of),
    )


def _taken(fault: Fault) -> Mapping[str, PythonParameter]:
    """Return what the method of a row takes."""
    return signature(getattr(LabFaults, fault.method)).parameters


def _parameter(field: FaultField, taken: PythonParameter) -> Parameter:
    default = ... if taken.default is taken.empty else taken.default
    return Parameter(field.key, _type_of(field), field.expected, field.words, default)


def _type_of(field: FaultField) -> Any:
    value_type = KINDS[field.kind].value_type
    if field.names:
        return Annotated[str, known_as(field.what, field.names)]
    if not field.least:
        return value_type
    return Annotated[value_type, AfterValidator(partial(_long_enough if value_type is Duration else _within, field))]


def _long_enough(field: FaultField, value: int) -> int:
    if value < field.least:
        raise ValueError(f"expected a duration from {write_duration(field.least)} up, got {write_duration(value)}")
    return value


def _within(field: FaultField, value: int) -> int:
    if not field.least <= value <= field.most:
        raise ValueError(expected(field.expected, value))
    return value


def _make(fault: Fault, faults: LabFaults, arguments: Arguments) -> None:
    """Make a fault with a step's arguments."""
    given: list[Any] = [*TARGETS[fault.target].given(arguments)]
    named, taken = {}, _taken(fault)
    for field in fault.fields:
        value = arguments[field.key]
        value = None if value is None else KINDS[field.kind].given(value)
        if taken[field.name].kind is PythonParameter.KEYWORD_ONLY:
            named[field.name] = value
        else:
            given.append(value)
    getattr(faults, fault.method)(*given, **named)


FAULT_VERBS = tuple([_verb(fault) for fault in FAULTS])
