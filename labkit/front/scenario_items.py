"""Scenario items: what pytest runs of a scenario file, one item per file.

A file with ``seeds`` or a ``matrix`` is one item for each combination and each fifty of its seeds; it is read when it
is collected, any other when its item runs.

1. Until an item runs only the standard library and pytest are imported, and only public names of pytest are used.
2. A failure is reported in terms of the file: what was expected, what was measured, the position in the file, and the
   command that runs it again.  A traceback is shown only for a bug of labkit.
3. An unknown verdict fails.
4. Each scenario's seed, losses, recovery point and time, verdict and digest are properties of its test: they stand in a
   JUnit file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from labkit.missing_library import missing_library
from labkit.places import SCENARIO_SUFFIXES

MEASURED = ("lost", "rpo", "rto")
MAX_FILE_BYTES = 262_144
MANY_RUNS = re.compile(rb"\b(seeds|matrix)\b['\"]?\s*:")

if TYPE_CHECKING:
    from os import PathLike

    from labkit.scenario.many.run_blocks import RunBlock
    from labkit.scenario.scenario import Scenario
    from labkit.scenario.verdict import Verdict


class ScenarioFile(pytest.File):
    """A scenario file; one that is played once is not read until its item runs."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield its items: one, or one for each combination and block of seeds."""
        first, second = SCENARIO_SUFFIXES
        name = self.path.name.removesuffix(first).removesuffix(second)
        blocks = self._blocks()
        if not blocks:
            yield ScenarioItem.from_parent(self, name=name)
        for block in blocks:
            item: ScenarioItem = ScenarioItem.from_parent(self, name=f"{name}[{block.id}]")
            item.block = block
            yield item

    def _blocks(self) -> Sequence[RunBlock]:
        """What its items play; nothing for a file that is played once, or whose problems its one item reports."""
        try:
            with open(self.path, "rb") as file:
                many = MANY_RUNS.search(file.read(MAX_FILE_BYTES))
        except OSError:
            return ()
        if many is None:
            return ()
        try:
            from labkit.scenario.many.run_blocks import run_blocks
            from labkit.scenario.problems import ScenarioError
        except ModuleNotFoundError:
            return ()  # its one item reports that

        try:
            blocks = run_blocks(shown(self), self.config.getoption("--labkit-seeds"))
        except ScenarioError:
            return ()
        return blocks if any(block.id for block in blocks) else ()


class ScenarioItem(pytest.Item):
    """A scenario, run with the seed of its file, or with a combination of its matrix and a block of its seeds."""

    block: RunBlock | None = None

    def runtest(self) -> None:
        """Run the scenario; raise NotAsExpected with a report unless its verdict is as expected."""
        try:
            from labkit.scenario.loading import load
            from labkit.scenario.problems import ScenarioError
        except ModuleNotFoundError as error:
            raise NotAsExpected(str(missing_library("a scenario file", error) or error)) from None

        try:
            scenario = load(shown(self)) if self.block is None else self.block.scenario()
        except ScenarioError as error:
            raise NotAsExpected(str(error)) from None
        seeds = scenario.all_seeds if self.block is None or self.block.seeds is None else self.block.seeds
        if len(seeds) == 1:
            self._play_one(scenario, seeds[0])
        else:
            self._play_many(scenario, seeds)

    def _play_one(self, scenario: Scenario, seed: int) -> None:
        verdict, digest, report = played(scenario, seed, alone=len(scenario.all_seeds) == 1)
        measured = [(row.key, row.measured) for row in verdict.rows if row.key in MEASURED]
        self.user_properties += [("seed", str(seed)), *measured, ("verdict", verdict.word), ("digest", digest)]
        if verdict.exit_code != 0:
            raise NotAsExpected(report)

    def _play_many(self, scenario: Scenario, seeds: range) -> None:
        """Play a block of seeds: a failure names them all and reports the first."""
        from hashlib import sha256

        from labkit.scenario.many.many_runs import ManyRuns

        runs, digests, wrong, first = ManyRuns(scenario.title), sha256(), list[int](), ""
        for seed in seeds:
            verdict, digest, report = played(scenario, seed, alone=False)
            runs.add(scenario, verdict)
            digests.update(digest.encode())
            if verdict.exit_code != 0:
                wrong.append(seed)
                first = first or report
        self.user_properties += [("seeds", f"{seeds[0]}-{seeds[-1]}"), ("verdict", runs.word)]
        self.user_properties += [("seeds not as expected", " ".join(map(str, wrong))), ("digest", digests.hexdigest())]
        if runs.exit_code != 0:
            listed = [f"seeds that are not as expected: {', '.join(map(str, wrong))}", "the first of them:", first]
            raise NotAsExpected(
                "\n".join(filter(None, [runs.summary, runs.spanning_text(), *(listed if wrong else [])]))
            )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return only the report for a scenario that is not as expected."""
        if isinstance(excinfo.value, NotAsExpected):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[PathLike[str], int, str]:
        """Name the file and its first line."""
        return self.path, 0, self.name


def played(scenario: Scenario, seed: int, *, alone: bool) -> tuple[Verdict, str, str]:
    """Run a scenario with one seed; return the verdict, the digest of its trace, and the report of a failure."""
    from labkit.front.lab import lab_of
    from labkit.scenario.verdict import judge

    lab = lab_of(scenario, seed).run()
    run = lab.scenario
    assert run is not None
    verdict = judge(run, lab.queries, lab.ledger, lab.invariants, alone=alone)
    return verdict, lab.trace.digest(), "" if verdict.exit_code == 0 else verdict.report(scenario, lab.trace)


def shown(node: ScenarioFile | ScenarioItem) -> str:
    """The path relative to the folder in which pytest was started, when it is below that."""
    here = node.config.invocation_params.dir
    return str(node.path.relative_to(here) if node.path.is_relative_to(here) else node.path)


class NotAsExpected(Exception):
    """A scenario's verdict is not as expected, or its file cannot be used; the text is the report."""
