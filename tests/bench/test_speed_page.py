"""The page about speed has the profile and the counts that are kept, and says of each file where its time is put."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

import labkit
from labkit.front import gallery, speed_chart
from tests.bench import speed_page
from tests.bench.speed_page import OF_A_LAB, OF_A_REQUEST, PAGE, WRITE
from tests.house import test_lab_work, test_work


def test_the_page_has_what_is_kept():
    page = PAGE.read_text(encoding="utf-8")

    assert page == speed_page.written(page), "run python tests/bench/speed_page.py --keep"
    assert f"\n{speed_chart.as_text(speed_chart.read())}\n" in page
    assert f"\n{speed_page.counts()}\n" in page


def test_the_counts_are_those_of_the_tests(monkeypatch):
    monkeypatch.setitem(test_work.WRITTEN_DOWN, "KV write", test_work.Work(7, 1, 2, 3, 4))
    monkeypatch.setitem(test_lab_work.WRITTEN_DOWN, "branch", 1_234)
    page = speed_page.written(PAGE.read_text(encoding="utf-8"))

    assert "\n| KV write | 7 | 3 | 3 | 4 |\n" in page
    assert "\n| branch | 1,234 | – | – | – |\n" in page


def test_a_page_without_the_heading_is_an_error():
    with pytest.raises(ValueError, match="no heading 'counted calls'"):
        speed_page.with_part("# a page\n", "counted calls", "| a |")


@pytest.mark.parametrize("parts", [OF_A_REQUEST, OF_A_LAB])
def test_every_part_is_on_the_page_and_has_files(parts):
    page = PAGE.read_text(encoding="utf-8")
    package = Path(labkit.__file__).parent
    files = [path.relative_to(package).as_posix() for path in package.rglob("*.py")]
    found = Counter(speed_page.part_of(file, parts) for file in files)

    for part in parts:
        assert found[part], part
        assert f"**{part}**" in page


def test_a_frame_counts_for_the_file_of_the_package_that_called_it():
    seen = []

    def clock():
        seen.append(speed_page.file_of(sys._getframe()))
        return 1_700_000_000

    vault = labkit.Vault.dev(seed=7, clock=clock)
    vault.post("secret/data/app", {"data": {"user": "ada"}})

    assert speed_page.file_of(sys._getframe()) == ""
    assert seen
    assert all((Path(labkit.__file__).parent / file).is_file() for file in seen)


def test_shares_are_in_per_mille_the_largest_first_and_of_files_of_the_package():
    samples = Counter({"vault/storage/memory.py": 3, "vault/core.py": 1, "vault/storage/records.py": 4, "": 99})

    assert speed_page.shares(samples, OF_A_REQUEST) == (("storage", 875), ("walk", 125))


def test_kept_rows_are_what_the_script_measures():
    assert [row.name for row in speed_chart.read()] == [*speed_page.REQUESTS, WRITE]


def test_with_keep_nothing_is_measured(monkeypatch, tmp_path):
    page = tmp_path / "speed.md"
    page.write_text(PAGE.read_text(encoding="utf-8").replace("| KV read |", "| another |"), encoding="utf-8")
    kept: list[Path] = []
    monkeypatch.setattr(speed_page, "PAGE", page)
    monkeypatch.setattr(gallery, "keep", kept.append)
    monkeypatch.setattr(speed_page, "measured", None)
    speed_page.main(["--keep"])

    assert page.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")
    assert kept == [gallery.FOLDER]


@pytest.mark.slow
def test_what_is_sampled_belongs_to_the_package():
    vault = labkit.Vault.dev(seed=7)

    def work():
        for _ in range(50):
            vault.post("secret/data/app", {"data": {"user": "ada"}})
        return 50

    samples, each_us = speed_page.sampled(work, 0.5)

    assert each_us > 0
    assert {speed_page.part_of(file, OF_A_REQUEST) for file in samples} <= {*OF_A_REQUEST, ""}
    assert samples.total() > samples[""]
