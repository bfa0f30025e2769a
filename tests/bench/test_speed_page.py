"""The page about speed has the profile and the counts that are kept, and says of each file where its time is put."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import labkit
from labkit.front import gallery, speed_chart
from tests.bench import least_work, speed_page
from tests.bench.part_names import OF_A_LAB, OF_A_REQUEST, part_of
from tests.bench.speed_page import PAGE, WRITE
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


@pytest.mark.slow
def test_what_requests_take_at_least_is_what_is_counted_now():
    table = least_work.request_table()

    assert f"\n{table}\n" in PAGE.read_text(encoding="utf-8"), "run python tests/bench/speed_page.py --keep"
    for row in table.splitlines()[2:]:
        name, *numbers = row.strip("| ").split(" | ")
        total, common, *parts = map(int, numbers[:-3])
        assert total == common + sum(parts) == test_work.WRITTEN_DOWN[name].calls


@pytest.mark.slow
def test_what_labs_take_at_least_is_what_is_counted_now(checkout: Path):
    code = "from collections import Counter; from tests.bench import least_work; least_work.of_writes = Counter"
    in_a_process_of_its_own = [sys.executable, "-c", f"{code}; print(least_work.lab_table())"]  # its caches are empty
    done = subprocess.run(in_a_process_of_its_own, cwd=checkout, capture_output=True, check=True, text=True)
    table = done.stdout.splitlines()
    kept = PAGE.read_text(encoding="utf-8").splitlines()

    assert [row for row in table if row not in kept] == [table[2]], "run python tests/bench/speed_page.py --keep"


def test_what_works_have_in_common_is_what_each_calls_at_least_as_often():
    first, second = Counter({("a", "f"): 3, ("a", "g"): 1}), Counter({("a", "f"): 2, ("b", "h"): 9})

    assert least_work.in_common([first, second]) == Counter({("a", "f"): 2})


def test_a_page_without_the_heading_is_an_error():
    with pytest.raises(ValueError, match="no heading 'counted calls'"):
        speed_page.with_part("# a page\n", "counted calls", "| a |")


@pytest.mark.parametrize("parts", [OF_A_REQUEST, OF_A_LAB])
def test_every_part_is_on_the_page_and_has_files(parts):
    page = PAGE.read_text(encoding="utf-8")
    package = Path(labkit.__file__).parent
    files = [path.relative_to(package).as_posix() for path in package.rglob("*.py")]
    found = Counter(part_of(file, parts) for file in files)

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
    counted = f"| KV read | {test_work.WRITTEN_DOWN['KV read'].calls} | 0 |"
    page.write_text(PAGE.read_text(encoding="utf-8").replace(counted, "| another |"), encoding="utf-8")
    monkeypatch.setattr(speed_page, "with_least", str)
    kept: list[Path] = []
    monkeypatch.setattr(speed_page, "PAGE", page)
    monkeypatch.setattr(gallery, "keep", kept.append)
    monkeypatch.setattr(speed_page, "measured", None)
    speed_page.main(["--keep"])

    assert page.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")
    assert kept == [gallery.FOLDER]


@pytest.mark.parametrize("asked", ["--help", "--kept"])
def test_what_it_does_not_know_measures_and_writes_nothing(asked, monkeypatch, capsys):
    monkeypatch.setattr(speed_page, "measured", None)
    monkeypatch.setattr(speed_page, "PAGE", None)

    with pytest.raises(SystemExit):
        speed_page.main([asked])
    assert "--keep" in "".join(capsys.readouterr())


@pytest.mark.slow
def test_what_is_sampled_belongs_to_the_package():
    vault = labkit.Vault.dev(seed=7)

    def work():
        for _ in range(50):
            vault.post("secret/data/app", {"data": {"user": "ada"}})
        return 50

    samples, each_us = speed_page.sampled(work, 0.5)

    assert each_us > 0
    assert {part_of(file, OF_A_REQUEST) for file in samples} <= {*OF_A_REQUEST, ""}
    assert samples.total() > samples[""]
