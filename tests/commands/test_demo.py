"""The demo is a first look: it ends as expected, or says why it cannot run."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit import places
from labkit.cli import main


def test_the_demo_is_as_expected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    output = capsys.readouterr()

    for word in ("crash paris", "promote tokyo", "recovery point (RPO)", "as expected"):
        assert word in output.out
    assert len(output.err.splitlines()) == 1


def test_a_copy_without_scenarios_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing() -> Path:
        raise FileNotFoundError("no folder of them")

    monkeypatch.setattr(places, "scenarios", missing)

    assert main(["demo"]) == 2
    assert capsys.readouterr().err == "no folder of them\n"
