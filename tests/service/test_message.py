"""Records: what an answer offers, and that none of them shows a secret."""

from __future__ import annotations

import pytest

from labkit.service.message import Fetch, Request, Response, Suspended, copied, respond, silence


def test_an_answer_offers_its_envelope():
    body = {"data": {"a": 1}, "warnings": ["w"], "auth": None, "wrap_info": None, "errors": ["e"]}
    answer = Response(200, {}, body)

    assert (answer.data, answer.warnings, answer.errors, answer.auth, answer.wrap_info) == (
        {"a": 1},
        ["w"],
        ["e"],
        None,
        None,
    )


@pytest.mark.parametrize("body", [None, {}, {"errors": None, "warnings": None}])
def test_errors_and_warnings_are_always_lists(body):
    answer = Response(404, {}, body)

    assert (answer.errors, answer.warnings, answer.data) == ([], [], None)


@pytest.mark.parametrize(
    ("status", "good"), [(200, True), (204, True), (299, True), (199, False), (307, False), (0, False)]
)
def test_two_hundreds_are_success(status, good):
    answer = Response(status, {}, {"errors": ["no such key"]})

    assert answer.ok is good
    if good:
        assert answer.raise_for_status() is answer
    else:
        with pytest.raises(RuntimeError, match=f"{status}: no such key"):
            answer.raise_for_status()


def test_no_record_shows_what_it_carries():
    request = Request("POST", "/v1/secret/data/a", {"X-Vault-Token": "hvs.canary"}, {"data": "canary"})
    answer = respond(200, {"data": "canary"})
    waiting = Suspended(1, request, Fetch("http://a:1", request), (("token", "canary"),), (answer,))

    for record in (request, answer, waiting):
        assert "canary" not in repr(record)


def test_a_copy_shares_no_part():
    value = {"a": [1, {"b": []}], "c": (1, [2])}
    other = copied(value)
    assert other == {"a": [1, {"b": []}], "c": [1, [2]]}
    other["a"][1]["b"].append(1)
    other["c"][1].append(3)

    assert value == {"a": [1, {"b": []}], "c": (1, [2])}


def test_every_answer_has_headers_of_its_own():
    one, other = respond(200), respond(200)
    one.headers["X"] = "1"

    assert "X" not in other.headers
    assert other.headers["Content-Type"] == "application/json"


def test_silence_has_no_status():
    assert silence("nobody is there").status == 0
    assert silence("nobody is there").errors == ["nobody is there"]


def test_a_fetch_asks_the_ordinary_door_and_waits_ten_seconds():
    fetch = Fetch("http://paris-1:8200", Request("GET", "sys/health"))

    assert (fetch.channel, fetch.timeout_ns) == ("api", 10_000_000_000)
