"""Saved findings: the lab of a found file goes on as the file does, and breaks with the next events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.commands.playing import run_to_the_end
from labkit.commands.search import saved_findings
from labkit.commands.search.saved_findings import save_beside
from labkit.front.lab import lab_of
from labkit.scenario.loading import loads

SPLIT = """\
scenario: two primaries
lab:
  sites: [paris, tokyo]
  links:
    - {between: [paris, tokyo], latency: 80ms}
  clusters:
    paris: {site: paris, nodes: 1}
    tokyo: {site: tokyo, nodes: 1}
timeline:
  - {at: 1s, do: replicate, primary: paris, secondary: tokyo}
  - {at: 5s, do: promote, cluster: tokyo}
  - {at: 20s, do: heal}
"""
WHOLE = SPLIT.replace("promote, cluster: tokyo", "heal")


def test_a_saved_lab_breaks_with_its_next_event_and_ends_as_the_file_does(tmp_path: Path) -> None:
    line = save_beside("split.lab.yaml", SPLIT, str(tmp_path))

    lab, whole = Lab.open(tmp_path / "split.lab"), lab_of(loads(SPLIT.encode(), "split"))
    assert not lab.invariants.broken
    assert line == f"split.lab, {lab.now / 1e9:g}s of lab time, before it breaks"
    lab.step()
    assert [violation.at_ns for violation in lab.invariants.broken.values()] == [lab.now]
    assert lab.run().trace.digest() == whole.run().trace.digest()


def test_one_that_is_broken_from_its_beginning_on_is_not_said_to_be_whole(tmp_path: Path) -> None:
    broken = f"{SPLIT}always:\n  - {{name: early, modes: {{paris: primary}}}}\n"
    line = save_beside("split.lab.yaml", broken, str(tmp_path))

    lab = Lab.open(tmp_path / "split.lab")
    assert [*lab.invariants.broken] == ["early"]
    assert line == f"split.lab, {lab.now / 1e9:g}s of lab time, broken from its beginning on"


def test_an_exception_of_labkit_is_what_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played = run_to_the_end

    def raising(lab: Lab, *given: Any) -> None:
        played(lab, *given)
        if lab.invariants.broken:
            raise KeyError("planted")

    monkeypatch.setattr(saved_findings, "run_to_the_end", raising)
    save_beside("split.lab.yaml", SPLIT, str(tmp_path))

    lab = Lab.open(tmp_path / "split.lab")
    assert not lab.invariants.broken
    lab.step()
    assert lab.invariants.broken


def test_one_that_breaks_no_more_is_saved_at_its_end(tmp_path: Path) -> None:
    save_beside("split.lab.yaml", WHOLE, str(tmp_path))

    lab, whole = Lab.open(tmp_path / "split.lab"), lab_of(loads(WHOLE.encode(), "split")).run()
    assert lab.now > 20e9
    assert lab.run().trace.digest() == whole.trace.digest()


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any) -> None:
        raise ModuleNotFoundError("a lab file needs cbor2")

    monkeypatch.setattr(Lab, "save", missing)

    assert save_beside("split.lab.yaml", SPLIT, str(tmp_path)) == "split.lab is not there: a lab file needs cbor2"
