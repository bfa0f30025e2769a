"""Expectations are the same keys at the end and in a check, and plain data in a run."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labkit.scenario.expect_keys import (
    BY_NAME,
    COUNTS,
    OBSERVABLE,
    TIMES,
    WORDS,
    Expectations,
    ExpectedRange,
    ExpectPart,
    NamedRange,
)
from labkit.scenario.file_parts import fields_of
from labkit.scenario.problems import ScenarioError
from labkit.scenario.scenario import Scenario
from labkit.scenario.value_types import DeclaredNames

NAMES = DeclaredNames(("paris",), ("paris", "tokyo"), groups=("shop",))
WHOLE = {
    "lost": 0,
    "rto": {"at most": "15s"},
    "differing": {"at least": 1, "at most": 3},
    "roots": "equal",
    "primary": ["tokyo", "paris"],
    "states": {"tokyo": "merkle-sync"},
    "connections": {"tokyo": "not ready"},
    "observed": {"merkle_loop": {"at least": 1}},
    "lags": {"tokyo": {"at most": 5}},
    "lag times": {"tokyo": {"at most": "2s"}},
    "logins": {"in doubt": 0},
    "clients": {"shop": {"latency": {"at most": "90ms"}, "refused": {"at least": 2}}},
    "invariants": {"one primary": "broken"},
}


def expectations(values: dict[str, Any]) -> Expectations:
    part = ExpectPart.model_validate(values, context=NAMES)
    return Expectations.of(part.model_dump(by_alias=True))


def test_they_are_plain_data_that_a_saved_run_is_made_of_again() -> None:
    made = expectations(WHOLE)
    rows = (ExpectedRange("lost", 0, 0), ExpectedRange("differing", 1, 3), ExpectedRange("rto", None, 15 * 10**9))

    assert made.ranges == rows
    assert made.primary == ("paris", "tokyo")
    assert made.words == (("states", "tokyo", "merkle-sync"), ("connections", "tokyo", "not ready"))
    assert made.named == (
        NamedRange("lags", "tokyo", "", None, 5),
        NamedRange("lag times", "tokyo", "", None, 2 * 10**9),
        NamedRange("logins", "in doubt", "", 0, 0),
        NamedRange("clients", "shop", "refused", 2, None),
        NamedRange("clients", "shop", "latency", None, 90 * 10**6),
    )
    assert Expectations.from_state(pickle.loads(pickle.dumps(tuple(made)))) == made
    earlier = tuple(made)[:6]
    assert Expectations.from_state(earlier) == made._replace(named=())


def test_a_saved_one_of_an_earlier_version_has_the_keys_of_today() -> None:
    saved = Expectations(ranges=(ExpectedRange("unknown", None, 3), ExpectedRange("lost", 0, 0)))

    assert [row.measure for row in Expectations.from_state(tuple(saved)).ranges] == ["in doubt", "lost"]
    assert expectations({}) == Expectations()


def test_they_are_written_in_words() -> None:
    assert expectations(WHOLE).text == (
        "lost 0, differing at least 1 and at most 3, rto at most 15s, roots equal, primary paris and tokyo, "
        "state of tokyo merkle-sync, connection of tokyo not ready, merkle_loop at least 1, "
        "lag of tokyo at most 5, lag time of tokyo at most 2s, logins in doubt 0, shop: refused at least 2, "
        "shop: latency at most 90ms, one primary broken"
    )
    assert expectations({"primary": []}).text == "primary none"


def test_every_key_is_a_measure_of_a_kind() -> None:
    others = {"steps", "roots", "primary", "observed", "invariants"}

    assert set(fields_of(ExpectPart)) == {*COUNTS, *TIMES, *WORDS, *BY_NAME, *others}


def test_what_may_be_counted_is_observed_somewhere(checkout: Path) -> None:
    folders = ("lab", "vault")
    code = "".join(path.read_text() for folder in folders for path in (checkout / "labkit" / folder).rglob("*.py"))

    assert [kind for kind in OBSERVABLE if f'"{kind}"' not in code] == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("lost: 0", "observed: {merkle_lop: 1}", "did you mean 'merkle_loop'?"),
        ("lost: 0", "observed: {merkle_loop: {at least: -1}}", "expected a whole number from 0 up, got -1"),
        ("lost: 0", "states: {tokyo: streaming}", "expected a state, got 'streaming'"),
        ("lost: 0", "states: {lima: idle}", "expected a cluster, got 'lima'; there are: paris, tokyo"),
        ("lost: 0", "lags: {lima: 0}", "expected a cluster, got 'lima'; there are: paris, tokyo"),
        ("lost: 0", "lag times: {tokyo: 5}", "expected a duration with its unit such as 5s or 5ms, got 5"),
        ("lost: 0", "logins: {}", "expected answered, refused or in doubt, got none of them"),
        ("lost: 0", "logins: 3", "expected how many logins ended in which way, such as {refused: {at most: 2}}, got 3"),
        ("lost: 0", "logins: {refusd: 1}", "did you mean 'refused'?"),
        ("lost: 0", "connections: {tokyo: redy}", "did you mean 'ready'?"),
        ("{do: crash, target: paris, at: 5s}", "{do: check, root: equal}", "did you mean 'roots'?"),
        ("{do: crash, target: paris, at: 5s}", "{do: check, lag: {at mots: 5}}", "did you mean 'at most'?"),
        (
            "{do: crash, target: paris, at: 5s}",
            "{do: check}",
            "expected what is to be checked too: acknowledged, lost,",
        ),
        ("{do: crash, target: paris, at: 5s}", "{do: check, roots: equal, fails: true}", "expected a key, got 'fails'"),
    ],
)
def test_what_is_wrong_with_an_expectation_is_said(
    vary: Callable[..., str], scenario_of: Callable[[str], Scenario], old: str, new: str, said: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario_of(vary((old, new)))

    assert said in str(refused.value)
