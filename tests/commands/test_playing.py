"""A run shows how far it is, and is stopped between two events."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from labkit import Lab
from labkit.cli import main
from labkit.commands.playing import Interruption, run_to_the_end

Written = Callable[[str, str], str]


class SteppedLab:
    """A lab that goes through given instants and ends after the last; it does what a run asks of one."""

    def __init__(self, *instants_ns: int) -> None:
        self.now, self.instants_ns, self.scenario = 0, instants_ns, SimpleNamespace(ended=False)

    def run(self, until: Callable[[Any], bool]) -> None:
        for at_ns in self.instants_ns:
            self.now = at_ns
            until(self)
        self.scenario.ended = True


def test_a_bar_grows_by_a_second_or_more() -> None:
    lab: Any = SteppedLab(400_000_000, 1_000_000_000, 1_400_000_000, 2_500_000_000, 3_000_000_000)
    grown: list[Any] = []
    bar = SimpleNamespace(update=grown.append, close=lambda: grown.append("closed"))
    run_to_the_end(lab, Interruption(), bar)

    assert grown == [1.0, 1.5, "closed"]


# ---- a lab is saved on its way


def last_line(text: str) -> str:
    return text.splitlines()[-1]


def test_a_run_that_is_saved_is_the_same_run(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = written("x.lab.yaml", texts[0])
    assert main(["run", name]) == 0
    plain = last_line(capsys.readouterr().out)
    assert main(["run", name, "--save-at", "500ms", "--save-to", "half.lab"]) == 0
    shown = capsys.readouterr().out

    assert last_line(shown) == plain
    assert "to half.lab, which holds keys and tokens" in shown
    lab = Lab.open("half.lab")
    assert 0 < lab.now <= 500_000_000
    assert lab.parts.clock.next_ns is not None
    assert lab.parts.clock.next_ns > 500_000_000
    lab.run()
    assert f"digest {lab.trace.digest()[:16]}" in plain


def test_a_run_that_ends_before_is_saved_at_its_end(written: Written, texts: dict[int, str]) -> None:
    assert main(["run", "-q", written("x.lab.yaml", texts[0]), "--save-at", "1h"]) == 0

    lab = Lab.open("saved.lab")
    assert lab.scenario is not None
    assert lab.scenario.ended


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["--save-at", "10ms", "--save-to", "no/x.lab"], 2, "--save-at: no/x.lab cannot be written"),
        (["y.lab.yaml", "--save-at", "10ms"], 2, "expected one file to run, got 2"),
    ],
)
def test_what_cannot_be_saved_is_said(
    arguments: list[str],
    code: int,
    why: str,
    written: Written,
    texts: dict[int, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    written("y.lab.yaml", texts[0])

    assert main(["run", "-q", written("x.lab.yaml", texts[0]), *arguments]) == code
    assert why in capsys.readouterr().err


def test_of_many_runs_none_is_saved(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = written("x.lab.yaml", texts[0].replace("lab:", "seeds: 3\nlab:", 1))

    assert main(["run", name, "--save-at", "10ms"]) == 2
    assert "choose one with --only and --seed" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", ["", "x", "-1s", "1parsec"])
def test_an_instant_is_a_duration(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "x.lab.yaml", f"--save-at={wrong}"])
    assert ended.value.code == 2
    assert "--save-at" in capsys.readouterr().err
