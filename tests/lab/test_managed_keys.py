"""Managed keys in a lab: their store is a host of the lab's cloud, across the network, and is saved with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.plan.blueprint import CloudPlan, pair

HSM = {"key_label": "orders", "mechanism": "CKM_AES_GCM", "allow_generate_key": True}
SENT = {"plaintext": "aGk=", "nonce": "AAAAAAAAAAAAAAAA"}


@pytest.fixture(scope="module")
def kept() -> Any:
    """Paris, which replicates to tokyo, has a key whose version is in the store at tokyo's site."""
    lab = Lab(replace(pair(), cloud=CloudPlan(site="tokyo")), seed=5)
    paris = lab["paris"]
    paris.post("sys/managed-keys/pkcs11/hsm", HSM).raise_for_status()
    paris.post("transit/keys/k", {"type": "managed_key", "managed_key_name": "hsm"}).raise_for_status()
    lab.replicate("paris", "tokyo")
    return lab.snapshot()


def test_the_way_to_the_store_takes_time_and_a_batch_goes_once(kept: Any) -> None:
    lab = Lab.restore(kept)
    spent_ns = []
    for body in SENT, {"batch_input": [SENT] * 20}:
        begun_ns = lab.now
        assert lab["paris"].post("transit/encrypt/k", body).ok
        spent_ns.append(lab.now - begun_ns)

    assert all(160e6 <= each <= 180e6 for each in spent_ns), "there and back, once"


def test_a_store_that_is_cut_off_is_503_and_comes_back(kept: Any) -> None:
    lab = Lab.restore(kept)
    made = lab["paris"].post("transit/encrypt/k", SENT).data["ciphertext"]
    lab.partition("paris", "tokyo")

    refused = lab["paris"].post("transit/decrypt/k", {"ciphertext": made, "nonce": SENT["nonce"]})
    assert refused.status == 503
    assert "the key store did not answer" in refused.errors[0]
    lab.heal()
    opened = lab["paris"].post("transit/decrypt/k", {"ciphertext": made, "nonce": SENT["nonce"]})
    assert opened.data == {"plaintext": "aGk="}


def test_the_survivor_uses_the_same_keys(kept: Any) -> None:
    lab = Lab.restore(kept)
    made = lab["paris"].post("transit/encrypt/k", SENT).data["ciphertext"]
    lab.failover("paris", "tokyo")

    opened = lab["tokyo"].post("transit/decrypt/k", {"ciphertext": made, "nonce": SENT["nonce"]})
    assert opened.data == {"plaintext": "aGk="}


def test_a_lab_that_is_saved_goes_on_the_same(kept: Any) -> None:
    lab = Lab.restore(kept)
    before = lab["paris"].post("transit/encrypt/k", SENT).data
    again = Lab.restore(lab.snapshot())

    for each in (lab, again):
        assert each["paris"].post("transit/encrypt/k", SENT).data == before
        each["paris"].post("transit/keys/other", {"type": "managed_key", "managed_key_name": "hsm"}).raise_for_status()
    assert again.trace.digest() == lab.trace.digest()


def test_without_a_cloud_the_store_does_not_answer() -> None:
    lab = Lab.pair(seed=5)
    lab["paris"].post("sys/managed-keys/pkcs11/hsm", HSM).raise_for_status()

    refused = lab["paris"].post("transit/keys/k", {"type": "managed_key", "managed_key_name": "hsm"})
    assert refused.status == 503


def test_keys_of_the_store_are_in_no_trace(kept: Any) -> None:
    lab = Lab.restore(kept)
    lab["paris"].post("transit/encrypt/k", SENT)
    (key,) = lab.parts.clouds["cloud"].keystore.state()["keys"].values()

    shown = f"{list(lab.trace)!r}{lab!r}{lab.parts.clouds!r}"
    assert repr(key[2]) not in shown
    assert key[2].hex() not in shown
