"""check reads files and runs nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from labkit.cli import main

Written = Callable[[str, str], str]


def test_checking_runs_nothing(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labkit.front.lab.Lab.load", None)
    good, bad = written("good.lab.yaml", texts[0]), written("bad.lab.yaml", texts[2])

    assert main(["check", good]) == 0
    assert main(["check", bad, good]) == 2
    output = capsys.readouterr()
    assert output.out == "good.lab.yaml: valid: A small lab, 1 step\n" * 2
    assert "bad.lab.yaml:7:10: step 1, do: expected a verb, got 'sela' — did you mean 'seal'?" in output.err


def test_a_folder_is_checked(written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]) -> None:
    written("drills/b/two.lab.yml", texts[0])
    written("drills/a.lab.yaml", texts[0])

    assert main(["check", "drills"]) == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        "drills/a.lab.yaml",
        "drills/b/two.lab.yml",
    ]
    Path("empty").mkdir()
    assert main(["check", "empty"]) == 2


def test_a_title_controls_no_terminal(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = written("x.lab.yaml", texts[0].replace("A small lab", r'"red \e[31m lab"'))

    assert main(["check", name]) == 0
    assert main(["run", name]) == 0
    assert main(["run", "-q", name]) == 0
    assert "\x1b" not in capsys.readouterr().out
