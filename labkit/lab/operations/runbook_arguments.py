"""Runbook arguments, judged before a runbook begins: which it takes, and what each of them may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any

from labkit.lab.operations.operator_requests import ANSWER_KEYS, MAX_REPEAT, OPTIONS
from labkit.lab.operations.runbooks import METHODS, RUNBOOKS
from labkit.lab.plan.blueprint import Blueprint
from labkit.service.arguments import flag, one_of, plain, text, whole_number, wrong

ONE_OF = {"promote": (("cluster", "furthest_ahead"),)}
"""{runbook: arguments of which one is given}."""

PAIRS = (("primary", "secondary"), ("cluster", "primary"), ("cluster", "to"), ("old", "new"))


def judge(blueprint: Blueprint, runbook: str, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a runbook's name and the arguments that it begins with, names as plain text; ValueError for wrong ones."""
    runbook = one_of("runbook", "a runbook", runbook, RUNBOOKS)
    parameters = signature(RUNBOOKS[runbook]).parameters
    known = [*parameters]
    for name in arguments:
        if name not in parameters:
            raise wrong(runbook, "its own arguments", name, known)
    missing = [name for name, given in parameters.items() if given.default is Parameter.empty and name not in arguments]
    if missing:
        raise ValueError(f"{runbook}: expected {' and '.join(missing)} too; its arguments are: {', '.join(known)}")
    for name, value in arguments.items():
        JUDGES[name](blueprint, name, value, arguments)
    for choice in ONE_OF.get(runbook, ()):
        named = [name for name in choice if arguments.get(name)]
        if len(named) != 1:
            got = "both" if named else "neither"
            raise ValueError(f"{runbook}: expected {' or '.join(choice)}, got {got}")
    for first, second in PAIRS:
        if first in arguments and arguments[first] == arguments.get(second):
            raise ValueError(
                f"{runbook}: expected two different clusters, got {arguments[first]} as {first} and {second}"
            )
    return runbook, {name: value if type(value) is str else _plain(value) for name, value in arguments.items()}


def _plain(value: Any) -> Any:
    """Return an argument with its texts, or those of a list or a dict at its top, as plain text."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list | tuple):
        return [plain(item) if isinstance(item, str) else item for item in value]
    if isinstance(value, dict):
        return {_plain(key): plain(item) if isinstance(item, str) else item for key, item in value.items()}
    return value


def _clusters(blueprint: Blueprint, name: str, value: Any, arguments: Mapping[str, Any]) -> None:
    if not isinstance(value, list | tuple) or len({*map(str, value)}) < max(2, len(value)):
        raise wrong(name, "a list of two clusters or more, each once", value)
    for cluster in value:
        _cluster(blueprint, name, cluster, arguments)


def _cluster(blueprint: Blueprint, name: str, value: Any, arguments: Mapping[str, Any]) -> None:
    one_of(name, "a cluster", value, [plan.name for plan in blueprint.clusters])


def _node(blueprint: Blueprint, name: str, value: Any, arguments: Mapping[str, Any]) -> None:
    if value != "":
        cluster = blueprint.cluster(arguments["cluster"])
        one_of(name, f"a node of {cluster.name}", value, cluster.node_names)


def _body(blueprint: Blueprint, name: str, value: Any, arguments: Mapping[str, Any]) -> None:
    if value is not None and not isinstance(value, dict):
        raise wrong(name, "a dict, sent as JSON, or None", value)


def _options(blueprint: Blueprint, name: str, value: Any, arguments: Mapping[str, Any]) -> None:
    if value is None:
        return
    if not isinstance(value, dict):
        raise wrong(name, "a dict of options, or None", value, OPTIONS)
    for option, given in value.items():
        one_of(name, "an option", option, OPTIONS)
        if option == "repeat":
            whole_number(
                option,
                f"a whole number from 1 to {MAX_REPEAT:,}, or None",
                1 if given is None else given,
                1,
                MAX_REPEAT,
            )
        elif option != "token" and not isinstance(given, dict | None):
            raise wrong(option, "a dict, or None", given)
    text(
        "token", "a token, a reference such as $(name), none, or nothing for the root token", value.get("token") or "-"
    )
    for key in value.get("answer") or {}:
        one_of("answer", "what may be expected of an answer", key, ANSWER_KEYS)


def _reference(blueprint: Blueprint, name: str, value: Any, arguments: Mapping[str, Any]) -> None:
    if value != "":
        text(name, "a text or a reference such as $(name)", value)


Judge = Callable[[Blueprint, str, Any, Mapping[str, Any]], Any]

JUDGES: dict[str, Judge] = {
    **dict.fromkeys(("cluster", "primary", "secondary", "to", "old", "new"), _cluster),
    "furthest_ahead": _clusters,
    "node": _node,
    **dict.fromkeys(("force", "diff", "skip_flush"), lambda blueprint, name, value, arguments: flag(name, value)),
    "method": lambda blueprint, name, value, arguments: one_of(name, "a method", value, METHODS),
    "path": lambda blueprint, name, value, arguments: text(name, "a path such as secret/data/app", value),
    "body": _body,
    "options": _options,
    "keep": lambda blueprint, name, value, arguments: text(name, "a name such as drop", value),
    **dict.fromkeys(("token", "address", "value", "otp"), _reference),
}
