"""Plugin: makes every ``*.lab.yaml`` and ``*.lab.yml`` file a test of pytest, one item per file.

1. pytest loads it in every project where labkit is installed: until a scenario file is collected it imports only the
   standard library and pytest, and it uses only public names of pytest.
2. A failure is reported in terms of the file: what was expected, what was measured, the position in the file, and the
   command that runs it again.  A traceback is shown only for a bug of labkit.
3. An unknown verdict fails.
4. Each scenario's seed, losses, recovery point and time, verdict and digest are properties of its test: they stand in a
   JUnit file.
5. Its fixtures ``labkit_vault``, ``labkit_server``, ``labkit_lab`` and ``labkit_lab_urls`` give each test one of its
   own, made from ``labkit_seed``, which a project may give another value.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from labkit.places import SCENARIO_SUFFIXES, is_scenario

MEASURED = ("lost", "rpo", "rto")

if TYPE_CHECKING:
    from os import PathLike

    from labkit.doors.served_door import ServedDoor
    from labkit.front.lab import Lab
    from labkit.front.vault import Vault


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect scenario files; other files are left to other plugins."""
    if not is_scenario(file_path.name):
        return None
    collected: pytest.Collector = ScenarioFile.from_parent(parent, path=file_path)
    return collected


@pytest.fixture(scope="session")
def labkit_seed() -> int:
    """The seed of the other fixtures: 7, unless a conftest.py has a fixture of this name."""
    return 7


@pytest.fixture
def labkit_vault(labkit_seed: int) -> Vault:
    """A vault as ``Vault.dev`` makes it: the same tokens, keys and answers in every run."""
    from labkit.front.vault import Vault

    return Vault.dev(seed=labkit_seed)


@pytest.fixture
def labkit_server(labkit_vault: Vault, _labkit_door: ServedDoor) -> str:
    """The URL of a real server on a loopback port, with ``labkit_vault`` behind it."""
    _labkit_door.lead_to(labkit_vault)
    return _labkit_door.url


@pytest.fixture(scope="session")
def _labkit_door(labkit_seed: int) -> Iterator[ServedDoor]:
    """One port for all tests; each puts a vault of its own behind it."""
    from labkit.doors.served_door import ServedDoor
    from labkit.front.vault import Vault

    door = ServedDoor(Vault.dev(seed=labkit_seed))
    with door:
        yield door


@pytest.fixture
def labkit_lab(labkit_seed: int) -> Lab:
    """A lab as ``Lab.pair`` makes it: clusters paris and tokyo, unsealed, not yet replicating."""
    from labkit.front.lab import Lab

    return Lab.pair(seed=labkit_seed)


@pytest.fixture
def labkit_lab_urls(labkit_lab: Lab) -> Iterator[dict[str, str]]:
    """The URL of a real server for each cluster of ``labkit_lab``, by its name."""
    with labkit_lab.serve() as urls:
        yield urls


class ScenarioFile(pytest.File):
    """A scenario file; nothing is read until its item runs."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the one item."""
        first, second = SCENARIO_SUFFIXES
        yield ScenarioItem.from_parent(self, name=self.path.name.removesuffix(first).removesuffix(second))


class ScenarioItem(pytest.Item):
    """A scenario, run with the seed of its file."""

    def runtest(self) -> None:
        """Run the scenario; raise NotAsExpected with a report unless its verdict is as expected."""
        from labkit.front.lab import Lab
        from labkit.scenario.problems import ScenarioError
        from labkit.scenario.verdict import judge

        try:
            lab = Lab.load(self._shown()).run()
        except ScenarioError as error:
            raise NotAsExpected(str(error)) from None
        run = lab.scenario
        assert run is not None
        verdict = judge(run, lab.queries, lab.ledger, lab.invariants)
        measured = [(row.key, row.measured) for row in verdict.rows if row.key in MEASURED]
        self.user_properties += [("seed", str(run.seed)), *measured, ("verdict", verdict.word)]
        self.user_properties.append(("digest", lab.trace.digest()))
        if verdict.exit_code != 0:
            raise NotAsExpected(verdict.report(run.scenario, lab.trace))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return only the report for a scenario that is not as expected."""
        if isinstance(excinfo.value, NotAsExpected):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[PathLike[str], int, str]:
        """Name the file and its first line."""
        return self.path, 0, self.name

    def _shown(self) -> str:
        """The path relative to the folder in which pytest was started, when it is below that."""
        here = self.config.invocation_params.dir
        return str(self.path.relative_to(here) if self.path.is_relative_to(here) else self.path)


class NotAsExpected(Exception):
    """A scenario's verdict is not as expected, or its file cannot be used; the text is the report."""
