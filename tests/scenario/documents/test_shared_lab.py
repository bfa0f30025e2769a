"""The lab of another file of the project is taken whole; what is wrong with it is reported in that file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from labkit.scenario.documents.shared_lab import project_root
from labkit.scenario.loading import load, loads
from labkit.scenario.problems import ScenarioError

Vary = Callable[..., str]


@pytest.fixture
def texts(vary: Vary) -> tuple[str, str]:
    """A file with a lab, and the same scenario with the path of that file instead."""
    text = vary()
    start, end = text.index("lab:\n"), text.index("timeline:")
    return f"scenario: Two regions\n{text[start:end]}", f"{text[:start]}lab: ../two.lab.yaml\n{text[end:]}"


@pytest.fixture
def drill(texts: tuple[str, str], tmp_path: Path) -> Path:
    """A file in a folder of a project whose lab is in the folder above."""
    (tmp_path / "drills").mkdir()
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "two.lab.yaml").write_text(texts[0])
    path = tmp_path / "drills" / "one.lab.yaml"
    path.write_text(texts[1])
    return path


def test_it_is_the_lab_that_would_be_written_there(drill: Path, vary: Vary) -> None:
    shared, own = load(drill), loads(vary().encode())

    assert (shared.blueprint, shared.timeline, shared.expect) == (own.blueprint, own.timeline, own.expect)
    assert (shared.title, shared.path) == ("A small lab", str(drill))
    assert shared.position_of("lost") == own.position_of("lost")._replace(line=9)  # type: ignore[union-attr]  # it is there


def test_its_problems_are_reported_in_it_after_those_of_the_file(drill: Path) -> None:
    two = drill.parent.parent / "two.lab.yaml"
    two.write_text(two.read_text().replace("80ms", "80"))
    drill.write_text(drill.read_text().replace("lost: 0", "lots: 0"))
    with pytest.raises(ScenarioError) as caught:
        load(drill)

    first, *_, second, line, caret = str(caught.value).splitlines()
    assert first.startswith(f"{drill}:9:3: expect: expected a key, got 'lots'")
    assert second.startswith(f"{two}:5:42: lab.links[1].latency: expected a duration with its unit")
    assert line == "    5 |     - {between: [paris, tokyo], latency: 80}"
    assert caret.index("^") == line.index("80")


def test_a_file_of_its_own_says_nothing_of_what_it_does_not_share(drill: Path) -> None:
    two = drill.parent.parent / "two.lab.yaml"
    two.write_text(two.read_text() + "timeline: nonsense\nfurther: keys\n")

    assert load(drill).blueprint.sites == ("paris", "tokyo")


def test_it_stays_in_the_project(drill: Path, tmp_path: Path, texts: tuple[str, str]) -> None:
    assert project_root(str(drill.parent)) == str(tmp_path)
    (drill.parent / ".git").mkdir()

    assert project_root(str(drill.parent)) == str(drill.parent)
    with pytest.raises(ScenarioError, match=r"lab: expected a file of the same project, got '\.\./two\.lab\.yaml'"):
        load(drill)


def test_without_a_project_it_stays_in_its_folder(drill: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.scenario.documents.shared_lab.PROJECT_FILES", ("a file that is nowhere",))
    with pytest.raises(ScenarioError, match="expected a file of the same project"):
        load(drill)
    (tmp_path / "two.lab.yaml").rename(drill.parent / "two.lab.yaml")
    drill.write_text(drill.read_text().replace("../two", "./two"))

    assert load(drill).blueprint.sites == ("paris", "tokyo")


def test_a_link_that_leads_out_of_the_project_is_not_followed(drill: Path, tmp_path: Path) -> None:
    inside, elsewhere = tmp_path / "pyproject.toml", tmp_path / "two.lab.yaml"
    inside.rename(drill.parent / "pyproject.toml")
    os.symlink(elsewhere, drill.parent / "link.lab.yaml")
    drill.write_text(drill.read_text().replace("../two", "link"))

    with pytest.raises(ScenarioError, match="expected a file of the same project"):
        load(drill)


def test_a_text_without_a_file_shares_nothing(texts: tuple[str, str]) -> None:
    with pytest.raises(ScenarioError, match="lab: expected a mapping of sites, links, clusters and clients"):
        loads(texts[1].encode())


def test_the_path_is_one_from_the_folder_of_the_file(drill: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(drill.parent)
    assert load("one.lab.yaml").path == "one.lab.yaml"
    monkeypatch.chdir(drill.parent.parent)
    assert load("drills/one.lab.yaml").blueprint.sites == ("paris", "tokyo")


def test_a_file_may_name_a_matrix_beside_a_shared_lab(drill: Path) -> None:
    text = (
        drill.read_text()
        .replace("lab:", "matrix: {pause: [1s, 2s]}\nlab:")
        .replace("2s}\nend", "$(matrix.pause)}\nend")
    )
    drill.write_text(text)

    assert [load(drill).combination.text] == ["pause: 1s"]
