"""A stored value that does not open (C12): 500 with its key where it is needed, and nothing else is affected."""

from __future__ import annotations

import pytest

from labkit import Vault
from labkit.service.message import Request, Suspended
from labkit.vault.token_record import IDS, digest_of

STATUS = ("sys/health", "sys/seal-status", "sys/leader")
DR = "sys/replication/dr/"
RULE = 'path "secret/data/*" { capabilities = ["read"] }'

# Values that everything rests on, and what goes on without them.
NEEDED_BY_ALL = {"core/mounts", "core/audit", "node/mode"}


@pytest.fixture
def filled(service):
    """A vault with something of every kind stored."""
    service.post("secret/data/a", {"data": {"x": 1}})
    service.post("secret/data/b", {"data": {"x": 1}})
    service.post("transit/keys/k", {"auto_rotate_period": "2h"})
    service.put("sys/policies/acl/p", {"policy": RULE})
    service.post("auth/token/roles/r", {"orphan": True})
    service.post("auth/token/create", {"policies": ["p"], "ttl": "1h"})
    service.post("sys/wrapping/wrap", {"x": 1}, headers={"X-Vault-Wrap-TTL": "60s"})
    service.put("sys/audit/file", {"type": "file", "options": {"file_path": "/audit.log"}})
    service.post(f"{DR}primary/enable")
    service.post(f"{DR}primary/secondary-token", {"id": "b"})
    return service


def spoil(vault, key: str, how: str = "last byte") -> None:
    """Alter a stored value behind the vault's back."""
    stored = vault.core.storage.get(key)
    altered = {
        "last byte": stored[:-1] + bytes([stored[-1] ^ 1]),
        "cut": stored[:9],
    }
    vault.core.storage.apply({key: altered[how]}, 0)


def ask_everything(vault):
    """Send requests of many kinds; return {path: response}."""
    answers = {path: vault.get(path, token="") for path in STATUS}
    for path in ("secret/data/a", "secret/data/b", "transit/keys/k", "sys/policies/acl/p", "auth/token/roles/r"):
        answers[path] = vault.get(path)
    for path in ("sys/mounts", f"{DR}status", "sys/audit", "sys/internal/ui/mounts", "auth/token/lookup-self"):
        answers[path] = vault.get(path)
    answers["write"] = vault.post("secret/data/c", {"data": {"x": 2}})
    answers["list"] = vault.list("secret/metadata")
    answers["encrypt"] = vault.post("transit/encrypt/k", {"plaintext": "aGk="})
    answers["create"] = vault.post("auth/token/create", {"policies": ["p"]})
    answers["merkle"] = vault.post("sys/replication/merkle-check", {})
    return answers


@pytest.mark.parametrize("how", ["last byte", "cut"])
@pytest.mark.slow
def test_one_damaged_value_is_named_and_the_rest_goes_on(filled, how):
    """Each stored value in turn; what a request needs of it is 500, everything else answers as before."""
    keys = filled.core.storage.keys()
    sound = {path: answer.status for path, answer in ask_everything(filled).items()}
    assert set(sound.values()) == {200}
    for key in keys:
        before = filled.core.storage.get(key)
        spoil(filled, key, how)
        affected = set()
        for path, answer in ask_everything(filled).items():
            if answer.status == 500:
                affected.add(path)
                assert answer.errors == [
                    f"the value stored at {key} does not open: its bytes were altered, or another keyring wrote it"
                ], path
            else:
                assert answer.status == 200, (key, path, answer.errors)
        filled.tick()
        needs = {"sys/seal-status", f"{DR}status"} if key == "node/seal-config" else set(sound) - set(STATUS)
        assert affected <= needs, key
        if key not in NEEDED_BY_ALL and not key.startswith(IDS):
            assert len(affected) <= 6, (key, affected)
        filled.core.storage.apply({key: before}, 0)
        filled.core.caches.clear()


def test_a_damaged_token_of_the_caller_is_the_caller_s_alone(service):
    token = service.post("auth/token/create", {"policies": ["default"]}).auth["client_token"]
    spoil(service, IDS + digest_of(token))
    refused = service.get("auth/token/lookup-self", token=token)

    assert (refused.status, f"token/id/{digest_of(token)}" in refused.errors[0]) == (500, True)
    assert service.get("auth/token/lookup-self").ok


def test_damaged_policies_are_their_holders_matter(service):
    """The one is named to those who need it; the others hold, are listed and changed, and a delete ends the damage."""
    for name in ("p", "other"):
        service.put(f"sys/policies/acl/{name}", {"policy": RULE}).raise_for_status()
    tokens = {
        name: service.post("auth/token/create", {"policies": [name]}).auth["client_token"] for name in ("p", "other")
    }
    spoil(service, "policy/text/p")

    refused = [service.get("auth/token/lookup-self", token=tokens["p"]), service.get("sys/policies/acl/p")]
    assert [(each.status, "policy/text/p does not open" in each.errors[0]) for each in refused] == [(500, True)] * 2
    assert service.get("auth/token/lookup-self", token=tokens["other"]).ok
    assert service.get("auth/token/lookup-self").ok
    assert service.get("sys/policies/acl/other").ok
    assert service.list("sys/policies/acl").data["keys"] == ["default", "other", "p", "root"]
    assert service.put("sys/policies/acl/new", {"policy": RULE}).status == 204
    assert service.delete("sys/policies/acl/other").status == 204
    assert service.delete("sys/policies/acl/p").status == 204
    assert service.list("sys/policies/acl").data["keys"] == ["default", "new", "root"]
    assert service.get("auth/token/lookup-self", token=tokens["p"]).ok


def test_a_token_whose_record_is_damaged_while_its_request_waits_is_refused(service):
    issuer = Vault.dev()
    issuer.post(f"{DR}primary/enable")
    body = {"token": issuer.post(f"{DR}primary/secondary-token", {"id": "b"}).wrap_info["token"]}
    service.put("sys/policies/acl/all", {"policy": 'path "*" { capabilities = ["update", "sudo"] }'})
    token = service.post("auth/token/create", {"policies": ["all"], "num_uses": 1}).auth["client_token"]
    waiting = service.handle(Request("POST", f"/v1/{DR}secondary/enable", {"X-Vault-Token": token}, body))
    assert isinstance(waiting, Suspended)
    spoil(service, IDS + digest_of(token))
    answer = service.resume(waiting, issuer.handle(waiting.fetch.request))

    assert not isinstance(answer, Suspended)
    assert (answer.status, "token/id/" in answer.errors[0]) == (500, True)


def test_a_damaged_value_can_be_written_again(filled):
    spoil(filled, "policy/text/p")

    assert filled.get("sys/policies/acl/p").status == 500
    assert filled.put("sys/policies/acl/p", {"policy": RULE}).status == 204
    assert filled.get("sys/policies/acl/p").ok
