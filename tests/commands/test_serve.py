"""serve: a process that answers, says how it is reached, and ends when it is asked to."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from labkit import Vault
from labkit.cli import main
from labkit.commands import serve, serving

Start = Callable[..., tuple[subprocess.Popen[str], dict[str, Any]]]


@pytest.fixture
def start(checkout: Path) -> Iterator[Start]:
    """Start the command on a free port; its first line is what it says as JSON."""
    processes: list[subprocess.Popen[str]] = []

    def started(*arguments: str) -> tuple[subprocess.Popen[str], dict[str, Any]]:
        process = subprocess.Popen(
            [sys.executable, "-m", "labkit", "serve", "--port", "0", "--json", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=checkout,
        )
        processes.append(process)
        assert process.stdout is not None
        return process, json.loads(process.stdout.readline())

    yield started
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_what_it_holds_outlives_it_in_a_file(start: Start, tmp_path: Path) -> None:
    path = str(tmp_path / "lab.db")
    process, said = start("--data", path)
    token = {"X-Vault-Token": said["root_token"]}
    assert sorted(said) == ["ca_file", "cloud_url", "root_token", "unseal_keys", "url"]
    assert (said["ca_file"], len(said["unseal_keys"])) == (None, 5)
    wrote = requests.post(f"{said['url']}/v1/secret/data/app", json={"data": {"a": 1}}, headers=token, timeout=10)
    assert wrote.status_code == 200
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "")
    assert errors == "127.0.0.1 POST secret/data/app 200\n"

    process, again = start("--data", path)
    assert again["root_token"] == said["root_token"]
    read = requests.get(f"{again['url']}/v1/secret/data/app", headers=token, timeout=10)
    assert read.json()["data"]["data"] == {"a": 1}
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130


@pytest.mark.slow
def test_it_begins_with_contents_and_a_reset_comes_back_to_them(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "first.json"
    file.write_text(json.dumps({"secret/data/app": {"data": {"user": "ada"}}, "transit/keys/orders": {}}))
    _, said = start("--control", "--contents", str(file))
    token, key = {"X-Vault-Token": said["root_token"]}, {"X-Labkit-Key": said["control"]["key"]}
    for _ in range(2):
        read = requests.get(f"{said['url']}/v1/secret/data/app", headers=token, timeout=10)
        assert read.json()["data"]["data"] == {"user": "ada"}
        requests.delete(f"{said['url']}/v1/secret/metadata/app", headers=token, timeout=10)
        assert requests.post(f"{said['control']['url']}/reset", headers=key, timeout=10).status_code == 200


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", ": Expecting property name"),
        ("[]", ": contents: expected a mapping of paths to the bodies that are posted there, got a list"),
        ('{"nowhere/a": {}}', ": contents: POST nowhere/a was refused with 404: no handler for route"),
        (None, ": No such file or directory"),
    ],
)
def test_contents_that_cannot_be_written_are_refused_by_name(
    text: str | None, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "first.json"
    if text is not None:
        file.write_text(text)

    assert main(["serve", "--port", "0", "--contents", str(file)]) == 2
    assert f"{file}{why}" in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_it_speaks_tls_with_a_certificate_of_its_own(start: Start) -> None:
    _, said = start("--tls", "--seed", "7", "--max-request-size", "1KiB", "--edition", "community")

    assert said["url"].startswith("https://localhost:")
    answer = requests.get(f"{said['url']}/v1/sys/health", verify=said["ca_file"], timeout=10)
    assert answer.json()["version"] == "1.16.3"
    big = requests.post(f"{said['url']}/v1/secret/data/a", data=b"x" * 1_025, verify=said["ca_file"], timeout=10)
    assert big.status_code == 413
    with pytest.raises(requests.exceptions.SSLError):
        requests.get(f"{said['url']}/v1/sys/health", timeout=10)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--port", "70000"], "expected a port from 0 to 65535, got '70000'"),
        (["--max-request-size", "0"], "expected a size such as 64KiB or 32MiB, got '0'"),
        (["--service-version", "new"], "version: expected a version such as 1.16.3+ent, got 'new'"),
        (["--seed", "7", "--data", "lab.db"], "--seed goes without --data"),
        (["--contents", "x.json", "--data", "lab.db"], "--contents goes without --data"),
        (["--seed", "-1"], "seed: expected a whole number from 0 to"),
        (["--data", "/none/such/folder/lab.db"], "/none/such/folder/lab.db"),
    ],
)
def test_what_cannot_be_served_is_refused(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["serve", *arguments])
    except SystemExit as left:
        code = int(str(left.code))

    assert code == 2
    assert said in capsys.readouterr().err


def test_variables_of_a_cloud_are_what_its_configuration_falls_back_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOUD_TENANT_ID", "from-outside")
    monkeypatch.setenv("CLOUD_CLIENT_SECRET", "")
    monkeypatch.setenv("CLOUD_ELSE", "x")
    asked = dict.fromkeys(("edition", "service_version", "max_request_size", "data", "contents"))
    vault = serve._vault(argparse.Namespace(fips=False, seed=1, **asked))

    assert vault.core.settings.environ == {"CLOUD_TENANT_ID": "from-outside"}
    assert Vault.dev(seed=1).core.settings.environ == {}


@pytest.mark.slow
def test_in_words_it_says_how_it_is_reached_and_where_its_secrets_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(serving, "wait", lambda stop: None)  # it is asked to stop as soon as it serves
    data, audit = tmp_path / "lab.db", tmp_path / "audit"
    audit.mkdir()
    assert main(["serve", "--port", "0", "--seed", "7"]) == 0
    words = capsys.readouterr().out
    assert words.startswith("labkit serves a secrets service at http://127.0.0.1:")
    assert "keys are in memory. Do not store real secrets in it." in words
    assert f"    export VAULT_TOKEN={Vault.dev(seed=7).root_token}\n" in words
    for absent in ("VAULT_CACERT", "X-Labkit-Key", "Every machine"):
        assert absent not in words
    assert words.endswith("\nCtrl-C stops it.\n")

    asked = ["--data", str(data), "--audit-dir", str(audit), "--service-version", "1.17.2+ent"]
    assert main(["serve", "--port", "0", "--tls", "--control", "--allow-remote", *asked]) == 0
    words = capsys.readouterr().out
    assert words.startswith("labkit serves a secrets service at https://localhost:")
    assert f"keys are in memory, and beside the data in {data}. Do not" in words
    for said in (
        "\n    export VAULT_CACERT=",
        "\n    X-Labkit-Key: ",
        "Every machine that reaches this one can talk to it.",
    ):
        assert said in words
    assert "/control/ with the header" in words
    kept = Vault.open(str(data), version="1.17.2+ent")
    assert all(share in words for share in kept.unseal_keys)
    kept.close()


@pytest.mark.slow
def test_two_on_one_port_are_one_too_many(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(serving, "wait", lambda stop: None)
    with Vault.dev(seed=1).serve() as url:
        port = url.rpartition(":")[2]
        assert main(["serve", "--port", port]) == 2
        assert port in capsys.readouterr().err
        assert main(["serve", "--port", "0", "--cloud-port", port]) == 2
