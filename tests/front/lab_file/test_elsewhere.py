"""Elsewhere: what is handed from one system to another, and that another end is seen."""

from __future__ import annotations

from pathlib import Path

from tests.front.lab_file import elsewhere


def test_a_lab_ends_as_it_did_and_another_end_is_seen(tmp_path: Path, capsys) -> None:
    folder = tmp_path / "handed"

    assert elsewhere.main("save", str(folder)) == 0
    assert elsewhere.main("check", str(folder)) == 0
    ended, said = capsys.readouterr().out.splitlines()
    assert (len(ended.split()), said) == (3, "it ends as it did where it was saved")
    (folder / elsewhere.ENDED).write_text(ended.replace(ended[0], "x", 1))
    assert elsewhere.main("check", str(folder)) == 1
    assert capsys.readouterr().out.startswith("expected x")
