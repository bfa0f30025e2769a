"""Requests in a timeline: their parameters are checked, and a name is known from the step that keeps it on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labkit.scenario.problems import ScenarioError
from labkit.scenario.scenario import Scenario
from labkit.scenario.verbs import VERBS

ScenarioOf = Callable[[str], Scenario]
FILE = """\
scenario: Requests
lab:
  sites: [paris]
  clusters:
    paris: {site: paris, shares: 3, threshold: 2}
timeline:
"""
ASK = "do: ask, cluster: paris, method: GET, path: sys/health"


def problem(scenario_of: ScenarioOf, *steps: str) -> str:
    """What is wrong with a file of these steps, without its excerpts; empty for nothing."""
    try:
        scenario_of(FILE + "".join(f"  - {{{step}}}\n" for step in steps))
    except ScenarioError as error:
        return "; ".join(found.text for found in error.problems)
    return ""


@pytest.mark.parametrize(
    "steps",
    [
        (f"{ASK}, token: none, node: paris-2, headers: {{X-Vault-Namespace: root}}",),
        (f"{ASK}, keep: {{a: data.x}}", f"{ASK}, token: $(a), headers: {{A: $(a)}}, answer: {{has: {{x: $(a)}}}}"),
        (f"{ASK}, body: {{a: [$(paris.share.3), $(paris.root), $(paris.former.share.1)]}}",),
        (f"{ASK}, answer: {{status: 404, says: no, has: {{a.0: null}}, lacks: {{b: [1]}}}}",),
        ("do: operation-token, cluster: paris, keep: a", "do: decode, value: $(a), otp: $(a), keep: b"),
        ("do: note, text: $(nothing)",),
        ("do: note, text: '${paris.root}'",),
        (f"{ASK}, body: {{a: '${{HOME}}'}}",),
    ],
)
def test_what_may_be_written(scenario_of: ScenarioOf, steps: tuple[str, ...]) -> None:
    assert problem(scenario_of, *steps) == ""


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (
            (f"{ASK}, token: $(usr), keep: {{user: data.x}}", f"{ASK}, token: $(usr)"),
            "step 1, token: expected the name of a value that a step above keeps, got 'usr'; "
            "step 2, token: expected the name of a value that a step above keeps, got 'usr' — did you mean 'user'?",
        ),
        (
            (f"{ASK}, body: {{key: $(paris.share.4)}}",),
            "step 1, body: expected the name of a value that a step above keeps, got 'paris.share.4'; "
            "operators have paris.root and paris.share.1 to paris.share.3",
        ),
        (
            (f"{ASK}, keep: {{user: data.x}}", f"{ASK}, body: {{'${{paris.root}}': ['${{user}}']}}"),
            "step 2, body: expected $(paris.root) for a value that is kept, got ${paris.root}; "
            "step 2, body: expected $(user) for a value that is kept, got ${user}",
        ),
        ((f"{ASK}, token: ${{user}}",), "expected $(user) for a value that is kept, got ${user}"),
        ((f"{ASK}, node: tokyo-1",), "step 1, node: expected a node, got 'tokyo-1'"),
        ((f"{ASK}, keep: {{User: data.x}}",), "step 1, keep: expected a name of lower-case letters"),
        ((f"{ASK}, answer: {{has: {{'': 1}}}}",), "step 1, answer.has: expected a text that is not empty, got ''"),
        ((f"{ASK}, keep: user",), "step 1, keep: expected a mapping of names to paths in the answer such as"),
        (
            (f"{ASK}, answer: {{staus: 403}}",),
            "step 1, answer: expected a key, got 'staus' — did you mean 'status'?",
        ),
        ((f"{ASK}, answer: {{status: 20}}",), "step 1, answer.status: expected a status such as 403; a success unless"),
        ((f"{ASK}, answer: {{status: 403}}, fails: true",), "step 1, answer: expected fails or answer, got both"),
        ((f"{ASK}, headers: {{A: 7}}",), "step 1, headers.A: expected a mapping of headers, sent too, got 7"),
        (("do: decode, value: x, otp: $(a), keep: a",), "step 1, otp: expected the name of a value that a step above"),
    ],
)
def test_what_is_wrong_with_a_request_is_said(scenario_of: ScenarioOf, steps: tuple[str, ...], said: str) -> None:
    assert problem(scenario_of, *steps).startswith(said)


def test_a_step_is_described_without_what_may_be_secret() -> None:
    arguments = {"cluster": "paris", "method": "GET", "path": "$(a)/x", "node": "paris-1", "body": {"b": 1}}
    more = {"token": "hvs.x", "headers": {"c": "d"}, "keep": {"e": "f"}, "answer": {"says": "g"}}

    assert VERBS["ask"].describe({**arguments, **more}) == "ask paris GET $(a)/x at paris-1"
    assert VERBS["decode"].describe({"value": "x", "otp": "y", "keep": "drop"}) == "decode as drop"
    assert VERBS["ask"].runbook_arguments({**arguments, **more}) == {**arguments, "options": more}
    assert VERBS["ask"].runbook_arguments({"cluster": "paris", "token": None}) == {"cluster": "paris"}
