"""run_many: plays one file with all its combinations and seeds, and prints one table of what became of them.

Only the first run that is not as expected is reported.  Ctrl-C stops between two events; what was played up to there is
in the table.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from labkit.commands.exit_codes import AS_EXPECTED, STOPPED, report_bug, worst
from labkit.commands.playing import interruptible, introduce, judged, run_to_the_end, show
from labkit.commands.run_report import write_report
from labkit.commands.scenario_files import with_names
from labkit.commands.terminal import columns
from labkit.commands.why import causes

if TYPE_CHECKING:
    from labkit.front.lab import Lab
    from labkit.scenario.scenario import Scenario
    from labkit.scenario.verdict import Verdict

    Runs: TypeAlias = Sequence[tuple[Scenario, int]]


class UnknownCombination(ValueError):
    """What is asked for is not one of the file's combinations."""


def chosen(scenarios: Sequence[Scenario], seed: int | None, only: str | None) -> Runs:
    """Return the runs that are asked for, combination by combination; raise UnknownCombination."""
    if only is not None:
        known = {scenario.combination.id: scenario for scenario in scenarios if scenario.combination.values}
        if only not in known:
            raise UnknownCombination(_unknown(only, list(known)))
        scenarios = [known[only]]
    return [
        (scenario, number) for scenario in scenarios for number in (scenario.all_seeds if seed is None else (seed,))
    ]


def _unknown(only: str, known: list[str]) -> str:
    from labkit.scenario.problems import expected

    if not known:
        return f"expected no --only {only}, since the file has no matrix"
    return f"--only: {expected('a combination of the matrix', only, known)}"


def play_many(path: str, runs: Runs, *, quiet: bool, why: bool, report: str | None = None) -> int:
    """Play many runs of one file, print what became of them, and return their exit code.

    A report is of the first run that is not as expected, or else of the first.
    """
    from labkit.front.lab import lab_of
    from labkit.scenario.many.many_runs import ManyRuns

    played, failures, code = ManyRuns(runs[0][0].title), list[str](), AS_EXPECTED
    reported: tuple[Lab, Verdict] | None = None
    if not quiet:
        introduce(runs[0][0])
    with interruptible() as interruption:
        for scenario, seed in _shown(runs, quiet=quiet):
            try:
                lab = lab_of(scenario, seed)
                run_to_the_end(lab, interruption, None)
                verdict = judged(lab, alone=False)
            except Exception as error:
                if os.environ.get("LABKIT_TRACEBACK"):
                    raise
                code = report_bug(error, f"{with_names(path, path)}, {_run_text(scenario, seed)}")
                break
            if interruption.pressed:
                code = STOPPED
                print(f"stopped in the run with {_run_text(scenario, seed)}", file=sys.stderr)
                break
            played.add(scenario, verdict)
            if report is not None and (reported is None or (verdict.exit_code and not failures)):
                reported = (lab, verdict)
            if verdict.exit_code != AS_EXPECTED and not failures:
                failures += _failure(lab, scenario, verdict, why=why)
    if played.runs:
        show(with_names(f"{path}: {played.summary}", path) if quiet else played.text(columns()))
        if quiet and not failures and played.exit_code != AS_EXPECTED:
            show(played.spanning_text(columns()))
        show(*([""] if failures and not quiet else []), *(with_names(text, path) for text in failures))
    written = 0 if report is None or reported is None else write_report(report, *reported)
    return worst([code or played.exit_code, written])


def _failure(lab: Lab, scenario: Scenario, verdict: Verdict, *, why: bool) -> list[str]:
    """What is reported of the first run that is not as expected."""
    texts = [f"the first run that is not as expected:\n{verdict.report(scenario, lab.trace)}"]
    return texts + [f"\n{paragraph}" for paragraph in causes(lab, verdict)] if why else texts


def _run_text(scenario: Scenario, seed: int) -> str:
    return ", ".join(part for part in (scenario.combination.text, f"seed {seed}") if part)


def _shown(runs: Runs, *, quiet: bool) -> Iterator[tuple[Scenario, int]]:
    """The runs, with a bar on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield from runs
        return
    from tqdm import tqdm

    bar: Any = tqdm(runs, desc="running", unit="run", file=sys.stderr, leave=False)
    yield from bar
