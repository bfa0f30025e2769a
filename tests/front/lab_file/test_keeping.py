"""Kept files: what each version saved opens as it was, whatever has changed since."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit import Lab
from labkit.front.lab_file.disk import open_file
from tests.front.lab_file import keeping
from tests.front.lab_file.keeping import KEPT, TABLE, row_of, version

ROWS = json.loads(TABLE.read_text())


def test_each_kept_file_has_a_row_and_the_present_version_has_a_file() -> None:
    """``python -m tests.front.lab_file.keeping`` writes what is missing."""
    assert sorted(path.name for path in KEPT.glob("*.lab")) == sorted(ROWS)
    assert f"{version()}.lab" in ROWS


@pytest.mark.parametrize("name", ROWS)
def test_what_a_version_saved_opens_as_it_was(name: str) -> None:
    assert row_of(KEPT / name) == ROWS[name]


@pytest.mark.parametrize("name", ROWS)
def test_what_a_version_saved_goes_on_in_one_way(name: str, tmp_path: Path) -> None:
    lab, _ = open_file(KEPT / name, Lab.restore)
    lab.save(tmp_path / "again.lab")
    again, _ = open_file(tmp_path / "again.lab", Lab.restore)
    lab.run("12s")

    assert again.run("12s").trace.digest() == lab.trace.digest()
    assert again["paris"].root == lab["paris"].root == lab["tokyo"].root
    assert not lab.invariants.broken
    primary = next(cluster for cluster in lab.clusters.values() if cluster.mode == "primary")
    assert primary.get("secret/data/app?version=1").data["data"] == {"user": "ada", "n": [1, 2.5, 2**70]}


def test_what_is_kept_is_never_written_again(capsys: pytest.CaptureFixture[str]) -> None:
    before = TABLE.read_bytes()

    assert keeping.main() == 1
    assert "is kept already; raise the version" in capsys.readouterr().err
    assert TABLE.read_bytes() == before


def test_a_new_version_gets_a_file_and_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "KEPT", tmp_path)
    monkeypatch.setattr(keeping, "TABLE", tmp_path / "kept.json")

    assert keeping.main("9.9.9") == 0
    assert json.loads((tmp_path / "kept.json").read_text()) == {"9.9.9.lab": row_of(tmp_path / "9.9.9.lab")}
    with pytest.warns(UserWarning, match="rules that are functions are not in it: 'mine'"):
        assert Lab.open(tmp_path / "9.9.9.lab").scenario is not None
