"""What an audit record says of who asks, and what a device keeps of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from labkit import Vault
from labkit.service.encoding import from_base64url
from labkit.service.message import Request, Response, Suspended
from labkit.vault.audit import callers, devices, hiding
from labkit.vault.audit.devices import read_devices
from labkit.vault.context import own_work
from labkit.vault.core import Core
from labkit.vault.storage import StoreError


@pytest.fixture
def audited(service):
    """The service with two devices: one that hides values and one that does not."""
    service.put("sys/audit/raw", {"type": "file", "options": {"file_path": "/raw", "log_raw": "true"}})
    service.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    return service


def last(service) -> dict:
    return json.loads(service.files.lines["/log"][-1])


def digest(service, text: str) -> str:
    return service.post("sys/audit-hash/file", {"input": text}).data["hash"]


def count_hidden(monkeypatch) -> list[str]:
    """Return the list of texts that are hidden from now on."""
    hidden: list[str] = []

    def count(device, text):
        hidden.append(text)
        return devices.digest(device, text)

    monkeypatch.setattr(hiding, "digest", count)
    return hidden


def kept(service, name: str) -> dict:
    return next(device for device in read_devices(own_work(service.core)) if device.path == f"{name}/").callers


def test_what_both_records_say_is_hidden_once_for_each_device_and_a_caller_but_once(service, monkeypatch) -> None:
    for path in ("one", "two"):
        service.put(f"sys/audit/{path}", {"type": "file", "options": {"file_path": f"/{path}.log"}})
    hidden = count_hidden(monkeypatch)
    service.get("secret/data/none")
    assert len(hidden) == 2 * 2, "token and accessor"
    service.post("transit/keys/k").raise_for_status()
    for _ in range(3):
        del hidden[:]
        service.post("transit/encrypt/k", {"plaintext": "aGk="}).raise_for_status()
        assert len(hidden) == 2 * 2, "plaintext and ciphertext"
    for path in ("one", "two"):
        lines = (service.files.read(f"/{path}.log") or b"").splitlines()
        first, second = [json.loads(line) for line in lines[-2:]]
        assert (first["type"], second["type"]) == ("request", "response")
        assert (first["request"], first["auth"]) == (second["request"], second["auth"])


def test_what_is_kept_of_callers_is_bounded_and_has_no_token(audited, monkeypatch) -> None:
    monkeypatch.setattr(callers, "MAX_KEPT_CALLERS", 3)
    made = [audited.post("auth/token/create", {"policies": ["default"]}).auth["client_token"] for _ in range(8)]
    for token in made:
        audited.get("auth/token/lookup-self", token=token)
        assert 0 < len(kept(audited, "file")) <= 3
    assert kept(audited, "raw") == {}
    large = {"policies": ["default"], "meta": {"k": "x" * callers.MAX_KEPT_CHARACTERS}}
    token = audited.post("auth/token/create", large).auth["client_token"]
    before = [*kept(audited, "file")]
    audited.get("auth/token/lookup-self", token=token)
    assert [*kept(audited, "file")] == before
    assert last(audited)["auth"]["metadata"] == large["meta"]
    shown = list(kept(audited, "file").values())[-1]
    assert made[-1] not in str(tuple(shown))
    assert (repr(shown), "hmac-sha256" in shown.auth) == ("ShownCaller()", True)
    audited.put("sys/seal")
    audited.unseal_with(audited.unseal_keys[:3])
    assert kept(audited, "file") == {}


def test_a_device_enabled_again_hides_callers_under_its_own_salt(audited) -> None:
    audited.get("sys/mounts")
    before = last(audited)
    audited.delete("sys/audit/file")
    audited.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    audited.get("sys/mounts")
    after = last(audited)
    for name in ("client_token", "accessor"):
        assert after["auth"][name] != before["auth"][name]
    assert after["auth"]["client_token"] == digest(audited, audited.root_token)


def test_where_no_mount_is_found_the_token_is_not_shown(audited) -> None:
    for _ in range(2):
        audited.get("sys/mounts")
        assert {"client_token", "accessor"} <= last(audited)["auth"].keys()
        audited.get("nowhere")
        record = last(audited)
        assert ("client_token" in record["auth"], "client_token" in record["request"]) == (False, False)
        assert record["auth"]["accessor"] == record["request"]["client_token_accessor"]


def test_a_token_in_another_form_is_shown_as_it_was_sent(audited, monkeypatch) -> None:
    form = {"X-Vault-Wrap-TTL": "60s", "X-Vault-Wrap-Format": "jwt"}
    sent = audited.post("sys/wrapping/wrap", {"k": "v"}, headers=form).wrap_info["token"]
    inner = json.loads(from_base64url(sent.split(".")[1]))["jti"]
    commit = audited.core.commit
    monkeypatch.setattr(Core, "commit", lambda *_: (_ for _ in ()).throw(StoreError("disk full")))
    assert audited.post("sys/wrapping/unwrap", token=sent).status == 500  # no use of the token is spent
    monkeypatch.undo()
    assert audited.core.commit == commit
    assert audited.get("cubbyhole/response", token=inner).ok
    assert last(audited)["auth"]["client_token"] == digest(audited, inner)


def ask_round(vault: Vault, made: dict[str, str]) -> None:
    """Send requests of every caller, each twice, so that the second has whatever is kept of the first."""
    for token in (vault.root_token, "hvs.chosen", *made.values()) * 2:
        vault.post("transit/encrypt/k", {"plaintext": "aGk="}, token=token)
        vault.get("secret/data/a", token="", headers={"Authorization": f"Bearer {token}"})
        vault.get("nowhere/at/all", token=token)
        vault.get("sys/mounts", token=token, namespace="team")
    for token in ("", "no such"):
        vault.get("secret/data/a", token=token)
    vault.post("sys/wrapping/unwrap", {"token": "none"})


def make_token(vault: Vault, made: dict[str, str], name: str, namespace: str = "", **fields: Any) -> None:
    answer = vault.post("auth/token/create", {"display_name": name, **fields}, namespace=namespace)
    made[name] = answer.auth["client_token"]


def enable_again(vault: Vault) -> None:
    vault.delete("sys/audit/file")
    vault.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log", "hmac_accessor": "false"}})


def make_namespace_again(vault: Vault, made: dict[str, str]) -> None:
    vault.delete("sys/namespaces/team")
    vault.put("sys/namespaces/team")
    rule = 'path "*" { capabilities = ["read", "update"] }'
    vault.put("sys/policies/acl/one", {"policy": rule}, namespace="team")
    make_token(vault, made, "inside", "team", policies=["one"], no_default_policy=True)


def make_chosen(vault: Vault, **fields: Any) -> None:
    vault.post("auth/token/revoke", {"token": "hvs.chosen"})
    vault.post("auth/token/create", {"id": "hvs.chosen", **fields})


ONE = 'path "%s" { capabilities = ["read", "update"] }'
CHANGES: dict[str, Callable[[Vault, dict[str, str]], Any]] = {
    "nothing": lambda vault, made: None,
    "a token of one policy is made": lambda vault, made: make_chosen(vault, policies=["one"], no_default_policy=True),
    "the policy is written": lambda vault, made: vault.put("sys/policies/acl/one", {"policy": ONE % "secret/*"}),
    "the policy is changed": lambda vault, made: vault.put("sys/policies/acl/one", {"policy": ONE % "transit/*"}),
    "the token is made again": lambda vault, made: make_chosen(vault, display_name="x", meta={"a": "b"}, ttl="1h"),
    "it has two policies": lambda vault, made: make_chosen(vault, policies=["one"]),
    "it is renewed": lambda vault, made: vault.post("auth/token/renew", {"token": "hvs.chosen", "increment": "2h"}),
    "uses are counted": lambda vault, made: make_token(vault, made, "counted", policies=["one"], num_uses=9),
    "a batch token": lambda vault, made: make_token(vault, made, "batch", type="batch", policies=["one"]),
    "a root token": lambda vault, made: make_token(vault, made, "second root", policies=["root"]),
    "a device is enabled again": lambda vault, made: enable_again(vault),
    "a namespace is made": make_namespace_again,
    "it is made again": make_namespace_again,
    "members are exempt": lambda vault, made: vault.post(
        "sys/mounts/transit/tune", {"audit_non_hmac_request_keys": "plaintext"}
    ),
    "a mount is moved": lambda vault, made: vault.post("sys/remount", {"from": "transit", "to": "moved"}),
    "another is in its place": lambda vault, made: vault.post("sys/mounts/transit", {"type": "transit"}),
    "a header is audited": lambda vault, made: vault.put(
        "sys/config/auditing/request-headers/Authorization", {"hmac": True}
    ),
    "time passes": lambda vault, made: vault.advance("90m"),
    "the policy is deleted": lambda vault, made: vault.delete("sys/policies/acl/one"),
    "the token is revoked": lambda vault, made: vault.post("auth/token/revoke", {"token": "hvs.chosen"}),
}


@pytest.mark.slow
def test_what_a_device_keeps_changes_no_record(monkeypatch) -> None:
    usual, forgetful = (Vault.dev(seed=7) for _ in range(2))
    answer = forgetful.handle

    def answer_afresh(request: Request, *instant: int) -> Response | Suspended:
        forgetful.core.caches.clear()
        return answer(request, *instant)

    monkeypatch.setattr(forgetful, "handle", answer_afresh)
    worlds = [(vault, dict[str, str]()) for vault in (usual, forgetful)]
    for vault, _ in worlds:
        for name, options in (("file", {}), ("raw", {"log_raw": "true"}), ("x", {"format": "jsonx"})):
            vault.put(f"sys/audit/{name}", {"type": "file", "options": {"file_path": f"/{name}", **options}})
        vault.post("transit/keys/k")
    for change, carry_out in CHANGES.items():
        for vault, made in worlds:
            vault.files.lines.clear()
            carry_out(vault, made)
            ask_round(vault, made)
        assert len(usual.files.lines["/raw"]) > 20, change
        for path, lines in usual.files.lines.items():
            for ours, wanted in zip(lines, forgetful.files.lines[path], strict=True):
                assert ours == wanted, f"once {change}, in {path}"
