"""What tests of commands stand on: small scenario files, by the exit code that each leads to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

GOOD = """\
scenario: A small lab
lab:
  sites: [here]
  clusters:
    one: {site: here, nodes: 1}
timeline:
  - {do: seal, cluster: one}
settle: 1s
expect:
  lost: 0
"""


@pytest.fixture
def texts() -> dict[int, str]:
    """The text of a scenario that ends with 0, 1, 2 or 3."""
    return {
        0: GOOD,
        1: GOOD.replace("lost: 0", "lost: 3"),
        2: GOOD.replace("do: seal", "do: sela"),
        3: GOOD.replace("lost: 0", "rto: {at most: 1s}"),
    }


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """Write a file into the current folder, which is empty; its name comes back."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, text: str) -> str:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
        return name

    return write
