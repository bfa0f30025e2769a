"""schema prints what is shipped: JSON that programs read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit.cli import main
from labkit.commands.schema import text


def test_it_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "A scenario file of labkit"


def test_what_is_shipped_is_what_the_models_say(checkout: Path) -> None:
    shipped = (checkout / "labkit" / "scenario" / "scenario.schema.json").read_text(encoding="utf-8")

    assert shipped == text() + "\n", "python -m labkit schema > labkit/scenario/scenario.schema.json"
