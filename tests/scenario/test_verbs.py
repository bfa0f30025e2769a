"""The table of verbs knows every runbook and every fault of a lab, and says what each step does."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from pydantic import ValidationError

from labkit.front.lab import Lab
from labkit.lab.cluster import Cluster
from labkit.lab.fault_table import LAYERS, MAX_FACTOR
from labkit.lab.faults import LabFaults
from labkit.lab.operations.runbooks import RUNBOOKS
from labkit.lab.site_faults import SiteFaults
from labkit.scenario.value_types import DeclaredNames
from labkit.scenario.verb import FAULT, RUNBOOK, STORY
from labkit.scenario.verbs import VERBS, cross_field_errors, model_of
from labkit.sim.network_faults import Faults
from labkit.vault.replication.tree import merkle

NAMES = DeclaredNames(
    ("paris", "tokyo"),
    ("paris", "tokyo"),
    ("paris-1", "tokyo-1"),
    (("paris", "paris"), ("tokyo", "tokyo")),
    (("paris-1", "paris"), ("tokyo-1", "tokyo")),
)


class Watched(LabFaults):
    """Writes down which verbs of a lab are called, and with what."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __getattribute__(self, name: str) -> Any:
        members = {**vars(SiteFaults), **vars(LabFaults)}
        verbs = {name for name, member in members.items() if inspect.isfunction(member)}
        if name not in verbs:
            return object.__getattribute__(self, name)

        def called(*arguments: Any, **named: Any) -> None:
            inspect.signature(getattr(LabFaults, name)).bind(self, *arguments, **named)
            self.calls.append((name, *arguments, *(value for value in named.values() if value is not None)))

        return called


def test_every_runbook_is_a_verb_with_the_same_parameters() -> None:
    parameters = {
        verb.name: list(verb.runbook_arguments({parameter.name: "x" for parameter in verb.parameters}))
        for verb in VERBS.values()
        if verb.kind == RUNBOOK
    }

    assert parameters == {name: list(inspect.signature(steps).parameters) for name, steps in RUNBOOKS.items()}


# What a verb and a parameter of a file are called in Python, where ``from`` is a word of the language.
METHODS = {"restore": "restore_links"}
SPELLINGS = {
    "between": ("a", "b"),
    "from": ("source",),
    "loss": ("percent",),
    "share": ("percent",),
    ("cut", "to"): ("target",),
    ("heal", "target"): (),  # one site is ``a`` without ``b``
    ("restore", "target"): (),
    ("steady", "target"): (),
    "one way": ("one_way",),
    "furthest ahead": (),  # of a handle it is the cluster itself
}
# requests, run, and nothing: each takes more, or other things, in Python
WITHOUT_METHOD = {"ask", "operation-token", "decode", "wait", "check", "luck", "note"}


@pytest.mark.parametrize("name", sorted(set(VERBS) - WITHOUT_METHOD))
def test_every_verb_is_a_method_of_a_lab_or_a_cluster_with_the_same_parameters(name: str) -> None:
    method = METHODS.get(name, name.replace("-", "_"))
    wanted = {
        spelling: parameter.default
        for parameter in VERBS[name].parameters
        for spelling in SPELLINGS.get((name, parameter.name), SPELLINGS.get(parameter.name, (parameter.name,)))
    }
    found = getattr(Lab, method, None) or getattr(Cluster, method)
    if found is getattr(Cluster, method, None):
        assert wanted.pop("cluster") in (..., None), "a handle is of its cluster"

    given = [each for each in inspect.signature(found).parameters.values() if each.name != "self"]
    assert {each.name: ... if each.default is each.empty else each.default for each in given} == wanted
    assert [each.name for each in given] == list(wanted)


def test_both_a_lab_and_its_handles_seal_and_unseal() -> None:
    for name in ("seal", "unseal"):
        of_lab, of_cluster = (list(inspect.signature(getattr(kind, name)).parameters) for kind in (Lab, Cluster))
        assert [each for each in of_lab if each != "cluster"] == of_cluster


def test_every_fault_of_the_network_is_a_verb() -> None:
    of_the_network = {name for name in vars(Faults) if not name.startswith("_")}
    of_the_network -= {"go_down", "come_up"}  # flap

    assert of_the_network | {
        "corrupt",
        "stray-write",
        "pause",
        "resume",
        "skew",
        "correct",
        "flap",
        "steady",
        "impersonate",
        "expose",
        "crash-in-commit",
        "crash-site",
        "restart-site",
        "cloud-outage",
        "cloud-recover",
        "cloud-slow",
        "cloud-restore",
        "roll-keys",
    } == {verb.name for verb in VERBS.values() if verb.kind == FAULT}


def test_verbs_come_in_pairs_and_are_explained() -> None:
    for verb in VERBS.values():
        assert verb.kind in (RUNBOOK, FAULT, STORY)
        assert verb.about.endswith(".")
        assert verb.undo == "" or verb.undo in VERBS
        assert (verb.fault is not None) == (verb.kind == FAULT)
        assert all(parameter.expected for parameter in verb.parameters)


@pytest.mark.parametrize(
    ("step", "said", "call"),
    [
        ({"do": "crash", "target": "paris-1"}, "crash paris-1", ("crash", "paris-1")),
        ({"do": "crash-site", "target": "paris"}, "crash-site paris", ("crash_site", "paris")),
        ({"do": "restart-site", "target": "paris"}, "restart-site paris", ("restart_site", "paris")),
        ({"do": "restart", "target": "paris"}, "restart paris", ("restart", "paris")),
        (
            {"do": "skew", "target": "paris", "by": "-90s", "drift": "-0.02%"},
            "skew paris by -1m30s drifting -0.02%",
            ("skew", "paris", "-90000000000ns", -0.02),
        ),
        ({"do": "skew", "target": "paris", "by": "1s"}, "skew paris by 1s", ("skew", "paris", "1000000000ns", 0.0)),
        ({"do": "correct", "target": "paris"}, "correct paris", ("correct", "paris")),
        ({"do": "impersonate", "target": "paris"}, "impersonate paris", ("impersonate", "paris")),
        ({"do": "expose", "target": "paris-1"}, "expose paris-1", ("expose", "paris-1")),
        (
            {"do": "crash-in-commit", "target": "paris-1", "moment": "after"},
            "crash-in-commit paris-1 after",
            ("crash_in_commit", "paris-1", "after"),
        ),
        ({"do": "stray-write", "cluster": "tokyo"}, "stray-write tokyo", ("stray_write", "tokyo")),
        ({"do": "pause", "target": "paris-1"}, "pause paris-1", ("pause", "paris-1")),
        ({"do": "resume", "target": "paris"}, "resume paris", ("resume", "paris")),
        (
            {"do": "partition", "between": ["paris", "tokyo"]},
            "partition between paris and tokyo",
            ("partition", "paris", "tokyo"),
        ),
        ({"do": "cut", "from": "paris", "to": "tokyo"}, "cut from paris to tokyo", ("cut", "paris", "tokyo")),
        ({"do": "isolate", "target": "tokyo"}, "isolate tokyo", ("isolate", "tokyo")),
        ({"do": "heal"}, "heal", ("heal",)),
        ({"do": "heal", "target": "paris"}, "heal paris", ("heal", "paris")),
        ({"do": "heal", "between": ["paris", "tokyo"]}, "heal between paris and tokyo", ("heal", "paris", "tokyo")),
        (
            {"do": "slow", "between": ["paris", "tokyo"], "latency": "300ms"},
            "slow between paris and tokyo to 300ms",
            ("slow", "paris", "tokyo", "300000000ns", False),
        ),
        (
            {"do": "slow", "between": ["paris", "tokyo"], "latency": "300ms", "one way": True},
            "slow between paris and tokyo to 300ms one way",
            ("slow", "paris", "tokyo", "300000000ns", True),
        ),
        (
            {"do": "flap", "between": ["paris", "tokyo"], "down": "2s", "up": "500ms"},
            "flap between paris and tokyo down 2s up 500ms",
            ("flap", "paris", "tokyo", "2000000000ns", "500000000ns"),
        ),
        ({"do": "steady"}, "steady", ("steady",)),
        ({"do": "steady", "target": "paris"}, "steady paris", ("steady", "paris")),
        (
            {"do": "slow", "between": ["paris", "tokyo"], "factor": 3},
            "slow between paris and tokyo by 3",
            ("slow", "paris", "tokyo", 3, False),
        ),
        (
            {"do": "lose", "between": ["paris", "tokyo"], "loss": "0.5%"},
            "lose between paris and tokyo by 0.5%",
            ("lose", "paris", "tokyo", 0.5),
        ),
        (
            {"do": "duplicate", "between": ["paris", "tokyo"], "share": "50%"},
            "duplicate between paris and tokyo by 50%",
            ("duplicate", "paris", "tokyo", 50.0),
        ),
        ({"do": "restore"}, "restore", ("restore_links",)),
        (
            {"do": "corrupt", "cluster": "tokyo", "layer": "page"},
            "corrupt tokyo in its page",
            ("corrupt", "tokyo", "page", None),
        ),
        ({"do": "cloud-outage", "endpoint": "keys"}, "cloud-outage at keys", ("cloud_outage", "keys")),
        ({"do": "cloud-recover"}, "cloud-recover", ("cloud_recover", None)),
        ({"do": "cloud-slow", "delay": "2s"}, "cloud-slow by 2s", ("cloud_slow", "2000000000ns", None)),
        ({"do": "cloud-restore", "endpoint": "token"}, "cloud-restore at token", ("cloud_restore", "token")),
        ({"do": "roll-keys"}, "roll-keys", ("roll_keys",)),
    ],
)
def test_a_fault_is_said_and_done(step: dict[str, Any], said: str, call: tuple[Any, ...]) -> None:
    verb, faults = VERBS[step["do"]], Watched()
    given = model_of(verb.name).model_validate(step, context=NAMES).model_dump(by_alias=True)

    assert verb.fault is not None
    verb.fault(faults, given)

    assert verb.describe(given) == said
    assert faults.calls == [call]


def test_every_fault_is_tried_above() -> None:
    tried = {row["do"] for row, *_ in test_a_fault_is_said_and_done.pytestmark[0].args[1]}

    assert tried == {verb.name for verb in VERBS.values() if verb.kind == FAULT}


def test_corruption_needs_a_node_that_keeps_an_index() -> None:
    fault, lab = VERBS["corrupt"].fault, Lab.pair()
    lab.crash("paris")

    assert fault is not None
    with pytest.raises(ValueError, match="paris has no active node"):
        fault(lab.faults, {"cluster": "paris", "layer": "page", "key": None})


def test_what_a_request_carries_is_never_said() -> None:
    given = {"cluster": "paris", "method": "POST", "path": "secret/data/app", "body": {"data": {"pin": "1234"}}}

    assert VERBS["ask"].describe(given) == "ask paris POST secret/data/app"


def test_the_layers_are_those_of_the_index_and_the_store() -> None:
    assert set(LAYERS) == {*merkle.LAYERS, "storage"}


@pytest.mark.parametrize(
    ("name", "given", "errors"),
    [
        (
            "crash",
            {"at": 1, "after": 0},
            [("after", "expected at or after, got both; at is an instant, after follows the step before")],
        ),
        ("slow", {"between": ["paris", "tokyo"]}, [("do", "expected latency or factor, got neither")]),
        (
            "heal",
            {"between": ["paris", "tokyo"], "target": "paris"},
            [("target", "expected between or target, got both")],
        ),
        ("unseal", {"cluster": "paris", "node": "tokyo-1"}, [("node", "expected a node of paris, got 'tokyo-1'")]),
        (
            "cut",
            {"from": "paris", "to": "paris"},
            [("to", "expected two different sites, but paris and paris both mean paris")],
        ),
        (
            "partition",
            {"between": ["paris", "paris"]},
            [("between", "expected two different sites, but paris and paris both mean paris")],
        ),
        ("unseal", {"cluster": "paris", "node": "paris-1"}, []),
        ("crash", {"at": 1, "after": None}, []),
        ("heal", {}, []),
    ],
)
def test_parameters_may_contradict_each_other(name: str, given: dict[str, Any], errors: list[tuple[str, str]]) -> None:
    assert cross_field_errors(VERBS[name], given, NAMES) == errors


@pytest.mark.parametrize(("value", "kept"), [(True, ""), (False, None), ("sealed", "sealed")])
def test_a_refusal_may_be_expected(value: Any, kept: str | None) -> None:
    step = {"do": "seal", "cluster": "paris", "fails": value}

    assert model_of("seal").model_validate(step, context=NAMES).model_dump(by_alias=True)["fails"] == kept


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"do": "wait", "for": "5s"}, "wait 5s"),
        ({"do": "wait", "until": "lag at most 5", "within": "30s"}, "wait until lag at most 5 within 30s"),
        ({"do": "failover", "old": "paris", "new": "tokyo"}, "failover from paris to tokyo"),
        ({"do": "reindex", "cluster": "tokyo"}, "reindex tokyo"),
        (
            {"do": "reindex", "cluster": "tokyo", "diff": True, "skip_flush": True},
            "reindex tokyo key by key without waiting",
        ),
    ],
)
def test_a_step_is_said_in_a_few_words(step: dict[str, Any], said: str) -> None:
    given = model_of(step["do"]).model_validate(step, context=NAMES).model_dump(by_alias=True)

    assert VERBS[step["do"]].describe(given) == said
    assert cross_field_errors(VERBS[step["do"]], given, NAMES) == []


@pytest.mark.parametrize(
    ("step", "key", "says"),
    [
        ({"do": "wait"}, "do", "expected for or until, got neither"),
        ({"do": "wait", "for": "1s", "until": "lag 0"}, "until", "expected for or until, got both"),
        (
            {"do": "wait", "for": "1s", "within": "1s"},
            "within",
            "expected until too, since within says how long it may take",
        ),
    ],
)
def test_a_wait_is_for_a_while_or_until_a_condition(step: dict[str, Any], key: str, says: str) -> None:
    given = model_of("wait").model_validate(step, context=NAMES).model_dump(by_alias=True)

    assert cross_field_errors(VERBS["wait"], given, NAMES) == [(key, says)]


@pytest.mark.parametrize(("factor", "good"), [(1, False), (2, True), (MAX_FACTOR, True), (MAX_FACTOR + 1, False)])
def test_a_link_is_slowed_by_a_factor_within_its_limits(factor: int, good: bool) -> None:
    step = {"do": "slow", "between": ["paris", "tokyo"], "factor": factor}
    if good:
        assert model_of("slow").model_validate(step, context=NAMES).model_dump(by_alias=True)["factor"] == factor
    else:
        with pytest.raises(ValidationError, match="expected a whole number from 2 to 1000000, got"):
            model_of("slow").model_validate(step, context=NAMES)


@pytest.mark.parametrize(
    "given", [{"factor": "3"}, {"factor": 3, "between_": ["paris", "tokyo"]}, {"factor": 3, "by": 3}, {"factor": True}]
)
def test_a_step_takes_its_own_keys_and_types_only(given: dict[str, Any]) -> None:
    step = {"do": "slow", "between": ["paris", "tokyo"], **given}
    with pytest.raises(ValidationError):
        model_of("slow").model_validate(step, context=NAMES)


def test_a_step_that_was_read_does_not_change() -> None:
    step = model_of("crash").model_validate({"do": "crash", "target": "paris"}, context=NAMES)
    with pytest.raises(ValidationError, match="frozen"):
        step.at = 5  # type: ignore[attr-defined]  # its fields come from the table
