"""What stands in the home of who runs the suite, or in the environment, reaches no test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import hvac
import pytest
import requests
from hvac.constants.client import VAULT_CACERT

from tests import environment

PLANTED = {
    "VAULT_ADDR": "http://planted:1",
    "VAULT_TOKEN": "planted",
    "VAULT_NAMESPACE": "planted",
    "VAULT_CACERT": "planted",
    **dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"), "http://planted:1"),
    **dict.fromkeys(("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "JUPYTER_CONFIG_DIR", "XDG_CONFIG_HOME"), "planted"),
    "LABKIT_TRACEBACK": "1",
}
FILES = {".vault-token": "planted", ".netrc": "default login planted password planted\n"}


def test_no_client_finds_an_address_a_token_or_a_proxy():
    found = hvac.Client()
    session = requests.Session()
    sent = session.prepare_request(requests.Request("GET", "http://127.0.0.1:1/"))
    used = session.merge_environment_settings("http://127.0.0.1:1/", {}, None, None, None)

    assert (found.url, found.token or "", VAULT_CACERT) == ("http://localhost:8200", "", None)
    assert "Authorization" not in sent.headers
    assert (used["proxies"], used["verify"]) == ({}, True)
    with httpx.Client() as client:
        assert client._mounts == {}


def test_the_home_is_the_suites_own():
    assert Path.home().name.startswith("labkit-home-")
    assert not [name for name in FILES if (Path.home() / name).exists()]
    assert set(PLANTED) & set(os.environ) == set()


def test_a_program_that_a_test_starts_has_the_same():
    shown = "import json, os; print(json.dumps([os.path.expanduser('~'), sorted(os.environ)]))"
    started = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    home, names = json.loads(started.stdout)

    assert home == str(Path.home())
    assert set(PLANTED) & set(names) == set()


@pytest.mark.slow
def test_what_is_planted_reaches_no_test(checkout: Path, tmp_path: Path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o600)
    held = (
        test_no_client_finds_an_address_a_token_or_a_proxy,
        test_the_home_is_the_suites_own,
        test_a_program_that_a_test_starts_has_the_same,
    )
    program = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "1"]
    started = subprocess.run(
        [*program, *(f"{Path(__file__).relative_to(checkout)}::{test.__name__}" for test in held)],
        cwd=checkout,
        env=environment.users() | PLANTED | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert started.returncode == 0, started.stdout
    assert "3 passed" in started.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)


def test_the_home_is_removed_and_left_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    before = dict(os.environ)
    monkeypatch.setattr(os, "environ", dict(before))
    assert environment.isolate() is None
    assert dict(os.environ) == before

    del os.environ[environment.USERS]
    os.environ |= PLANTED
    assert environment.users() == dict(os.environ)  # as for whoever runs a program of tests by itself
    home = environment.isolate()
    assert home is not None
    assert environment.users()["VAULT_TOKEN"] == "planted"
    assert os.environ["HOME"] == home
    assert set(PLANTED) & set(os.environ) == set()
    assert os.environ["PATH"] == before["PATH"]

    Path(home, "written").write_text("x")
    environment.remove(home)
    assert not Path(home).exists()
    environment.remove(None)
