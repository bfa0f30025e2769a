"""The keyring of a lab's cluster through rotations, takeovers, restarts and branches."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.vault.sealing import otp
from labkit.vault.storage.barrier import KEYRING
from tests.rekeying import hand_over, rekey


def write(lab: Lab, name: str) -> None:
    lab["paris"].post(f"secret/data/{name}", {"data": {"name": name}}).raise_for_status()


def ciphertexts(lab: Lab) -> set[tuple[bytes, bytes]]:
    """(key, nonce, what was encrypted with them) of every stored value that was written under a keyring."""
    found = set()
    for cluster in ("paris", "tokyo"):
        node = lab.parts.nodes[lab[cluster].active]
        rings = {row.term: row.key for row in node.core.keys.state()[3][0]}
        store: Any = lab.parts.stores[cluster]
        for stored in store.state()["items"].values():
            term = int.from_bytes(stored[:4], "big")
            if stored[4:5] == b"\x01" and term in rings:
                found.add((rings[term] + stored[5:17], stored[17:]))
    return found


def test_no_two_nodes_ever_encrypt_under_one_nonce(calm_snapshot):
    """Each of two branches and the lab itself goes on with the same keyring, through takeovers and a failover."""
    lab = Lab.restore(calm_snapshot)
    lab["paris"].put("sys/rotate").raise_for_status()
    seen: set[tuple[bytes, bytes]] = set()
    for branch in (lab, lab.branch("one"), lab.branch("one")):
        for number in range(3):
            write(branch, f"a{number}")
        branch["paris"].put("sys/rotate").raise_for_status()
        rekey(branch, "paris")
        branch["paris"].put("sys/step-down")
        branch.run("3s")
        write(branch, "b")
        seen |= ciphertexts(branch)
        branch.crash(branch["paris"].active)
        branch.run("20s")
        write(branch, "c")
        branch.run("2s")
        seen |= ciphertexts(branch)

    nonces = [nonce for nonce, _ in seen]
    assert len(nonces) > 45
    assert len(set(nonces)) == len(nonces)


def test_a_rotation_by_itself_is_made_by_the_node_that_leads_and_is_replicated(calm_snapshot):
    lab = Lab.restore(calm_snapshot)
    lab["paris"].post("sys/rotate/config", {"max_operations": 1_000_000}).raise_for_status()
    lab["paris"].put("sys/step-down")
    lab.run("3s")
    active = lab["paris"].active
    assert active != "paris-1"
    keys: Any = lab.parts.nodes[active].core.keys
    keys.barrier.encryptions = 999_999
    write(lab, "a")
    before = Lab.restore(lab.snapshot())
    lab.run("2s")

    assert lab["paris"].get("sys/key-status").data["term"] == 2
    assert lab.parts.stores["tokyo"].get(KEYRING) == lab.parts.stores["paris"].get(KEYRING)
    for name, node in lab.parts.nodes.items():
        assert [row.term for row in node.core.keys.state()[3][0]] == [1, 2], name
    assert [event.node for event in lab.trace.select("observed") if event.what == "keyring_rotated"] == [active]
    before.run("2s")
    before["paris"].get("sys/key-status")
    assert before.trace.digest() == lab.trace.digest()


@pytest.mark.slow
def test_a_day_of_a_lab_rotates_once(calm_snapshot):
    lab = Lab.restore(calm_snapshot)
    lab["paris"].post("sys/rotate/config", {"interval": "24h"}).raise_for_status()
    lab["tokyo"].disable()
    lab.run("23h59m")
    assert lab["paris"].get("sys/key-status").data["term"] == 1
    lab.run("2m")
    assert lab["paris"].get("sys/key-status").data["term"] == 2


def test_a_root_token_is_generated_through_standbys_and_a_takeover(calm_snapshot):
    lab = Lab.restore(calm_snapshot)
    path = "/v1/sys/generate-root/"
    refused = lab["tokyo"].request("POST", path + "attempt", {})
    assert (refused.status, refused.errors) == (400, ["path disabled in replication DR secondary mode"])
    started = lab["paris"].request("POST", path + "attempt", {}, node="paris-2").body or {}
    for number, share in enumerate(lab["paris"].unseal_keys[:3]):
        body = {"key": share, "nonce": started["nonce"]}
        done = lab["paris"].request("PUT", path + "update", body, node=f"paris-{number + 1}").body or {}
        assert done["progress"] == number + 1
        lab["paris"].put("sys/step-down")
        lab.run("3s")
    token = otp.decode(done["encoded_root_token"], started["otp"])
    assert lab["paris"].get("auth/token/lookup-self", token=token).data["policies"] == ["root"]


def test_a_rekey_is_worked_through_over_standbys_a_takeover_and_a_restore(calm_snapshot):
    lab = Lab.restore(calm_snapshot)
    path = "/v1/sys/rekey/"
    sent = {"secret_shares": 3, "secret_threshold": 2, "require_verification": True}
    nonce = (lab["paris"].request("PUT", path + "init", sent, node="paris-3").body or {})["nonce"]
    for share in lab["paris"].unseal_keys[:3]:
        lab = Lab.restore(lab.snapshot())
        done = lab["paris"].request("PUT", path + "update", {"key": share, "nonce": nonce}, node="paris-2").body or {}
    lab["paris"].put("sys/step-down")
    lab.run("3s")
    for share in done["keys"][1:]:
        body = {"key": share, "nonce": done["verification_nonce"]}
        verified = lab["paris"].request("PUT", path + "verify", body, node="paris-3").body or {}
        lab = Lab.restore(lab.snapshot())
    assert verified["complete"]
    hand_over(lab, "paris", tuple(done["keys"]))
    for node in ("paris-1", "paris-2", "paris-3"):
        lab.crash(node)
        lab.restart(node)
    lab.run("1s")
    lab["paris"].unseal()
    lab.run("20s")
    write(lab, "after")
    lab.run("3s")
    assert lab["paris"].root == lab["tokyo"].root
    assert lab.invariants.broken == {}
