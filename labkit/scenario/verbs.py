"""LabFaults: everything that a step of a timeline can do, in one table that validates, documents and runs them.

An operator works through a *runbook*, which may take long; a *fault* takes effect at once; the *story* verbs only
let time pass or add a note.  LabFaults come in pairs: ``undo`` names the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model

from labkit.lab.faults import LAYERS, MAX_FACTOR
from labkit.lab.runbooks import METHODS
from labkit.scenario.problems import describe_value, expected
from labkit.scenario.value_types import (
    ClusterName,
    ClusterOrNode,
    Condition,
    DeclaredNames,
    Duration,
    NodeName,
    Share,
    SiteOrCluster,
    SiteOrClusterPair,
    write_duration,
    write_share,
)

if TYPE_CHECKING:
    from labkit.lab.faults import LabFaults

Arguments = Mapping[str, Any]
Text = Annotated[str, Field(min_length=1)]

RUNBOOK, FAULT, STORY = "runbook", "fault", "story"
FACTOR = f"a whole number from 2 to {MAX_FACTOR}"


def _factor(value: int) -> int:
    if not 2 <= value <= MAX_FACTOR:
        raise ValueError(expected(FACTOR, value))
    return value


def _one_of(what: str, known: tuple[str, ...]) -> AfterValidator:
    def check(value: str) -> str:
        if value not in known:
            raise ValueError(expected(what, value, known))
        return value

    return AfterValidator(check)


def _fails(value: Any) -> str | None:
    """True means any refusal, a text one that contains it, false none."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, bool):
        return "" if value else None
    raise ValueError(expected("true, or text that the refusal contains (a number in quotes)", value))


class Parameter(NamedTuple):
    """One parameter of a verb: its name, its type, what to write there, and the words before it in a sentence."""

    name: str
    value_type: Any
    expected: str
    words: str = ""
    default: Any = ...

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is ...


class Verb(NamedTuple):
    """One verb: its kind, what it does, its parameters, and for a fault the verb of the lab."""

    name: str
    kind: str
    about: str
    parameters: tuple[Parameter, ...] = ()
    undo: str = ""
    fault: Callable[[LabFaults, Arguments], Any] | None = None
    one_of: tuple[str, ...] = ()
    needs_one: bool = False

    def describe(self, arguments: Arguments) -> str:
        """Return what a step does in a few words: ``repoint paris to tokyo``."""
        parts = [self.name]
        for parameter in self.parameters:
            value = arguments.get(parameter.name, parameter.default)
            if value not in (None, "", False, ...) and parameter.name not in ("body", "text"):
                parts += [parameter.words, _value_text(parameter, value)]
        return " ".join(part for part in parts if part)


def _value_text(parameter: Parameter, value: Any) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(value)
    if parameter.value_type is Duration:
        return write_duration(value)
    if parameter.value_type is Share:
        return write_share(value)
    return "" if value is True else str(value)


def _cluster(what: str, name: str = "cluster", words: str = "") -> Parameter:
    return Parameter(name, ClusterName, f"the cluster that {what}", words)


_BETWEEN = Parameter("between", SiteOrClusterPair, "two sites or clusters such as [paris, tokyo]", "between")
_MAYBE_BETWEEN = _BETWEEN._replace(default=None)
_AROUND = Parameter("target", SiteOrCluster, "a site, or a cluster at the site that is meant", "", None)
_HOSTS = Parameter("target", ClusterOrNode, "a cluster or one of its nodes")


def _latency(arguments: Arguments) -> str | None:
    return None if arguments["latency"] is None else f"{arguments['latency']}ns"


def _ends(arguments: Arguments) -> tuple[str, str]:
    first, second = arguments["between"]
    return first, second


def _around(arguments: Arguments) -> tuple[str, ...]:
    return tuple(arguments["between"] or ([arguments["target"]] if arguments["target"] else ()))


_ROWS = (
    Verb(
        "enable-primary",
        RUNBOOK,
        "Make a cluster a disaster-recovery primary.",
        (_cluster("becomes the primary"),),
        undo="disable",
    ),
    Verb(
        "enable-secondary",
        RUNBOOK,
        "Make a cluster the secondary of a primary, with an activation token issued there, and unseal its nodes.",
        (_cluster("becomes the secondary"), _cluster("it follows", "primary", "of")),
        undo="disable",
    ),
    Verb(
        "replicate",
        RUNBOOK,
        "Make one cluster the primary of another, as enable-primary and enable-secondary do; a primary gets one more.",
        (_cluster("becomes the primary", "primary"), _cluster("becomes its secondary", "secondary", "to")),
        undo="disable",
    ),
    Verb(
        "promote",
        RUNBOOK,
        "Make a secondary the primary, with an operation token generated from key shares.",
        (
            _cluster("becomes the primary"),
            Parameter("force", bool, "true to promote without the safety check", "by force", False),
        ),
        undo="demote",
    ),
    Verb(
        "demote",
        RUNBOOK,
        "Make a primary a secondary that follows no cluster yet.",
        (_cluster("stops being primary"),),
        undo="promote",
    ),
    Verb(
        "repoint",
        RUNBOOK,
        "Give a secondary another primary to follow, with a fresh activation token.",
        (_cluster("is the secondary"), _cluster("is its new primary", "to", "to")),
    ),
    Verb(
        "failover",
        RUNBOOK,
        "Move the primary as planned: demote the old, wait until the new is level, promote it, re-point the others.",
        (_cluster("is the primary", "old", "from"), _cluster("becomes the primary", "new", "to")),
    ),
    Verb(
        "disable",
        RUNBOOK,
        "Disable replication on a cluster, primary or secondary.",
        (_cluster("stops replicating"),),
        undo="replicate",
    ),
    Verb(
        "unseal",
        RUNBOOK,
        "Give the sealed nodes of a cluster their key shares.",
        (_cluster("is sealed"), Parameter("node", NodeName, "one of its nodes, when only that is meant", "at", "")),
        undo="seal",
    ),
    Verb("seal", RUNBOOK, "Seal the active node of a cluster.", (_cluster("is to be sealed"),), undo="unseal"),
    Verb(
        "ask",
        RUNBOOK,
        "Send one request of the API to a cluster, with its root token.",
        (
            _cluster("gets the request"),
            Parameter("method", Annotated[str, _one_of("a method", METHODS)], ", ".join(METHODS)),
            Parameter("path", Text, "a path of the API such as secret/data/app"),
            Parameter("body", dict[str, Any], "a mapping, sent as JSON", "", None),
        ),
    ),
    Verb(
        "crash",
        FAULT,
        "Take a node, or all nodes of a cluster, down; their memory is lost.",
        (_HOSTS,),
        undo="restart",
        fault=lambda faults, arguments: faults.crash(arguments["target"]),
    ),
    Verb(
        "restart",
        FAULT,
        "Start a node, or all nodes of a cluster, again; they start sealed.",
        (_HOSTS,),
        undo="crash",
        fault=lambda faults, arguments: faults.restart(arguments["target"]),
    ),
    Verb(
        "partition",
        FAULT,
        "Cut the line between two sites in both directions.",
        (_BETWEEN,),
        undo="heal",
        fault=lambda faults, arguments: faults.partition(*_ends(arguments)),
    ),
    Verb(
        "cut",
        FAULT,
        "Cut the line from one site to another in one direction.",
        (
            Parameter("from", SiteOrCluster, "the site or cluster whose messages are lost", "from"),
            Parameter("to", SiteOrCluster, "the site or cluster that they were sent to", "to"),
        ),
        undo="heal",
        fault=lambda faults, arguments: faults.cut(arguments["from"], arguments["to"]),
    ),
    Verb(
        "isolate",
        FAULT,
        "Cut all lines of a site.",
        (_AROUND._replace(default=...),),
        undo="heal",
        fault=lambda faults, arguments: faults.isolate(arguments["target"]),
    ),
    Verb(
        "heal",
        FAULT,
        "Undo partition, cut and isolate: between two sites, around one, or everywhere.",
        (_MAYBE_BETWEEN, _AROUND),
        undo="partition",
        fault=lambda faults, arguments: faults.heal(*_around(arguments)),
        one_of=("between", "target"),
    ),
    Verb(
        "slow",
        FAULT,
        "Give the line between two sites another latency, or multiply its latency.",
        (
            _BETWEEN,
            Parameter("latency", Duration, "a duration such as 300ms", "to", None),
            Parameter("factor", Annotated[int, AfterValidator(_factor)], FACTOR, "by", None),
        ),
        undo="restore",
        fault=lambda faults, arguments: faults.slow(
            *_ends(arguments), latency=_latency(arguments), factor=arguments["factor"]
        ),
        one_of=("latency", "factor"),
        needs_one=True,
    ),
    Verb(
        "lose",
        FAULT,
        "Lose a share of the messages between two sites; each lost one is sent again, later.",
        (_BETWEEN, Parameter("loss", Share, "a share such as 5%", "by")),
        undo="restore",
        fault=lambda faults, arguments: faults.lose(*_ends(arguments), arguments["loss"] / 10_000),
    ),
    Verb(
        "restore",
        FAULT,
        "Undo slow and lose: between two sites, around one, or everywhere.",
        (_MAYBE_BETWEEN, _AROUND),
        undo="slow",
        fault=lambda faults, arguments: faults.restore_links(*_around(arguments)),
        one_of=("between", "target"),
    ),
    Verb(
        "corrupt",
        FAULT,
        "Alter one node of the Merkle tree that a cluster's active node keeps, or one stored value.",
        (
            _cluster("is damaged"),
            Parameter("layer", Annotated[str, _one_of("a layer", LAYERS)], ", ".join(LAYERS), "in its", "subpage"),
            Parameter("key", Text, "the storage key to damage; the last one unless given", "at", None),
        ),
        fault=lambda faults, arguments: faults.corrupt(arguments["cluster"], arguments["layer"], arguments["key"]),
    ),
    Verb(
        "wait",
        STORY,
        "Let time pass: for a while, or until the lag of every secondary is as wanted.",
        (
            Parameter("for", Duration, "a duration such as 5s", "", None),
            Parameter("until", Condition, "a condition such as lag 0, lag at most 5 or lag at most 2s", "until", None),
            Parameter(
                "within", Duration, "a duration such as 30s; the step fails after it, or after 2m", "within", None
            ),
        ),
        one_of=("for", "until"),
        needs_one=True,
    ),
    Verb("note", STORY, "Add a note for the reader of the timeline.", (Parameter("text", Text, "a sentence"),)),
)

VERBS = {verb.name: verb for verb in _ROWS}


@cache
def model_of(name: str) -> type[BaseModel]:
    """Return the pydantic model of a step with this verb: its parameters, and when it begins."""
    verb = VERBS[name]
    fields: dict[str, Any] = {
        "do": (Literal[name], Field(description=verb.about)),
        "at": (Duration, Field(None, description="the instant at which it begins, such as 20s")),
        "after": (Duration, Field(None, description="how long after the steps above it ended, such as 2s")),
        "late": (Literal["ok"] | None, Field(None, description="ok, for a step that may begin later than written")),
    }
    if verb.kind == RUNBOOK:
        description = "true, or text that the refusal contains"
        fields["fails"] = (Annotated[str | None, BeforeValidator(_fails)], Field(None, description=description))
    for parameter in verb.parameters:
        field = Field(parameter.default, description=parameter.expected, alias=parameter.name)
        fields[f"{parameter.name}_"] = (parameter.value_type, field)
    return create_model(f"{name.title().replace('-', '')}Step", __config__=STRICT, **fields)


STRICT = ConfigDict(strict=True, extra="forbid", frozen=True, populate_by_name=False)


def cross_field_errors(verb: Verb, arguments: Arguments, names: DeclaredNames) -> list[tuple[str, str]]:
    """Return what is wrong with a step's parameters together, each of them being right: key and text."""
    errors = []
    if arguments.get("at") is not None and arguments.get("after") is not None:
        errors.append(("after", "expected at or after, got both; at is an instant, after follows the step before"))
    named = [name for name in verb.one_of if arguments.get(name) is not None]
    choice = " or ".join(verb.one_of)
    if len(named) > 1:
        errors.append((named[-1], f"expected {choice}, got both"))
    if verb.needs_one and not named:
        errors.append(("do", f"expected {choice}, got neither"))
    if arguments.get("within") is not None and arguments.get("until") is None:
        errors.append(("within", "expected until too, since within says how long it may take"))
    node, cluster = arguments.get("node"), arguments.get("cluster")
    if node and cluster and dict(names.node_clusters).get(node) != cluster:
        errors.append(("node", f"expected a node of {cluster}, got {describe_value(node)}"))
    ends = arguments.get("between") or [arguments[end] for end in ("from", "to") if verb.name == "cut"]
    sites = {names.site_of(end) for end in ends}
    if ends and len(sites) == 1:
        text = f"expected two different sites, but {ends[0]} and {ends[1]} both mean {names.site_of(ends[0])}"
        errors.append(("to" if verb.name == "cut" else "between", text))
    return errors
