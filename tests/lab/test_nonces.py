"""No nonce comes twice under a transit key, wherever the key is used; and the count goes with whoever serves."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

from labkit import Lab
from labkit.vault.context import own_work

NONCE_BYTES = 12


class Used:
    """Encrypts in several labs, and keeps the key and nonce of every ciphertext."""

    def __init__(self) -> None:
        self.nonces: list[tuple[bytes, bytes]] = []

    def encrypt(self, lab: Lab, cluster: str, *names: str) -> None:
        """Encrypt alone and in a batch, and rewrap."""
        paris = lab[cluster]
        for name in names:
            single = paris.post(f"transit/encrypt/{name}", {"plaintext": "aGk="}).raise_for_status().data
            batch = {"batch_input": [{"plaintext": "aGk="}, {"plaintext": "aG8="}]}
            results = paris.post(f"transit/encrypt/{name}", batch).raise_for_status().data["batch_results"]
            again = paris.post(f"transit/rewrap/{name}", {"ciphertext": single["ciphertext"]}).raise_for_status().data
            keys = keys_of(lab, cluster, name)
            for result in (single, *results, again):
                nonce = b64decode(result["ciphertext"].split(":")[2])[:NONCE_BYTES]
                self.nonces.append((keys[result["key_version"] - 1], nonce))


def keys_of(lab: Lab, cluster: str, name: str) -> list[bytes]:
    """The keys of a keyring, as its cluster stores them."""
    from labkit.vault.engines.transit.keyring import decode_keyring

    core = lab.parts.nodes[lab[cluster].active].core
    (key,) = [key for key in [*core.storage.keys()] if key.endswith(f"/key/{name}")]
    keyring = decode_keyring(own_work(core).decrypt(key, core.storage.get(key) or b""))
    return [version.key for version in keyring.versions]


def counted(lab: Lab, cluster: str) -> dict[int, int]:
    """What the active node of a cluster counted of its only key."""
    (counts,) = lab.parts.nodes[lab[cluster].active].vault.state()["nonce_counts"].values() or [{}]
    return {version: row[1] for version, row in counts.items()}


def encrypt(lab: Lab, cluster: str, times: int) -> None:
    for _ in range(times):
        lab[cluster].post("transit/encrypt/k", {"plaintext": "aGk="}).raise_for_status()


def walk(lab: Lab, used: Used) -> None:
    """Use two keys through rotation, takeovers in good order and by a crash, and a failover there and back."""
    names = ("k", "other")
    used.encrypt(lab, "paris", *names)
    lab["paris"].post("transit/keys/k/rotate").raise_for_status()
    used.encrypt(lab, "paris", *names)
    lab["paris"].put("sys/step-down")
    lab.run("3s")
    used.encrypt(lab, "paris", *names)
    lab.crash(lab["paris"].active)
    lab.run("20s")
    used.encrypt(lab, "paris", *names)
    lab.crash("paris")
    lab.restart("paris")
    lab["paris"].unseal()
    lab.run("5s")
    used.encrypt(lab, "paris", *names)
    lab.failover("paris", "tokyo")
    used.encrypt(lab, "tokyo", *names)
    lab.failover("tokyo", "paris")
    used.encrypt(lab, "paris", *names)


def test_no_nonce_comes_twice_under_a_key(calm_snapshot: Any) -> None:
    lab = Lab.restore(calm_snapshot)
    used = Used()
    used.encrypt(lab, "paris", "k", "other")
    for branch in (lab.branch("one"), lab.branch("one"), lab.branch("two"), lab):
        walk(branch, used)

    assert len(used.nonces) == 8 + 4 * 7 * 8
    assert len(set(used.nonces)) == len(used.nonces)
    assert len({key for key, _ in used.nonces}) == 2 + 4, "each branch's rotation made a key of its own"


def test_a_count_goes_with_whoever_serves_in_good_order(calm: Lab) -> None:
    encrypt(calm, "paris", 3)
    calm["paris"].put("sys/step-down")
    calm.run("3s")
    encrypt(calm, "paris", 2)
    assert counted(calm, "paris") == {1: 5}
    calm["paris"].seal()
    calm.run("3s")
    encrypt(calm, "paris", 1)
    assert counted(calm, "paris") == {1: 6}


def test_a_promoted_cluster_goes_on_with_what_was_stored_and_all_is_there_once_the_other_serves_again(
    calm: Lab,
) -> None:
    encrypt(calm, "paris", 3)
    calm["paris"].post("transit/keys/k/config", {"exportable": True})
    encrypt(calm, "paris", 2)
    calm.failover("paris", "tokyo")
    encrypt(calm, "tokyo", 1)
    assert counted(calm, "tokyo") == {1: 4}
    calm["tokyo"].post("transit/keys/k/config", {"deletion_allowed": True})

    calm.failover("tokyo", "paris")
    encrypt(calm, "paris", 1)
    assert counted(calm, "paris") == {1: 7}


def test_after_a_crash_the_stored_count_goes_on(calm: Lab) -> None:
    encrypt(calm, "paris", 3)
    calm["paris"].post("transit/keys/k/config", {"exportable": True})
    encrypt(calm, "paris", 4)
    calm.crash("paris-1")
    calm.run("20s")
    encrypt(calm, "paris", 1)

    assert counted(calm, "paris") == {1: 4}, "three were stored with the key, four were not"


def test_a_restored_lab_goes_on_with_the_count(calm: Lab) -> None:
    encrypt(calm, "paris", 3)
    again = Lab.restore(calm.snapshot())
    for lab in (calm, again):
        encrypt(lab, "paris", 1)

    assert counted(again, "paris") == counted(calm, "paris") == {1: 4}
    assert again.trace.digest() == calm.trace.digest()
