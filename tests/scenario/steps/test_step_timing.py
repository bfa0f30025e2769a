"""When a step begins is read from its keys, and what it names stands above it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labkit.scenario.expect_keys import Expectations
from labkit.scenario.problems import ScenarioError
from labkit.scenario.scenario import MAYBE, Scenario, Step
from labkit.scenario.steps.step_timing import KEYS, number_of, step_above
from labkit.scenario.verb import FAULT
from labkit.scenario.verbs import VERBS, model_of

Vary = Callable[..., str]
ScenarioOf = Callable[[str], Scenario]
SECOND_NS = 1_000_000_000
PROMOTE = "  - {do: promote, cluster: tokyo, after: 2s}\n"


def steps_of(scenario_of: ScenarioOf, text: str) -> tuple[Step, ...]:
    return scenario_of(text).timeline


@pytest.mark.parametrize(
    ("written", "step", "delay_s", "from_beginning"),
    [
        ("after: 2s", 0, 2, False),
        ("after: step 1", 1, 0, False),
        ("after: step join", 1, 0, False),
        ("after: {step: 2, ended: 3s}", 2, 3, False),
        ("after: {step: join}", 1, 0, False),
        ("after: {step: join, began: 1500ms}", 1, 1.5, True),
        ("after: {step: step 2, began: 1s}", 2, 1, True),
    ],
)
def test_a_step_follows_those_above_or_one_of_them(
    written: str, step: int, delay_s: float, from_beginning: bool, vary: Vary, scenario_of: ScenarioOf
) -> None:
    text = vary(("at: 1s", "at: 1s, name: join"), ("tokyo, after: 2s", f"tokyo, {written}"))
    last = steps_of(scenario_of, text)[-1]

    assert (last.after_step, last.after_ns / SECOND_NS, last.from_beginning) == (step, delay_s, from_beginning)
    assert (last.at_ns, dict(last.arguments)) == (None, {"cluster": "tokyo", "force": False, "furthest ahead": None})


def test_a_step_has_its_name_and_what_it_waits_for(vary: Vary, scenario_of: ScenarioOf) -> None:
    written = "name: third, when: {connections: {tokyo: not ready}}, within: 30s, fails: maybe"
    *_, fault, last = steps_of(scenario_of, vary(("at: 5s", "at: 5s, when: done, idle: fine"), ("after: 2s", written)))

    assert (last.name, last.within_ns, last.fails, last.when) == ("third", 30 * SECOND_NS, MAYBE, "")
    assert last.condition == Expectations(words=(("connections", "tokyo", "not ready"),))
    assert (fault.when, fault.condition, fault.idle_ok) == ("done", None, True)
    assert [Step.from_state(tuple(step)) for step in (fault, last)] == [fault, last]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("after: step 3", "step 3, after: expected a step above this one, got '3'; there are: steps 1 to 2"),
        ("after: step jon", "expected a step above this one, got 'jon' — did you mean 'join'?"),
        ("after: step cut", "expected a step above this one, got 'cut'; there are: steps 1 to 2, by name join"),
        ("after: steps", "expected a step such as step 4, or {step: fence, began: 2s}, got 'steps'"),
        ("after: join", "expected a duration such as 2s, a step such as step 4, or {step: fence, "),
        ("after: {began: 1s}", "step 3, after: expected the key 'step' (the number or the name of a step), got none"),
        ("after: {step: join, began: 1s, ended: 1s}", "expected began or ended, got both"),
        ("after: {step: join, begann: 1s}", "expected a key, got 'begann' — did you mean 'began'?"),
        ("after: {step: join, began: 1}", "after.began: expected a duration with its unit such as 1s or 1ms, got 1"),
        ("at: 9s, after: step 1", "expected at or after, got both"),
        ("name: join", "step 3, name: expected another name, since step 1 is called join"),
        ("name: 4", "name: expected a name, by which steps below refer to it, got 4"),
        ("when: refusd", "when: expected done, refused, or a condition such as {connections: {"),
        ("when: {connections: {tokio: ready}}", "expected a cluster, got 'tokio' — did you mean 'tokyo'?"),
        ("when: {conections: {tokyo: ready}}", "expected a key, got 'conections' — did you mean 'connections'?"),
        ("within: 3s", "within: expected a condition such as when: {roots: equal} too, since within says how long"),
        ("when: done, within: 3s", "within: expected a condition such as when: {roots: equal} too"),
        ("idle: fine", "expected a key, got 'idle'"),
    ],
)
def test_what_is_wrong_is_said_with_what_is_known(written: str, said: str, vary: Vary, scenario_of: ScenarioOf) -> None:
    text = vary(("at: 1s", "at: 1s, name: join"), ("tokyo, after: 2s", f"tokyo, {written}"))
    with pytest.raises(ScenarioError) as caught:
        scenario_of(text)

    assert said in str(caught.value)


def test_the_first_step_follows_no_result(vary: Vary, scenario_of: ScenarioOf) -> None:
    with pytest.raises(ScenarioError, match="step 1, when: expected a step above this one that can be done, got none"):
        scenario_of(vary(("at: 1s", "at: 1s, when: done")))


def test_when_and_until_say_the_same(vary: Vary, scenario_of: ScenarioOf) -> None:
    wait = "  - {do: wait, until: lag 0, when: {roots: equal}}\n"
    with pytest.raises(ScenarioError, match="expected when or until, got both"):
        scenario_of(vary((PROMOTE, wait)))


def test_a_condition_has_no_earliest_instant(vary: Vary, scenario_of: ScenarioOf) -> None:
    waits = "  - {do: note, text: level, when: {roots: equal}}\n  - {do: wait, for: 4s, when: done}\n" + PROMOTE
    last = steps_of(scenario_of, vary((PROMOTE, waits.replace("after: 2s", "at: 6s"))))[-1]

    assert last.at_ns == 6 * SECOND_NS


def test_the_step_above_is_not_one_that_happens_beside() -> None:
    steps = (Step(1, "seal", (), ""), Step(2, "crash", (), "", at_ns=5), Step(3, "heal", (), "", when="done"))
    below = Step(4, "heal", (), "", when="refused")

    assert step_above(steps[2], steps) == steps[0]
    assert step_above(below, (*steps, below)) == steps[2]


@pytest.mark.parametrize(("reference", "number"), [("1", 1), ("4", 4), ("fence", 2)])
def test_a_name_stands_for_a_number(reference: str, number: int) -> None:
    assert number_of(reference, 5, {"fence": 2, "later": 7}) == number


@pytest.mark.parametrize("reference", ["0", "5", "later", "cut"])
def test_only_steps_above_can_be_named(reference: str) -> None:
    with pytest.raises(ValueError, match="there are: steps 1 to 4, by name fence"):
        number_of(reference, 5, {"fence": 2, "later": 7})


@pytest.mark.parametrize("name", VERBS)
def test_each_verb_has_the_keys_of_a_step(name: str) -> None:
    verb, keys = VERBS[name], [field.alias or key for key, field in model_of(name).model_fields.items()]
    missing = set(KEYS) - set(keys)
    never_refused = {"fails"} if name in ("check", "luck", "note") else set()

    assert missing == never_refused | (set() if verb.kind == FAULT else {"idle"})
    assert len(keys) == len(set(keys))
