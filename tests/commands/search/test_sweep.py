"""sweep: rows are appended, what is there is not played again, and what cannot be used is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from labkit.cli import main
from labkit.hunt.sweeping import chunks, seed_rows
from labkit.hunt.sweeping.experiments import Experiment, digest_of
from labkit.hunt.sweeping.seed_rows import PlayedRow

Capsys = pytest.CaptureFixture[str]
Write = Callable[[str, str], str]


@pytest.mark.parametrize("code", [0, 1, 3])
def test_the_worst_run_is_the_exit_code(code: int, texts: dict[int, str], written: Write, capsys: Capsys) -> None:
    path = written("x.lab.yaml", texts[code])

    assert main(["sweep", path, "--seeds", "2", "--out", "rows.jsonl"]) == code
    said = capsys.readouterr().out
    assert "all 2 runs (2 seeds)" in said
    assert "2 rows, digest " in said


def test_more_seeds_cost_only_what_is_new(texts: dict[int, str], written: Write, capsys: Capsys) -> None:
    given = ["sweep", written("x.lab.yaml", texts[0]), "--out", "rows.jsonl", "--set", "settle=1s,2s"]
    assert main([*given, "--seeds", "1"]) == 0
    before = Path("rows.jsonl").read_bytes()
    capsys.readouterr()

    assert main([*given, "--seeds", "2"]) == 0
    assert capsys.readouterr().out.startswith("2 runs are there already, 2 are left\n")
    after = Path("rows.jsonl").read_bytes()
    assert after.startswith(before)
    assert main([*given, "--seeds", "2"]) == 0
    assert Path("rows.jsonl").read_bytes() == after
    assert main(["report", "rows.jsonl"]) == 0
    assert "settle: 2s" in capsys.readouterr().out


def test_two_results_of_one_seed_and_a_refused_worker_are_bugs(
    texts: dict[int, str], written: Write, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ["sweep", written("x.lab.yaml", texts[0]), "--seeds", "1", "--out"]
    played = seed_rows.play_seed
    asked: list[int] = []

    def other_at_first(experiment: Experiment, seed: int) -> PlayedRow:
        asked.append(seed)
        found = played(experiment, seed)
        return found._replace(row=found.row._replace(digest="other")) if len(asked) == 1 else found

    with monkeypatch.context() as patched:
        patched.setattr(seed_rows, "play_seed", other_at_first)
        chunks.reference_row.cache_clear()
        assert main([*given, "refused.jsonl"]) == 4
    said = "is refused: with the reference seed 0 it comes to exit code 0, 0 lost, digest "
    assert said in capsys.readouterr().err

    assert main([*given, "rows.jsonl"]) == 0
    rows = Path("rows.jsonl")
    chunk = json.loads(rows.read_bytes())["chunk"]
    chunk["rows"][0]["digest"] = "other"
    rows.write_text(rows.read_text() + json.dumps({"checksum": digest_of(chunk), "chunk": chunk}) + "\n")
    capsys.readouterr()
    assert main([*given, "rows.jsonl"]) == main(["report", "rows.jsonl"]) == 4
    shown = capsys.readouterr()
    assert shown.err.count("rows.jsonl: seed 0 of A small lab has two results: on line 1 exit code 0") == 2
    assert shown.out == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.lab.yaml", "--out", "rows"], "none.lab.yaml: cannot be read"),
        (["first/failver", "--out", "rows"], "did you mean 'first/failover'?"),
        (["x.lab.yaml", "--out", "."], ".: cannot be written: Is a directory"),
        (["x.lab.yaml", "--out", "x.lab.yaml"], "x.lab.yaml:1: expected a line that labkit sweep wrote"),
        (["x.lab.yaml", "--out", "rows", "--set", "settle"], "--set: expected a path and its values"),
        (["x.lab.yaml", "--out", "rows", "--set", "settle=xs"], "settle: expected a duration"),
        (["x.lab.yaml", "--out", "rows", "--set", "lab.site.0=x"], "did you mean 'sites'?"),
    ],
)
def test_what_cannot_be_used(
    arguments: list[str], said: str, texts: dict[int, str], written: Write, capsys: Capsys
) -> None:
    written("x.lab.yaml", texts[0])

    assert main(["sweep", "--seeds", "1", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert Path("x.lab.yaml").read_text() == texts[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x"], "the following arguments are required: --out"),
        (["x", "--out", "y", "--seeds", "0"], "expected a whole number from 1 up"),
        (["x", "--out", "y", "--jobs", "0"], "expected a number of processes from 1 to 64, got '0'"),
        (["x", "--out", "y", "--jobs", "2", "--scheduler", "tcp://a:1"], "not allowed with argument --jobs"),
    ],
)
def test_arguments_that_cannot_be_read(arguments: list[str], said: str, capsys: Capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["sweep", *arguments])

    assert ended.value.code == 2
    assert said in capsys.readouterr().err
