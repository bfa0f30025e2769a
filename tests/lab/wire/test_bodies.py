"""Bodies: nothing that a caller holds is shared with a lab, its messages, snapshots or branches (R3)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import Lab
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.wire.bodies import copied, own_answer
from labkit.service.errors import ServiceError
from labkit.service.limits import MAX_DEPTH, MAX_MEMBERS, check_body
from labkit.service.message import Response
from labkit.service.silence import Silence

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5))
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=4)),
)


def containers(value: Any) -> set[int]:
    """The identities of all containers in a value."""
    if not isinstance(value, dict | list):
        return set()
    inner = value.values() if isinstance(value, dict) else value
    return {id(value)}.union(*map(containers, inner))


@given(JSON)
def test_a_copy_is_equal_and_shares_no_container(body):
    copy = copied(body)

    assert json.dumps(copy) == json.dumps(body), "equal, members in the same order too"
    assert not containers(copy) & containers(body)


def nested(levels: int) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for _ in range(levels - 1):
        body = {"a": body}
    return body


def within_itself() -> dict[str, Any]:
    body: dict[str, Any] = {"data": {}}
    body["data"]["data"] = body
    return body


def in_many_places() -> dict[str, Any]:
    part: list[Any] = ["x"] * 100
    for _ in range(3):
        part = [part] * 100
    return {"data": {"a": part}}


@pytest.mark.parametrize(
    "body",
    [
        nested(MAX_DEPTH),
        nested(MAX_DEPTH + 1),
        nested(5_000),
        within_itself(),
        in_many_places(),
        {"data": {"a": list(range(MAX_MEMBERS + 1))}},
        {"data": {str(number): 1 for number in range(MAX_MEMBERS + 1)}},
        {"data": {1: 2}},
        {"data": {"a": object()}},
        {"data": {"a": {"a"}}},
        ["data"],
    ],
    ids=lambda body: str(type(body).__name__),
)
def test_a_body_and_its_copy_are_judged_alike(body):
    """Also one without an end."""

    def judged(value: Any) -> str:
        try:
            check_body(value)
        except ServiceError as error:
            return "; ".join(error.errors)
        return ""

    assert judged(copied(body)) == judged(body)


@pytest.mark.slow
def test_an_answer_of_any_size_is_copied_whole():
    answer = Response(200, {"a": "b"}, {"data": {"keys": [[]] * 600_000}})
    own = own_answer(answer)

    assert own == answer
    assert own.headers is not answer.headers


def test_what_becomes_of_a_body_after_it_was_sent_changes_no_lab_snapshot_or_branch(quiet):
    body: dict[str, Any] = {"data": {"name": "ada", "more": [1]}}
    with pytest.raises(Silence):
        quiet["paris"].post("secret/data/app", body, timeout="100us")
    snapshot, branch = quiet.snapshot(), quiet.branch("what-if")
    body["data"]["name"] = "eve"
    body["data"]["more"].append(2)

    for lab in (quiet, Lab.restore(snapshot), branch):
        lab.run("1s")
        assert lab["paris"].get("secret/data/app").data["data"] == {"name": "ada", "more": [1]}


def test_what_becomes_of_an_answer_changes_no_lab_snapshot_or_branch(quiet):
    quiet["paris"].post("secret/data/app", {"data": {"more": [1]}})
    number = quiet.parts.console.ask(Ask("paris", "GET", "secret/data/app"))
    quiet.run(until=lambda lab: any(item[0] == "deliver" for _, item in lab.parts.clock.pending()))
    quiet.step()  # the request arrives, and the answer is on its way
    snapshot = quiet.snapshot()
    for lab in (quiet, Lab.restore(snapshot)):
        lab.run("1s")
        answer = own_answer(lab.parts.console.answers.pop(number))
        assert answer.data["data"] == {"more": [1]}
        answer.data["data"]["more"].append(2)
        assert lab["paris"].get("secret/data/app").data["data"] == {"more": [1]}


def test_a_runbooks_arguments_are_its_own(quiet):
    body = {"data": {"name": "ada"}}
    number = quiet.parts.console.start("ask", cluster="paris", method="POST", path="secret/data/app", body=body)
    body["data"]["name"] = "eve"
    quiet.run("1s")

    assert quiet.parts.console.finished[number].ok
    assert quiet["paris"].get("secret/data/app").data["data"] == {"name": "ada"}


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_a_copy_is_as_deep_as_what_is_judged_and_no_deeper(wrap):
    body: Any = wrap(1)
    for _ in range(100_000):
        body = wrap(body)
    copy, depth = copied(body), 0
    while isinstance(copy, dict | list) and copy:
        copy, depth = (copy["a"] if isinstance(copy, dict) else copy[0]), depth + 1

    assert depth == MAX_DEPTH
    with pytest.raises(ServiceError, match="nested deeper"):
        check_body({"a": body})
