"""What tests of scenarios stand on: the text of a small scenario, and a way to read variations of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from labkit.front.lab import Lab
from labkit.scenario.loading import loads
from labkit.scenario.scenario import Scenario
from labkit.scenario.verdict import Verdict, judge

SMALL = """\
scenario: A small lab
lab:
  sites: [paris, tokyo]
  links:
    - {between: [paris, tokyo], latency: 80ms}
  clusters:
    paris: {site: paris, nodes: 1}
    tokyo: {site: tokyo, nodes: 1}
timeline:
  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}
  - {do: crash, target: paris, at: 5s}
  - {do: promote, cluster: tokyo, after: 2s}
end: 10s
expect:
  lost: 0
  primary: tokyo
"""

Vary = Callable[..., str]


@pytest.fixture
def vary() -> Vary:
    """The small scenario's text with pieces replaced: ``vary(("end: 10s", "end: 12s"))``."""

    def varied(*changes: tuple[str, str]) -> str:
        text = SMALL
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new, 1)
        return text

    return varied


@pytest.fixture
def scenario_of() -> Callable[[str], Scenario]:
    """Read a scenario from its text."""
    return lambda text: loads(text.encode(), "small.lab.yaml")


@pytest.fixture
def scenario_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a scenario's text into a file of its own."""

    def written(text: str, name: str = "small.lab.yaml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


@pytest.fixture
def judged() -> Callable[[Lab], Verdict]:
    """Judge a lab that was loaded from a scenario file."""

    def of(lab: Lab) -> Verdict:
        assert lab.scenario is not None
        return judge(lab.scenario, lab.queries, lab.ledger, lab.invariants)

    return of
