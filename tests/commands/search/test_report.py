"""report: prints what a file of rows says and changes nothing; a file that is no such file is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.cli import main
from labkit.hunt.sweeping.row_file import line_of
from tests.hunt.sweeping.test_row_file import ONE, OTHER, played

Capsys = pytest.CaptureFixture[str]


def test_it_is_printed_and_the_file_stays(tmp_path: Path, capsys: Capsys) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(line_of(played(ONE, 0, 1)) + line_of(played(OTHER, 0)) + b'{"checksum":"torn')
    before = path.read_bytes()

    assert main(["report", str(path)]) == 0
    said = capsys.readouterr().out
    assert "Über: as expected in all 3 runs (2 combinations, 2 seeds)" in said
    assert said.rstrip().endswith("; half a line at the end, of 17 bytes, is left out")
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["", '{"checksum":"torn'])
def test_a_file_without_rows_is_unknown(text: str, tmp_path: Path, capsys: Capsys) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(text)

    assert main(["report", str(path)]) == 3
    assert capsys.readouterr().out.startswith("no rows")


@pytest.mark.parametrize(
    ("text", "said"),
    [("scenario: x\n", ":1: expected a line that labkit sweep wrote"), (None, ": cannot be read: No such file")],
)
def test_what_is_no_file_of_rows(text: str | None, said: str, tmp_path: Path, capsys: Capsys) -> None:
    path = tmp_path / "rows.jsonl"
    if text is not None:
        path.write_text(text)

    assert main(["report", str(path)]) == 2
    assert f"{path}{said}" in capsys.readouterr().err
