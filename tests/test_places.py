"""Notebooks and scenarios are found beside the package in a checkout and inside it once installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit import places

EACH = pytest.mark.parametrize("name", ["notebooks", "scenarios"])


@EACH
def test_a_checkout_has_them_beside_the_package(name: str, tmp_path: Path) -> None:
    (tmp_path / "labkit").mkdir()
    (tmp_path / name).mkdir()
    (tmp_path / "pyproject.toml").touch()

    assert places.shipped(name, tmp_path / "labkit") == tmp_path / name


@EACH
def test_an_installed_copy_has_them_inside_the_package(name: str, tmp_path: Path) -> None:
    inside = tmp_path / "labkit" / f"_{name}"
    inside.mkdir(parents=True)
    (tmp_path / name).mkdir()

    assert places.shipped(name, tmp_path / "labkit") == inside


@EACH
def test_an_unrelated_folder_beside_an_installed_copy_is_not_taken(name: str, tmp_path: Path) -> None:
    (tmp_path / "labkit").mkdir()
    (tmp_path / name).mkdir()

    with pytest.raises(FileNotFoundError, match=f"no folder of {name}"):
        places.shipped(name, tmp_path / "labkit")


def test_this_checkout_has_both(checkout: Path) -> None:
    assert places.notebooks() == checkout / "notebooks"
    assert places.scenarios() == checkout / "scenarios"
    assert sorted(places.notebooks().glob("*.ipynb"))
    assert sorted(places.scenarios().rglob("*.lab.yaml"))


@pytest.mark.parametrize(
    ("name", "scenario"),
    [("x.lab.yaml", True), ("x.lab.yml", True), ("x.yaml", False), ("x.lab", False), ("x.lab.yaml.bak", False)],
)
def test_a_scenario_is_known_by_its_name(name: str, scenario: bool) -> None:
    assert places.is_scenario(name) is scenario
