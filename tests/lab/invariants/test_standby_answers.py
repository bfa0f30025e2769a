"""Standby answers: a standby that redirects, or carries out what is the active node's, is found."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.invariants.rules import STANDBY_FORWARDS
from labkit.lab.wire.messages import Correlation
from labkit.lab.wire.reports import RequestAnswered
from labkit.service.message import Request, Response
from tests.zoo.mistakes import ZOO
from tests.zoo.planting import planted

READ = Request("GET", "/v1/secret/data/a", {})


def found(lab: Lab) -> str:
    """What broke the rule; empty while it holds."""
    violation = lab.invariants.verdicts()[STANDBY_FORWARDS]
    return "" if violation is None else violation.detail


def test_it_holds_where_standbys_forward_and_are_asked_about_themselves(calm: Lab):
    assert not Lab.pair().run("1s").invariants.applies(STANDBY_FORWARDS)
    token = {"X-Vault-Token": calm["paris"].root_token}
    for path in ("secret/data/a", "sys/health", "sys/leader"):
        calm["paris"].request("GET", path, headers=token, node="paris-2", timeout="3s")
    calm["paris"].put("sys/step-down")
    calm["paris"].request("POST", "sys/seal", {}, token, timeout="3s")

    assert calm.invariants.applies(STANDBY_FORWARDS)
    assert not found(calm)


def test_a_standby_that_redirects_is_found(calm: Lab):
    with planted(ZOO["standby-redirects"]):
        calm["paris"].request("GET", "secret/data/a", node="paris-2", timeout="3s")

    assert found(calm) == "paris-2 is a standby and sent GET /v1/secret/data/a away, though paris-1 is connected"


@pytest.mark.parametrize("why", ["asked not to", "not connected"])
def test_what_decision_c16_allows_is_no_fault(calm: Lab, why: str):
    headers = {"X-Vault-No-Request-Forwarding": "true"} if why == "asked not to" else {}
    if why == "not connected":
        calm.crash("paris-1")
    answer = RequestAnswered("paris", "paris-2", READ._replace(headers=headers), Response(307, {}), Correlation("x", 1))
    calm.parts.nodes["paris-2"].services.emit(answer)

    assert not found(calm)


@pytest.mark.parametrize(("path", "is_fault"), [("/v1/secret/data/a", True), ("/v1/sys/health", False)])
def test_what_it_carries_out_itself_is_found(calm: Lab, path: str, is_fault: bool):
    answer = RequestAnswered("paris", "paris-2", READ._replace(path=path), Response(200, {}), Correlation("x", 1))
    calm.parts.nodes["paris-2"].services.emit(answer)

    assert found(calm) == (f"paris-2 is a standby and carried GET {path} out itself" if is_fault else "")
