"""Senders: what a host that is not asked, not the upstream, or of another cluster sends, changes nothing, ever."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

import pytest

from labkit import Lab
from labkit.lab.nodes.node_host import NodeHost
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import triangle
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import (
    Announcement,
    ApiAnswer,
    ApiRequest,
    BootstrapAnswer,
    BootstrapRequest,
    Correlation,
    ForwardedAnswer,
    ReplicationAnswer,
    ReplicationQuestion,
    ReplicationRefusal,
    StreamPush,
)
from labkit.lab.wire.reports import CONNECTION_REFUSED, MESSAGE_REFUSED
from labkit.service.message import Response, respond

DR = "sys/replication/dr/"
STRANGERS = ("lima-1", "lima-operator", "paris-operator", "tokyo-2", "lima-3")
WAITING_FOR = ("guard_hash", "conflicting_pages", "sub_page_hashes", "fetch_keys", "stream_wals")
STATES = (*WAITING_FOR, "streaming", "lost", "forgotten")

Sent = tuple[str, str, Any]


class Moment(NamedTuple):
    """A lab at one moment, and how many messages had been sent by then."""

    snapshot: Any
    sent: int


class Drill(NamedTuple):
    """A pair in each state of its link, and all that was sent on the way, in its order."""

    found: dict[str, Moment]
    sent: list[Sent]

    def lab(self, state: str) -> Lab:
        """The lab in one of the states."""
        return Lab.restore(self.found[state].snapshot)

    def before(self, state: str) -> list[Sent]:
        """What had been sent when that state was reached."""
        return self.sent[: self.found[state].sent]


def node_of(lab: Lab, cluster: str) -> NodeHost:
    """The active node of a cluster."""
    return lab.parts.nodes[lab[cluster].active]


def sync_of(lab: Lab) -> Any:
    return node_of(lab, "tokyo").sync


def until(lab: Lab, reached: Callable[..., bool]) -> None:
    for _ in range(20_000):
        if reached():
            return
        lab.step()
    raise AssertionError("that state was not reached")


@pytest.fixture(scope="module")
def drill() -> Drill:
    """Snapshots of a pair in each state of its link, with lima beside it; and what they sent each other on the way."""
    blueprint = triangle()
    lab = Lab(replace(blueprint, clusters=tuple(replace(c, backlog_entries=8) for c in blueprint.clusters)), seed=7)
    sent: list[Sent] = []
    for node in lab.parts.nodes.values():
        record(node, sent)
    lab.replicate("paris", "tokyo")
    lab.work_through("enable-primary", cluster="lima")
    lab.run("2s")
    found: dict[str, Moment] = {}

    def note(state: str) -> None:
        found[state] = Moment(lab.snapshot(), len(sent))

    note("streaming")
    lab.partition("paris", "tokyo")
    for number in range(20):
        lab["paris"].post(f"secret/data/k{number}", {"data": {"n": number}})
    lab.run("20s")
    note("lost")
    lab.heal()
    for rpc in WAITING_FOR:
        until(lab, lambda rpc=rpc: sync_of(lab).awaiting == rpc)
        note(rpc)
    lab.run("5s")
    assert lab["tokyo"].root == lab["paris"].root
    lab.crash("paris-1")
    lab.run("25s")
    assert sync_of(lab).connection_state == "ready"
    token = lab["tokyo"].operation_token()
    lab["tokyo"].post(DR + "secondary/update-primary", {"dr_operation_token": token, "token": ""}).raise_for_status()
    note("forgotten")
    return Drill(found, sent)


def record(node: NodeHost, sent: list[Sent]) -> None:
    """Note what a node sends to other clusters, but for requests of the API."""

    def noting(way: Callable[..., None]) -> Callable[..., None]:
        def note(source: str, target: str, what: str, message: Any, *more: Any, **named: Any) -> None:
            if source.partition("-")[0] != target.partition("-")[0] and type(message) is not ApiRequest:
                sent.append((source, target, message))
            way(source, target, what, message, *more, **named)

        return note

    services = node.services
    connect(node, services._replace(send=noting(services.send), datagram=noting(services.datagram)))


def connect(node: NodeHost, services: HostServices) -> None:
    """Give a node and its parts other services."""
    parts: list[Any] = [node.link]
    node.services = services
    for part in parts:
        part._services = services
        inside = [getattr(part, name, None) for name in getattr(type(part), "__slots__", ())]
        parts += [other for other in inside if hasattr(other, "_services")]


def last(sent: list[Sent], kind: type, rpc: str = "") -> Any:
    """The newest recorded message of a kind."""
    return next(m for _, _, m in reversed(sent) if type(m) is kind and getattr(m, "rpc", rpc) == rpc)


def seen(node: NodeHost) -> tuple[Any, Any]:
    """All that is in a node and its store, but for the count of what it refused; what fell away is not due any more."""
    node.vault.next_due()
    state = node.state()
    store: Any = node.store
    return {name: value for name, value in state.items() if name != "refused_messages"}, store.state()


def unharmed(node: NodeHost, source: str, message: Any) -> None:
    """Let a message arrive that is refused and counted once, and changes nothing."""
    before, counted = seen(node), node.refused_messages
    node.receive(source, message)

    assert seen(node) == before
    assert node.refused_messages == counted + 1


def fitting(lab: Lab, sent: list[Sent]) -> list[Any]:
    """Messages that fit tokyo's open question, stream or connection, with contents that would do harm."""
    state = sync_of(lab)
    forged: list[Any] = [StreamPush({"serial": state.stream, "gone": True}), ReplicationRefusal("", 0, "over")]
    key = state.work.fetch[0] if state.work.fetch else "logical/forged"
    entry = [(state.position or 0) + 1, [["logical/forged", b"forged"]]]
    forged.append(StreamPush({"serial": state.stream, "entries": [entry]}))
    announced = last(sent, Announcement).message
    forged += [Announcement(announced), Announcement({**announced, "address": "https://lima-1:8201", "term": 99})]
    forged.append(ReplicationRefusal(state.awaiting or "echo", state.serial, "over", ("https://lima-1:8201",)))
    for rpc in (*WAITING_FOR, "echo"):
        message = {
            **last(sent, ReplicationAnswer, rpc).message,
            "serial": state.life if rpc == "echo" else state.serial,
        }
        harm: dict[str, Any] = {
            "echo": {"cluster_addrs": ["https://lima-1:8201"]},
            "fetch_keys": {"values": [[key, b"forged"]]},
            "sub_page_hashes": {"leaves": []},
        }
        forged.append(ReplicationAnswer(rpc, {**message, **harm.get(rpc, {})}))
    return forged


# ---- whose answer, push or refusal it is


@pytest.mark.parametrize("state", STATES)
def test_only_the_upstream_answers_pushes_refuses_or_disconnects(drill, state):
    lab, sent = drill.lab(state), drill.sent
    for message in fitting(lab, sent):
        for stranger in STRANGERS:
            unharmed(node_of(lab, "tokyo"), stranger, message)


def test_what_would_be_applied_from_the_upstream_is_not_from_anybody_else(drill):
    """The forged entry fits: the upstream itself could have pushed it."""
    lab = drill.lab("streaming")
    node, state = node_of(lab, "tokyo"), sync_of(lab)
    push = StreamPush({"serial": state.stream, "entries": [[state.position + 1, [["logical/forged", b"forged"]]]]})
    unharmed(node, "lima-1", push)
    node.receive("paris-1", push)

    assert node.store.get("logical/forged") == b"forged"


def test_a_standby_of_the_upstream_is_heard_because_it_may_name_the_node_that_leads(drill):
    lab = drill.lab("guard_hash")
    node, state = node_of(lab, "tokyo"), sync_of(lab)
    node.receive("paris-2", ReplicationRefusal("guard_hash", state.serial, "not active", ("https://paris-1:8201",)))

    assert (node.refused_messages, sync_of(lab).failures) == (0, state.failures + 1)


def test_a_node_that_follows_nobody_ignores_what_upstreams_send(drill):
    lab, sent = drill.lab("streaming"), drill.sent
    node = node_of(lab, "paris")
    before = seen(node)
    for message in (StreamPush({"serial": 0, "gone": True}), ReplicationRefusal("", 0, "over"), *fitting(lab, sent)):
        node.receive("lima-1", message)

    assert (seen(node), node.refused_messages) == (before, 0)


# ---- whose question it is


@pytest.mark.parametrize("state", STATES)
def test_without_credentials_nobody_asks_as_another_id(drill, state):
    lab, sent = drill.lab(state), drill.sent
    node = node_of(lab, "paris")
    for rpc in (*WAITING_FOR, "echo"):
        question = last(sent, ReplicationQuestion, rpc)._replace(credentials={})
        for stranger in STRANGERS:
            counted = node.refused_messages
            before = seen(node)
            node.receive(stranger, question)

            assert seen(node) == before
            # a first question gets a challenge
            refused = rpc != "guard_hash" and "tokyo" in node.link.secondaries.connected
            assert node.refused_messages == counted + refused


def test_a_host_is_given_no_keys_without_credentials(drill):
    lab = drill.lab("streaming")
    node, answers = node_of(lab, "paris"), []
    connect(node, node.services._replace(send=lambda *message, **how: answers.append(message)))
    before = seen(node)
    node.receive("lima-1", BootstrapRequest(1, "bootstrap", {}))
    ((_, target, _, message, _),) = answers

    assert (target, message.response.ok, message.response.data) == ("lima-1", False, None)
    assert seen(node) == before


@pytest.fixture(scope="module")
def joined() -> tuple[Any, list[Sent]]:
    """Paris with two secondaries; and what is sent while they join, and while each is led by another node."""
    lab = Lab.triangle(seed=7)
    sent: list[Sent] = []
    for node in lab.parts.nodes.values():
        record(node, sent)
    lab.replicate("paris", "tokyo")
    lab.replicate("paris", "lima")
    for name in ("tokyo-1", "lima-1"):
        lab.crash(name)
    lab.run("10s")
    return lab.snapshot(), sent


def test_nobody_connects_with_what_another_id_or_another_host_showed(joined):
    """Every question that ever showed credentials, replayed."""
    snapshot, sent = joined
    lab = Lab.restore(snapshot)
    node = node_of(lab, "paris")
    assert sorted(node.link.secondaries.connected) == ["lima", "tokyo"]
    shown = [(source, m) for source, _, m in sent if isinstance(m, ReplicationQuestion) and m.credentials]
    assert {source for source, _ in shown} >= {
        node.link.secondaries.connected["lima"],
        node.link.secondaries.connected["tokyo"],
    }
    for source, question in shown:
        other = "lima" if question.secondary_id == "tokyo" else "tokyo"
        unharmed(node, source, question._replace(secondary_id=other))
        for host in {"lima-2", "lima-3", "tokyo-2", "tokyo-3", "paris-operator"} - {source}:
            unharmed(node, host, question)


def test_nobody_is_given_the_keys_for_what_another_host_showed(joined):
    snapshot, sent = joined
    lab = Lab.restore(snapshot)
    node, answers = node_of(lab, "paris"), []
    services = node.services._replace(send=lambda *message, **how: answers.append(message[3].response))
    connect(node, services)
    for source, _, message in sent:
        if isinstance(message, BootstrapRequest) and "certificate" in message.body:
            for host in {"lima-2", "tokyo-2", "paris-operator"} - {source}:
                node.receive(host, message)

    assert answers
    assert {answer.status for answer in answers} == {403}
    assert not any(answer.data for answer in answers)


# ---- answers to fetches


@pytest.fixture
def joining(drill):
    """Lima leaves its own set and asks to join that of paris; with what fetches of it are under way, by number."""
    lab = drill.lab("streaming")
    lab["lima"].post(DR + "primary/disable").raise_for_status()
    body = {"token": lab["paris"].post(DR + "primary/secondary-token", {"id": "lima"}).wrap_info["token"]}
    number = lab.parts.console.ask(Ask("lima", "POST", DR + "secondary/enable", body))
    until(lab, lambda: bool(node_of(lab, "lima").fetches))
    return lab, number


def test_only_the_host_that_was_asked_answers_a_fetch(joining, drill):
    """Whoever could forge these would wipe a cluster, and give it keys of his own."""
    (lab, asked), sent = joining, drill.sent
    node = node_of(lab, "lima")
    keys = last(sent, BootstrapAnswer).response
    seen_fetches = 0
    for _ in range(2):
        (number,) = node.fetches
        seen_fetches += 1
        for stranger in ("tokyo-1", "paris-2", "lima-2", "lima-3"):
            unharmed(node, stranger, BootstrapAnswer(number, keys))
            unharmed(node, stranger, BootstrapAnswer(number, respond(403, {"errors": ["no"]})))
            unharmed(node, stranger, ApiAnswer(Correlation("lima-1", number), Response(200, {}, {"data": {}})))
        until(lab, lambda number=number: number not in node.fetches)
    lab.run("5s")

    assert seen_fetches == 2
    assert lab.parts.console.answers[asked].status == 200
    assert lab["lima"].root == lab["paris"].root


def test_an_answer_that_nobody_awaits_is_ignored(joining):
    node = node_of(joining[0], "lima")
    before = seen(node)
    node.receive("tokyo-1", BootstrapAnswer(99, respond(403)))
    node.receive("tokyo-1", ApiAnswer(Correlation("lima-1", 99), respond(200)))

    assert (seen(node), node.refused_messages) == (before, 0)


def test_only_nodes_of_the_cluster_forward(drill):
    lab = drill.lab("streaming")
    unharmed(node_of(lab, "paris"), "tokyo-1", ForwardedAnswer(1, respond(200)))


# ---- anything, at any time


PARTS: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    7,
    2**63 - 1,
    2**70,
    b"",
    bytes(20),
    "",
    "logical/x",
    [],
    [1],
    {},
    [["logical/x", b"forged"]],
)


def tampered(dice: Random, message: Any, serials: tuple[int, ...]) -> Any:
    """A message as it was, with a serial that fits, or with another part."""
    contents: dict[str, Any] = dict(getattr(message, "message", {}))
    if not contents:
        return message
    if dice.random() < 0.5:
        contents["serial"] = dice.choice(serials)
    if dice.random() < 0.5:
        contents[dice.choice(sorted(contents))] = dice.choice(PARTS)
    return message._replace(message=contents)


def cut_short(dice: Random, message: Any) -> Any:
    """A message as it was, or without one of its parts."""
    contents = getattr(message, "message", None)
    if not contents or dice.random() < 0.5:
        return message
    lost = dice.choice(sorted(contents))
    return message._replace(message={name: part for name, part in contents.items() if name != lost})


def strangers_interfere(drill: Drill, seed: int) -> None:
    dice = Random(seed)
    state = dice.choice(STATES)
    lab = drill.lab(state)
    for _ in range(dice.randint(1, 8)):
        sync = sync_of(lab)
        _, target, message = dice.choice(drill.sent)
        forged = tampered(dice, message, (sync.serial, sync.life, sync.stream, 0))
        node = lab.parts.nodes[target]
        before = seen(node)
        node.receive(dice.choice(STRANGERS), forged)
        assert seen(node) == before
        for _ in range(dice.randint(0, 40)):
            lab.step()
    converges(lab, state)


def old_messages_come_again(drill: Drill, seed: int) -> None:
    dice = Random(seed)
    state = dice.choice(STATES)
    lab = drill.lab(state)
    for _ in range(dice.randint(1, 12)):
        source, target, message = dice.choice(drill.before(state))
        lab.parts.nodes[target].receive(source, cut_short(dice, message))
        for _ in range(dice.randint(0, 40)):
            lab.step()
    converges(lab, state)


NUMBERS = (-(2**63), -1, 0, 1, 2**32, 10**18, 2**63 - 1, 2**63, 10**5_000, True)
BYTES = (b"", b"x", bytes(20), b"\xff" * 20, bytes(5_120))
TEXTS = ("", "x", "x" * 100_000, "logical/x", "token/x", "node/mode", "core/keyring", "https://lima-1:8201", "\ud800")


def altered(dice: Random, value: Any) -> Any:
    """A value of the same kind, at a limit or beyond it."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | bytes | str):
        return dice.choice(NUMBERS if isinstance(value, int) else BYTES if isinstance(value, bytes) else TEXTS)
    if not value or dice.random() < 0.3:
        return dice.choice(([], [1], ["logical/y"], [["logical/x", b"y"]], [*value] * 50))
    place = dice.randrange(len(value))
    return [altered(dice, part) if number == place else part for number, part in enumerate(value)]


def hosts_go_mad(drill: Drill, seed: int) -> None:
    """The hosts of a link say anything that fits the other's open question, or does not."""
    dice = Random(seed)
    lab = drill.lab(dice.choice(STATES))
    for _ in range(dice.randint(1, 6)):
        source, target, message = dice.choice(drill.sent)
        contents = dict(getattr(message, "message", {}))
        sync = sync_of(lab)
        if "serial" in contents and sync is not None and target.startswith("tokyo"):
            contents["serial"] = dice.choice((sync.serial, sync.life, sync.stream))
        if contents:
            name = dice.choice(sorted(contents))
            contents[name] = altered(dice, contents[name])
            message = message._replace(message=contents)
        lab.parts.nodes[target].receive(source, message)
        for _ in range(dice.randint(0, 40)):
            lab.step()
    lab.heal()
    lab.run("20s")
    for cluster in lab.clusters:
        json.dumps(lab[cluster].status())
    Lab.restore(lab.snapshot()).run("1s")


def converges(lab: Lab, state: str) -> None:
    """Nothing ended the run, every refusal was counted, and what follows is level afterwards."""
    lab.heal()
    lab.run("90s")
    observed = [event for event in lab.trace.select("observed") if event.what in (MESSAGE_REFUSED, CONNECTION_REFUSED)]
    counted = sum(node.refused_messages for node in lab.parts.nodes.values())
    assert counted + lab.parts.console.refused_messages == len(observed)
    assert all(finding is None for finding in lab.invariants.verdicts().values())
    if state != "forgotten":
        assert sync_of(lab).state == "stream-wals"
        assert lab.queries.contents("tokyo") == lab.queries.contents("paris")


SEEDS = [pytest.param(seed, marks=pytest.mark.slow if seed >= 8 else []) for seed in range(40)]


@pytest.mark.parametrize("seed", SEEDS)
def test_strangers_change_nothing_in_any_state_and_the_pair_converges(drill, seed):
    """Replayed, reordered, forged and malformed messages of strangers, between any two steps of the link."""
    strangers_interfere(drill, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_sent_before_may_come_again_at_any_time_and_the_pair_converges(drill, seed):
    """Duplicates and latecomers from the hosts that sent them, whole or cut short: a network may do that."""
    old_messages_come_again(drill, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_the_hosts_of_a_link_say_nothing_ends_the_run_and_every_node_has_a_status(drill, seed):
    hosts_go_mad(drill, seed)


@pytest.mark.slow
def test_all_three_many_more_times(drill):
    for seed in range(1_000, 1_080):
        strangers_interfere(drill, seed)
        old_messages_come_again(drill, seed)
        hosts_go_mad(drill, seed)
