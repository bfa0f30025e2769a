"""File positions: where what is written in a file stands, found when it is asked for."""

from __future__ import annotations

import pickle

import pytest

from labkit.scenario.documents.yaml_positions import parse
from labkit.scenario.file_positions import FilePositions
from labkit.scenario.problems import FilePosition

SOURCE = """\
timeline:
  - {do: crash, target: paris, at: 2s}
  - {do: heal}
expect:
  lost: {at most: 1}
  invariants: {one primary: held}
always:
  - {roots: equal, name: same}
"""


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_a_step_its_instant_an_expectation_and_a_rule_have_positions(line_break: str) -> None:
    source = SOURCE.replace("\n", line_break).encode()
    positions = FilePositions(parse(source, "written").lines)

    assert positions["step 1"] == FilePosition(2, 5, 1)
    assert positions["step 1 at"] == FilePosition(2, 36, 2)
    assert positions["step 2 at"] == positions["step 2"] == FilePosition(3, 5, 1)
    assert positions["lost"] == FilePosition(5, 3, 4)
    assert positions["one primary"] == FilePosition(6, 16, 11)
    assert positions["always 1"] == FilePosition(8, 5, 1)
    assert positions.get("step 3") is None
    assert "invariants" not in positions


def test_a_copy_of_them_has_them_all() -> None:
    positions = FilePositions(tuple(SOURCE.split("\n")))

    assert pickle.loads(pickle.dumps(positions)) == positions
    assert len(positions) > 6
