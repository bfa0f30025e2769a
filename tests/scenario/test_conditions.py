"""A condition says of a lab what a check says, and looking at a lab leaves it as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from labkit import Lab
from labkit.scenario.conditions import (
    AS_TIME_PASSES,
    CHANGED_BY,
    ConditionPart,
    Finding,
    changed_by,
    compiled,
    condition_of,
    finding,
    keys_of,
)
from labkit.scenario.expect_keys import Expectations, ExpectPart
from labkit.scenario.file_parts import fields_of
from labkit.scenario.measures import Seen
from labkit.scenario.value_types import DeclaredNames

NAMES = DeclaredNames((), ("paris", "tokyo"), groups=("shop",))

CONDITIONS: tuple[dict[str, Any], ...] = (
    {"acknowledged": {"at least": 1}},
    {"acknowledged": 0},
    {"lost": 0},
    {"lost": {"at least": 1}},
    {"in doubt": 0},
    {"steps": {"done": 0}},
    {"refused": 0},
    {"rpo": {"at most": "5s"}},
    {"rto": {"at most": "5s"}},
    {"rto": {"at least": "20s"}},
    {"lag": 0},
    {"lag": {"at least": 1}},
    {"lag time": {"at most": "1s"}},
    {"differing": 0},
    {"fetched": 5},
    {"fetched": {"at least": 7}},
    {"roots": "equal"},
    {"roots": "different"},
    {"primary": "paris"},
    {"primary": "tokyo"},
    {"primary": ["paris", "tokyo"]},
    {"modes": {"tokyo": "secondary"}},
    {"modes": {"paris": "primary", "tokyo": "primary"}},
    {"states": {"tokyo": "stream-wals"}},
    {"connections": {"tokyo": "ready"}},
    {"connections": {"tokyo": "not ready"}},
    {"observed": {"merkle_sync": 1, "merkle_loop": 0}},
    {"observed": {"merkle_loop": {"at least": 1}}},
    {"invariants": {"one primary": "held"}},
    {"invariants": {"loss within lag": "broken"}},
    {"lags": {"tokyo": 0}},
    {"lags": {"tokyo": {"at least": 1}, "paris": 0}},
    {"lag times": {"tokyo": {"at most": "1s"}}},
    {"logins": {"answered": 0, "refused": {"at least": 1}}},
    {"clients": {"shop": {"in doubt": 0, "refused": 0}}},
    {"clients": {"shop": {"latency": {"at most": "1s"}}}},
    {"lag": 0, "connections": {"tokyo": "ready"}},
    {"rto": "1s", "modes": {"tokyo": "disabled"}},
)


def condition(values: dict[str, Any]) -> Expectations:
    return condition_of(ConditionPart.model_validate(values, context=NAMES))


def seen(lab: Lab) -> Seen:
    return Seen(lab.queries, lab.ledger, lab.invariants)


@pytest.fixture(scope="module")
def labs() -> list[Lab]:
    """One lab at five instants: apart, replicating, cut off with a write on its way, without a primary, promoted."""
    return list(_stages())


def _stages() -> Iterator[Lab]:
    lab = Lab.pair()
    yield lab.branch("apart")
    lab.replicate("paris", "tokyo")
    yield lab.run("1s").branch("level")
    lab.partition("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"n": 1}})
    yield lab.run("20s").branch("behind")
    lab.crash("paris")
    yield lab.branch("no primary")
    lab["tokyo"].promote(force=True)
    lab["tokyo"].post("secret/data/app", {"data": {"n": 2}})
    yield lab


@pytest.mark.parametrize("values", CONDITIONS, ids=str)
def test_a_compiled_condition_says_what_a_check_says(labs: list[Lab], values: dict[str, Any]) -> None:
    written = condition(values)

    for lab in labs:
        assert compiled(written, seen(lab))() == finding(written, seen(lab)).holds, lab


def test_the_conditions_tried_here_are_true_false_and_not_known(labs: list[Lab]) -> None:
    """Else the test above would show nothing; each key is among them."""
    found = {finding(condition(values), seen(lab)).holds for values in CONDITIONS for lab in labs}

    assert found == {True, False, None}
    assert {key for values in CONDITIONS for key in values} == set(fields_of(ExpectPart)) == set(CHANGED_BY)


def test_what_was_found_is_said_in_words(labs: list[Lab]) -> None:
    behind = seen(labs[2])

    assert finding(condition({"lag": 0, "lost": 0}), behind) == Finding(False, "lag: tokyo: 1 entry behind")
    assert finding(condition({"lost": 0}), behind) == Finding(True, "of them lost: 0")
    assert finding(condition({"rto": "1s"}), behind) == Finding(None, "recovery time (RTO): no cluster was promoted")


def test_looking_leaves_a_lab_as_it_is() -> None:
    lab = Lab.pair()
    lab.replicate("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"n": 1}})
    before = lab.snapshot().state

    for values in CONDITIONS:
        compiled(condition(values), seen(lab))()
        finding(condition(values), seen(lab))
    assert lab.snapshot().state == before
    lab.queries.root("paris")
    assert lab.snapshot().state != before, "there was nothing to fold"


def test_observations_are_counted_without_a_trace() -> None:
    traced, silent = Lab(Lab.pair().blueprint, 7), Lab(Lab.pair().blueprint, 7, trace=False)
    for lab in (traced, silent):
        lab.replicate("paris", "tokyo")

    assert silent.queries.observations.state() == traced.queries.observations.state()
    assert len(traced.trace.select("observed", what="merkle_sync")) == silent.queries.observations.kinds["merkle_sync"]
    assert silent.queries.observations.fetched == 4
    assert Lab.restore(silent.snapshot()).queries.observations.fetched == 4


def test_a_condition_names_what_can_change_it() -> None:
    written = condition({"lag": 0, "connections": {"tokyo": "ready"}, "observed": {"merkle_loop": 0}})

    assert keys_of(written) == ("lag", "connections", "observed")
    kinds = [kind for key in keys_of(written) for kind in CHANGED_BY[key]]
    assert set(changed_by(written)) == set(kinds)


def test_what_has_a_name_of_its_own_names_what_can_change_it() -> None:
    written = condition({"lags": {"tokyo": 0}, "logins": {"refused": 0}, "clients": {"shop": {"latency": "1s"}}})

    assert keys_of(written) == ("lags", "logins", "clients")
    assert changed_by(written) == (*CHANGED_BY["lag"], *CHANGED_BY["refused"])
    assert {"lag time", "lag times"} <= set(AS_TIME_PASSES)


def test_a_condition_says_something() -> None:
    with pytest.raises(ValidationError, match=r"expected a condition such as \{connections: \{tokyo: ready\}\}"):
        condition({})
