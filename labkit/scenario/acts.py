"""Acts: one verb of the table, carried out by hand in a lab that is under way, with its arguments as data.

What is wrong with them is said in the words of a scenario file's problems; what only a timeline needs (``at``,
``wait``, ``check`` …) is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from pydantic import BeforeValidator, ValidationError

from labkit.lab.plan.blueprint import Blueprint
from labkit.scenario.problems import expected
from labkit.scenario.steps.step_timing import KEYS, taken_from
from labkit.scenario.value_types import (
    ClusterName,
    ClusterOrNode,
    DeclaredNames,
    NodeName,
    SiteOrCluster,
    SiteOrClusterPair,
)
from labkit.scenario.verb import FAULT, RUNBOOK, Parameter, Verb, known_names
from labkit.scenario.verbs import VERBS, cross_field_errors, model_of
from labkit.service.arguments import one_of

ACTS = {name: verb for name, verb in VERBS.items() if verb.kind in (RUNBOOK, FAULT)}


class ActToDo(NamedTuple):
    """A verb with arguments that were checked, and what it does in words."""

    verb: Verb
    arguments: dict[str, Any]
    text: str

    def __repr__(self) -> str:
        return f"ActToDo({self.text})"  # never arguments: a request's carry tokens


def names_of(blueprint: Blueprint) -> DeclaredNames:
    """Return the names that arguments may have."""
    plans = blueprint.clusters
    node_clusters = tuple([(node, plan.name) for plan in plans for node in plan.node_names])
    return DeclaredNames(
        tuple(blueprint.sites),
        tuple([plan.name for plan in plans]),
        tuple([node for node, _ in node_clusters]),
        tuple([(plan.name, plan.site) for plan in plans]),
        node_clusters,
        tuple([group.name for group in blueprint.clients]),
    )


def read_act(name: str, given: Mapping[str, Any], names: DeclaredNames) -> ActToDo:
    """Check a verb and its arguments; ValueError says what is wrong with them."""
    verb = ACTS[one_of("verb", "a verb", name, ACTS)]
    for key in given:
        if key in KEYS:
            raise ValueError(f"{key}: expected only what the verb itself takes; it is carried out now")
    try:
        valid = model_of(name).model_validate({"do": name, **given}, context=names)
    except ValidationError as error:
        raise ValueError("; ".join(_said(verb, row) for row in error.errors(include_url=False))) from None
    arguments = valid.model_dump(by_alias=True)
    errors = cross_field_errors(verb, arguments, names)
    if errors:
        raise ValueError("; ".join(f"{key}: {text}" for key, text in errors))
    taken_from(arguments, verb)
    return ActToDo(verb, arguments, verb.describe(arguments))


def choices_of(parameter: Parameter, names: DeclaredNames) -> tuple[str, ...]:
    """Return the names that a parameter may be; none for one that is not a name."""
    for value_type, known in (
        (ClusterName, names.clusters),
        (NodeName, names.nodes),
        (ClusterOrNode, (*names.clusters, *names.nodes)),
        (SiteOrCluster, names.sites_and_clusters),
        (SiteOrClusterPair, names.sites_and_clusters),
    ):
        if parameter.value_type == value_type:
            return known
    return known_names(parameter)


def shape_of(parameter: Parameter) -> str:
    """Return what a parameter is as data: ``text``, ``flag``, ``number``, ``pair`` or ``mapping``."""
    value_type = parameter.value_type
    if value_type == SiteOrClusterPair:
        return "pair"
    plain, *checks = get_args(value_type) if get_origin(value_type) is Annotated else (value_type,)
    if plain is bool:
        return "flag"
    if plain is str or any(isinstance(check, BeforeValidator) for check in checks):  # a duration, a share
        return "text"
    return "number" if plain is int else "mapping"


def _said(verb: Verb, row: Any) -> str:
    """Return one of the validator's errors in the words of a scenario file's problems."""
    key, value = str(row["loc"][0]) if row["loc"] else "do", row["input"]
    parameter = next((parameter for parameter in verb.parameters if parameter.name == key), None)
    if parameter is None:
        return expected(
            "an argument" if verb.parameters else "no argument", key, [parameter.name for parameter in verb.parameters]
        )
    if row["type"] == "missing":
        return f"{key}: expected {parameter.expected}, got none"
    if row["type"] == "value_error":
        return f"{key}: {row['ctx']['error']}"
    return f"{key}: {expected(parameter.expected, value)}"
