"""Arguments name files and folders; each file comes once, in an order that is the same everywhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from labkit import places
from labkit.commands.scenario_files import scenario_files, with_names


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()


def test_a_folder_is_searched_in_the_order_of_names() -> None:
    make("b/z.lab.yaml", "b/a.lab.yml", "a/x.lab.yaml", "top.lab.yaml", "notes.yaml", "b/readme.md")

    assert scenario_files(["."]) == (("./a/x.lab.yaml", "./b/a.lab.yml", "./b/z.lab.yaml", "./top.lab.yaml"), ())


def test_files_keep_the_order_in_which_they_are_named() -> None:
    make("b.lab.yaml", "a.lab.yaml", "plain.yaml")

    assert scenario_files(["b.lab.yaml", "plain.yaml", "a.lab.yaml"]).paths == (
        "b.lab.yaml",
        "plain.yaml",
        "a.lab.yaml",
    )


def test_a_file_that_is_named_twice_comes_once() -> None:
    make("a/x.lab.yaml")
    os.symlink("x.lab.yaml", "a/y.lab.yaml")

    assert scenario_files(["a/x.lab.yaml", "a", "./a/x.lab.yaml"]).paths == ("a/x.lab.yaml",)


def test_two_files_of_one_name_are_two() -> None:
    make("a/x.lab.yaml", "b/x.lab.yaml", "a/x.lab.yml")

    assert scenario_files(["a", "b"]).paths == ("a/x.lab.yaml", "a/x.lab.yml", "b/x.lab.yaml")


def test_a_folder_that_leads_to_itself_is_searched_once() -> None:
    make("a/x.lab.yaml")
    os.symlink(".", "a/loop")

    assert scenario_files(["a"]).paths == ("a/x.lab.yaml",)


def test_links_pipes_and_hidden_folders() -> None:
    make("a/x.lab.yaml", "a/.hidden/y.lab.yaml", "a/folder.lab.yaml/z.lab.yaml")
    os.mkfifo("a/pipe.lab.yaml")
    os.symlink("self.lab.yaml", "a/self.lab.yaml")

    assert scenario_files(["a"]).paths == ("a/folder.lab.yaml/z.lab.yaml", "a/self.lab.yaml", "a/x.lab.yaml")


def test_a_folder_without_scenarios_is_refused() -> None:
    make("a/notes.txt")

    assert scenario_files(["a"]) == (
        (),
        ("a: expected scenario files in this folder (*.lab.yaml or *.lab.yml), got none",),
    )


def test_a_folder_that_may_not_be_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    make("a/b/x.lab.yaml", "a/c/y.lab.yaml")
    allowed = os.scandir

    def guarded(path: str) -> object:
        if path.endswith("b"):
            raise PermissionError(13, "Permission denied", path)
        return allowed(path)

    monkeypatch.setattr(os, "scandir", guarded)

    assert scenario_files(["a"]) == (("a/c/y.lab.yaml",), ("a/b: cannot be read: Permission denied",))


def test_what_does_not_exist_is_left_to_its_reader() -> None:
    assert scenario_files(["no.lab.yaml"]).paths == ("no.lab.yaml",)


def test_a_shipped_scenario_is_meant_where_no_file_has_its_name(checkout: Path) -> None:
    shipped = str(checkout / "scenarios/first/failover.lab.yaml")
    beside = ["first", "first/failover.lab.yaml", "../scenarios/first/failover", "first/none", "", str(checkout)]

    assert scenario_files(["first/failover"]).paths == (shipped,)
    assert [places.shipped_scenario(name) for name in beside] == [None] * len(beside)
    make("first/failover")
    assert scenario_files(["first/failover"]).paths == ("first/failover",)


def test_a_name_that_is_nearly_a_shipped_one_is_refused_with_a_hint() -> None:
    text = "first/failovr: no file has this name, and no shipped scenario either — did you mean 'first/failover'?"

    assert scenario_files(["first/failovr"]) == ((), (text,))
    make("first/failovr")
    assert scenario_files(["first/failovr"]).paths == ("first/failovr",)


def test_a_shipped_scenario_is_called_by_its_name(checkout: Path) -> None:
    shipped = str(checkout / "scenarios/first/failover.lab.yaml")

    assert with_names(f"{shipped}:1:2: x", shipped) == "first/failover:1:2: x"
    assert with_names("mine.lab.yaml: x", "mine.lab.yaml") == "mine.lab.yaml: x"
    assert with_names("/elsewhere/mine.lab.yaml: x", "/elsewhere/mine.lab.yaml") == "/elsewhere/mine.lab.yaml: x"


def test_a_copy_without_scenarios_leaves_names_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Path:
        raise FileNotFoundError("no folder of them")

    monkeypatch.setattr(places, "scenarios", missing)

    assert scenario_files(["first/failover"]).paths == ("first/failover",)
