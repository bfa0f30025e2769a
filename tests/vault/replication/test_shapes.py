"""Shapes: every message that replication really sends fits, and one with any part changed to another kind does not."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.wire.messages import ReplicationAnswer, ReplicationQuestion, StreamPush
from labkit.vault.replication.shapes import (
    ANSWER_SHAPES,
    QUESTION_SHAPES,
    malformed_answer,
    malformed_credentials,
    malformed_push,
    malformed_question,
)
from labkit.vault.replication.tree.merkle import COMPARED_PAGE_BYTES, DIGEST_BYTES
from tests.rekeying import rekey

DIGEST, PAGE = bytes(DIGEST_BYTES), bytes(COMPARED_PAGE_BYTES)


@pytest.fixture(scope="module")
def sent() -> list[Any]:
    """What a pair sends each other: a first sync, a stream, a cut with writes on both sides of it, and another sync."""
    lab = Lab.pair(seed=7)
    messages: list[Any] = []
    send = lab.network.send

    def listen(source: str, target: str, what: str, payload: Any, size_bytes: int, aside: bool = False) -> None:
        messages.append(payload)
        send(source, target, what, payload, size_bytes, aside)

    for node in lab.parts.nodes.values():
        node.services = node.services._replace(send=listen)
        link = node.link
        link.upstream._services = link.secondaries._services = link._services._replace(send=listen)
    for number in range(40):
        lab["paris"].post(f"secret/data/{number}", {"data": {"a": number}})
    lab.replicate("paris", "tokyo")
    lab.run("2s")
    lab["paris"].post("secret/data/app", {"data": {}})
    lab.run("2s")
    lab.crash("tokyo-1")
    lab.run("20s")
    rekey(lab, "paris")
    lab.run("4s")
    return messages


def test_what_is_really_sent_fits(sent):
    questions = [message for message in sent if type(message) is ReplicationQuestion]
    answers = [message for message in sent if type(message) is ReplicationAnswer]
    pushes = [message for message in sent if type(message) is StreamPush]

    assert {question.rpc for question in questions} == set(QUESTION_SHAPES)
    assert {answer.rpc for answer in answers} == set(ANSWER_SHAPES)
    assert pushes
    assert {malformed_question(question.rpc, question.message) for question in questions} == {""}
    assert {malformed_credentials(question.credentials) for question in questions} == {""}
    assert {malformed_answer(answer.rpc, answer.message) for answer in answers} == {""}
    assert {malformed_push(push.message) for push in pushes} == {""}


def test_a_field_left_out_or_of_another_kind_is_named(sent):
    for message in sent:
        if type(message) is ReplicationQuestion:
            shape, judge = QUESTION_SHAPES[message.rpc], malformed_question
        elif type(message) is ReplicationAnswer and message.message.get("found") is not True:
            shape, judge = ANSWER_SHAPES[message.rpc], malformed_answer
        else:
            continue
        if message.message.get("gone"):
            continue
        for name in shape:
            assert name in judge(message.rpc, {**message.message, name: {"a": 1}})
            without = {other: value for other, value in message.message.items() if other != name}
            assert name in judge(message.rpc, without)


WRONG_QUESTIONS: list[tuple[Any, Any]] = [
    ("unknown", {"serial": 1}),
    (7, {"serial": 1}),
    ("guard_hash", []),
    ("guard_hash", {"serial": True, "guard": DIGEST}),
    ("guard_hash", {"serial": 1, "guard": DIGEST[1:]}),
    ("conflicting_pages", {"serial": 1, "generation": 1, "pages": [[3, PAGE]]}),
    ("conflicting_pages", {"serial": 1, "generation": 1, "pages": [[1, PAGE[1:]]]}),
    ("conflicting_pages", {"serial": 1, "generation": 1, "pages": [[1]]}),
    ("conflicting_pages", {"serial": 1, "generation": 1, "pages": [7]}),
    ("sub_page_hashes", {"serial": 1, "generation": 1, "subpages": [[1, 256, PAGE]]}),
    ("sub_page_hashes", {"serial": 1, "generation": 1, "subpages": [[1, -1, PAGE]]}),
    ("fetch_keys", {"serial": 1, "generation": 1, "keys": ["node/mode"], "limit_bytes": 1}),
    ("fetch_keys", {"serial": 1, "generation": 1, "keys": ["\ud800"], "limit_bytes": 1}),
    ("fetch_keys", {"serial": 1, "generation": 1, "keys": ["core/a"] * 1025, "limit_bytes": 1}),
    ("fetch_keys", {"serial": 1, "generation": 1, "keys": [""], "limit_bytes": 1}),
    ("stream_wals", {"serial": 1, "from": 1.0}),
    ("stream_wals", {"serial": 1, "from": 1 << 63}),
    ("stream_wals", {"serial": 10**5_000, "from": 1}),
    ("conflicting_pages", {"serial": 1, "generation": 1, "pages": [[1, PAGE]] * 3}),
    ("sub_page_hashes", {"serial": 1, "generation": 1, "subpages": [[1, 7, b""]] * 513}),
]


@pytest.mark.parametrize(("rpc", "message"), WRONG_QUESTIONS)
def test_a_malformed_question_is_named(rpc, message):
    assert malformed_question(rpc, message)


WRONG_ANSWERS: list[tuple[Any, Any]] = [
    ("guard_hash", {"serial": 1, "found": True, "index": -1, "last": 3}),
    ("guard_hash", {"serial": 1, "found": 1, "index": 1, "last": 3}),
    ("guard_hash", {"serial": 1, "found": False, "generation": 1, "roots": [DIGEST]}),
    ("guard_hash", {"gone": True}),
    ([], {"gone": True, "serial": 1}),
    ("sub_page_hashes", {"serial": 1, "done": 1, "buckets": [[1, 1 << 16]], "leaves": []}),
    ("sub_page_hashes", {"serial": 1, "done": 1, "buckets": [], "leaves": [["a", b""]]}),
    ("fetch_keys", {"serial": 1, "values": [["a", "text"]]}),
    ("fetch_keys", {"serial": 1, "values": [["a", True]]}),
    ("fetch_keys", {"serial": 1, "values": [["a", 0]]}),
    ("fetch_keys", {"serial": 1, "values": [["node/lease", b"x"]]}),
    ("stream_wals", {"serial": 1, "from": 1, "last": 1 << 63}),
    ("conflicting_pages", {"serial": 1, "pages": [[1, 7]] * 513}),
    ("echo", {"serial": 1}),
]


@pytest.mark.parametrize(("rpc", "message"), WRONG_ANSWERS)
def test_a_malformed_answer_is_named(rpc, message):
    assert malformed_answer(rpc, message)


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"gone": True},
        {"serial": 1},
        {"serial": 1, "entries": [[1]]},
        {"serial": 1, "entries": [[-1, []]]},
        {"serial": 1, "entries": [[1, [["node/wal", b"x"]]]]},
        {"serial": 1, "entries": {}},
        *[
            {"serial": 1, "entries": entries}
            for entries in ([7], [[True, []]], [[1 << 63, []]], [[1, [], 2]], [[1, {}]])
        ],
        *[
            {"serial": 1, "entries": [[1, [change]]]}
            for change in (7, ["a"], ["a", b"", 1], ["a", "text"], ["a", False])
        ],
        *[{"serial": 1, "entries": [[1, [["a", b""], [key, None]]]]} for key in ("", b"a", None, "\ud800", "node/wal")],
    ],
)
def test_a_malformed_push_is_named(message):
    assert malformed_push(message)


def test_a_push_is_rows_of_any_kind_with_what_is_deleted_and_no_entries_too():
    rows: list[Any] = [[1, [["a", b""], ["é", None]]], [2, []]]
    for entries in ([], rows, ((1, (("a", b""), ("é", None))), (2, ()))):
        assert malformed_push({"serial": 1, "entries": entries}) == ""


@pytest.mark.parametrize("shown", [None, [], {"certificate": "x"}, {"version": "9" * 5_000}])
def test_malformed_credentials_are_named(shown):
    assert malformed_credentials(shown)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sent_ns", 1 << 63),
        ("wall_ns", -(1 << 63) - 1),
        pytest.param("last_wal", 10**5_000, id="huge"),
        ("api_addr", "x" * 65_537),
        ("api_addr", "\ud800"),
        ("cluster_addrs", ["https://a:8201"] * 65),
    ],
)
def test_a_heartbeat_is_answered_in_numbers_and_texts_of_some_length(sent, name, value):
    """What the upstream says goes into status and storage."""
    echo = next(answer for answer in sent if type(answer) is ReplicationAnswer and answer.rpc == "echo")

    assert malformed_answer("echo", {**echo.message, name: value}) == f"a echo answer with a malformed {name}"


@pytest.mark.parametrize("name", ["last_heartbeat_duration_ms", "clock_skew_ms", "replication_primary_canary_age_ms"])
@pytest.mark.parametrize("value", [-(1 << 63), (1 << 63) - 1, pytest.param(10**5_000, id="huge")])
def test_whatever_a_secondary_reports_of_itself_its_primary_has_a_status(sent, name, value):
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.run("2s")
    primary = lab.parts.nodes["paris-1"]
    echo = next(question for question in sent if type(question) is ReplicationQuestion and question.rpc == "echo")
    primary.receive("tokyo-1", echo._replace(message={**echo.message, name: value}))

    assert lab["paris"].status()["secondaries"][0]["connection_status"] == "connected"
    assert primary.refused_messages == (value == 10**5_000)


def test_a_count_may_be_zero():
    assert malformed_answer("stream_wals", {"serial": 0, "from": 0, "last": 0}) == ""
    assert malformed_question("stream_wals", {"serial": 0, "from": 0}) == ""
    assert malformed_answer("stream_wals", {"serial": 0, "from": -1, "last": 0})


def test_no_credentials_are_well_formed():
    assert malformed_credentials({}) == ""
