"""Messages: every one is a record with one handler, and what waits in a lab's clock is made of nothing else."""

from __future__ import annotations

import inspect
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import Lab
from labkit.lab.hosts import client
from labkit.lab.nodes import node_host, secondaries, upstream
from labkit.lab.operations import operator_console
from labkit.lab.wire import messages
from labkit.lab.wire.messages import (
    HEADER_BYTES,
    Announcement,
    ApiAnswer,
    ApiRequest,
    BootstrapAnswer,
    BootstrapRequest,
    ConnectionChallenge,
    Correlation,
    ReplicationAnswer,
    ReplicationQuestion,
    ReplicationRefusal,
    StreamPush,
    malformed,
    malformed_answer,
    size_of,
)
from labkit.lab.wire.reports import MESSAGE_REFUSED
from labkit.service.message import Request, Response
from labkit.vault.replication.shapes import ANSWER_SHAPES, PUSH, QUESTION_SHAPES
from tests.examples import examples

RECORDS = {
    record
    for record in vars(messages).values()
    if inspect.isclass(record) and hasattr(record, "_fields") and record.__module__ == messages.__name__
} - {messages.Correlation}


def test_every_message_of_a_node_and_the_console_has_one_handler():
    tables = (
        node_host.MESSAGE_HANDLERS,
        node_host.TIMER_HANDLERS,
        secondaries.MESSAGE_HANDLERS,
        upstream.EVENTS,
        operator_console.TIMER_HANDLERS,
    )
    handled = list(chain.from_iterable(tables))
    by_the_sync = {messages.SyncTimer, messages.AnnounceTimer}
    by_the_process, by_the_faults = {messages.ServiceTimer}, {messages.FlapTimer}
    on_the_way = {messages.PassedOn}  # a node takes what is in it
    elsewhere = set(client.ClientTimer.__args__) | {messages.CloudAnswerTimer}

    assert len(handled) == len(set(handled))
    assert set(handled) | by_the_sync | by_the_process | by_the_faults | on_the_way | elsewhere == RECORDS


def test_only_named_records_wait_in_the_clock_and_in_nodes(lab):
    lab.parts.console.start("repoint", cluster="tokyo", to="paris")
    seen = set()
    for _ in range(600):
        for _, (verb, _, payload) in lab.parts.clock.pending():
            seen.add(type(payload.payload if verb == "deliver" else payload))
        lab.step()

    assert seen <= RECORDS
    assert {messages.ApiRequest, messages.StreamPush, messages.LeaseTimer, messages.AskDeadline} <= seen


def test_a_message_counts_its_body_and_a_header():
    assert size_of(None) == size_of({}) == HEADER_BYTES
    assert size_of({"a": "x" * 500}) - size_of({"a": ""}) == 500


# ---- what is no message (R25)

ASKED = Correlation("paris-operator", 1, 1)
ASK = ApiRequest(ASKED, Request("GET", "/v1/sys/health"))
ANSWER = ApiAnswer(ASKED, Response(200, {}, {"errors": ["a"], "data": {}}))


def made(record: Any, *parts: Any) -> Any:
    """A record of any parts, also of those that its fields are not for."""
    return record(*parts)


def changed(record: Any, **parts: Any) -> Any:
    """A record with other parts."""
    return record._replace(**parts)


GUARD = {"serial": 1, "guard": bytes(20), "compare": False, "addresses": ["https://tokyo-1:8201"]}
CALL = {
    "cluster_id": "c",
    "secondary_id": "tokyo",
    "term": 7,
    "address": "https://paris-2:8201",
    "signature": bytes(64),
}

WRONG: list[Any] = [
    {},
    None,
    "text",
    changed(ASK, request=None),
    changed(ASK, request=made(Request, 7, "/v1/sys/health")),
    changed(ASK, request=made(Request, "GET", None)),
    changed(ASK, request=made(Request, "GET", "/v1/sys/health", None)),
    changed(ASK, correlation=None),
    changed(ASK, correlation=("paris-operator", 1, 1)),
    changed(ASK, correlation=made(Correlation, "paris-operator", "1", 1)),
    changed(ASK, correlation=Correlation("paris-operator", 1 << 63, 1)),
    changed(ASK, correlation=Correlation("paris-operator", 1, 10**5_000)),
    changed(ANSWER, response={}),
    changed(ANSWER, response=Response(10**5_000, {})),
    changed(ANSWER, response=made(Response, "200", {})),
    changed(ANSWER, response=made(Response, 200, {"Location": 7})),
    changed(ANSWER, response=made(Response, 200, {}, [])),
    changed(ANSWER, response=made(Response, 400, {}, {"errors": 7})),
    changed(ANSWER, response=made(Response, 400, {}, {"errors": [7]})),
    changed(ANSWER, response=made(Response, 200, {}, {"warnings": "text"})),
    made(ReplicationQuestion, "guard_hash", "tokyo", {}, {}),
    made(ReplicationQuestion, "guard_hash", 7, GUARD, {}),
    made(ReplicationQuestion, "guard_hash", "\ud800", GUARD, {}),
    made(ReplicationQuestion, "guard_hash", "tokyo", GUARD, {"certificate": "x"}),
    made(ReplicationQuestion, "guard_hash", "tokyo", {**GUARD, "addresses": ["\ud800"]}, {}),
    made(ReplicationQuestion, "guard_hash", "tokyo", {**GUARD, "addresses": ["https://a:8201"] * 65}, {}),
    made(Announcement, {}),
    made(Announcement, None),
    made(Announcement, {**CALL, "term": "7"}),
    made(Announcement, {**CALL, "address": "\ud800"}),
    made(ReplicationAnswer, "guard_hash", {}),
    made(ReplicationRefusal, "", "1", "reason"),
    made(ReplicationRefusal, "", 1, "reason", ("https://paris-1:8201", 7)),
    ReplicationRefusal("", 10**5_000, "reason"),
    ReplicationRefusal("", 1, "\ud800"),
    ReplicationRefusal("", 1, "reason", ("\ud800",)),
    made(StreamPush, {}),
    made(ConnectionChallenge, "1", "text", b"seal"),
    made(ConnectionChallenge, 1, b"text", b"seal"),
    made(ConnectionChallenge, 1, "\ud800", b"seal"),
    made(ConnectionChallenge, 1, "text", "seal"),
    made(BootstrapRequest, "1", "bootstrap", {}),
    made(BootstrapRequest, 1, "bootstrap", {"certificate": "x"}),
    made(BootstrapRequest, 1, "other", {}),
    made(BootstrapRequest, 1, "challenge", {}),
    made(BootstrapRequest, 1, "challenge", {"cluster_id": "set", "secondary_id": "\ud800"}),
    made(BootstrapAnswer, 1, made(Response, 200, {}, {"data": {"challenge": "text", "seal": "zz"}})),
    made(BootstrapRequest, 1, "challenge", {"cluster_id": "set", "secondary_id": "x" * 257}),
    made(BootstrapRequest, 1, "certificate", {}),
    made(BootstrapRequest, 1, "certificate", {"nonce": b"x"}),
    made(BootstrapRequest, 1, "certificate", {"nonce": "x" * 257}),
    made(ReplicationQuestion, "guard_hash", "x" * 257, GUARD, {}),
    made(BootstrapAnswer, 1, made(Response, 200, {}, {"data": {"certificate": "text"}})),
    made(BootstrapAnswer, 1, made(Response, 200, {}, {"data": {"certificate": "text", "signature": "zz"}})),
    made(BootstrapAnswer, "1", made(Response, 503, {})),
    made(BootstrapAnswer, 1, made(Response, 200, {}, {"data": {"root_key": "zz"}})),
    made(BootstrapAnswer, 1, made(Response, 200, {}, {"data": []})),
]


@pytest.mark.parametrize("message", WRONG, ids=lambda message: str(type(message).__name__))
def test_what_is_not_of_its_kind_is_named(message):
    assert malformed(message)
    assert malformed_answer(message)


def test_what_is_of_its_kind_is_not_named():
    keys = {"root_key": "aa", "keyring": "bb", "seal_config": "cc"}
    sound = [
        ASK,
        ANSWER,
        ReplicationQuestion("guard_hash", "tokyo", GUARD, {}),
        Announcement(CALL),
        ReplicationRefusal("", 1, "reason", ("https://paris-1:8201",)),
        StreamPush({"serial": 1, "gone": True}),
        ConnectionChallenge(1, "text", b"seal"),
        BootstrapRequest(1, "challenge", {"cluster_id": "set", "secondary_id": "tokyo"}),
        BootstrapRequest(1, "bootstrap", {}),
        BootstrapRequest(1, "certificate", {"nonce": "x" * 256}),
        BootstrapAnswer(1, Response(200, {}, {"data": {"certificate": "text", "signature": "aa"}})),
        BootstrapAnswer(1, Response(503, {})),
        BootstrapAnswer(1, Response(200, {}, {"data": {"challenge": "text", "seal": "aa"}})),
        BootstrapAnswer(1, Response(200, {}, {"data": keys})),
    ]
    assert [malformed(message) for message in sound] == [""] * len(sound)
    assert not malformed_answer(ANSWER)
    assert malformed_answer(ASK)


def refused(lab: Lab) -> int:
    """How many messages the hosts of a lab refused."""
    counts = [node.refused_messages for node in lab.parts.nodes.values()]
    counts += [client.refused_messages for client in lab.clients.values()]
    return sum(counts) + lab.parts.console.refused_messages


HOSTS = ("paris-1", "paris-2", "tokyo-1", "tokyo-2", "paris-operator", "tokyo-operator", "writers-1")
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-3, 300), st.binary(max_size=21), st.text(max_size=3))
PARTS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=6,
)
FIELDS = sorted({name for shape in (*QUESTION_SHAPES.values(), *ANSWER_SHAPES.values(), PUSH) for name in shape})
CONTENTS = st.one_of(PARTS, st.dictionaries(st.sampled_from(FIELDS), PARTS, max_size=6))
RPCS = st.sampled_from([*QUESTION_SHAPES, "", 7])
RESPONSES = st.one_of(PARTS, st.builds(Response, PARTS, PARTS, PARTS, PARTS))
ANY_MESSAGE = st.one_of(
    PARTS,
    st.builds(ApiRequest, PARTS, st.one_of(PARTS, st.builds(Request, PARTS, PARTS, PARTS, PARTS))),
    st.builds(ApiAnswer, st.one_of(PARTS, st.builds(Correlation, PARTS, PARTS, PARTS)), RESPONSES),
    st.builds(ReplicationQuestion, RPCS, st.sampled_from(["tokyo", "x", 7]), CONTENTS, CONTENTS),
    st.builds(ReplicationAnswer, RPCS, CONTENTS),
    st.builds(ReplicationRefusal, RPCS, PARTS, PARTS, PARTS),
    st.builds(StreamPush, CONTENTS),
    st.builds(ConnectionChallenge, PARTS, PARTS, PARTS),
    st.builds(BootstrapRequest, PARTS, st.sampled_from(["challenge", "bootstrap", 7]), CONTENTS),
    st.builds(BootstrapAnswer, PARTS, RESPONSES),
)


@settings(max_examples=examples(30), deadline=None)
@given(sent=st.lists(st.tuples(st.sampled_from(HOSTS), st.sampled_from(HOSTS), ANY_MESSAGE), min_size=5, max_size=20))
@pytest.mark.slow
def test_no_message_whatever_it_is_ends_a_lab(replicating_snapshot, sent):
    lab = Lab.restore(replicating_snapshot)
    for source, target, message in sent:
        lab.network.send(source, target, "foreign", message, 100)
    lab.run("1s")
    reported = [event for event in lab.trace.select("observed") if event.what == MESSAGE_REFUSED]
    wrong = sum(bool(malformed(message)) for _, _, message in sent)

    assert refused(lab) == len(reported) >= wrong
    assert Lab.restore(lab.snapshot()).run("1s").trace.digest() == lab.run("1s").trace.digest()
