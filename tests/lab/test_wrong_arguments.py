"""Wrong arguments: each parameter of each verb, given each kind of wrong value, is refused in one sentence.

Nothing has changed afterwards: the lab's whole state is the same.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, cast

import pytest

from labkit import Lab
from labkit.lab.cluster import Cluster
from labkit.lab.plan.blueprint import pair

NAN, INFINITE = float("nan"), float("inf")

WRONG: dict[str, Any] = {
    "None": None,
    "True": True,
    "-1": -1,
    "0": 0,
    "1": 1,
    "80": 80,
    "2.5": 2.5,
    "nan": NAN,
    "inf": INFINITE,
    "huge": 10**5_000,
    "empty": "",
    "unknown": "osaka",
    "near": "tokio",
    "node": "tokyo-9",
    "10%": "10%",
    "digits": "80",
    "negative": "-5s",
    "unit": "5 parsec",
    "surrogate": "\ud800",
    "newline": "paris\n",
    "long": "x" * 100_000,
    "bytes": b"paris",
    "list": ["paris"],
    "tuple": ("paris", "tokyo"),
    "dict": {"paris": 1},
    "set": {"paris"},
    "object": object(),
    "class": Lab,
}
ALL = set(WRONG)
TEXTS = {name for name, value in WRONG.items() if isinstance(value, str)}

# A call of every verb that takes arguments, by keyword, and for each of its parameters which values of WRONG are right.
CALLS: dict[str, dict[str, tuple[Any, set[str]]]] = {
    "Lab.step": {},
    "Lab.roll_keys": {},
    "Lab.map": {},
    "Lab.keep_pictures": {},
    "Lab.play": {"only": ("replication", {"None"}), "beside": (None, {"None"})},
    "Lab.dashboard": {},
    "Lab.snapshot": {},
    "Lab.__getitem__": {"name": ("paris", set())},
    "Lab.run": {
        "duration": ("1s", {"None", "0", "1", "80", "2.5", "digits"}),
        "until": ("5s", {"None", "80", "2.5", "digits", "class"}),
    },
    "Lab.work_through": {"runbook": ("promote", set()), "cluster": ("tokyo", set()), "force": (False, {"True"})},
    "Lab.replicate": {"primary": ("paris", set()), "secondary": ("tokyo", set())},
    "Lab.diff": {"first": ("paris", set()), "second": ("tokyo", set())},
    "Lab.compare": {"other": (None, set())},
    "Lab.at": {"instant": ("1s", set())},
    "Lab.keep_checkpoints": {"every": ("1s", {"1", "80", "2.5", "digits"}), "limit": (256, {"80"})},
    "Lab.why": {"event": (0, {"0", "1", "80"})},
    "Lab.failover": {"old": ("paris", set()), "new": ("tokyo", set())},
    "Lab.lag": {"primary": ("paris", set()), "secondary": ("tokyo", set())},
    "Lab.restore": {"snapshot": (None, set())},
    "Lab.branch": {"name": ("x", TEXTS - {"empty"}), "luck": (3, {"None", "0", "1", "80"})},
    "Lab.crash": {"target": ("paris", set())},
    "Lab.restart": {"target": ("paris", set())},
    "Lab.crash_site": {"target": ("paris", set())},
    "Lab.restart_site": {"target": ("paris", set())},
    "Lab.pause": {"target": ("paris", set())},
    "Lab.resume": {"target": ("paris", set())},
    "Lab.skew": {
        "target": ("paris", set()),
        "by": ("90s", {"None", "negative"}),
        "drift": (0.1, {"0", "1", "-1", "2.5"}),
    },
    "Lab.correct": {"target": ("paris", set())},
    "Lab.impersonate": {"target": ("paris", set())},
    "Lab.expose": {"target": ("paris", set())},
    "Lab.crash_in_commit": {"target": ("paris", set()), "moment": ("before", set())},
    "Lab.seal": {"cluster": ("paris", set())},
    "Lab.unseal": {"cluster": ("paris", set()), "node": ("paris-1", {"empty"})},
    "Lab.partition": {"a": ("paris", set()), "b": ("tokyo", set())},
    "Lab.cut": {"source": ("paris", set()), "target": ("tokyo", set())},
    "Lab.isolate": {"target": ("paris", set())},
    "Lab.heal": {"a": ("paris", {"None"}), "b": ("tokyo", {"None"})},
    "Lab.slow": {"a": ("paris", set()), "b": ("tokyo", set()), "latency": ("80ms", set())},
    "Lab.slow factor": {"a": ("paris", set()), "b": ("tokyo", set()), "factor": (2, {"80"})},
    "Lab.flap": {"a": ("paris", set()), "b": ("tokyo", set()), "down": ("2s", set()), "up": ("2s", set())},
    "Lab.steady": {"a": ("paris", {"None"}), "b": ("tokyo", {"None"})},
    "Lab.slow one_way": {
        "a": ("paris", set()),
        "b": ("tokyo", set()),
        "latency": ("80ms", set()),
        "one_way": (True, {"True"}),
    },
    "Lab.lose": {"a": ("paris", set()), "b": ("tokyo", set()), "percent": (5, {"0", "1", "80", "2.5"})},
    "Lab.duplicate": {"a": ("paris", set()), "b": ("tokyo", set()), "percent": (5, {"0", "1", "80", "2.5"})},
    "Lab.restore_links": {"a": ("paris", {"None"}), "b": ("tokyo", {"None"})},
    "Lab.cloud_outage": {"endpoint": ("keys", {"None"})},
    "Lab.cloud_recover": {"endpoint": ("keys", {"None"})},
    "Lab.cloud_slow": {"delay": ("2s", set()), "endpoint": ("keys", {"None"})},
    "Lab.cloud_restore": {"endpoint": ("keys", {"None"})},
    "Lab.stray_write": {"cluster": ("tokyo", set())},
    "Lab.corrupt": {"cluster": ("tokyo", set()), "layer": ("page", set()), "key": (None, {"None", *TEXTS})},
    "Lab.serve": {
        "port": (0, {"0", "1", "80"}),
        "speed": (0, {"0", "1", "80", "2.5"}),
        "control": (False, ALL),
        "settings": (None, ALL),
    },
    "Lab.watch": {"name": ("x", TEXTS - {"empty"}), "check": (lambda lab: True, {"class"})},
    "Lab.load": {"path": ("nowhere.yaml", set()), "seed": (7, {"0", "1", "80", "None"})},
    "Lab.pair": {"seed": (7, {"0", "1", "80"})},
    "Lab.triangle": {"seed": (7, {"0", "1", "80"})},
    "Lab.__init__": {
        "blueprint": (pair(), set()),
        "seed": (7, {"0", "1", "80"}),
        "trace": (True, {"True"}),
        "snapshot": (None, {"None"}),
    },
    "Cluster.promote": {"force": (True, {"True"})},
    "Cluster.demote": {},
    "Cluster.disable": {},
    "Cluster.enable_primary": {},
    "Cluster.enable_secondary": {"primary": ("paris", set()), "token": ("", TEXTS), "address": ("", TEXTS)},
    "Cluster.repoint": {"to": ("paris", set())},
    "Cluster.rekey": {"shares": (5, {"80"}), "threshold": (3, {"1"})},
    "Cluster.use_unseal_keys": {"keys": ((), {"list", "tuple"})},
    "Cluster.seal": {},
    "Cluster.unseal": {"node": ("tokyo-1", {"empty"})},
    "Cluster.status": {},
    "Cluster.merkle": {"other": (None, {"None"}), "page": (None, {"None"})},
    "Cluster.reindex": {"diff": (False, {"True"}), "force": (False, {"True"}), "skip_flush": (False, {"True"})},
    "Cluster.request": {
        "method": ("GET", TEXTS - {"empty"}),
        "path": ("sys/health", TEXTS - {"empty"}),
        "json": (None, ALL),
        "headers": ({}, {"None", "dict"}),
        "node": ("", {"empty"}),
        "timeout": ("1s", {"0", "1", "80", "2.5", "digits"}),
    },
}
# What later verbs bring, what is tested with the short forms or with the files of labs, and what only doors ask.
ELSEWHERE = {
    "get",
    "list",
    "delete",
    "post",
    "put",
    "patch",
    "timeline",
    "merkle_check",
    "operation_token",
    "judge_large",
    "save",
    "open",
}


def verbs_of(kind: type) -> set[str]:
    return {
        name
        for name, value in inspect.getmembers(kind)
        if (not name.startswith("_") or name in ("__getitem__", "__init__")) and callable(value)
    }


def test_every_verb_and_each_of_its_parameters_is_in_the_table():
    for kind in (Lab, Cluster):
        for name in sorted(verbs_of(kind) - ELSEWHERE - ({"__init__"} if kind is Cluster else set())):
            rows = [row for key, row in CALLS.items() if key.split()[0] == f"{kind.__name__}.{name}"]
            assert rows, f"{kind.__name__}.{name} has no row"
            parameters = inspect.signature(getattr(kind, name)).parameters
            wanted = {each for each, how in parameters.items() if each != "self" and how.kind is not how.VAR_KEYWORD}
            assert wanted <= {each for row in rows for each in row}, name


CASES = [(key, parameter) for key, row in CALLS.items() for parameter in row]


@pytest.mark.parametrize(("key", "parameter"), CASES, ids=[f"{key}({parameter})" for key, parameter in CASES])
def test_a_wrong_argument_is_one_sentence_and_changes_nothing(calm, key, parameter):
    verb = bound(calm, key)
    right = {name: value for name, (value, _) in CALLS[key].items()}
    if key == "Lab.run":
        right = {}
    before = calm.snapshot()
    for name in sorted(ALL - CALLS[key][parameter][1]):
        with pytest.raises(ValueError, match=r"expected|:") as caught:
            call(verb, key, {**right, parameter: WRONG[name]})
        said = str(caught.value)
        assert type(caught.value) in (ValueError, *allowed_errors(key)), (name, caught.value)
        assert len(said.splitlines()) == 1, (name, said)
        assert len(said) < 400 or key == "Lab.load", (name, said)
        assert calm.snapshot().state == before.state, name
    assert calm.run("1ms").now == before.at_ns + 1_000_000, "the lab stays open"


def bound(lab: Lab, key: str) -> Callable[..., Any]:
    kind, name = key.split()[0].split(".")
    if name == "__init__":
        return Lab
    found: Callable[..., Any] = getattr(lab if kind == "Lab" else lab["tokyo"], name)
    return found


def call(verb: Callable[..., Any], key: str, arguments: dict[str, Any]) -> Any:
    """Call a verb; ``run`` takes its arguments one at a time, and a key's name may be only positional."""
    return verb(*arguments.values()) if key == "Lab.__getitem__" else verb(**arguments)


def allowed_errors(key: str) -> tuple[type[ValueError], ...]:
    from labkit.scenario.problems import ScenarioError

    return (ScenarioError,) if key == "Lab.load" else ()


# ---- sentences


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda lab: lab["osaka"], "cluster: expected a cluster, got 'osaka'; there are: paris, tokyo"),
        (
            lambda lab: lab.crash("tokyo-9"),
            "target: expected a cluster or a node, got 'tokyo-9'; there are: paris, paris-1, paris-2, paris-3, tokyo, "
            "tokyo-1, tokyo-2, tokyo-3 — did you mean 'tokyo-3'?",
        ),
        (
            lambda lab: lab.partition("paris", "lisbn"),
            "b: expected a site or a cluster, got 'lisbn'; there are: paris, tokyo, lisbon — did you mean 'lisbon'?",
        ),
        (
            lambda lab: lab.slow("paris", "tokyo", latency=80),
            "latency: expected a duration with its unit such as 80ms or 80s, got 80",
        ),
        (
            lambda lab: lab.slow("paris", "tokyo", latency="-1s"),
            "latency: expected a duration from 0s up such as 80ms, 1.5s, 1h30m or 2d, got '-1s'",
        ),
        (lambda lab: lab.slow("paris", "tokyo"), "slow: expected latency= or factor=, got neither"),
        (
            lambda lab: lab.slow("paris", "tokyo", latency="1s", factor=2),
            "slow: expected latency= or factor=, got both",
        ),
        (lambda lab: lab.slow("paris", "tokyo", factor=1), "factor: expected a whole number from 2 to 1000000, got 1"),
        (
            lambda lab: lab.lose("paris", "tokyo", "10%"),
            "percent: expected a number of percent from 0 to 100 such as 5 or 0.5, got '10%'",
        ),
        (
            lambda lab: lab.lose("paris", "tokyo", NAN),
            "percent: expected a number of percent from 0 to 100 such as 5 or 0.5, got nan",
        ),
        (lambda lab: Lab.pair(seed=cast("Any", "7")), "seed: expected a whole number from 0 to 2**64 - 1, got '7'"),
        (
            lambda lab: Lab(cast("Any", ["paris"])),
            "blueprint: expected a Blueprint; Lab.pair() and Lab.triangle() need none, got a list",
        ),
        (
            lambda lab: lab.replicate("paris", "paris"),
            "replicate: expected two different clusters, got paris as primary and secondary",
        ),
        (
            lambda lab: lab.work_through("promot", cluster="tokyo"),
            "runbook: expected a runbook, got 'promot'; there are: ask, enable-primary, enable-secondary, replicate, "
            "promote, demote, repoint, failover, disable, reindex, unseal, seal, operation-token, decode — "
            "did you mean 'promote'?",
        ),
        (
            lambda lab: lab.work_through("promote", clutser="tokyo"),
            "promote: expected its own arguments, got 'clutser'; there are: cluster, force, furthest_ahead — did",
        ),
        (
            lambda lab: lab.work_through("repoint", cluster="tokyo"),
            "repoint: expected to too; its arguments are: cluster, to",
        ),
        (lambda lab: lab.run("1s", until="2s"), "run: expected a duration or until=, got both"),
        (
            lambda lab: lab["tokyo"].unseal("paris-1"),
            "node: expected a node of tokyo, got 'paris-1'; there are: tokyo-1, tokyo-2, tokyo-3",
        ),
    ],
)
def test_the_sentence_says_what_was_wanted_what_came_and_what_there_is(calm, act, says):
    with pytest.raises(ValueError, match="^" + re.escape(says)):
        act(calm)


def test_latency_and_factor_go_by_keyword_only(calm):
    with pytest.raises(TypeError, match="positional"):
        calm.slow("paris", "tokyo", 2)
