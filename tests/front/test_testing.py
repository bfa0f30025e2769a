"""What tests of clients use outside pytest: environment variables, TLS, initial contents."""

from __future__ import annotations

import os
from pathlib import Path

import hvac
import pytest
import requests

import labkit
from labkit import Vault


def test_a_program_finds_the_vault_by_its_environment_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_NAMESPACE", "elsewhere")
    monkeypatch.setenv("VAULT_ADDR", "http://real.example")
    monkeypatch.setenv("NO_PROXY", "example.org")
    monkeypatch.delenv("no_proxy", raising=False)
    before = dict(os.environ)
    with labkit.testing.patched() as vault:
        vault.post("secret/data/app", {"data": {"user": "ada"}})
        client = hvac.Client()  # reads address and token from its environment

        answer = client.secrets.kv.v2.read_secret_version("app", raise_on_deleted_version=True)
        assert answer["data"]["data"] == {"user": "ada"}
        assert "VAULT_NAMESPACE" not in os.environ
        assert os.environ["BAO_ADDR"] == os.environ["VAULT_ADDR"]
        assert os.environ["BAO_TOKEN"] == vault.root_token
        assert os.environ["NO_PROXY"] == "example.org,127.0.0.1,localhost"
    assert dict(os.environ) == before


def test_the_environment_is_undone_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VAULT_ADDR", raising=False)
    with pytest.raises(KeyError), labkit.testing.patched():
        raise KeyError("x")

    assert "VAULT_ADDR" not in os.environ


def test_with_tls_the_authority_is_handed_out() -> None:
    vault = Vault.dev(seed=8)
    with labkit.testing.patched(vault, tls=True) as served:
        assert served is vault
        url, authority = os.environ["VAULT_ADDR"], os.environ["VAULT_CACERT"]
        assert url.startswith("https://localhost:")
        assert requests.get(f"{url}/v1/sys/health", verify=authority, timeout=9).status_code == 200
        with pytest.raises(requests.exceptions.SSLError):
            requests.get(f"{url}/v1/sys/health", timeout=9)
    assert not Path(authority).exists()


def test_contents_are_written_or_refused_by_their_path() -> None:
    vault = Vault.dev(seed=7)
    labkit.testing.fill(vault, {"sys/mounts/plain": {"type": "kv"}, "plain/a": {"user": "ada"}})

    assert vault.get("plain/a").data == {"user": "ada"}
    with pytest.raises(ValueError, match="POST sys/mounts/plain was refused with 400: path is already in use"):
        labkit.testing.fill(vault, {"sys/mounts/plain": {"type": "kv"}})


def test_a_reset_comes_back_to_what_was_kept() -> None:
    vault = Vault.dev(seed=7)
    vault.post("secret/data/app", {"data": {"user": "ada"}})
    vault.advance("1h")
    now = vault.now()
    vault.keep_for_reset()
    tokens = []
    for _ in range(2):
        tokens.append(vault.post("auth/token/create", {"ttl": "1h"}).auth["client_token"])
        vault.delete("secret/metadata/app")
        vault.advance("1h")
        vault.reset()
        assert vault.now() == now

    assert vault.get("secret/data/app").data["data"] == {"user": "ada"}
    assert tokens[0] == tokens[1]  # of its seed
    assert vault.get("auth/token/lookup-self", token=tokens[0]).status == 403


def test_only_what_dev_made_is_kept_for_a_reset(tmp_path: Path) -> None:
    vault = Vault.open(str(tmp_path / "lab.db"))
    with pytest.raises(ValueError, match=r"only what Vault.dev\(\) made can be reset"):
        vault.keep_for_reset()
    vault.close()
