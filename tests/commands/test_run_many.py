"""A file with seeds and a matrix is played with all of them: one table, and the report of the first failure."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from labkit.cli import main
from labkit.lab.faults import LabFaults

Written = Callable[[str, str], str]
Texts = dict[int, str]


def many(text: str, seeds: int = 3) -> str:
    """A file with several seeds, and a matrix whose second value changes what is expected."""
    text = text.replace("lab:\n", f"seeds: {seeds}\nmatrix: {{lost: [0, 3]}}\nlab:\n", 1)
    return text.replace("lost: 0", "lost: $(matrix.lost)")


def test_all_runs_are_one_table_and_the_first_failure_is_reported(
    written: Written, texts: Texts, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", written("x.lab.yaml", many(texts[0]))]) == 1
    output = capsys.readouterr()
    lines = output.out.splitlines()

    assert lines[:4] == [
        "A small lab",
        "===========",
        "",
        "combination  runs  as expected  unknown  not as expected  share not as expected  worst seed",
    ]
    assert lines[5].split() == ["lost:", "0", "3", "3", "0", "0", "0%", "(at", "most", "56.2%)"]
    assert lines[6].split() == ["lost:", "3", "3", "0", "0", "3", "100%", "(at", "least", "43.8%)", "0"]
    assert lines[8] == "In brackets: what that share may be over all seeds, with 95% certainty."
    assert lines[10] == "A small lab: not as expected in 3 of 6 runs (2 combinations, 3 seeds)"
    assert lines[12] == "the first run that is not as expected:"
    assert lines[13] == "A small lab: not as expected (lost: 3, seed 0, 1s of lab time)"
    assert lines[14].startswith("x.lab.yaml:12:3: of them lost: expected 3, got 0 (broken)")
    assert lines[-1] == "to run it again: labkit run x.lab.yaml --seed 0 --only lost=3"
    assert output.err == ""


def test_a_quiet_series_is_one_line_and_the_report(
    written: Written, texts: Texts, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "-q", written("x.lab.yaml", many(texts[0]).replace("[0, 3]", "[0]"))]) == 0
    assert capsys.readouterr().out == "x.lab.yaml: A small lab: as expected in all 3 runs (3 seeds)\n"
    assert main(["run", "-q", written("x.lab.yaml", many(texts[0]))]) == 1
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "x.lab.yaml: A small lab: not as expected in 3 of 6 runs (2 combinations, 3 seeds)"
    assert second == "the first run that is not as expected:"


def test_seed_and_only_choose_one_run_which_is_shown_whole(
    written: Written, texts: Texts, capsys: pytest.CaptureFixture[str]
) -> None:
    name = written("x.lab.yaml", many(texts[0]))

    assert main(["run", name, "--seed", "2", "--only", "lost=3"]) == 1
    output = capsys.readouterr().out
    assert "what happened, in lab time:" in output
    assert "A small lab: not as expected (lost: 3, seed 2, 1s of lab time)" in output
    assert main(["run", "-q", name, "--seed", "2"]) == 1
    assert "in 1 of 2 runs (2 combinations, 1 seed)" in capsys.readouterr().out
    assert main(["run", "-q", name, "--only", "lost=0"]) == 0
    assert "in all 3 runs (3 seeds)" in capsys.readouterr().out


@pytest.mark.parametrize("only", ["lost=1", "lost: 3", ""])
def test_an_unknown_combination_is_refused(
    only: str, written: Written, texts: Texts, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", written("x.lab.yaml", many(texts[0])), "--only", only]) == 2
    assert capsys.readouterr().err.startswith("x.lab.yaml: --only: expected a combination of the matrix, got ")
    assert main(["run", written("x.lab.yaml", texts[0]), "--only", only]) == 2
    assert "since the file has no matrix" in capsys.readouterr().err


def test_what_led_to_it_is_said_of_the_first_failure(
    written: Written, texts: Texts, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "--why", written("x.lab.yaml", many(texts[0]))])
    whole = capsys.readouterr().out
    main(["run", written("x.lab.yaml", many(texts[0]))])
    short = capsys.readouterr().out

    assert whole.startswith(short)
    assert len(whole) >= len(short)


SEEN = "sometimes:\n  - {primary: [one]}\ncovers: [takeover]\n"


def test_what_is_to_be_seen_in_any_run_is_judged_over_all_seeds(
    written: Written, texts: Texts, capsys: pytest.CaptureFixture[str]
) -> None:
    name = written("x.lab.yaml", many(texts[0]).replace("[0, 3]", "[0]").replace("expect:", f"{SEEN}expect:"))

    assert main(["run", name]) == 1
    output = capsys.readouterr().out
    assert "true in none of 3 runs" in output
    assert output.endswith("\nA small lab: not as expected over all 3 runs (3 seeds)\n")
    assert main(["run", "-q", name]) == 1
    first, *table = capsys.readouterr().out.splitlines()
    assert first == "x.lab.yaml: A small lab: not as expected over all 3 runs (3 seeds)"
    assert [line.split()[-1] for line in table[2:]] == ["broken", "unknown"]
    assert main(["run", "-q", name, "--seed", "2"]) == 0, "one seed of three is listed and not judged"
    Path(name).write_text(Path(name).read_text().replace("{lost: [0]}", "{lost: [0], other: [1, 2]}"))
    assert main(["run", "-q", name, "--seed", "2"]) == 0, "nor is one of three with each combination"


def crashing(texts: Texts) -> str:
    return many(texts[0].replace("{do: seal, cluster: one}", "{do: crash, target: one, at: 1s}"))


def test_an_interrupt_ends_the_series_with_the_table_so_far(
    written: Written, texts: Texts, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    crash, count = LabFaults.crash, iter(range(9))

    def crash_and_interrupt(faults: LabFaults, target: str) -> None:
        if next(count) == 2:
            signal.raise_signal(signal.SIGINT)
        crash(faults, target)

    monkeypatch.setattr(LabFaults, "crash", crash_and_interrupt)
    before = signal.getsignal(signal.SIGINT)

    assert main(["run", written("x.lab.yaml", crashing(texts))]) == 130
    output = capsys.readouterr()
    assert output.err == "stopped in the run with lost: 0, seed 2\n"
    assert "in all 2 runs" in output.out
    assert signal.getsignal(signal.SIGINT) is before


def test_a_bug_names_the_run(
    written: Written, texts: Texts, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("out of nowhere")

    monkeypatch.setattr(LabFaults, "crash", fail)

    assert main(["run", written("x.lab.yaml", crashing(texts))]) == 4
    assert capsys.readouterr().err.startswith("x.lab.yaml, lost: 0, seed 0: a bug of labkit: RuntimeError")


def test_check_says_with_how_many_it_is_played(
    written: Written, texts: Texts, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", written("x.lab.yaml", many(texts[0], 200))]) == 0
    assert capsys.readouterr().out == "x.lab.yaml: valid: A small lab, 1 step, 2 combinations, 200 seeds\n"
