"""The shipped scenarios are listed by title and copied, folders and all; a copy runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from labkit import places
from labkit.cli import main
from labkit.commands.own_name import own_name
from labkit.scenario.loading import load
from labkit.scenario.scenario import NOTHING_EXPECTED
from tests.conftest import LONG, pytest_collection_modifyitems


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)


def test_scenarios_are_listed_by_title(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios"]) == 0
    lines = capsys.readouterr().out.splitlines()
    files = sorted((checkout / "scenarios").rglob("*.lab.yaml"))
    count = len(files)

    width = max(len(str(path.relative_to(checkout / "scenarios"))) for path in files) - len(".lab.yaml")
    assert f"{'first/failover':<{width}}  Losing a region" in lines
    groups = "\n".join(lines).split("\n\n")[:-1]
    folders = [{line.split("/")[0] for line in group.split("\n")} for group in groups]
    assert folders == [{"clients"}, {"cloud"}, {"dr"}, {"faults"}, {"first"}, {"keys"}]
    name = own_name()
    assert lines[count + len(groups) - 1 :] == [
        "",
        f"to run one: {name} run {files[0].relative_to(checkout / 'scenarios').as_posix().removesuffix('.lab.yaml')}",
        f"to have copies of your own: {name} scenarios --copy FOLDER",
    ]


def test_scenarios_are_copied_and_run(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count = len(list((checkout / "scenarios").rglob("*.lab.yaml")))

    assert main(["scenarios", "--copy", "my drills"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"copied {count} scenarios to my drills",
        f"to run them: {own_name()} run 'my drills'",
    ]
    original = (checkout / "scenarios/first/refusals.lab.yaml").read_bytes()

    assert Path("my drills/first/refusals.lab.yaml").read_bytes() == original
    assert main(["run", "-q", "my drills/first/refusals.lab.yaml"]) == 0


def test_a_folder_that_cannot_be_used_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios", "--copy", "no/such"]) == 2
    assert capsys.readouterr().err == "no/such: expected a folder no, got none; make it first, or choose another\n"


def test_a_copy_without_scenarios_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing() -> Path:
        raise FileNotFoundError("no folder of them")

    monkeypatch.setattr(places, "scenarios", missing)

    assert main(["scenarios"]) == 2
    assert capsys.readouterr().err == "no folder of them\n"


def test_every_file_of_the_catalogue_has_a_lesson_and_says_what_it_expects(checkout: Path) -> None:
    paths = [
        path for folder in ("clients", "cloud", "dr") for path in (checkout / f"scenarios/{folder}").glob("*.lab.yaml")
    ]
    scenarios = [load(path) for path in sorted(paths)]

    assert [scenario.path for scenario in scenarios if not scenario.lesson.endswith(".")] == []
    assert [scenario.path for scenario in scenarios if not scenario.about] == []
    assert [scenario.path for scenario in scenarios if scenario.expect == NOTHING_EXPECTED] == []


def test_one_file_of_four_of_the_catalogue_and_the_quick_files_elsewhere_are_everyday_tests(checkout: Path) -> None:
    paths = sorted((checkout / "scenarios").rglob("*.lab.yaml"))
    slow: list[Path] = []
    items: list[Any] = [SimpleNamespace(path=path, add_marker=lambda _, path=path: slow.append(path)) for path in paths]
    pytest_collection_modifyitems(items)
    catalogue = [path for path in paths if path.parent.name == "dr"]

    assert sorted(slow) == sorted([*LONG, *[path for number, path in enumerate(catalogue) if number % 4]])
