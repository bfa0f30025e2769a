"""Verbs: everything that a step of a timeline can do, in one table that validates, documents and runs them.

A *runbook* is worked through by an operator and may take long; a *fault* takes effect at once; the *story* verbs only
let time pass or say something.  Verbs come in pairs: ``undo`` names the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model

from labkit.scenario.findings import shown, wanted
from labkit.scenario.kinds import (
    ClusterName,
    Duration,
    Hosts,
    Names,
    NodeName,
    Place,
    PlacePair,
    Share,
    write_duration,
    write_share,
)

if TYPE_CHECKING:
    from labkit.lab.faults import LabFaults

Given = Mapping[str, Any]

RUNBOOK, FAULT, STORY = "runbook", "fault", "story"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "LIST")
LAYERS = ("root", "subtree", "page", "subpage", "storage")


def _at_least_two(value: int) -> int:
    if value < 2:
        raise ValueError(f"wanted a whole number from 2 up, came {value}")
    return value


def _one_of(what: str, known: tuple[str, ...]) -> AfterValidator:
    def check(value: str) -> str:
        if value not in known:
            raise ValueError(wanted(what, value, known))
        return value

    return AfterValidator(check)


def _fails(value: Any) -> str | None:
    """True is any refusal, text one that says so, false none."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, bool):
        return "" if value else None
    raise ValueError(wanted("true, or words that the refusal says", value))


class Parameter(NamedTuple):
    """One thing that a verb is told: its name, its kind, what to write there, and how it is said in a sentence."""

    name: str
    kind: Any
    wanted: str
    said: str = ""
    default: Any = ...

    @property
    def required(self) -> bool:
        """Whether it has to be given."""
        return self.default is ...


class Verb(NamedTuple):
    """One verb: what sort it is, what it does, its parameters, and the fault that it is in a lab."""

    name: str
    sort: str
    about: str
    parameters: tuple[Parameter, ...] = ()
    undo: str = ""
    fault: Callable[[LabFaults, Given], Any] | None = None
    one_of: tuple[str, ...] = ()
    needs_one: bool = False

    def say(self, given: Given) -> str:
        """Tell what a step does in a few words: ``repoint paris to tokyo``."""
        words = [self.name]
        for parameter in self.parameters:
            value = given.get(parameter.name, parameter.default)
            if value not in (None, "", False, ...) and parameter.name not in ("body", "text"):
                words += [parameter.said, _say(parameter, value)]
        return " ".join(word for word in words if word)


def _say(parameter: Parameter, value: Any) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(value)
    if parameter.kind is Duration:
        return write_duration(value)
    if parameter.kind is Share:
        return write_share(value)
    return "" if value is True else str(value)


def _cluster(what: str, name: str = "cluster", said: str = "") -> Parameter:
    return Parameter(name, ClusterName, f"the cluster that {what}", said)


_BETWEEN = Parameter("between", PlacePair, "two sites or clusters such as [paris, tokyo]", "between")
_MAYBE_BETWEEN = _BETWEEN._replace(default=None)
_AROUND = Parameter("target", Place, "a site or a cluster, whose site is meant", "", None)
_HOSTS = Parameter("target", Hosts, "a cluster or one of its nodes")


def _latency(given: Given) -> str | None:
    return None if given["latency"] is None else f"{given['latency']}ns"


def _ends(given: Given) -> tuple[str, str]:
    first, second = given["between"]
    return first, second


def _where(given: Given) -> tuple[str, ...]:
    return tuple(given["between"] or ([given["target"]] if given["target"] else ()))


def _corrupt(lab: LabFaults, given: Given) -> None:
    if not lab.queries.active_node(given["cluster"]):
        raise ValueError(f"{given['cluster']} has no active node, and only that one keeps an index")
    lab.corrupt(given["cluster"], given["layer"], given["key"])


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
        "Make a cluster the secondary of a primary, with an activation token issued there, and open its nodes.",
        (_cluster("becomes the secondary"), _cluster("it follows", "primary", "of")),
        undo="disable",
    ),
    Verb(
        "replicate",
        RUNBOOK,
        "Enable a primary, then a secondary of it: enable-primary and enable-secondary in one.",
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
        "Make a primary a secondary that follows nobody yet.",
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
        "disable",
        RUNBOOK,
        "Take a cluster out of replication, whatever it is in it.",
        (_cluster("leaves"),),
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
            _cluster("is asked"),
            Parameter("method", Annotated[str, _one_of("a method", METHODS)], ", ".join(METHODS)),
            Parameter("path", str, "a path of the API such as secret/data/app"),
            Parameter("body", dict[str, Any], "a mapping, sent as JSON", "", None),
        ),
    ),
    Verb(
        "crash",
        FAULT,
        "Take a node, or all nodes of a cluster, down; what they held in memory is gone.",
        (_HOSTS,),
        undo="restart",
        fault=lambda lab, given: lab.crash(given["target"]),
    ),
    Verb(
        "restart",
        FAULT,
        "Start a node, or all nodes of a cluster, again; they come up sealed.",
        (_HOSTS,),
        undo="crash",
        fault=lambda lab, given: lab.restart(given["target"]),
    ),
    Verb(
        "partition",
        FAULT,
        "Cut both ways between two sites.",
        (_BETWEEN,),
        undo="heal",
        fault=lambda lab, given: lab.partition(*_ends(given)),
    ),
    Verb(
        "cut",
        FAULT,
        "Cut one way, from one site to another.",
        (
            Parameter("from", Place, "the site or cluster whose messages are lost", "from"),
            Parameter("to", Place, "the site or cluster that they were for", "to"),
        ),
        undo="heal",
        fault=lambda lab, given: lab.cut(given["from"], given["to"]),
    ),
    Verb(
        "isolate",
        FAULT,
        "Cut a site off from every other one.",
        (_AROUND._replace(default=...),),
        undo="heal",
        fault=lambda lab, given: lab.isolate(given["target"]),
    ),
    Verb(
        "heal",
        FAULT,
        "Undo partition, cut and isolate: between two sites, around one, or everywhere.",
        (_MAYBE_BETWEEN, _AROUND),
        undo="partition",
        fault=lambda lab, given: lab.heal(*_where(given)),
        one_of=("between", "target"),
    ),
    Verb(
        "slow",
        FAULT,
        "Give the line between two sites another latency, or make it so many times as slow.",
        (
            _BETWEEN,
            Parameter("latency", Duration, "a duration such as 300ms", "to", None),
            Parameter("factor", Annotated[int, AfterValidator(_at_least_two)], "a whole number from 2 up", "by", None),
        ),
        undo="restore",
        fault=lambda lab, given: lab.slow(*_ends(given), latency=_latency(given), factor=given["factor"]),
        one_of=("latency", "factor"),
        needs_one=True,
    ),
    Verb(
        "lose",
        FAULT,
        "Lose a share of the messages between two sites; each lost one is sent again, later.",
        (_BETWEEN, Parameter("loss", Share, "a share such as 5%", "by")),
        undo="restore",
        fault=lambda lab, given: lab.lose(*_ends(given), given["loss"] / 10_000),
    ),
    Verb(
        "restore",
        FAULT,
        "Undo slow and lose: between two sites, around one, or everywhere.",
        (_MAYBE_BETWEEN, _AROUND),
        undo="slow",
        fault=lambda lab, given: lab.restore_links(*_where(given)),
        one_of=("between", "target"),
    ),
    Verb(
        "corrupt",
        FAULT,
        "Alter one kept node of the Merkle index of a cluster's active node, or one stored value.",
        (
            _cluster("is damaged"),
            Parameter("layer", Annotated[str, _one_of("a layer", LAYERS)], ", ".join(LAYERS), "in its", "subpage"),
            Parameter("key", str, "the storage key to strike; the last one unless given", "at", None),
        ),
        fault=_corrupt,
    ),
    Verb("wait", STORY, "Let time pass.", (Parameter("for", Duration, "a duration such as 5s"),)),
    Verb("note", STORY, "Say something to the reader of the timeline.", (Parameter("text", str, "a sentence"),)),
)

VERBS = {verb.name: verb for verb in _ROWS}


@cache
def model_of(name: str) -> type[BaseModel]:
    """Return the pydantic model of a step with this verb: its parameters, and when it begins."""
    verb = VERBS[name]
    fields: dict[str, Any] = {
        "do": (Literal[name], Field(description=verb.about)),
        "at": (Duration, Field(None, description="when it begins at the earliest, such as 20s")),
        "after": (Duration, Field(None, description="how long after the step before ended, such as 2s")),
    }
    if verb.sort == RUNBOOK:
        told = "true, or words that the refusal says"
        fields["fails"] = (Annotated[str | None, BeforeValidator(_fails)], Field(None, description=told))
    for parameter in verb.parameters:
        field = Field(parameter.default, description=parameter.wanted, alias=parameter.name)
        fields[f"{parameter.name}_"] = (parameter.kind, field)
    return create_model(f"{name.title().replace('-', '')}Step", __config__=STRICT, **fields)


STRICT = ConfigDict(strict=True, extra="forbid", frozen=True, populate_by_name=False)


def quarrels(verb: Verb, given: Given, names: Names) -> list[str]:
    """Tell what is wrong with a step's parameters together, beyond each by itself."""
    told = []
    if given.get("at") is not None and given.get("after") is not None:
        told.append("wanted at or after, came both; at is an instant, after follows the step before")
    named = [name for name in verb.one_of if given.get(name) is not None]
    choice = " or ".join(verb.one_of)
    if len(named) > 1:
        told.append(f"wanted {choice}, came both")
    if verb.needs_one and not named:
        told.append(f"wanted {choice}, came neither")
    node, cluster = given.get("node"), given.get("cluster")
    if node and cluster and node.rpartition("-")[0] != cluster:
        told.append(f"wanted a node of {cluster}, came {shown(node)}")
    ends = given.get("between") or [given[end] for end in ("from", "to") if verb.name == "cut"]
    sites = {names.home(end) for end in ends}
    if ends and len(sites) == 1:
        told.append(f"wanted two different sites, but {ends[0]} and {ends[1]} both mean {names.home(ends[0])}")
    return told
