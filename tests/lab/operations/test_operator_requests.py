"""One request written out in full: what it refers to, what is expected of its answer, what is kept of it."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.operations.runbook_effects import RunbookError

APP = {"cluster": "paris", "method": "GET", "path": "secret/data/app"}


@pytest.fixture(scope="module")
def lab() -> Lab:
    """A pair in which paris holds a secret and keeps a token of the policy default."""
    lab = Lab.pair()
    lab["paris"].post("secret/data/app", {"data": {"user": "ada", "count": 3}})
    body = {"policies": ["default"], "meta": {"of": "$(paris.root)"}}
    options = {"keep": {"user": "auth.client_token", "policies": "auth.policies"}}
    asked = {"cluster": "paris", "method": "POST", "path": "auth/token/create", "body": body, "options": options}
    assert lab.work_through("ask", **asked) == "POST auth/token/create: 200"
    return lab


def ask(lab: Lab, arguments: dict[str, Any] | None = None, **options: Any) -> str:
    try:
        return lab.work_through("ask", **(arguments or APP), options=options)
    except RunbookError as error:
        return str(error)


def test_a_token_is_the_root_token_a_kept_one_or_none(lab: Lab) -> None:
    assert ask(lab) == "GET secret/data/app: 200"
    assert (
        ask(lab, token="$(user)") == "GET secret/data/app on paris: answered 403: 1 error occurred: * permission denied"
    )
    assert ask(lab, token="none") == "GET secret/data/app on paris: answered 403: permission denied"
    assert ask(lab, token="none", answer={"status": 403, "says": "permission denied"}) == "GET secret/data/app: 403"


def test_a_reference_stands_for_a_value_in_path_body_and_headers(lab: Lab) -> None:
    look_up = {"cluster": "paris", "method": "POST", "path": "auth/token/lookup", "body": {"token": "$(user)"}}
    has = {"data.meta.of": "$(paris.root)", "data.policies": "default", "data.policies.0": "default"}
    assert ask(lab, look_up, answer={"has": has}) == "POST auth/token/lookup: 200"
    assert ask(lab, look_up, answer={"has": {"data.policies": "$(policies)"}}) == "POST auth/token/lookup: 200"
    assert "namespace not found" in ask(lab, headers={"X-Vault-Namespace": "$(user)"})
    named = {"cluster": "paris", "method": "POST", "path": "transit/keys/k", "body": {"type": "$(user)"}}
    assert ask(lab, named) == "POST transit/keys/k on paris: answered 400: unknown key type $(user)"
    assert ask(lab, {**APP, "path": "secret/data/$(usr)"}) == (
        "GET secret/data/$(usr) on paris: nothing is kept under the name 'usr'; kept are: user, policies, paris.root, "
        + ", ".join(f"paris.share.{number}" for number in range(1, 6))
        + ", tokyo.root, "
        + ", ".join(f"tokyo.share.{number}" for number in range(1, 6))
    )


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"status": 403}, "expected 403, answered 200: no text"),
        ({"says": "denied"}, "expected words that contain 'denied', got no text"),
        ({"has": {"data.data.count": 4}}, "data.data.count: expected 4, got 3"),
        ({"has": {"data.data.count": "3"}}, "data.data.count: expected a text, got 3"),
        ({"has": {"data.data.count": True}}, "data.data.count: expected true, got 3"),
        ({"has": {"data.metadata.version": True}}, "data.metadata.version: expected true, got 1"),
        ({"has": {"data.data.user": "bob"}}, "data.data.user: expected a text, got another text"),
        ({"has": {"data.data.none": None}}, "data.data.none: expected null, got nothing"),
        ({"has": {"data.data": {"user": "ada"}}}, "data.data: expected a mapping, got a mapping"),
        ({"lacks": {"data.data.user": "ada"}}, "data.data.user: expected anything but that text, got it"),
        (
            {"has": {"data.data.count": 4}, "lacks": {"data.data.count": 3}},
            "data.data.count: expected 4, got 3; data.data.count: expected anything but 3, got it",
        ),
    ],
)
def test_an_answer_that_is_not_as_expected_ends_it_without_naming_a_text(
    lab: Lab, answer: dict[str, Any], said: str
) -> None:
    assert ask(lab, answer=answer) == f"GET secret/data/app on paris: {said}"


def test_what_an_answer_has_not_cannot_be_kept(lab: Lab) -> None:
    said = "GET secret/data/app on paris: the answer has no data.token to keep as mine"

    assert ask(lab, keep={"mine": "data.token", "count": "data.data.count"}) == said
    assert "mine" not in lab.parts.console.kept
    assert "count" not in lab.parts.console.kept


def test_no_text_and_no_event_holds_a_kept_value(lab: Lab) -> None:
    token = lab.parts.console.kept["user"]
    said = ask(lab, {**APP, "path": "secret/data/$(user)"}, token="$(user)")
    silent = ask(lab, {**APP, "node": "paris-2", "path": "$(user)/x"})
    lab.pause("tokyo-1")
    unanswered = ask(lab, {**APP, "cluster": "tokyo", "node": "tokyo-1", "path": "$(user)/x"})

    assert said == "GET secret/data/$(user) on paris: answered 403: 1 error occurred: * permission denied"
    assert token not in said + silent + unanswered + repr(lab.parts.console.values) + "".join(lab.trace.lines())
    assert "no answer from tokyo to Request(GET /v1/$(user)/x) in time" in unanswered
    assert token in str(lab.snapshot().state["console"]["kept"])


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("secret/data/$(user)", "secret/data/$(user)"),
        ("/v1/secret/data/$(user)", "secret/data/$(user)"),
        ("/secret/data/plain", "secret/data/plain"),
    ],
)
def test_a_write_stands_in_the_ledger_under_the_path_that_may_be_shown(lab: Lab, path: str, shown: str) -> None:
    written = len(lab.ledger.writes)
    assert ask(lab, {"cluster": "paris", "method": "POST", "path": path, "body": {"data": {}}}).endswith("200")
    assert [write.path for write in lab.ledger.writes][written:] == [shown]
    ask(lab, {"cluster": "paris", "method": "POST", "path": "/sys/policies/acl/$(user)", "body": {"policy": ""}})
    assert len(lab.ledger.writes) == written + 1


def test_a_node_that_is_named_answers_itself(lab: Lab) -> None:
    health = {"cluster": "paris", "method": "GET", "path": "sys/health", "node": "paris-2"}

    assert ask(lab, health, token="none", answer={"status": 429}) == "GET sys/health: 429"


def test_a_request_is_repeated_until_one_answer_is_not_as_expected(lab: Lab) -> None:
    body = {"cluster": "paris", "method": "POST", "path": "auth/token/create", "body": {"num_uses": 3}}
    lab.work_through("ask", **body, options={"keep": {"counted": "auth.client_token"}})
    look_up = {"cluster": "paris", "method": "GET", "path": "auth/token/lookup-self"}
    acknowledged = lab.ledger.answered

    assert ask(lab, look_up, token="$(counted)", repeat=2) == "GET auth/token/lookup-self: 200, 2 times"
    assert lab.ledger.answered == acknowledged + 2
    said = ask(lab, look_up, token="$(counted)", repeat=5)
    assert said.startswith("GET auth/token/lookup-self on paris, time 2 of 5: answered 403: ")
    assert (lab.ledger.answered, lab.ledger.refused) == (acknowledged + 3, lab.ledger.refused)


def test_of_a_repeated_request_the_last_answer_is_kept(lab: Lab) -> None:
    write = {"cluster": "paris", "method": "POST", "path": "secret/data/often", "body": {"data": {}}}
    ask(lab, write, repeat=4, keep={"newest": "data.version"})

    assert lab.parts.console.values()["newest"] == 4


@pytest.mark.parametrize("times", [0, -1, 1_001, True, "2"])
def test_how_often_is_a_number(lab: Lab, times: object) -> None:
    with pytest.raises(ValueError, match="repeat: expected a whole number from 1 to 1,000, or None"):
        lab.work_through("ask", **APP, options={"repeat": times})
