"""Plugin: makes every ``*.lab.yaml`` and ``*.lab.yml`` file a test of pytest, one item per file.

A file with ``seeds`` or a ``matrix`` is one item for each combination and each fifty of its seeds; it is read when it
is collected, any other when its item runs.

1. pytest loads it in every project where labkit is installed: until a scenario file is collected it imports only the
   standard library and pytest, and it uses only public names of pytest.
2. A failure is reported in terms of the file: what was expected, what was measured, the position in the file, and the
   command that runs it again.  A traceback is shown only for a bug of labkit.
3. An unknown verdict fails.
4. Each scenario's seed, losses, recovery point and time, verdict and digest are properties of its test: they stand in a
   JUnit file.
5. Its fixtures give each test a vault, a server or a lab of its own, made from ``labkit_seed``, ``labkit_settings``,
   ``labkit_contents`` and ``labkit_lab_file``, which a project may give other values.
6. ``labkit_session_vault`` is one for all tests, for what is started once; it is reset after each test that has it.
7. A test that passes fails all the same when its vaults have aims that no request took, or an ``expect`` without its
   ``with``: it has tested less than it says.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from labkit.places import SCENARIO_SUFFIXES, is_scenario

SESSION_VAULT = pytest.StashKey["Vault"]()
JUDGED_VAULTS = pytest.StashKey["list[Vault]"]()
MEASURED = ("lost", "rpo", "rto")
MAX_FILE_BYTES = 262_144
MANY_RUNS = re.compile(rb"\b(seeds|matrix)\b['\"]?\s*:")

if TYPE_CHECKING:
    from os import PathLike

    from labkit.doors.served_door import ServedDoor
    from labkit.front.lab import Lab
    from labkit.front.testing import ServedVault
    from labkit.front.vault import Vault
    from labkit.scenario.many.run_blocks import RunBlock
    from labkit.scenario.scenario import Scenario
    from labkit.scenario.verdict import Verdict


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that keeps files with many seeds short."""
    group = parser.getgroup("labkit", "scenario files")
    group.addoption(
        "--labkit-seeds",
        metavar="N",
        type=_count,
        help="play scenario files that have seeds with at most so many, from 0 on",
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 10_000):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 10000, got {text!r}")
    return int(text)


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


@pytest.fixture(scope="session")
def labkit_settings() -> Mapping[str, Any]:
    """The settings of the vaults, as ``Vault.dev`` takes them: none, unless a project says otherwise."""
    return {}


@pytest.fixture(scope="session")
def labkit_contents() -> Mapping[str, Any]:
    """What the vaults hold at first, as paths and the bodies that are posted there: nothing, unless a project says."""
    return {}


@pytest.fixture(scope="session")
def labkit_lab_file() -> str | None:
    """The scenario file whose ``lab`` section the lab is made of; None for a pair, unless a project says otherwise."""
    return None


@pytest.fixture(scope="session")
def labkit_aims_must_fire() -> bool:
    """Whether a test fails that leaves an aim which no request took: True, unless a project says otherwise."""
    return True


@pytest.fixture
def labkit_vault(labkit_vaults: Callable[..., Vault], labkit_seed: int) -> Vault:
    """A vault as ``Vault.dev`` makes it: the same tokens, keys and answers in every run."""
    return labkit_vaults(seed=labkit_seed)


@pytest.fixture
def labkit_vaults(
    request: pytest.FixtureRequest,
    labkit_seed: int,
    labkit_settings: Mapping[str, Any],
    labkit_contents: Mapping[str, Any],
    labkit_aims_must_fire: bool,
) -> Callable[..., Vault]:
    """What makes further vaults, each with tokens of its own: ``labkit_vaults(edition="community")``."""
    seeds = count(labkit_seed + 1)
    judged = request.node.stash.setdefault(JUDGED_VAULTS, [])

    def make(*, seed: int | None = None, **settings: Any) -> Vault:
        vault = _made(next(seeds) if seed is None else seed, {**labkit_settings, **settings}, labkit_contents)
        if labkit_aims_must_fire:
            judged.append(vault)
        return vault

    return make


@pytest.fixture(scope="session")
def labkit_session_vault(
    request: pytest.FixtureRequest,
    labkit_seed: int,
    labkit_settings: Mapping[str, Any],
    labkit_contents: Mapping[str, Any],
    labkit_aims_must_fire: bool,
) -> Vault:
    """One vault for all tests that name it, reset after each of them."""
    vault = _made(labkit_seed, labkit_settings, labkit_contents)
    request.config.stash[SESSION_VAULT] = vault
    request.config.stash[JUDGED_VAULTS] = [vault] if labkit_aims_must_fire else []
    return vault


def _has_session_vault(item: pytest.Item) -> bool:
    return "labkit_session_vault" in getattr(item, "fixturenames", ()) and SESSION_VAULT in item.config.stash


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that passed and leaves what it asked for (rule 7)."""
    yield
    of_session = item.config.stash[JUDGED_VAULTS] if _has_session_vault(item) else []
    judged = [*item.stash.get(JUDGED_VAULTS, []), *of_session]
    left = [repr(what) for vault in judged for what in vault.unfired]
    if left:
        listed = "\n    ".join(left)
        pytest.fail(f"this was asked for, and did not happen before the test ended:\n    {listed}", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Reset the vault of the session after a test that had it, when its other fixtures are done."""
    yield
    if _has_session_vault(item):
        item.config.stash[SESSION_VAULT].reset()


def _missing(what: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error for what needs more than is installed."""
    from labkit.missing_library import missing_library

    return missing_library(what, error) or error


def _made(seed: int, settings: Mapping[str, Any], contents: Mapping[str, Any]) -> Vault:
    from labkit.front.testing import fill
    from labkit.front.vault import Vault

    vault = Vault.dev(seed=seed, **settings)
    fill(vault, contents)
    if contents:
        vault.keep_for_reset()
    return vault


@pytest.fixture
def labkit_server(labkit_vault: Vault, _labkit_door: ServedDoor) -> str:
    """The URL of a real server on a loopback port, with ``labkit_vault`` behind it."""
    _labkit_door.lead_to(labkit_vault)
    return _labkit_door.url


@pytest.fixture(scope="session")
def labkit_session_server(labkit_session_vault: Vault) -> Iterator[str]:
    """The URL of a real server for the whole session, with ``labkit_session_vault`` behind it."""
    with labkit_session_vault.serve() as url:
        yield url


@pytest.fixture
def labkit_environment(labkit_vault: Vault, labkit_server: str) -> Iterator[Vault]:
    """``labkit_vault``, whose server and root token the environment variables name that clients read."""
    from labkit.front.testing import ServedVault, environment

    with environment(labkit_vault, ServedVault(labkit_server)):
        yield labkit_vault


@pytest.fixture
def labkit_tls_server(labkit_vault: Vault, _labkit_tls_door: tuple[ServedDoor, ServedVault]) -> ServedVault:
    """The ``url`` of a real server that speaks TLS, ``labkit_vault`` behind it, and the file of its ``authority``."""
    door, served = _labkit_tls_door
    door.lead_to(labkit_vault)
    return served


@pytest.fixture(scope="session")
def labkit_session_tls_server(labkit_session_vault: Vault) -> Iterator[ServedVault]:
    """The ``url`` and ``authority`` of a TLS server for the whole session, ``labkit_session_vault`` behind it."""
    from labkit.front.testing import serve_tls

    with serve_tls(labkit_session_vault) as served:
        yield served


@pytest.fixture(scope="session")
def _labkit_door(labkit_seed: int) -> Iterator[ServedDoor]:
    """One port for all tests; each puts a vault of its own behind it."""
    from labkit.front.vault import Vault

    door = Vault.dev(seed=labkit_seed).serve()
    with door:
        yield door


@pytest.fixture(scope="session")
def _labkit_tls_door(labkit_seed: int) -> Iterator[tuple[ServedDoor, ServedVault]]:
    """The same with TLS: its files are made once."""
    from labkit.front.testing import tls_door
    from labkit.front.vault import Vault

    with tls_door(Vault.dev(seed=labkit_seed)) as opened:
        yield opened


@pytest.fixture
def labkit_lab(labkit_seed: int, labkit_lab_file: str | None) -> Lab:
    """A lab as ``Lab.pair`` makes it, not yet replicating, or of the ``lab`` section of ``labkit_lab_file``."""
    try:
        from labkit.front.lab import Lab
    except ModuleNotFoundError as error:
        raise _missing("a lab", error) from None

    if labkit_lab_file is None:
        return Lab.pair(seed=labkit_seed)
    from labkit.scenario.loading import load

    return Lab(load(labkit_lab_file).blueprint, seed=labkit_seed)


@pytest.fixture
def labkit_lab_urls(labkit_lab: Lab) -> Iterator[dict[str, str]]:
    """The URL of a real server for each cluster of ``labkit_lab``, by its name."""
    with labkit_lab.serve() as urls:
        yield urls


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
            raise NotAsExpected(str(_missing("a scenario file", error))) from None

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
