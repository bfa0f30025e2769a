"""run prints what happened and a verdict; each way in which a run may end has its exit code, and none a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from labkit import Lab
from labkit.cli import main
from labkit.lab.faults import LabFaults

Written = Callable[[str, str], str]

LONG = """\
scenario: A long one
lab:
  sites: [here]
  clusters:
    one: {site: here, nodes: 3}
  clients:
    writers: {site: here, use: [one], work: [{do: put-secret, every: 100ms}]}
timeline:
  - {do: note, text: begins}
  - {do: crash, target: one-2, at: 5s}
  - {do: restart, target: one-2, at: 8s}
end: 20s
expect:
  acknowledged: {at least: 100}
"""


@pytest.mark.parametrize("code", [0, 1, 2, 3])
@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_the_exit_code_is_the_verdict(code: int, quiet: list[str], written: Written, texts: dict[int, str]) -> None:
    assert main(["run", *quiet, written("x.lab.yaml", texts[code])]) == code


@pytest.mark.parametrize(("codes", "code"), [([0, 3], 3), ([3, 1, 0], 1), ([1, 2, 3], 2), ([0, 0], 0)])
def test_of_several_files_the_worst_counts(
    codes: list[int], code: int, written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    names = [written(f"{number}.lab.yaml", texts[one]) for number, one in enumerate(codes)]

    assert main(["run", "-q", *names]) == code
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"{len(codes)} files: ")


def test_a_run_prints_what_happened_and_the_verdict(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", written("x.lab.yaml", texts[0])])
    output = capsys.readouterr()

    assert output.out.startswith("A small lab\n===========\n")
    assert "step 1     seal one" in output.out
    assert "A small lab: as expected (seed 7, " in output.out
    assert output.err.startswith("ran 1 s of lab time and ")
    assert "\r" not in output.err
    digest = Lab.load("x.lab.yaml").run().trace.digest()[:16]
    assert output.out.endswith(f"\nthe same seed gives the same run: its trace has the digest {digest}\n")


def test_a_run_begins_with_what_it_is_about_in_lines_of_a_hundred(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    about = " ".join(["word"] * 30)
    main(["run", written("x.lab.yaml", texts[0].replace("lab:", f"about: {about}\nlab:", 1))])
    title, line, first, second, empty, heading, *_ = capsys.readouterr().out.splitlines()

    assert (title, line) == ("A small lab", "=" * 11)
    assert (first, second) == (" ".join(["word"] * 20), " ".join(["word"] * 10))
    assert (empty, heading) == ("", "what happened, in lab time:")


def test_runs_of_several_files_stand_apart(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", written("a.lab.yaml", texts[0]), written("b.lab.yaml", texts[0])])
    lines = capsys.readouterr().out.splitlines()
    first, second = (place for place, line in enumerate(lines) if line == "A small lab")

    assert first == 0
    assert lines[second - 1] == ""


@pytest.mark.slow
def test_the_title_stands_before_what_the_run_took_and_the_verdict_after(
    written: Written, texts: dict[int, str], checkout: Path
) -> None:
    name = str(Path(written("x.lab.yaml", texts[0])).absolute())
    command = [sys.executable, "-m", "labkit", "run", name]
    shown = subprocess.run(command, cwd=checkout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    places = [shown.index(text) for text in ("=====", "ran 1 s of lab time", "what happened", "as expected")]

    assert places == sorted(places)


def test_how_long_it_took_is_said(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, instants_s = written("x.lab.yaml", texts[0]), iter((100.0, 102.5))
    monkeypatch.setattr("time.perf_counter", lambda: next(instants_s))
    main(["run", name])

    assert capsys.readouterr().err.endswith(" messages in 2.5 s\n")


def test_a_quiet_run_is_one_line(written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "-q", written("x.lab.yaml", texts[0])])
    output = capsys.readouterr()

    assert output.out == "x.lab.yaml: A small lab: as expected (seed 7, 1s of lab time)\n"
    assert output.err == ""


def test_a_quiet_run_reports_what_was_not_as_expected(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "-q", written("x.lab.yaml", texts[1])])

    assert "x.lab.yaml:10:3: of them lost: expected 3, got 0 (broken)" in capsys.readouterr().out


def test_a_seed_may_be_given(written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]) -> None:
    name = written("x.lab.yaml", texts[0])
    digests = []
    for seed in ("8", "8", "9"):
        assert main(["run", name, "--seed", seed]) == 0
        output = capsys.readouterr().out
        assert f"(seed {seed}, " in output
        digests.append(output.splitlines()[-1])

    assert digests[0] == digests[1]


def test_a_folder_is_run_in_the_order_of_names(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    written("drills/b.lab.yaml", texts[3])
    written("drills/a/z.lab.yml", texts[0])

    assert main(["run", "-q", "drills"]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("drills/a/z.lab.yml: ")
    assert lines[1].startswith("drills/b.lab.yaml: ")
    assert lines[-1] == "2 files: 1 as expected, 1 unknown"


ODD: dict[str, bytes] = {
    "binary.lab.yaml": bytes(range(256)),
    "empty.lab.yaml": b"",
    "utf-16.lab.yaml": "scenario: x".encode("utf-16"),
    "nul.lab.yaml": b"scenario: \0",
    "huge.lab.yaml": b"# " + b"x" * 300_000,
}


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("name", ["nothing.lab.yaml", "folder", "loop.lab.yaml", *ODD])
def test_what_is_not_a_scenario_is_reported_in_a_line(
    command: str, name: str, written: Written, capsys: pytest.CaptureFixture[str]
) -> None:
    written("folder/notes.txt", "")
    for odd, content in ODD.items():
        Path(odd).write_bytes(content)
    os.symlink("loop.lab.yaml", "loop.lab.yaml")

    assert main([command, name]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(f"{name}:")
    assert len(output.err.splitlines()) <= 3


@pytest.mark.parametrize("change", [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")])
def test_a_file_of_another_system_is_run(
    change: Callable[[str], str], written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path(written("x.lab.yaml", "")).write_bytes(change(texts[0]).encode())
    assert main(["run", "-q", "x.lab.yaml"]) == 0

    Path("x.lab.yaml").write_bytes(change(texts[2]).encode())
    assert main(["run", "-q", "x.lab.yaml"]) == 2
    assert "x.lab.yaml:7:10: step 1, do: " in capsys.readouterr().err


def test_a_terminal_shows_how_far_it_is_and_sees_the_same_run(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = written("x.lab.yaml", texts[0].replace("settle: 1s", "end: 20s"))
    main(["run", name])
    quiet = capsys.readouterr()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main(["run", name])
    output = capsys.readouterr()

    assert "\rrunning, lab time |" in output.err
    assert "| 0 of 20 s" in output.err
    assert " \rran 20 s of lab time" in output.err, "the bar is gone when it is over"
    assert output.err.count("\n") == 1
    assert output.out == quiet.out


@pytest.mark.parametrize(
    ("end", "quiet", "shown"),
    [
        *(("end: 50m", [], True), ("end: 50m1s", [], False), ("settle: 1s", [], False)),
        ("end: 20s", ["-q"], False),
    ],
)
def test_a_bar_is_shown_where_the_end_is_known_and_not_hours_away(
    end: str,
    quiet: list[str],
    shown: bool,
    written: Written,
    texts: dict[int, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main(["run", *quiet, written("x.lab.yaml", texts[0].replace("settle: 1s", end))])

    assert ("running, lab time |" in capsys.readouterr().err) == shown


def test_a_run_of_hours_is_played_to_its_end(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "-q", written("x.lab.yaml", texts[0].replace("settle: 1s", "end: 2h30m"))]) == 0
    assert "2h30m of lab time" in capsys.readouterr().out


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is pressed in the middle of the first crash."""
    crash = LabFaults.crash

    def crash_and_interrupt(faults: LabFaults, target: str) -> None:
        signal.raise_signal(signal.SIGINT)
        crash(faults, target)

    monkeypatch.setattr(LabFaults, "crash", crash_and_interrupt)


@pytest.mark.usefixtures("interrupted")
def test_an_interrupt_says_where_it_stopped_and_what_was_measured(
    written: Written, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGINT)

    assert main(["run", written("x.lab.yaml", LONG)]) == 130
    output = capsys.readouterr()
    where = "stopped at 5s of lab time, before step 3: restart one-2; what follows was measured up to there\n"
    assert output.err == where
    assert "5.000 s  step 2     crash one-2" in output.out
    assert "the end" in output.out
    assert "not reached at 5s" in output.out
    (row,) = (line for line in output.out.splitlines() if line.startswith("writes acknowledged"))
    assert 30 <= int(row.split()[-2]) <= 50
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("interrupted")
def test_an_interrupt_before_the_lab_is_saved_is_said(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-q", written("x.lab.yaml", LONG), "--save-at", "9s"]) == 130
    assert "--save-at: nothing was saved; the run was stopped before 9s\n" in capsys.readouterr().err
    assert not Path("saved.lab").exists()

    assert main(["run", "-q", "x.lab.yaml", "--save-at", "2s"]) == 130
    assert "nothing was saved" not in capsys.readouterr().err
    assert Path("saved.lab").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--save-to", "q.lab"], "--save-to: expected --save-at too, the instant at which the lab is saved"),
        (["--save-to", "", "--save-at", "1s"], "--save-to: expected the name of a file, got ''"),
        (["--save-to", "./x.lab.yaml", "--save-at", "1s"], "a file of its own for the lab, got that of x.lab.yaml"),
        (["--save-to", "r.html", "--save-at", "1s", "--report", "r.html"], "the lab, got that of --report r.html"),
    ],
)
def test_a_lab_is_saved_to_a_file_of_its_own_or_the_run_refused(
    arguments: list[str], why: str, written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", written("x.lab.yaml", texts[0]), *arguments]) == 2
    output = capsys.readouterr()
    assert why in output.err
    assert output.out == ""
    assert Path("x.lab.yaml").read_text() == texts[0]
    assert [path.name for path in Path().iterdir()] == ["x.lab.yaml"]


@pytest.mark.usefixtures("interrupted")
def test_an_interrupt_ends_a_series(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    names = [written("a.lab.yaml", texts[0]), written("b.lab.yaml", LONG), written("c.lab.yaml", texts[0])]

    assert main(["run", "-q", *names]) == 130
    assert capsys.readouterr().out.splitlines()[-1] == "3 files: 1 as expected, 1 stopped by Ctrl-C, 1 not run"


def test_a_second_interrupt_ends_it_at_once(
    written: Written, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(LabFaults, "crash", hang)

    assert main(["run", written("x.lab.yaml", LONG)]) == 130
    assert capsys.readouterr().err == "stopped\n"


def test_a_run_outside_the_main_thread_needs_no_signals(written: Written, texts: dict[int, str]) -> None:
    name, codes = written("x.lab.yaml", texts[0]), []
    thread = Thread(target=lambda: codes.append(main(["run", "-q", name])))
    thread.start()
    thread.join()

    assert codes == [0]


def test_a_bug_is_one_line_and_the_other_files_are_run(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("out of nowhere")

    monkeypatch.setattr(LabFaults, "crash", fail)
    names = [written("a.lab.yaml", LONG), written("b.lab.yaml", texts[0])]

    assert main(["run", "-q", *names]) == 4
    output = capsys.readouterr()
    assert output.err.startswith("a.lab.yaml: a bug of labkit: RuntimeError: out of nowhere; report it with")
    assert len(output.err.splitlines()) == 1
    assert output.out.splitlines()[-1] == "2 files: 1 as expected, 1 a bug of labkit"
    monkeypatch.setenv("LABKIT_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        main(["run", "-q", *names])


def test_the_lesson_is_printed_after_the_verdict(
    written: Written, texts: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", written("x.lab.yaml", texts[0] + "lesson: >\n  what it\n  shows\n")])
    lines = capsys.readouterr().out.splitlines()

    assert "as expected" in lines[lines.index("lesson: what it shows") - 2]
    main(["run", "-q", written("x.lab.yaml", texts[1] + "lesson: what it shows\n")])
    assert "lesson: what it shows" not in capsys.readouterr().out
