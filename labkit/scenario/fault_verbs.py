"""Fault verbs: the rows of what takes effect at once; every fault of a lab, and what undoes it."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from labkit.cloud.failures import ENDPOINTS
from labkit.lab.faults import LAYERS, MAX_FACTOR, MIN_FLAP_NS
from labkit.scenario.problems import expected
from labkit.scenario.value_types import (
    ClusterOrNode,
    Drift,
    Duration,
    Offset,
    Share,
    SiteOrCluster,
    SiteOrClusterPair,
    write_duration,
)
from labkit.scenario.verb import FAULT, Arguments, Parameter, Text, Verb, cluster_parameter, known_as
from labkit.vault.storage.interruption import BETWEEN, MOMENTS

FACTOR = f"a whole number from 2 to {MAX_FACTOR}"


def _factor(value: int) -> int:
    if not 2 <= value <= MAX_FACTOR:
        raise ValueError(expected(FACTOR, value))
    return value


_BETWEEN = Parameter("between", SiteOrClusterPair, "two sites or clusters such as [paris, tokyo]", "between")
_MAYBE_BETWEEN = _BETWEEN._replace(default=None)
_AROUND = Parameter("target", SiteOrCluster, "a site, or a cluster at the site that is meant", "", None)
_HOSTS = Parameter("target", ClusterOrNode, "a cluster or one of its nodes")


def _flap_time(value: int) -> int:
    if value < MIN_FLAP_NS:
        raise ValueError(f"expected a duration from {write_duration(MIN_FLAP_NS)} up, got {write_duration(value)}")
    return value


FlapTime = Annotated[Duration, AfterValidator(_flap_time)]


def _nanoseconds(arguments: Arguments, name: str) -> str | None:
    return None if arguments[name] is None else f"{arguments[name]}ns"


def _ends(arguments: Arguments) -> tuple[str, str]:
    first, second = arguments["between"]
    return first, second


def _around(arguments: Arguments) -> tuple[str, ...]:
    return tuple(arguments["between"] or ([arguments["target"]] if arguments["target"] else ()))


_ENDPOINT = Parameter(
    "endpoint",
    Annotated[str, known_as("an endpoint of the cloud", ENDPOINTS)],
    f"{', '.join(ENDPOINTS)}; all unless given",
    "at",
    None,
)

FAULT_VERBS = (
    Verb(
        "crash",
        FAULT,
        "Take a node, or all nodes of a cluster, down; their memory is lost.",
        (_HOSTS,),
        undo="restart",
        fault=lambda faults, arguments: faults.crash(arguments["target"]),
    ),
    Verb(
        "crash-in-commit",
        FAULT,
        "Let the active node of a cluster go down inside its next commit of two keys or more.",
        (
            _HOSTS,
            Parameter(
                "moment",
                Annotated[str, known_as("a moment of a commit", MOMENTS)],
                "before its keys, between two of them, or after them: before, between, after",
                "",
                BETWEEN,
            ),
        ),
        undo="restart",
        fault=lambda faults, arguments: faults.crash_in_commit(arguments["target"], arguments["moment"]),
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
        "pause",
        FAULT,
        "Stop the process of a node, or of all nodes of a cluster: its timers, its lease and its messages wait.",
        (_HOSTS,),
        undo="resume",
        fault=lambda faults, arguments: faults.pause(arguments["target"]),
    ),
    Verb(
        "resume",
        FAULT,
        "Let paused processes go on: each takes what waits for it and acts on what it believed.",
        (_HOSTS,),
        undo="pause",
        fault=lambda faults, arguments: faults.resume(arguments["target"]),
    ),
    Verb(
        "skew",
        FAULT,
        "Make the wall clock of a node, or of all nodes of a cluster, wrong, and let it drift from then on.",
        (
            _HOSTS,
            Parameter("by", Offset, "a duration that it is ahead such as 90s, or behind such as -90s", "by", None),
            Parameter("drift", Drift, "a share such as 0.02%, or -0.02% for a clock that is slow", "drifting", 0),
        ),
        undo="correct",
        fault=lambda faults, arguments: faults.skew(
            arguments["target"], _nanoseconds(arguments, "by"), arguments["drift"] / 10_000
        ),
    ),
    Verb(
        "correct",
        FAULT,
        "Set the wall clock of a node, or of all nodes of a cluster, right again.",
        (_HOSTS,),
        undo="skew",
        fault=lambda faults, arguments: faults.correct(arguments["target"]),
    ),
    Verb(
        "impersonate",
        FAULT,
        "Put an impostor, who has none of its keys, in a node's place for every other site.",
        (_HOSTS,),
        undo="expose",
        fault=lambda faults, arguments: faults.impersonate(arguments["target"]),
    ),
    Verb(
        "expose",
        FAULT,
        "Take the impostor of a node, or of all nodes of a cluster, out of the middle.",
        (_HOSTS,),
        undo="impersonate",
        fault=lambda faults, arguments: faults.expose(arguments["target"]),
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
            Parameter("one way", bool, "true for messages from the first to the second only", "one way", False),
        ),
        undo="restore",
        fault=lambda faults, arguments: faults.slow(
            *_ends(arguments),
            latency=_nanoseconds(arguments, "latency"),
            factor=arguments["factor"],
            one_way=arguments["one way"],
        ),
        one_of=("latency", "factor"),
        needs_one=True,
    ),
    Verb(
        "lose",
        FAULT,
        "Lose a share of the messages between two sites; each lost one is sent again, later, unless it is a datagram.",
        (_BETWEEN, Parameter("loss", Share, "a share such as 5%", "by")),
        undo="restore",
        fault=lambda faults, arguments: faults.lose(*_ends(arguments), arguments["loss"] / 10_000),
    ),
    Verb(
        "duplicate",
        FAULT,
        "Deliver a share of the datagrams between two sites twice: heartbeats that go aside, and announcements.",
        (_BETWEEN, Parameter("share", Share, "a share such as 5%", "by")),
        undo="restore",
        fault=lambda faults, arguments: faults.duplicate(*_ends(arguments), arguments["share"] / 10_000),
    ),
    Verb(
        "restore",
        FAULT,
        "Undo slow, lose and duplicate: between two sites, around one, or everywhere.",
        (_MAYBE_BETWEEN, _AROUND),
        undo="slow",
        fault=lambda faults, arguments: faults.restore_links(*_around(arguments)),
        one_of=("between", "target"),
    ),
    Verb(
        "flap",
        FAULT,
        "Let the line between two sites go down and come up, again and again.",
        (
            _BETWEEN,
            Parameter("down", FlapTime, "a duration such as 2s for which it is down", "down"),
            Parameter("up", FlapTime, "a duration such as 5s for which it is up before and between", "up"),
        ),
        undo="steady",
        fault=lambda faults, arguments: faults.flap(
            *_ends(arguments), f"{arguments['down']}ns", f"{arguments['up']}ns"
        ),
    ),
    Verb(
        "steady",
        FAULT,
        "End flap, with the line up: between two sites, around one, or everywhere.",
        (_MAYBE_BETWEEN, _AROUND),
        undo="flap",
        fault=lambda faults, arguments: faults.steady(*_around(arguments)),
        one_of=("between", "target"),
    ),
    Verb(
        "corrupt",
        FAULT,
        "Alter one node of the Merkle tree that a cluster's active node keeps, or one stored value.",
        (
            cluster_parameter("is damaged"),
            Parameter("layer", Annotated[str, known_as("a layer", LAYERS)], ", ".join(LAYERS), "in its", "subpage"),
            Parameter("key", Text, "the storage key; the first, or the last of a secret, unless given", "at", None),
        ),
        fault=lambda faults, arguments: faults.corrupt(arguments["cluster"], arguments["layer"], arguments["key"]),
    ),
    Verb(
        "stray-write",
        FAULT,
        "Let a cluster's active node store something that nobody asked for, as a faulty service would.",
        (cluster_parameter("writes of its own accord"),),
        fault=lambda faults, arguments: faults.stray_write(arguments["cluster"]),
    ),
    Verb(
        "cloud-outage",
        FAULT,
        "Let an endpoint of the cloud, or all of them, answer nothing; the cloud comes to the lab with its first verb.",
        (_ENDPOINT,),
        undo="cloud-recover",
        fault=lambda faults, arguments: faults.cloud_outage(arguments["endpoint"]),
    ),
    Verb(
        "cloud-recover",
        FAULT,
        "End an outage of the cloud, at one endpoint or at all of them.",
        (_ENDPOINT,),
        undo="cloud-outage",
        fault=lambda faults, arguments: faults.cloud_recover(arguments["endpoint"]),
    ),
    Verb(
        "cloud-slow",
        FAULT,
        "Let an endpoint of the cloud, or all of them, take so long for each answer.",
        (Parameter("delay", Duration, "a duration such as 2s", "by"), _ENDPOINT),
        undo="cloud-restore",
        fault=lambda faults, arguments: faults.cloud_slow(f"{arguments['delay']}ns", arguments["endpoint"]),
    ),
    Verb(
        "cloud-restore",
        FAULT,
        "Let an endpoint of the cloud, or all of them, answer at once again.",
        (_ENDPOINT,),
        undo="cloud-slow",
        fault=lambda faults, arguments: faults.cloud_restore(arguments["endpoint"]),
    ),
    Verb(
        "roll-keys",
        FAULT,
        "Let the cloud sign tokens with its next key, which is published already.",
        fault=lambda faults, arguments: faults.roll_keys(),
    ),
)
