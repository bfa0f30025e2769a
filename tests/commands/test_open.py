"""open shows what a saved lab is, plays it, or serves it; what is no lab is refused in a sentence."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import requests

from labkit import Lab
from labkit.cli import main

Written = Callable[[str, str], str]


@pytest.fixture
def saved(written: Written, texts: dict[int, str]) -> str:
    """A lab in the middle of its scenario."""
    lab = Lab.load(written("x.lab.yaml", texts[1]))
    lab.run("300ms")
    lab.watch("mine", lambda lab: True)
    lab.save("x.lab")
    return "x.lab"


def test_a_saved_lab_is_shown_in_words(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["open", saved]) == 0
    shown = capsys.readouterr().out

    assert shown.startswith("A small lab\n")
    assert "at 300ms of lab time" in shown
    assert "seed 7; written by labkit " in shown
    assert "the rules mine" in shown
    for part in ("map:\n", "timeline:\n", "leader     one-1 leads one", "ledger:\nLedger("):
        assert part in shown


@pytest.mark.parametrize(("name", "begins"), [("x.html", "<!doctype html>"), ("x.json", "{")])
def test_the_run_up_to_there_is_played(saved: str, name: str, begins: str) -> None:
    assert main(["open", saved, "--play", name]) == 0
    assert Path(name).read_text(encoding="utf-8").lower().startswith(begins)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["none.lab"], "none.lab: No such file"),
        (["x.lab.yaml"], "x.lab.yaml: expected a saved lab"),
        (["x.lab", "--play", "no/x.html"], "--play: no/x.html cannot be written"),
        (["x.lab", "--serve", "--lab", "y"], "--lab goes without a saved lab"),
        (["x.lab", "--serve", "--seed", "8"], "--seed goes without a saved lab"),
        (["x.lab", "--serve", "--seed", "0"], "--seed goes without a saved lab"),
        (["x.lab", "--serve", "--contents", "y"], "--contents goes without a saved lab"),
        (["x.lab", "--play", "x.html", "--serve", "--lab", "y"], "--play and --serve: expected one of them"),
    ],
)
def test_what_cannot_be_used_is_refused(
    arguments: list[str], why: str, saved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["open", *arguments]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.usefixtures("saved")
def test_of_a_lab_without_a_trace_no_timeline_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    lab = Lab(Lab.pair().blueprint, trace=False)
    lab.replicate("paris", "tokyo")
    lab.save("silent.lab")

    assert main(["open", "silent.lab"]) == 0
    assert "\n\ntimeline: the lab keeps no trace\n\nledger:" in capsys.readouterr().out


def test_a_lab_that_cannot_be_shown_is_refused_by_name(
    saved: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(lab: Lab) -> None:
        raise KeyError("in no lab")

    monkeypatch.setattr(Lab, "map", fail)
    assert main(["open", saved]) == 2
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "x.lab: the lab in it cannot be shown: KeyError: 'in no lab'\n")
    monkeypatch.setenv("LABKIT_TRACEBACK", "1")
    with pytest.raises(KeyError):
        main(["open", saved])


@pytest.mark.slow
def test_a_saved_lab_is_served(saved: str, checkout: Path) -> None:
    command = [sys.executable, "-m", "labkit", "open", str(Path(saved).resolve()), "--serve", "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=checkout)
    assert process.stdout is not None
    try:
        reached = json.loads(process.stdout.readline())
        assert requests.get(f"{reached['url']}/v1/sys/health", timeout=5).status_code in (200, 503)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, errors
