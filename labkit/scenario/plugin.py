"""Plugin: makes every ``*.lab.yaml`` file a test of pytest's, one item a file.

1. It is installed wherever labkit is, so it costs nothing there: until a scenario file is collected it has loaded the
   standard library and pytest alone, and of pytest it uses the public names alone.
2. A failure is told in the file's words: what was expected, what was measured, where that stands, and how to see it
   again.  A traceback is shown for an error of labkit's own, never for one of the scenario's.
3. A verdict that stayed unknown fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from os import PathLike

SUFFIX = ".lab.yaml"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect scenario files; every other file is left to whoever wants it."""
    if not file_path.name.endswith(SUFFIX):
        return None
    collected: pytest.Collector = ScenarioFile.from_parent(parent, path=file_path)
    return collected


class ScenarioFile(pytest.File):
    """A scenario file; nothing is read until its item runs."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the one item."""
        yield ScenarioItem.from_parent(self, name=self.path.name.removesuffix(SUFFIX))


class ScenarioItem(pytest.Item):
    """A scenario, played with the seed that its file names."""

    def runtest(self) -> None:
        """Play the scenario; raise NotAsExpected with a report when its verdict is anything but as expected."""
        from labkit.lab.lab import Lab
        from labkit.scenario.findings import ScenarioError
        from labkit.scenario.report import report
        from labkit.scenario.verdict import judge

        try:
            lab = Lab.load(self._shown()).run()
        except ScenarioError as error:
            raise NotAsExpected(str(error)) from None
        run = lab.scenario
        assert run is not None
        verdict = judge(run, lab, lab.ledger, lab.invariants, lab.now, lab.followed)
        if verdict.exit_code != 0:
            raise NotAsExpected(report(run.scenario, verdict, lab.trace))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Give the report alone for a scenario that is not as expected."""
        if isinstance(excinfo.value, NotAsExpected):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[PathLike[str], int, str]:
        """Name the file and its first line."""
        return self.path, 0, self.name

    def _shown(self) -> str:
        """The path as the reader would write it: from where pytest was started, when it lies below."""
        here = self.config.invocation_params.dir
        return str(self.path.relative_to(here) if self.path.is_relative_to(here) else self.path)


class NotAsExpected(Exception):
    """A scenario's verdict is anything but as expected, or its file cannot be used; the text is the report."""
