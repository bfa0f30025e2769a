"""What tests of no return stand on: a scenario that loses a write, whatever is done after the crash."""

from __future__ import annotations

import pytest

from labkit.hunt.no_return.breaking_runs import WrittenRun, written_run
from labkit.scenario.loading import loads

TEXT = """\
scenario: Lost with its primary
seed: 5
lab:
  sites: [paris, tokyo]
  links: [{between: [paris, tokyo], latency: 19ms, jitter: 4ms}]
  clusters: {paris: {site: paris, nodes: 1}, tokyo: {site: tokyo, nodes: 1}}
  clients: {writers: {site: paris, use: [paris], work: [{do: put-secret, every: 100ms, from: 2s, until: 3s}]}}
timeline:
  - {do: replicate, primary: paris, secondary: tokyo, at: 500ms}
  - {do: crash, target: paris, at: 2.620s}
  - {do: promote, cluster: tokyo, after: 100ms}
  - {do: note, text: too late}
settle: 1s
expect: {lost: 0}
"""


@pytest.fixture(scope="session")
def lossy() -> WrittenRun:
    """The run of the file as it is written."""
    return written_run(loads(TEXT.encode()))


@pytest.fixture(scope="session")
def harmless() -> WrittenRun:
    """The same with a crash after the last write has arrived."""
    return written_run(loads(TEXT.replace("2.620s", "2.680s").encode()))
