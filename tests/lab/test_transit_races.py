"""Batches in flight while their key is rotated, trimmed, and its cluster fails over: each sees one whole keyring.

What is asked here is sent without waiting for answers, so that requests cross on the network and in the nodes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import CloudPlan, pair

ITEM = {"plaintext": "aGk="}
NONCE = {"nonce": "AAAAAAAAAAAAAAAA"}


class Crowd:
    """Asks a cluster without waiting, every so often, and keeps what was asked."""

    def __init__(self, lab: Lab, cluster: str = "paris") -> None:
        self.lab, self.cluster = lab, cluster
        self.asked: list[tuple[int, str, dict[str, Any]]] = []

    def ask(self, path: str, body: dict[str, Any] | None = None) -> None:
        number = self.lab.parts.console.ask(Ask(self.cluster, "POST", f"transit/{path}", body or {}, ""))
        self.asked.append((number, path, body or {}))

    def answers(self) -> list[tuple[str, dict[str, Any], Any]]:
        """Let time pass until all are answered; return path, body and answer of each."""
        answers = self.lab.parts.console.answers
        self.lab.run("60s")
        return [(path, body, answers[number]) for number, path, body in self.asked]


def versions_of(answer: Any) -> list[int]:
    return [result["key_version"] for result in answer.data["batch_results"]]


def check_whole(answers: list[tuple[str, dict[str, Any], Any]]) -> list[set[int]]:
    """Check that each batch saw one keyring; return the versions that each encrypted batch was made with."""
    made = []
    for path, body, answer in answers:
        if path.startswith("encrypt") and answer.ok:
            assert len(versions_of(answer)) == len(body["batch_input"])
            made.append(set(versions_of(answer)))
        elif path.startswith("decrypt") and answer.status in (200, 400) and answer.data:
            pairs = zip(body["batch_input"], answer.data["batch_results"], strict=True)
            outcomes = [(int(item["ciphertext"].split(":")[1][1:]), "error" in result) for item, result in pairs]
            refused = {version for version, failed in outcomes if failed}
            opened = {version for version, failed in outcomes if not failed}
            assert not refused & opened
            assert max(refused, default=0) < min(opened, default=1_000), "those below one minimum are refused"
    assert all(len(versions) == 1 for versions in made)
    return made


def sealed(lab: Lab, versions: int, **extra: str) -> list[dict[str, Any]]:
    """Ciphertexts of the key's first versions, which it has then."""
    items = []
    for _ in range(versions):
        made = lab["paris"].post("transit/encrypt/k", {**ITEM, **extra}).raise_for_status().data
        items.append({"ciphertext": made["ciphertext"], **extra})
        lab["paris"].post("transit/keys/k/rotate", {"managed_key_name": "hsm"} if extra else {}).raise_for_status()
    return items * 10


def cross(lab: Lab, items: list[dict[str, Any]], turns: int, pace: str, **extra: str) -> Crowd:
    """Ask for batches while the key is rotated, its minimums rise, and it is trimmed."""
    crowd = Crowd(lab)
    rotation = {"managed_key_name": "hsm"} if extra else {}
    for turn in range(turns):
        crowd.ask("encrypt/k", {"batch_input": [{**ITEM, **extra}] * 30})
        crowd.ask("decrypt/k", {"batch_input": items})
        if turn % 2:
            crowd.ask("keys/k/rotate", rotation)
        if turn % 3 == 2:
            minimum = turn // 3 + 2
            crowd.ask("keys/k/config", {"min_decryption_version": minimum, "min_encryption_version": minimum})
            crowd.ask("keys/k/trim", {"min_available_version": minimum})
        lab.run(pace)
    return crowd


@pytest.mark.parametrize("pace", ["1ms", "300us"])
def test_a_batch_sees_one_keyring_while_it_is_rotated_and_trimmed(calm: Lab, pace: str) -> None:
    items = sealed(calm, 5)

    answers = cross(calm, items, 12, pace).answers()

    assert {answer.status for _, _, answer in answers} <= {200, 400}
    made = check_whole(answers)
    assert len(made) == 12
    assert len(set.union(*made)) > 3, "the batches crossed rotations"


def test_a_batch_sees_one_keyring_while_its_cluster_fails_over(calm: Lab) -> None:
    items = sealed(calm, 4)
    crowd = cross(calm, items, 4, "500us")
    calm.crash(calm["paris"].active)
    after = cross(calm, items, 4, "500us")
    calm.run("20s")
    calm.failover("paris", "tokyo")
    survivor = Crowd(calm, "tokyo")
    survivor.ask("decrypt/k", {"batch_input": items})
    survivor.ask("encrypt/k", {"batch_input": [ITEM] * 30})

    check_whole([*crowd.answers(), *after.answers()])
    answers = survivor.answers()
    assert check_whole(answers)
    assert [answer.status in (200, 400) for _, _, answer in answers] == [True, True]
    latest = calm["tokyo"].get("transit/keys/k").data["latest_version"]
    assert versions_of(answers[1][2]) == [latest] * 30


def test_a_batch_that_waits_for_the_key_store_keeps_its_keyring() -> None:
    """The store is at tokyo's site: while it is asked, the key gets further versions."""
    lab = Lab(replace(pair(), cloud=CloudPlan(site="tokyo")), seed=5)
    sent = {"key_label": "l", "mechanism": "CKM_AES_GCM", "allow_generate_key": True}
    lab["paris"].post("sys/managed-keys/pkcs11/hsm", sent).raise_for_status()
    asked = {"type": "managed_key", "managed_key_name": "hsm"}
    lab["paris"].post("transit/keys/k", asked).raise_for_status()

    answers = cross(lab, sealed(lab, 3, **NONCE), 16, "40ms", **NONCE).answers()

    made = check_whole(answers)
    assert len(made) == 16
    assert len(set.union(*made)) > 2
    rotated = [answer.data["latest_version"] for path, _, answer in answers if path.endswith("rotate")]
    assert rotated == sorted(set(rotated)), "no rotation was lost"
