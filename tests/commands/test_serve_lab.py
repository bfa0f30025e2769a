"""serve --lab: a process that answers for every cluster of a scenario, and how it is controlled from another one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from itertools import takewhile
from pathlib import Path

import pytest
import requests

from labkit.cli import main
from labkit.commands import serving

SCENARIO = """\
scenario: Two clusters
lab:
  sites: [here, there]
  links:
    - {between: [here, there], latency: 20ms}
  clusters:
    one: {site: here, nodes: 1}
    two: {site: there, nodes: 1}
timeline:
  - {do: replicate, primary: one, secondary: two, at: 1s}
"""


@pytest.mark.slow
@pytest.mark.parametrize("json_line", [True, False])
def test_every_cluster_is_served_and_the_lab_is_controlled(checkout: Path, tmp_path: Path, json_line: bool) -> None:
    path = tmp_path / "two.lab.yaml"
    path.write_text(SCENARIO.replace("timeline:", "  cloud: {site: there}\ntimeline:"))
    command = ["serve", "--lab", str(path), "--port", "0", "--speed", "0", "--control", "--seed", "8"]
    process = subprocess.Popen(
        [sys.executable, "-m", "labkit", *command, *(["--json"] if json_line else [])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=checkout,
    )
    assert process.stdout is not None
    try:
        if json_line:
            talk(json.loads(process.stdout.readline()))
        else:
            read_words(process.stdout)
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=20)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, out) == (0, "")
    if json_line:
        assert "two: 127.0.0.1 GET sys/health 472\n" in errors
        assert "the page's next address: http://127.0.0.1:" in errors


def talk(said: dict[str, object]) -> None:
    """Use what the first line says."""
    clusters, control = said["clusters"], said["control"]
    assert isinstance(clusters, dict)
    assert isinstance(control, dict)
    assert list(clusters) == ["one", "two"]
    assert said["url"] == clusters["one"]["url"]
    with requests.Session() as session:
        session.headers["X-Labkit-Key"] = control["key"]
        moved = session.post(f"{control['url']}/clock/advance", json={"duration": "10s"}, timeout=30).json()
        assert moved == {"now_ns": 10_000_000_000, "now": "10s", "speed": 0}
        assert session.get(f"{clusters['two']['url']}/v1/sys/health", timeout=30).status_code == 472
        headers = {"X-Vault-Token": clusters["one"]["root_token"]}
        assert session.get(f"{said['url']}/v1/sys/mounts", headers=headers, timeout=30).status_code == 200
        page = str(said["page"])
        assert page.startswith(f"{said['url']}/#key=")
        opened = session.post(f"{said['url']}/page/session", json={"key": page.partition("=")[2]}, timeout=30)
        assert opened.json() == {"key": control["key"]}
        assert main(["token", "--vm", "web-1", "--url", str(said["cloud_url"])]) == 0
        assert session.post(f"{control['url']}/reset", timeout=30).json()["now"] == "0s"
        assert main(["token", "--vm", "web-1", "--url", str(said["cloud_url"])]) == 0


def read_words(out: Iterable[str]) -> None:
    """Check what people read."""
    text = "".join(takewhile(lambda line: "Ctrl-C" not in line, out))
    assert text.startswith('labkit serves the clusters of "Two clusters":\n\n    one: http://127.0.0.1:')
    assert "It is a simulation with seed 8: its tokens and keys are the same in every run" in text
    assert "Its time passes for requests only." in text
    assert "\na token of a machine of its cloud:\n" in text
    assert " token --vm web-1 --url http://127.0.0.1:" in text
    assert "a page that shows it and has its verbs, for this machine only, opened once:\n    http://" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--lab", "none.lab.yaml"], "none.lab.yaml"),
        (["--lab", "FILE", "--port", "65535"], "port: expected the first of 2 ports"),
        (["--lab", "FILE", "--data", "x"], "--data goes without --lab"),
        (["--lab", "FILE", "--start", "soon"], "expected now or client, got 'soon'"),
        (["--start", "now"], "--start goes with --lab"),
        (["--lab", "FILE", "--speed", "fast"], "expected a number from 0 to 1000000"),
        (["--lab", "FILE", "--cloud-port", "0"], "--cloud-port goes with a lab that has a cloud"),
        (["--lab", "first/failover", "--cloud-port", "0"], "a lab that has a cloud, which first/failover has not"),
        (["--config", "none.toml"], "none.toml: No such file"),
        (["--audit-dir", "none"], "none: expected a folder for audit files"),
    ],
)
def test_what_cannot_be_served_is_refused(
    arguments: list[str],
    said: str,
    written: Callable[[str, str], str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = written("two.lab.yaml", SCENARIO)
    try:
        code = main(["serve", *(file if argument == "FILE" else argument for argument in arguments)])
    except SystemExit as left:
        code = int(str(left.code))

    assert code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("json_line", [True, False])
@pytest.mark.slow
def test_it_says_how_the_clusters_are_reached(
    json_line: bool,
    written: Callable[[str, str], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(serving, "wait", lambda stop: None)  # it is asked to stop as soon as it serves
    file = written("two.lab.yaml", SCENARIO.replace("timeline:", "  cloud: {site: there}\ntimeline:"))
    command = ["serve", "--lab", file, "--port", "0", "--speed", "0", "--control", "--seed", "8"]

    assert main([*command, *(["--json"] if json_line else ["--tls"])]) == 0
    text = capsys.readouterr().out
    if json_line:
        said = json.loads(text)
        assert list(said["clusters"]) == ["one", "two"]
        assert said["root_token"] == said["clusters"]["one"]["root_token"]
        assert (said["ca_file"], said["control"]["url"]) == (None, f"{said['url']}/control")
        assert said["cloud_url"].startswith("http://127.0.0.1:")
        assert said["page"].startswith(f"{said['url']}/#key=")
        return
    assert text.startswith('labkit serves the clusters of "Two clusters":\n\n    one: https://localhost:')
    assert "\n    export VAULT_CACERT=" in text
    assert "X-Labkit-Key: " in text
    assert text.endswith("\nCtrl-C stops it.\n")


@pytest.mark.slow
def test_without_control_and_cloud_neither_is_named(
    written: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serving, "wait", lambda stop: None)
    command = ["serve", "--lab", written("two.lab.yaml", SCENARIO), "--port", "0"]

    assert main([*command, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["control"], said["cloud_url"]) == (None, None)
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "Its time passes 1 times as fast as yours, from the first request or page on; it stands until then." in text
    assert "a page that shows it, for this machine only" in text
    assert "X-Labkit-Key" not in text


@pytest.mark.parametrize(("start", "holds"), [([], True), (["--start", "client"], True), (["--start", "now"], False)])
@pytest.mark.slow
def test_it_is_played_once_somebody_is_there_or_at_once(
    start: list[str],
    holds: bool,
    written: Callable[[str, str], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown: list[float] = []

    def look(_: object) -> None:
        said = json.loads(capsys.readouterr().out)
        key = {"X-Labkit-Key": said["control"]["key"]}

        def clock() -> dict[str, float]:
            found: dict[str, float] = requests.get(f"{said['url']}/control/clock", headers=key, timeout=10).json()
            return found

        began_ns = clock()["now_ns"]
        time.sleep(0.4)
        shown.append(clock()["now_ns"] - began_ns)
        page_key = said["page"].partition("#key=")[2]
        assert requests.post(f"{said['url']}/page/session", json={"key": page_key}, timeout=10).status_code == 200
        shown.append(clock()["speed"])

    monkeypatch.setattr(serving, "wait", look)
    file = written("two.lab.yaml", SCENARIO)
    command = ["serve", "--lab", file, "--port", "0", "--speed", "20", "--control", "--json", *start]

    assert main(command) == 0
    assert (shown[0] == 0) is holds
    assert shown[1] == 20
