"""What tests of clients use outside pytest: environment variables, TLS, initial contents."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import hvac
import pytest
import requests

import labkit.testing
from labkit import Vault
from labkit.front import testing


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


def test_what_was_asked_for_in_vain_is_said_at_the_end() -> None:
    def program(ended_by: Exception | None) -> None:
        with labkit.testing.patched() as vault:
            vault.fail_next(503, path="secret/date/app")
            if ended_by is not None:
                raise ended_by

    with pytest.raises(AssertionError, match=r"did not happen before the end:\n    Aim.*secret/date.*503, once"):
        program(None)
    with pytest.raises(KeyError):
        program(KeyError("x"))


def test_what_a_call_raised_behind_the_port_is_raised_at_the_end() -> None:
    def check() -> None:
        raise LookupError("canary")

    def program() -> None:
        with labkit.testing.patched() as vault:
            vault.before_next(check)
            assert requests.get(os.environ["VAULT_ADDR"] + "/v1/sys/health", timeout=9).status_code == 500

    with pytest.raises(LookupError, match="canary"):
        program()


def test_what_was_asked_for_before_is_not_judged_at_the_end_of_an_inner_one() -> None:
    with labkit.testing.patched() as vault:
        vault.fail_next(503)
        with labkit.testing.patched(vault):
            pass
        assert vault.get("sys/mounts").status == 503


def test_with_tls_the_authority_is_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/none.pem")
    vault = Vault.dev(seed=8)
    with labkit.testing.patched(vault, tls=True) as served:
        assert served is vault
        url, authority = os.environ["VAULT_ADDR"], os.environ["VAULT_CACERT"]
        assert url.startswith("https://localhost:")
        for address in (url, url.replace("localhost", "127.0.0.1")):
            assert requests.get(f"{address}/v1/sys/health", timeout=9).status_code == 200
            assert requests.get(f"{address}/v1/sys/health", verify=authority, timeout=9).status_code == 200
            monkeypatch.delenv("REQUESTS_CA_BUNDLE")
            with pytest.raises(requests.exceptions.SSLError):
                requests.get(f"{address}/v1/sys/health", timeout=9)
            os.environ["REQUESTS_CA_BUNDLE"] = authority
    assert not Path(authority).exists()
    assert os.environ["REQUESTS_CA_BUNDLE"] == "/none.pem"


HVAC = """
import labkit.testing
{before}
def ask():
    import hvac
    return hvac.Client().is_authenticated()

for _ in range(2):
    with labkit.testing.patched(tls=True):
        print(ask())
import hvac.v1
print(hvac.v1.VAULT_CACERT)
"""


@pytest.mark.parametrize("before", ["", "import hvac"], ids=["inside", "before"])
@pytest.mark.parametrize("variable", [None, "/etc/real.pem"])
@pytest.mark.slow
def test_hvac_is_led_whenever_it_is_imported_and_left_as_it_was(before: str, variable: str | None) -> None:
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("VAULT_", "REQUESTS_"))}
    given = {} if variable is None else {"VAULT_CACERT": variable}
    command = [sys.executable, "-c", HVAC.format(before=before)]
    ended = subprocess.run(command, env={**variables, **given}, capture_output=True, text=True, check=False)

    assert (ended.stdout, ended.stderr) == (f"True\nTrue\n{variable}\n", "")


def test_it_is_imported_as_a_module_too() -> None:
    command = (
        "import labkit.testing\nfrom labkit.testing import Dropped, patched\nprint(labkit.testing.Dropped is Dropped)"
    )
    ended = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)

    assert ended.stdout == "True\n"
    assert labkit.testing.__all__ == testing.__all__
    assert all(getattr(labkit.testing, name) is getattr(testing, name) for name in testing.__all__)


def test_contents_are_written_or_refused_by_their_path() -> None:
    vault = Vault.dev(seed=7)
    labkit.testing.fill(vault, {"sys/mounts/plain": {"type": "kv"}, "plain/a": {"user": "ada"}})

    assert vault.get("plain/a").data == {"user": "ada"}
    with labkit.testing.patched(contents={"secret/data/app": {"data": {"n": 1}}}) as other:
        other.reset()
        assert other.get("secret/data/app").data["data"] == {"n": 1}
    with pytest.raises(ValueError, match="POST secret/app was refused with 404: Invalid path for a versioned K/V"):
        labkit.testing.fill(vault, {"secret/app": {"user": "ada"}})
    with pytest.raises(ValueError, match="POST sys/mounts/plain was refused with 400: path is already in use"):
        labkit.testing.fill(vault, {"sys/mounts/plain": {"type": "kv"}})
    with pytest.raises(ValueError, match=r"contents: expected a mapping of paths to the bodies .*, got a list"):
        labkit.testing.fill(vault, [("plain/a", {})])  # type: ignore[arg-type]  # on purpose


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
