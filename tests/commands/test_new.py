"""A new scenario file is valid, runs as expected, and takes no other file's place."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.cli import main
from labkit.commands.new import starter, title_of
from labkit.commands.own_name import own_name
from labkit.scenario.loading import loads


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)


def test_a_new_file_is_valid_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "scenario", "lost-region"]) == 0
    name = own_name()

    assert capsys.readouterr().out.splitlines() == [
        "wrote lost-region.lab.yaml: two clusters, writers, a lost region, and what is expected at the end",
        f"run it:              {name} run lost-region.lab.yaml",
        f"after each change:   {name} check lost-region.lab.yaml",
        f"its keys, the steps: {name} help scenario, {name} help verbs",
        f"in an editor:        {name} schema > scenario.schema.json",
    ]
    assert main(["check", "lost-region.lab.yaml"]) == 0
    assert main(["run", "-q", "lost-region.lab.yaml"]) == 0
    assert "Lost region: as expected" in capsys.readouterr().out


@pytest.mark.parametrize("seed", [8, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(9, 14))])
def test_it_is_as_expected_with_other_seeds(seed: int) -> None:
    main(["new", "scenario", "x"])

    assert main(["run", "-q", "x.lab.yaml", "--seed", str(seed)]) == 0


@pytest.mark.parametrize(
    ("name", "there"),
    [
        *(("x", "x.lab.yaml"), ("x.lab.yaml", "x.lab.yaml"), ("x.lab.yml", "x.lab.yml")),
        *(("x", "x.lab.yml"), ("x.lab.yml", "x.lab.yaml"), ("x.lab.yaml", "x.lab.yml")),
    ],
)
def test_an_existing_file_is_left_as_it_is(name: str, there: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(there)
    path.write_text("mine")

    assert main(["new", "scenario", name]) == 2
    assert capsys.readouterr().err == f"{path}: exists already and is left as it is; choose another name\n"
    assert path.read_text() == "mine"


def test_a_file_that_somebody_else_makes_meanwhile_is_left_as_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(path: Path) -> bool:
        Path("x.lab.yaml").write_text("mine")
        return False

    monkeypatch.setattr("os.path.lexists", look)

    assert main(["new", "scenario", "x"]) == 2
    assert capsys.readouterr().err == "x.lab.yaml: exists already and is left as it is; choose another name\n"
    assert Path("x.lab.yaml").read_text() == "mine"


def test_a_dangling_link_is_not_written_through() -> None:
    Path("x.lab.yaml").symlink_to("elsewhere")

    assert main(["new", "scenario", "x"]) == 2
    assert not Path("elsewhere").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no/such", "expected a folder no, got none; make it first"),
        ("folder/", "expected a name such as my-drill"),
        ("", "expected a name such as my-drill"),
        ("a\0b", "cannot be written: "),
        ("x" * 300, "cannot be written: File name too long"),
        ("x" * 300 + "/y", "got none; make it first"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(name: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("folder").mkdir()

    assert main(["new", "scenario", name]) == 2
    output = capsys.readouterr().err
    assert words in output
    assert len(output.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("lost-region", "Lost region"),
        ("a_b--c d", "A b c d"),
        ('say "hi": #1', 'Say "hi": #1'),
        ("étude", "Étude"),
        ("---", "A drill"),
        ("two\nlines\x1b", "Two lines"),
        ("no", "No"),
        ("7", "7"),
        ("x" * 100, "X" + "x" * 99),
        ("x" * 101, "X" + "x" * 99),
    ],
)
def test_a_title_comes_from_the_name(name: str, title: str) -> None:
    assert title_of(Path(f"{name}.lab.yaml")) == title
    assert loads(starter(title).encode()).title == title


def test_it_begins_with_the_line_that_an_editor_reads(capsys: pytest.CaptureFixture[str]) -> None:
    Path("drills").mkdir()
    main(["new", "scenario", "drills/x"])
    *_, hint = capsys.readouterr().out.splitlines()

    assert starter("x").startswith("# yaml-language-server: $schema=scenario.schema.json\n")
    assert hint.endswith(" schema > drills/scenario.schema.json")


def test_the_starter_explains_itself() -> None:
    lines = starter("x").splitlines()

    assert sum("#" in line for line in lines) >= 15
    assert max(map(len, lines)) <= 120


def test_letters_of_all_languages_stay_readable() -> None:
    assert "Étude: 東京" in starter("Étude: 東京")
