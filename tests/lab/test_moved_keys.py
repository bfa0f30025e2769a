"""Transit keys that come and go while clusters replicate: imports, backups, failovers, branches and restored labs."""

from __future__ import annotations

import hashlib
from base64 import b64decode
from typing import Any

from labkit import Lab

HELLO = {"plaintext": "aGVsbG8="}
SETTINGS = {"exportable": True, "allow_plaintext_backup": True, "allow_rotation": True}


def move_over(lab: Lab, source: str, destination: str, name: str = "k") -> str:
    """Export a key wrapped from one cluster, import it in the other; return a ciphertext of the first."""
    here, there = lab[source], lab[destination]
    receiver = there.get("transit/wrapping_key").raise_for_status().data["public_key"]
    body = {"type": "rsa-4096", "public_key": receiver}
    here.post(f"transit/keys/{destination}/import", body).raise_for_status()
    here.post(f"transit/keys/{name}", {"exportable": True}).raise_for_status()
    made: str = here.post(f"transit/encrypt/{name}", HELLO).raise_for_status().data["ciphertext"]
    wrapped = here.get(f"transit/byok-export/{destination}/{name}").raise_for_status().data["keys"]["1"]
    there.post(f"transit/keys/{name}/import", {"type": "aes256-gcm96", "ciphertext": wrapped, **SETTINGS})
    assert there.post(f"transit/decrypt/{name}", {"ciphertext": made}).data == HELLO
    return made


def stored(lab: Lab) -> str:
    """A digest of every stored byte."""
    digest = hashlib.sha256()
    for cluster, store in sorted(lab.snapshot().state["stores"].items()):
        for key, value in sorted(store["items"].items()):
            digest.update(f"{cluster} {key} {value.hex()}\n".encode())
    return digest.hexdigest()


def test_the_same_seed_gives_the_same_bytes_though_what_is_wrapped_differs() -> None:
    seen = set()
    for _ in range(2):
        lab = Lab.pair(seed=7)
        move_over(lab, "paris", "tokyo")
        lab["tokyo"].post("transit/restore/copy", {"backup": lab["tokyo"].get("transit/backup/k").data["backup"]})
        seen.add((lab.trace.digest(), stored(lab)))
    assert len(seen) == 1


def test_an_imported_key_and_the_wrapping_key_survive_a_promotion(calm_snapshot: Any) -> None:
    lab = Lab.restore(calm_snapshot)
    paris = lab["paris"]
    receiver = paris.get("transit/wrapping_key").raise_for_status().data
    body = {"type": "rsa-4096", "public_key": receiver["public_key"]}
    paris.post("transit/keys/there/import", body).raise_for_status()
    paris.post("transit/keys/sig", {"type": "ed25519", "exportable": True}).raise_for_status()
    wrapped = paris.get("transit/byok-export/there/sig").raise_for_status().data["keys"]["1"]
    paris.post("transit/keys/moved/import", {"type": "ed25519", "ciphertext": wrapped, **SETTINGS}).raise_for_status()
    signed = paris.post("transit/sign/moved", {"input": "aGk="}).raise_for_status().data["signature"]
    backup = paris.get("transit/backup/moved").raise_for_status().data["backup"]

    lab.failover("paris", "tokyo")

    tokyo = lab["tokyo"]
    assert tokyo.get("transit/wrapping_key").data == receiver
    assert tokyo.post("transit/verify/moved", {"input": "aGk=", "signature": signed}).data == {"valid": True}
    assert "backup_info" in tokyo.get("transit/keys/moved").data
    tokyo.post("transit/keys/again/import", {"type": "ed25519", "ciphertext": wrapped}).raise_for_status()
    tokyo.post("transit/restore/restored", {"backup": backup}).raise_for_status()
    for name in ("again", "restored"):
        assert tokyo.post(f"transit/sign/{name}", {"input": "aGk="}).data["signature"] == signed
    lab.run("5s")
    assert lab.lag("tokyo", "paris").entries == 0
    assert not any(lab.invariants.verdicts().values())


def test_a_branch_has_a_wrapping_key_of_its_own_and_a_restored_lab_the_same(calm_snapshot: Any) -> None:
    lab = Lab.restore(calm_snapshot)
    kept = lab.snapshot()
    again, branch = Lab.restore(kept), lab.branch("other")
    keys = [each["paris"].get("transit/wrapping_key").data["public_key"] for each in (lab, again, branch)]
    assert keys[0] == keys[1] != keys[2]
    for each in (lab, again):
        each["paris"].post("transit/keys/k", SETTINGS | {"type": "rsa-2048"}).raise_for_status()
        each["paris"].get("transit/backup/k").raise_for_status()
        each.run("2s")
    assert (lab.trace.digest(), stored(lab)) == (again.trace.digest(), stored(again))
    assert branch["paris"].get("transit/keys/k").status == 404


def test_a_secondary_makes_no_wrapping_key_and_backs_nothing_up(calm_snapshot: Any) -> None:
    lab = Lab.restore(calm_snapshot)
    before = stored(lab)

    for path in ("transit/wrapping_key", "transit/backup/k"):
        refused = lab["tokyo"].get(path)
        assert (refused.status, "path disabled in replication DR secondary mode" in refused.errors[0]) == (400, True)
    lab["paris"].post("transit/keys/none/import", {"type": "aes256-gcm96", "ciphertext": "AAAA"})
    assert stored(lab) == before, "a refused import leaves no wrapping key"


def test_a_key_that_is_in_two_clusters_has_no_nonce_twice() -> None:
    lab = Lab.pair(seed=7)
    paris, tokyo = lab["paris"], lab["tokyo"]
    paris.post("transit/keys/k", SETTINGS).raise_for_status()
    blob = paris.get("transit/backup/k").raise_for_status().data["backup"]
    branch = lab.branch("other")
    nonces = []
    for cluster in (paris, tokyo, branch["paris"], branch["tokyo"]):
        cluster.post("transit/restore/k", {"backup": blob, "force": True}).raise_for_status()
        batch = {"batch_input": [HELLO] * 20}
        for result in cluster.post("transit/encrypt/k", batch).raise_for_status().data["batch_results"]:
            nonces.append(b64decode(result["ciphertext"].split(":")[2])[:12])
        assert cluster.post("transit/encrypt/k", HELLO).raise_for_status().data["key_version"] == 1
    assert len(set(nonces)) == len(nonces) == 80
