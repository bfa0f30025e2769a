"""Verbs: everything that a step of a timeline can do, in one table that validates, documents and runs them.

An operator works through a *runbook*, which may take long; a *fault* takes effect at once; the *story* verbs only
let time pass or add a note.  Verbs come in pairs: ``undo`` names the other one.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from labkit.lab.snapshot import MAX_LUCK
from labkit.scenario.expect_keys import Expectations, ExpectPart
from labkit.scenario.fault_verbs import FAULT_VERBS
from labkit.scenario.problems import describe_value
from labkit.scenario.request_verbs import REQUEST_VERBS
from labkit.scenario.scenario import NOTHING_EXPECTED
from labkit.scenario.steps.step_timing import Until, errors_of_timing, fields_of_timing
from labkit.scenario.value_types import ClusterNames, DeclaredNames, Duration, NodeName, write_duration
from labkit.scenario.verb import RUNBOOK, STORY, Arguments, Parameter, Text, Verb, cluster_parameter


def _expected(name: str, field: FieldInfo) -> Parameter:
    """The parameter of a check that is a key of expect."""
    value_type = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    return Parameter(field.alias or name, value_type, field.description or "", default=field.default)


Luck = Annotated[int, Field(ge=0, le=MAX_LUCK)]


def _waited_for(arguments: Arguments) -> str:
    """What a step waits for, in words: ``until lag 0 within 30s``."""
    until, within_ns = arguments.get("until"), arguments.get("within")
    if until is None:
        return write_duration(arguments["for"]) if arguments.get("for") is not None else ""
    text = until if isinstance(until, str) else Expectations.from_state(until).text
    return f"until {text}" + (f" within {write_duration(within_ns)}" if within_ns is not None else "")


_ROWS = (
    Verb(
        "enable-primary",
        RUNBOOK,
        "Make a cluster a disaster-recovery primary.",
        (cluster_parameter("becomes the primary"),),
        undo="disable",
    ),
    Verb(
        "enable-secondary",
        RUNBOOK,
        "Make a cluster the secondary of a primary, with an activation token issued there, and unseal its nodes.",
        (
            cluster_parameter("becomes the secondary"),
            cluster_parameter("it follows", "primary", "of"),
            Parameter("token", Text, "$(name) of a kept activation token, not a new one", "", "", shown=False),
            Parameter("address", Text, "where the token is unwrapped such as http://paris-2:8200", "at", ""),
        ),
        undo="disable",
    ),
    Verb(
        "replicate",
        RUNBOOK,
        "Make one cluster the primary of another, as enable-primary and enable-secondary do; a primary gets one more.",
        (
            cluster_parameter("becomes the primary", "primary"),
            cluster_parameter("becomes its secondary", "secondary", "to"),
        ),
        undo="disable",
    ),
    Verb(
        "promote",
        RUNBOOK,
        "Make a secondary the primary, with an operation token generated from key shares.",
        (
            cluster_parameter("becomes the primary")._replace(default=None),
            Parameter("force", bool, "true to promote without the safety check", "by force", False),
            Parameter(
                "furthest ahead",
                ClusterNames,
                "secondaries such as [tokyo, lima], of which the one with the newest entry becomes the primary",
                "the furthest ahead of",
                None,
            ),
        ),
        undo="demote",
        one_of=("cluster", "furthest ahead"),
        needs_one=True,
    ),
    Verb(
        "demote",
        RUNBOOK,
        "Make a primary a secondary that follows no cluster yet.",
        (cluster_parameter("stops being primary"),),
        undo="promote",
    ),
    Verb(
        "repoint",
        RUNBOOK,
        "Give a secondary another primary to follow, with a fresh activation token.",
        (cluster_parameter("is the secondary"), cluster_parameter("is its new primary", "to", "to")),
    ),
    Verb(
        "failover",
        RUNBOOK,
        "Move the primary as planned: demote the old, wait until the new is level, promote it, re-point the others.",
        (cluster_parameter("is the primary", "old", "from"), cluster_parameter("becomes the primary", "new", "to")),
    ),
    Verb(
        "disable",
        RUNBOOK,
        "Disable replication on a cluster, primary or secondary.",
        (cluster_parameter("stops replicating"),),
        undo="replicate",
    ),
    Verb(
        "reindex",
        RUNBOOK,
        "Make the Merkle index of a cluster again from what its store holds, and wait until it is in use.",
        (
            cluster_parameter("is reindexed"),
            Parameter("diff", bool, "true to compare key by key and report the keys that differ", "key by key", False),
            Parameter("force", bool, "true to store every page of the new index", "whole", False),
            Parameter("skip_flush", bool, "true to store the new index a second later", "without waiting", False),
        ),
    ),
    Verb(
        "unseal",
        RUNBOOK,
        "Give the sealed nodes of a cluster their key shares.",
        (
            cluster_parameter("is sealed"),
            Parameter("node", NodeName, "one of its nodes, when only that is meant", "at", ""),
        ),
        undo="seal",
    ),
    Verb("seal", RUNBOOK, "Seal the active node of a cluster.", (cluster_parameter("is to be sealed"),), undo="unseal"),
    *REQUEST_VERBS,
    *FAULT_VERBS,
    Verb(
        "wait",
        STORY,
        "Let time pass: for a while, or until a condition holds.",
        (
            Parameter("for", Duration, "a duration such as 5s", "", None),
            Parameter(
                "until",
                Until,
                "a condition such as lag 0 or lag at most 2s, or keys of expect such as {roots: equal}",
                "until",
                None,
            ),
            Parameter(
                "within", Duration, "a duration such as 30s; the step fails after it, or after 2m", "within", None
            ),
        ),
        one_of=("for", "until"),
        needs_one=True,
        words=_waited_for,
    ),
    Verb(
        "check",
        STORY,
        "Judge what is expected at this instant; each key is one of expect (labkit help scenario).",
        tuple([_expected(name, field) for name, field in ExpectPart.model_fields.items()]),
        words=lambda arguments: Expectations.of(arguments).text,
    ),
    Verb(
        "luck",
        STORY,
        "Draw other keys, nonces and delays from here on; what comes before stays the same with any number.",
        (Parameter("number", Luck, "a whole number from 0 up, of at most 18 digits"),),
    ),
    Verb(
        "note",
        STORY,
        "Add a note for the reader of the timeline.",
        (Parameter("text", Text, "a sentence", shown=False),),
    ),
)

VERBS = {verb.name: verb for verb in _ROWS}

OTHER_WORDS = {
    **dict.fromkeys(
        ("kill", "stop", "fail", "die", "down", "lose-node", "power-off", "shutdown", "terminate"), "crash"
    ),
    **dict.fromkeys(("start", "up", "reboot", "revive", "boot"), "restart"),
    **dict.fromkeys(("freeze", "suspend", "stall", "hang"), "pause"),
    **dict.fromkeys(("continue", "unpause", "unfreeze", "thaw"), "resume"),
    **dict.fromkeys(("disconnect", "split", "separate", "sever"), "partition"),
    **dict.fromkeys(("fence", "block"), "isolate"),
    **dict.fromkeys(("reconnect", "join", "unpartition", "repair"), "heal"),
    **dict.fromkeys(("delay", "latency", "throttle"), "slow"),
    **dict.fromkeys(("drop", "loss"), "lose"),
    **dict.fromkeys(("damage", "break"), "corrupt"),
    "sleep": "wait",
    **dict.fromkeys(("assert", "expect", "verify"), "check"),
    **dict.fromkeys(("request", "call", "get", "post", "write", "read", "http"), "ask"),
    **dict.fromkeys(("comment", "say", "log"), "note"),
    **dict.fromkeys(("switchover", "switch-over", "fail-over"), "failover"),
}
"""What a reader may call a verb of the table."""


@cache
def model_of(name: str) -> type[BaseModel]:
    """Return the pydantic model of a step with this verb: its parameters, and when it begins."""
    verb = VERBS[name]
    fields: dict[str, Any] = {
        "do": (Literal[name], Field(description=verb.about)),
        **fields_of_timing(verb),
    }
    for parameter in verb.parameters:
        field = Field(parameter.default, description=parameter.expected, alias=parameter.name)
        fields[f"{parameter.name.replace(' ', '_')}_"] = (parameter.value_type, field)
    return create_model(f"{name.title().replace('-', '')}Step", __config__=STRICT, **fields)


STRICT = ConfigDict(strict=True, extra="forbid", frozen=True, populate_by_name=False)


def cross_field_errors(verb: Verb, arguments: Arguments, names: DeclaredNames) -> list[tuple[str, str]]:
    """Return what is wrong with a step's parameters together, each of them being right: key and text."""
    errors = [*errors_of_timing(verb, arguments)]
    named = [name for name in verb.one_of if arguments.get(name) is not None]
    choice = " or ".join(verb.one_of)
    if len(named) > 1:
        errors.append((named[-1], f"expected {choice}, got both"))
    if verb.needs_one and not named:
        errors.append(("do", f"expected {choice}, got neither"))
    if verb.name == "check" and Expectations.of(arguments) == NOTHING_EXPECTED:
        errors.append(("do", f"expected what is to be checked too: {', '.join(row.name for row in verb.parameters)}"))
    if arguments.get("fails") is not None and arguments.get("answer") is not None:
        errors.append(("answer", "expected fails or answer, got both"))
    node, cluster = arguments.get("node"), arguments.get("cluster")
    if node and cluster and dict(names.node_clusters).get(node) != cluster:
        errors.append(("node", f"expected a node of {cluster}, got {describe_value(node)}"))
    ends = arguments.get("between") or [arguments[end] for end in ("from", "to") if verb.name == "cut"]
    sites = {names.site_of(end) for end in ends}
    if ends and len(sites) == 1:
        text = f"expected two different sites, but {ends[0]} and {ends[1]} both mean {names.site_of(ends[0])}"
        errors.append(("to" if verb.name == "cut" else "between", text))
    return errors
