"""The lessons' site from the command line: what is reported, and which arguments fit together."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.cli import main
from labkit.lessons import site
from labkit.lessons.browser_python import CannotBuild
from labkit.lessons.site import BuiltSite


def test_a_site_is_built_and_how_to_look_at_it_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def build(folder: Path, pyodide: tuple[Path, ...]) -> BuiltSite:
        asked.append((folder, pyodide))
        return BuiltSite(folder, 4, 50_400_000, ())

    monkeypatch.setattr(site, "build_site", build)
    assert main(["lessons", "--site", "my site", "--pyodide", "a", "--pyodide", "b"]) == 0

    assert asked == [(Path("my site"), (Path("a"), Path("b")))]
    said = capsys.readouterr().out
    assert "built a site of 4 lessons in my site, 50 MB; any server of files can hand it out" in said
    assert "python -m http.server --bind 127.0.0.1 --directory 'my site'" in said


def test_what_cannot_be_built_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(folder: Path, pyodide: object) -> BuiltSite:
        raise CannotBuild(f"{folder}: expected something else")

    monkeypatch.setattr(site, "build_site", refuse)
    assert main(["lessons", "--site", "here"]) == 2
    assert capsys.readouterr().err == "here: expected something else\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pyodide", "a"], "--pyodide: expected --site FOLDER beside it, got none"),
        (["--site", "a", "--copy", "b"], "--site: expected no --copy beside it, got both"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lessons", *arguments]) == 2
    assert capsys.readouterr().err.startswith(said)
