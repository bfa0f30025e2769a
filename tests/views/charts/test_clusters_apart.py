"""What two clusters hold that is not the same, by mounts: the bars count the rows."""

from __future__ import annotations

from pathlib import Path

from labkit import Lab
from labkit.lab.differences import Difference, Differences
from labkit.views.charts import clusters_apart


def test_bars_count_what_the_table_lists(tmp_path: Path) -> None:
    rows = [Difference("a", "secret/", "11", ""), Difference("b", "secret/", "", "22"), Difference("c", "", "1", "2")]
    found = clusters_apart.of(Differences(rows), "paris", "tokyo")

    assert found == tuple(rows)
    assert found.measure.text == (
        "3 names are not the same in both. the store: 1 in both, not the same; "
        "secret/: 1 only in paris, 1 only in tokyo."
    )
    assert list(found.to_frame().reset_index().columns) == ["name", "mount", "paris", "tokyo"]
    assert list(found.to_frame().index) == ["a", "b", "c"]
    found.save(tmp_path / "diff.html")
    assert (tmp_path / "diff.html").read_text(encoding="utf-8").count("<tr>") == 4
    assert "as a table: 3 rows" in found._repr_html_()


def test_a_lab_gives_it() -> None:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    assert lab.diff("paris", "tokyo").measure.finding == "Both hold the same."
    lab.partition("paris", "tokyo")
    lab["paris"].post("secret/data/a", {"data": {"n": 1}})
    found = lab.diff("paris", "tokyo")
    assert found.measure.finding == f"{len(found)} names are not the same in both."
    assert repr(found).startswith(f"Differences({len(found)}: secret/ ")
