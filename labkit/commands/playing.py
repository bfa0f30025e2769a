"""Playing: one run of a scenario in a lab, to its end or up to Ctrl-C, and what is printed of it.

Ctrl-C stops a run between two events: it says where, and prints what was measured up to there.  A second one ends the
command at once.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from labkit.commands.exit_codes import AS_EXPECTED, STOPPED, refuse, report_bug, worst
from labkit.commands.run_report import write_report
from labkit.commands.scenario_files import with_names
from labkit.commands.terminal import columns, prose_columns, say
from labkit.commands.why import causes
from labkit.service.durations import SECOND_NS, format_duration

if TYPE_CHECKING:
    from labkit.front.lab import Lab
    from labkit.scenario.running import Run
    from labkit.scenario.scenario import Scenario
    from labkit.scenario.verdict import Verdict

MAX_BAR_NS = 3_000 * SECOND_NS
SAVED_TO = "saved.lab"


class CannotSave(ValueError):
    """A lab cannot be saved where it is asked for."""


def judge_saving(at_ns: int | None, target: str | None, files: Sequence[str], report: str | None) -> None:
    """Raise CannotSave where a lab would never be saved, or where it would replace another file of the command."""
    if target == "":
        raise CannotSave("--save-to: expected the name of a file, got ''")
    if at_ns is None:
        if target is not None:
            raise CannotSave("--save-to: expected --save-at too, the instant at which the lab is saved, such as 20s")
        return
    place = os.path.realpath(SAVED_TO if target is None else target)
    others = {os.path.realpath(path): path for path in files}
    others |= {} if report is None else {os.path.realpath(report): f"--report {report}"}
    if place in others:
        raise CannotSave(f"--save-to: expected a file of its own for the lab, got that of {others[place]}")


class SavePoint:
    """Where and when a lab is saved; without an instant it never is.  ``code`` is not 0 where it could not be."""

    def __init__(self, at_ns: int | None, target: str | None) -> None:
        self._at_ns, self._target = at_ns, target or SAVED_TO
        self.code = AS_EXPECTED

    def end(self) -> None:
        """Say that nothing was saved, where a run was stopped before its instant."""
        if self._at_ns is not None:
            print(
                f"--save-at: nothing was saved; the run was stopped before {format_duration(self._at_ns)}",
                file=sys.stderr,
            )

    def look(self, lab: Lab) -> None:
        """Save the lab once nothing more falls due up to the instant, or its scenario has ended before."""
        if self._at_ns is None:
            return
        next_ns = lab.parts.clock.next_ns
        if next_ns is not None and next_ns <= self._at_ns and not (lab.scenario is not None and lab.scenario.ended):
            return
        self._at_ns = None
        try:
            lab.save(self._target)
        except (OSError, ValueError, ModuleNotFoundError) as error:
            self.code = refuse(f"--save-at: {self._target} cannot be written: {error}")
        else:
            print(f"saved at {format_duration(lab.now)} of lab time to {self._target}, which holds keys and tokens")


class Interruption:
    """Whether Ctrl-C was pressed while a lab ran."""

    pressed = False


def play_one(path: str, scenario: Scenario, seed: int, given: argparse.Namespace) -> int:
    """Run a scenario with one seed and print what became of it; return its exit code, or that of its report."""
    from textwrap import fill

    from labkit.front.lab import lab_of

    quiet, saving = given.quiet, SavePoint(given.save_at, given.save_to)
    try:
        lab = lab_of(scenario, seed)
        if given.report is not None:
            lab.keep_pictures()
        if not quiet:
            introduce(scenario)
        stopped = run_lab(lab, quiet=quiet, look=saving.look)
        saving.end()
        verdict = judged(lab, alone=[*scenario.all_seeds] == [seed])
    except Exception as error:
        if os.environ.get("LABKIT_TRACEBACK"):
            raise
        return report_bug(error, with_names(path, path))
    if not quiet:
        show("what happened, in lab time:", *_log(lab), "", verdict.text(columns()))
        if scenario.lesson:
            show("", fill(f"lesson: {scenario.lesson}", prose_columns()))
        show(f"the same seed gives the same run: its trace has the digest {lab.trace.digest()[:16]}")
    elif verdict.exit_code == AS_EXPECTED or stopped:
        show(with_names(f"{path}: {verdict.summary}", path))
    else:
        show(with_names(f"{path}: {verdict.report(scenario, lab.trace)}", path))
    if given.why:
        show(*[f"\n{paragraph}" for paragraph in causes(lab, verdict)])
    code = worst([STOPPED if stopped else verdict.exit_code, saving.code])
    return code if given.report is None else worst([code, write_report(given.report, lab, verdict)])


def show(*texts: object) -> None:
    """Print texts that stand in a file of somebody's: nothing in them controls the terminal."""
    from labkit.scenario.problems import printable

    for text in texts:
        say(*map(printable, str(text).split("\n")))


def introduce(scenario: Scenario) -> None:
    """Print the title of a scenario and what it is about."""
    from textwrap import fill

    show(scenario.title, "=" * len(scenario.title))
    if scenario.about:
        show(fill(scenario.about, prose_columns()))
    print(flush=True)


def scenario_of(lab: Lab) -> Run:
    """The run of a lab that was loaded from a file."""
    assert lab.scenario is not None
    return lab.scenario


def run_lab(lab: Lab, *, quiet: bool, look: Callable[[Lab], None] = lambda _: None) -> bool:
    """Run a lab to the end of its scenario, or up to Ctrl-C; return whether that stopped it.

    ``look`` is called between any two events.
    """
    from time import perf_counter

    from labkit.scenario.value_types import write_duration

    began = perf_counter()
    with interruptible() as interruption:
        run_to_the_end(lab, interruption, None if quiet else _bar(scenario_of(lab).scenario.end_ns), look)
    if interruption.pressed:
        where = f"stopped at {write_duration(lab.now)} of lab time, {scenario_of(lab).progress}"
        print(f"{where}; what follows was measured up to there", file=sys.stderr)
    elif not quiet:
        took = perf_counter() - began
        text = f"ran {lab.now / SECOND_NS:.0f} s of lab time and {lab.network.delivered:,} messages in {took:.1f} s"
        print(text, file=sys.stderr)
    return interruption.pressed


def run_to_the_end(
    lab: Lab, interruption: Interruption, bar: Any, look: Callable[[Lab], None] = lambda _: None
) -> None:
    """Run a lab until its scenario ends or Ctrl-C is pressed; a bar grows with lab time."""
    run, shown_ns = scenario_of(lab), lab.now

    def over(lab: Lab) -> bool:
        nonlocal shown_ns
        look(lab)
        if bar is not None and lab.now - shown_ns >= SECOND_NS:
            bar.update((lab.now - shown_ns) / SECOND_NS)
            shown_ns = lab.now
        return run.ended or interruption.pressed

    try:
        while not (run.ended or interruption.pressed):
            # One wait for a condition has a limit of lab time; a scenario may be longer.
            with _patience():
                lab.run(until=over)
    finally:
        if bar is not None:
            bar.close()


@contextmanager
def _patience() -> Iterator[None]:
    try:
        yield
    except TimeoutError:
        return


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Note Ctrl-C instead of raising in the middle of an event; the second one is raised."""
    interruption = Interruption()

    def note(*_: Any) -> None:
        if interruption.pressed:
            raise KeyboardInterrupt
        interruption.pressed = True

    try:
        before = signal.signal(signal.SIGINT, note)
    except ValueError:  # not the main thread, which alone gets signals
        yield interruption
        return
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, before)


def _bar(end_ns: int | None) -> Any:
    """A bar that grows with lab time; None where its end is not known, too far away, or no terminal shows it."""
    if end_ns is None or end_ns > MAX_BAR_NS or not sys.stderr.isatty():
        return None
    from tqdm import tqdm

    bar_format = "{desc} |{bar}| {n:.0f} of {total:.0f} s"
    return tqdm(total=end_ns / SECOND_NS, desc="running, lab time", bar_format=bar_format, file=sys.stderr, leave=False)


def judged(lab: Lab, *, alone: bool = True) -> Verdict:
    """The verdict on a lab that was loaded from a file; ``alone``: on all runs of it."""
    from labkit.scenario.verdict import judge

    return judge(scenario_of(lab), lab.queries, lab.ledger, lab.invariants, alone=alone)


def _log(lab: Lab) -> list[Any]:
    from labkit.scenario.event_log import event_log

    return list(event_log(lab.trace))
