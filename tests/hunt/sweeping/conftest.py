"""What tests of sweeps stand on: the text of a small scenario, of whose seeds some break what it expects."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.hunt.sweeping.experiments import Experiment, experiments_of
from labkit.hunt.sweeping.settings import read_settings

TEXT = """\
scenario: Cut short
lab:
  sites: [paris, tokyo]
  links: [{between: [paris, tokyo], latency: 19ms, jitter: 4ms}]
  clusters: {paris: {site: paris, nodes: 1}, tokyo: {site: tokyo, nodes: 1}}
  clients: {writers: {site: paris, use: [paris], work: [{do: put-secret, every: 100ms, from: 2s, until: 3s}]}}
timeline:
  - {do: replicate, primary: paris, secondary: tokyo, at: 500ms}
  - {do: crash, target: paris, at: 2.620s}
  - {do: promote, cluster: tokyo, after: 100ms}
settle: 1s
expect: {lost: 0}
"""


@pytest.fixture
def scenario_path(tmp_path: Path) -> str:
    """The file of the scenario."""
    path = tmp_path / "cut.lab.yaml"
    path.write_text(TEXT)
    return str(path)


@pytest.fixture
def experiments(scenario_path: str) -> tuple[Experiment, ...]:
    """The file with two latencies."""
    return experiments_of(scenario_path, read_settings(["lab.links.0.latency=10ms,19ms"]))
