"""A primary that rotates and is rekeyed, and its secondary: connected, cut off, restarted, promoted meanwhile (D23)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.nodes.root_key_question import RootKeyQuestion
from labkit.lab.plan.blueprint import Blueprint, pair
from labkit.lab.wire.messages import ReplicationAnswer, ReplicationQuestion
from labkit.lab.wire.reports import MESSAGE_REFUSED
from labkit.real import entropy
from labkit.vault.replication.trust.root_key_transfer import INCOMPLETE, LEFT_BEHIND
from labkit.vault.sealing.seal import AWAITED, DAMAGED_KEYRING, REKEYED
from labkit.vault.sealing.stored_keys import OWN_KEYRING
from labkit.vault.storage.barrier import KEYRING, encrypt_keyring
from tests.rekeying import hand_over, rekey

NODES = {name: tuple(f"{name}-{number}" for number in (1, 2, 3)) for name in ("paris", "tokyo")}


@pytest.fixture
def lab(calm_snapshot) -> Lab:
    """The pair, replicating."""
    return Lab.restore(calm_snapshot)


def keys_of(lab: Lab, cluster: str) -> set[tuple[str, tuple[int, ...]]]:
    """What each node of a cluster holds: the root key's fingerprint, and the keyring's terms."""
    held = [lab.parts.nodes[name].core.keys for name in NODES[cluster]]
    return {(keys.fingerprint(), tuple(row.term for row in keys.state()[3][0])) for keys in held if keys.barrier}


def status(lab: Lab, node: str) -> dict[str, Any]:
    cluster = node.partition("-")[0]
    return lab[cluster].request("GET", "/v1/sys/seal-status", node=node).body or {}


def level(lab: Lab) -> bool:
    return bool(lab["paris"].root) and lab["paris"].root == lab["tokyo"].root


def write(lab: Lab, *names: str, cluster: str = "paris") -> None:
    for name in names:
        lab[cluster].post(f"secret/data/{name}", {"data": {"name": name}}).raise_for_status()


def reads(lab: Lab, cluster: str, *names: str) -> bool:
    return all(lab[cluster].get(f"secret/data/{name}").data["data"] == {"name": name} for name in names)


def held_back(monkeypatch) -> None:
    """Let no secondary ask for a root key."""
    monkeypatch.setattr(RootKeyQuestion, "next", lambda self, core: 0)


def test_a_connected_secondary_follows_a_rotation_and_a_rekey(lab):
    write(lab, "a")
    lab["paris"].put("sys/rotate").raise_for_status()
    write(lab, "b")
    rekey(lab, "paris")
    write(lab, "c")
    lab.run("4s")

    assert level(lab)
    assert keys_of(lab, "tokyo") == keys_of(lab, "paris")
    (held,) = keys_of(lab, "tokyo")
    assert held[1] == (1, 2)
    for node in NODES["tokyo"]:
        assert (status(lab, node)["t"], status(lab, node)["n"], "reason" in status(lab, node)) == (2, 4, False)
    hand_over(lab, "tokyo", lab["paris"].unseal_keys)
    lab.failover("paris", "tokyo")
    assert reads(lab, "tokyo", "a", "b", "c")
    assert lab.invariants.broken == {}


@pytest.mark.parametrize("overflow", [False, True])
def test_one_that_was_cut_off_gets_all_of_it_when_it_is_back(overflow):
    lab = Lab(short_ring() if overflow else pair(), seed=7)
    lab.replicate("paris", "tokyo")
    old = lab["paris"].unseal_keys
    write(lab, "before")
    lab.run("2s")
    lab.partition("paris", "tokyo")
    for _ in range(2):
        lab["paris"].put("sys/rotate").raise_for_status()
    new = rekey(lab, "paris")
    names = [f"cut-{number}" for number in range(12)]
    write(lab, *names)
    lab.crash("tokyo-1")
    lab.run("12s")
    lab.restart("tokyo-1")
    lab["tokyo"].unseal("tokyo-1")
    assert lab["tokyo"].unseal_keys == old
    assert not status(lab, "tokyo-1")["sealed"]
    lab.heal()
    lab.run("30s")

    assert level(lab)
    assert keys_of(lab, "tokyo") == keys_of(lab, "paris")
    for node in NODES["tokyo"]:
        lab.crash(node)
        lab.restart(node)
    lab.run("1s")
    for share in old[:2]:
        refused = lab["tokyo"].request("PUT", "/v1/sys/unseal", json={"key": share}, node="tokyo-2")
    assert refused.status == 400
    hand_over(lab, "tokyo", new)
    lab["tokyo"].unseal()
    lab.run("20s")
    assert level(lab)
    lab.failover("paris", "tokyo")
    assert reads(lab, "tokyo", "before", *names)
    assert lab["tokyo"].get("sys/key-status").data["term"] == 3


def short_ring() -> Blueprint:
    """The pair with a backlog of eight entries."""
    blueprint = pair()
    return replace(blueprint, clusters=tuple(replace(plan, backlog_entries=8) for plan in blueprint.clusters))


def test_what_waits_is_saved(lab):
    lab.partition("paris", "tokyo")
    lab["paris"].put("sys/rotate")
    rekey(lab, "paris")
    write(lab, "a")
    lab.heal()
    seen = 0
    while not level(lab) or len(keys_of(lab, "tokyo") | keys_of(lab, "paris")) > 1:
        lab.run("1s")
        seen += 1
        other = Lab.restore(lab.snapshot())
        other.run("10s")
        again = Lab.restore(lab.snapshot())
        for _ in range(10):
            again = Lab.restore(again.run("1s").snapshot())
        assert again.trace.digest() == other.trace.digest()
        assert seen < 40
    assert level(lab)


class TestWhileItWaits:
    """The keyring came, the root key did not."""

    @pytest.fixture
    def waiting(self, lab, monkeypatch) -> Lab:
        """Tokyo holds a keyring that it cannot open: paris was rotated, rekeyed and rotated again."""
        held_back(monkeypatch)
        write(lab, "early")
        lab["paris"].put("sys/rotate")
        write(lab, "between")
        rekey(lab, "paris")
        lab["paris"].put("sys/rotate")
        write(lab, "late")
        lab.run("3s")
        return lab

    def test_it_goes_on_and_says_why(self, waiting) -> None:
        assert level(waiting)
        ((fingerprint, terms),) = keys_of(waiting, "tokyo")
        assert fingerprint not in {row[0] for row in keys_of(waiting, "paris")}
        assert terms == (1, 2)
        for node in NODES["tokyo"]:
            assert (status(waiting, node)["sealed"], status(waiting, node)["reason"]) == (False, AWAITED)
        assert "reason" not in status(waiting, "paris-1")

    def test_it_opens_with_the_old_shares_and_says_so_while_sealed(self, waiting) -> None:
        for node in NODES["tokyo"]:
            waiting.crash(node)
            waiting.restart(node)
        waiting.run("1s")
        assert "when this cluster last heard from its primary" in status(waiting, "tokyo-2")["reason"]
        waiting["tokyo"].unseal()
        waiting.run("10s")
        assert [status(waiting, node)["sealed"] for node in NODES["tokyo"]] == [False] * 3
        assert waiting["tokyo"].status()["state"] == "stream-wals"

    def test_another_active_node_asks_in_its_place(self, waiting, monkeypatch) -> None:
        monkeypatch.undo()
        waiting.crash(waiting["tokyo"].active)
        waiting.run("25s")
        assert keys_of(waiting, "tokyo") == keys_of(waiting, "paris")

    def test_it_is_not_promoted_without_force(self, waiting) -> None:
        token = waiting["tokyo"].operation_token()
        path, body = "sys/replication/dr/secondary/promote", {"dr_operation_token": token}
        refused = waiting["tokyo"].post(path, body, token="")
        assert refused.status == 503
        assert INCOMPLETE in refused.errors[0]
        done = waiting["tokyo"].post(path, {**body, "force": True}, token="")
        assert LEFT_BEHIND in done.warnings
        waiting.run("1s")
        assert not set(waiting.invariants.broken) - {"one primary", "planned failover loses nothing"}
        assert waiting.parts.stores["tokyo"].get(OWN_KEYRING) is None

    def test_promoted_by_force_the_old_primary_may_follow_it(self, waiting, monkeypatch) -> None:
        waiting.partition("paris", "tokyo")
        monkeypatch.undo()
        waiting["tokyo"].promote(force=True)
        assert reads(waiting, "tokyo", "early", "between")
        assert waiting["tokyo"].get("secret/data/late").status == 500
        write(waiting, "own", cluster="tokyo")
        waiting["tokyo"].put("sys/rotate").raise_for_status()
        write(waiting, "own-2", cluster="tokyo")
        for node in NODES["tokyo"]:
            assert "reason" not in status(waiting, node)
        waiting.heal()
        waiting["paris"].demote()
        waiting["paris"].repoint("tokyo")
        waiting.run("20s")

        assert waiting["tokyo"].root == waiting["paris"].root
        (ours,) = {row[0] for row in keys_of(waiting, "tokyo")}
        assert {row[0] for row in keys_of(waiting, "paris")} == {ours}
        assert waiting["paris"].status()["state"] == "stream-wals"
        old_shares = waiting["tokyo"].unseal_keys
        for node in NODES["paris"]:
            waiting.crash(node)
            waiting.restart(node)
        waiting.run("1s")
        hand_over(waiting, "paris", old_shares)
        waiting["paris"].unseal()
        waiting.run("20s")
        assert waiting["paris"].status()["state"] == "stream-wals"
        waiting.failover("tokyo", "paris")
        assert reads(waiting, "paris", "early", "between", "own", "own-2")

    def test_disabled_it_stands_alone_with_its_own_keyring(self, waiting) -> None:
        waiting["tokyo"].disable()
        waiting.run("2s")
        assert reads(waiting, "tokyo", "early", "between")
        for node in NODES["tokyo"]:
            assert "reason" not in status(waiting, node)
        assert waiting.parts.stores["tokyo"].get(OWN_KEYRING) is None


# ---- whose answer it is


def forged(lab: Lab, **changes: Any) -> ReplicationAnswer:
    """An answer that fits, of a keyring and a root key of somebody's own."""
    keyring = lab.parts.nodes["paris-1"].core.keys.state()[3][0]
    message = {
        "serial": 1,
        "root_key": bytes(32),
        "keyring": encrypt_keyring(keyring, bytes(32), entropy),
        "seal_config": b"[1,1]",
    }
    return ReplicationAnswer("root_key", {**message, **changes})


def refused_at(lab: Lab, source: str, message: Any) -> tuple[int, bool]:
    """How often tokyo's active node counts a message as refused, and whether its keys changed."""
    node = lab.parts.nodes[lab["tokyo"].active]
    before, counted = (node.core.keys.state(), lab.parts.stores["tokyo"].state()), node.refused_messages
    node.receive(source, message)
    return node.refused_messages - counted, (node.core.keys.state(), lab.parts.stores["tokyo"].state()) != before


def test_only_what_was_asked_of_the_upstream_is_taken(lab, monkeypatch):
    for source in ("tokyo-2", "paris-operator", "tokyo-operator", "paris-1"):
        assert refused_at(lab, source, forged(lab)) == (1, False)
    question = lab.parts.nodes[lab["tokyo"].active].link.upstream.root_key
    question.serial, question.keyring = 1, "x"
    for wrong in (
        {"serial": 2},
        {"serial": -1},
        {"keyring": b"rot"},
        {"root_key": b"1" * 32},
        {"root_key": b"short"},
        {"seal_config": b"[5]"},
        {"seal_config": b"[2,3]"},
        {"seal_config": b'["a","b"]'},
    ):
        assert refused_at(lab, "paris-1", forged(lab, **wrong)) == (1, False)
    for stranger in ("tokyo-2", "paris-operator"):
        assert refused_at(lab, stranger, forged(lab)) == (1, False)
    assert [event.what for event in lab.trace.select("observed")].count(MESSAGE_REFUSED) >= 14
    assert refused_at(lab, "paris-1", ReplicationAnswer("root_key", {"serial": 1, "gone": True})) == (0, False)
    assert refused_at(lab, "paris-1", forged(lab)) == (0, False)  # its own opens what it holds
    lab.parts.stores["tokyo"].apply({KEYRING: b"rot"}, 9)
    question.is_answered = False
    assert refused_at(lab, "paris-1", forged(lab)) == (0, True)


def test_nobody_is_given_the_root_key_but_a_connected_secondary(lab):
    primary, sent = lab.parts.nodes["paris-1"], []
    secondaries = primary.link.secondaries
    secondaries._services = secondaries._services._replace(send=lambda *message, **how: sent.append(message[3]))
    question = ReplicationQuestion("root_key", "tokyo", {"serial": 1}, {})
    for stranger in ("tokyo-2", "tokyo-operator", "paris-2"):
        counted = primary.refused_messages
        primary.receive(stranger, question)
        assert primary.refused_messages == counted + 1
    primary.receive("tokyo-1", question._replace(secondary_id="other"))
    assert not any(isinstance(message, ReplicationAnswer) for message in sent)
    primary.receive("tokyo-1", question)
    assert sent[-1].message.keys() == {"serial", "root_key", "keyring", "seal_config"}
    assert repr(sent[-1]) == "ReplicationAnswer(root_key)"


# ---- the question itself


def test_it_is_asked_under_one_serial_for_one_keyring_until_it_is_answered(lab):
    core = lab.parts.nodes[lab["tokyo"].active].core
    question = RootKeyQuestion()
    assert (question.next(core), question.state()) == (0, None)
    keyring = core.keys.state()[3][0]
    lab.parts.stores["tokyo"].apply({KEYRING: encrypt_keyring(keyring, bytes(32), entropy)}, 9)
    assert [question.next(core), question.next(core)] == [1, 1]
    assert RootKeyQuestion(question.state()).next(core) == 1
    same = {"serial": 1, "root_key": core.keys.root_key, "keyring": b"", "seal_config": b"[5,3]"}
    same["keyring"] = encrypt_keyring(keyring, core.keys.root_key, entropy)
    assert (question.take(core, same), question.next(core)) == ("", 0)
    lab.parts.stores["tokyo"].apply({KEYRING: encrypt_keyring(keyring, b"1" * 32, entropy)}, 9)
    assert question.next(core) == 2
    assert (question.take(core, same), question.next(core)) == ("", 2)
    assert question.take(core, {"serial": 3}) == "a root key that was not asked for"


def test_what_could_not_be_stored_is_asked_for_again(lab, monkeypatch):
    monkeypatch.setattr("labkit.lab.nodes.root_key_question.root_key_transfer.take", lambda core, message: "")
    rekey(lab, "paris")
    lab.run("5s")
    question = lab.parts.nodes[lab["tokyo"].active].link.upstream.root_key
    assert (question.serial, question.is_answered) == (1, False)
    monkeypatch.undo()
    lab.run("3s")
    assert (question.serial, question.is_answered) == (1, True)
    assert keys_of(lab, "tokyo") == keys_of(lab, "paris")


def test_on_a_slow_line_one_answer_is_taken_and_the_later_ones_are_not_refused(lab):
    lab.slow("paris", "tokyo", latency="3s")
    rekey(lab, "paris")
    lab.run("40s")
    assert keys_of(lab, "tokyo") == keys_of(lab, "paris")
    assert sum(node.refused_messages for node in lab.parts.nodes.values()) == 0


def test_a_primarys_secondaries_each_get_it_when_they_are_back():
    lab = Lab.triangle(seed=7)
    for name in ("tokyo", "lima"):
        lab.replicate("paris", name)
    lab.partition("paris", "lima")
    for _ in range(2):
        lab["paris"].put("sys/rotate").raise_for_status()
        rekey(lab, "paris")
    lab.run("4s")
    fingerprints = {row.core.keys.fingerprint() for name, row in lab.parts.nodes.items() if not name.startswith("lima")}
    assert len(fingerprints) == 1
    assert lab.parts.nodes["lima-1"].core.keys.fingerprint() not in fingerprints
    lab.heal()
    lab.run("20s")
    assert {node.core.keys.fingerprint() for node in lab.parts.nodes.values()} == fingerprints
    assert lab["lima"].root == lab["paris"].root


def test_a_standby_that_was_paused_for_minutes_seals_itself_and_says_why(lab):
    for node in ("paris-2", "tokyo-2"):
        lab.pause(node)
    lab["paris"].put("sys/rotate").raise_for_status()
    lab.run("90s")
    new = rekey(lab, "paris")
    lab.run("4s")
    for node in ("paris-2", "tokyo-2"):
        lab.resume(node)
    lab.run("3s")
    for node in ("paris-2", "tokyo-2"):
        assert (status(lab, node)["sealed"], status(lab, node)["reason"]) == (True, REKEYED)
    hand_over(lab, "tokyo", new)
    for cluster in ("paris", "tokyo"):
        lab[cluster].unseal()
    lab.run("3s")
    assert len(keys_of(lab, "paris") | keys_of(lab, "tokyo")) == 1


def test_a_keyring_that_is_damaged_on_the_secondary_is_asked_about_once_and_mended_by_a_rotation(lab):
    lab.corrupt("tokyo", layer="storage", key=KEYRING)
    lab.run("5s")
    assert status(lab, "tokyo-1")["reason"] == DAMAGED_KEYRING
    assert lab["tokyo"].status()["state"] == "stream-wals"
    question = lab.parts.nodes[lab["tokyo"].active].link.upstream.root_key
    assert (question.serial, question.is_answered) == (1, True)
    lab["paris"].put("sys/rotate").raise_for_status()
    lab.run("3s")
    assert "reason" not in status(lab, "tokyo-1")
    assert keys_of(lab, "tokyo") == keys_of(lab, "paris")
