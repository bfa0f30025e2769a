"""The lessons' site: what is laid out, how the kernel is told where its Python is, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from labkit import places
from labkit.lessons import site
from labkit.lessons.browser_python import CannotBuild
from labkit.lessons.site import EXTENSIONS, KERNEL, STARTED_WITH, build_site


@pytest.fixture
def jupyterlite(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, Any]]:
    """A JupyterLite that lays out the few files which the site changes; the settings that it was given."""
    given: list[dict[str, Any]] = []
    for name in EXTENSIONS:
        (tmp_path / "prefix" / "share" / "jupyter" / "labextensions" / name).mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setattr(site, "find_spec", lambda name: object())

    def build(command: list[str], **settings: Any) -> subprocess.CompletedProcess[str]:
        assert settings["env"]["JUPYTER_NO_CONFIG"] == "1"
        work = Path(command[-1])
        given.append(json.loads((work / "jupyter_lite_config.json").read_text())["LiteBuildConfig"])
        target = Path(given[-1]["output_dir"])
        wheels = target / "extensions" / KERNEL / "static" / "pypi"
        for folder in (wheels, target / "lab"):
            folder.mkdir(parents=True)
        for name in ("piplite-0.8.6", "widgetsnbextension-3.6.999", "widgetsnbextension-4.0.999"):
            (wheels / f"{name}-py3-none-any.whl").touch()
        (target / "lab" / "favicon.ico").write_bytes(b"icon")
        plugin = {f"{KERNEL}:kernel": {"pipliteUrls": ["./all.json"]}}
        settings_of_page = {"jupyter-config-data": {"litePluginSettings": plugin, "appName": "JupyterLite"}}
        (target / "jupyter-lite.json").write_text(json.dumps(settings_of_page))
        return subprocess.CompletedProcess(command, 0, "", "")

    def lay_out(folder: Path, folders: Any, wheels: Any) -> tuple[str, ...]:
        folder.mkdir()
        return tuple(sorted(wheel.name.split("-")[0] + wheel.name.split("-")[1][0] for wheel in wheels))

    monkeypatch.setattr(subprocess, "run", build)
    monkeypatch.setattr(site, "lay_out", lay_out)
    return given


def test_a_site_has_the_lessons_and_says_where_its_python_is(jupyterlite: list[dict[str, Any]], tmp_path: Path) -> None:
    lessons = sorted(places.notebooks().glob("*.ipynb"))
    built = build_site(tmp_path / "out")
    page = json.loads((built.folder / "jupyter-lite.json").read_text())["jupyter-config-data"]

    assert (built.lessons, built.packages) == (len(lessons), ("piplite0", "widgetsnbextension4"))
    assert built.size_bytes == sum(path.stat().st_size for path in built.folder.rglob("*") if path.is_file())
    assert jupyterlite[0]["no_sourcemaps"]
    assert jupyterlite[0]["ignore_sys_prefix"]
    assert page["contentsAllJsonFile"] == "all.json"
    assert page["litePluginSettings"][f"{KERNEL}:kernel"] == {
        "pipliteUrls": ["./all.json"],
        "pyodideUrl": "./pyodide/pyodide.mjs",
        "disablePyPIFallback": True,
        "loadPyodideOptions": {"packages": list(STARTED_WITH)},
    }
    for lesson in lessons:
        assert (built.folder / "files" / lesson.name).read_bytes() == lesson.read_bytes()


def test_lessons_are_listed_for_the_notebook_and_for_people(jupyterlite: object, tmp_path: Path) -> None:
    build_site(tmp_path / "out")
    listed = json.loads((tmp_path / "out" / "api" / "contents" / "all.json").read_text())
    page = (tmp_path / "out" / "index.html").read_text()
    names = sorted(path.name for path in places.notebooks().glob("*.ipynb"))

    assert listed["type"] == "directory"
    assert [(entry["name"], entry["path"], entry["type"]) for entry in listed["content"]] == [
        (name, name, "notebook") for name in names
    ]
    assert [page.index(f'href="lab/index.html?path={name}"') for name in names] == sorted(
        page.index(f"path={name}") - len('href="lab/index.html?') for name in names
    )
    assert '<script id="jupyter-config-data" type="application/json" data-jupyter-lite-root=".">{}</script>' in page
    assert "http" not in page
    assert (tmp_path / "out" / "favicon.ico").read_bytes() == b"icon"


def test_a_folder_in_use_is_left_as_it_is(jupyterlite: list[dict[str, Any]], tmp_path: Path) -> None:
    full, file = tmp_path / "full", tmp_path / "file"
    full.mkdir()
    (full / "mine").touch()
    file.touch()

    for folder in (full, file):
        with pytest.raises(CannotBuild, match=rf"{folder}: expected a folder that is empty or not there yet; move it"):
            build_site(folder)
    with pytest.raises(CannotBuild, match=r"none/deep: expected a folder .*none, got none; make it first"):
        build_site(tmp_path / "none" / "deep")
    with pytest.raises(CannotBuild, match=r"nowhere: expected a folder with files of Pyodide, got none"):
        build_site(tmp_path / "out", [tmp_path / "nowhere"])
    assert jupyterlite == []
    assert [path.name for path in full.iterdir()] == ["mine"]


def test_an_empty_folder_is_filled(jupyterlite: object, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()

    assert build_site(tmp_path / "out").folder == tmp_path / "out"


def test_without_jupyterlite_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(site, "find_spec", lambda name: None if name == "jupyterlite_core" else object())
    with pytest.raises(CannotBuild, match=r"a site needs JupyterLite: pip install '\.\[site\]'"):
        build_site(tmp_path / "out")


def test_without_an_extension_of_the_page_nothing_is_built(jupyterlite: list[dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "prefix" / "share" / "jupyter" / "labextensions" / "anywidget").rmdir()
    with pytest.raises(CannotBuild, match="anywidget: expected an extension of the page, got none"):
        build_site(tmp_path / "out")
    assert jupyterlite == []
    assert not (tmp_path / "out").exists()


def test_what_jupyterlite_says_last_is_shown(
    jupyterlite: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "a line\nthe reason\n")
    monkeypatch.setattr(subprocess, "run", lambda *given, **settings: failed)
    with pytest.raises(CannotBuild, match="JupyterLite cannot lay out its application: the reason"):
        build_site(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_that_cannot_be_written_is_named(
    jupyterlite: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*given: Any) -> tuple[str, ...]:
        raise OSError(28, "No space left on device", "big.whl")

    monkeypatch.setattr(site, "lay_out", full)
    with pytest.raises(CannotBuild, match=r"big\.whl: No space left on device"):
        build_site(tmp_path / "out")
