"""Plugin: fixtures for tests of clients, and every ``*.lab.yaml`` and ``*.lab.yml`` file as a test of pytest.

1. pytest loads it in every project where labkit is installed: until it is needed it imports only the standard library
   and pytest, and it uses only public names of pytest.
2. Its fixtures give each test a vault, a server or a lab of its own, made from ``labkit_seed``, ``labkit_settings``,
   ``labkit_contents`` and ``labkit_lab_file``, which a project may give other values.
3. ``labkit_session_vault`` is one for all tests, ``labkit_module_vault`` one for those of a module, for what is started
   once; either is reset after each test, also where the end of another fixture fails.
4. A test that passes fails all the same when its vaults have aims that no request took, or an ``expect`` without its
   ``with``: it has tested less than it says.  So it does where a ``before_next`` raised behind a door.  The report of a
   test that fails by itself says of either.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from labkit.places import is_scenario

SHARED_VAULT = pytest.StashKey["Vault"]()
JUDGED_VAULTS = pytest.StashKey["list[Vault]"]()

if TYPE_CHECKING:
    from labkit.doors.served_door import ServedDoor
    from labkit.front.lab import Lab
    from labkit.front.testing import ServedVault
    from labkit.front.vault import Vault


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
    from labkit.front.scenario_items import ScenarioFile

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
    judged: list[Vault] = []
    request.node.stash[JUDGED_VAULTS] = judged  # a test that is run again has others

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
    """One vault for all tests, reset after each of them."""
    return _kept(request, _made(labkit_seed, labkit_settings, labkit_contents), labkit_aims_must_fire)


@pytest.fixture(scope="module")
def labkit_module_vault(
    request: pytest.FixtureRequest,
    labkit_seed: int,
    labkit_settings: Mapping[str, Any],
    labkit_contents: Mapping[str, Any],
    labkit_aims_must_fire: bool,
) -> Vault:
    """One vault for the tests of a module, reset after each of them; the module says what it holds."""
    return _kept(request, _made(labkit_seed, labkit_settings, labkit_contents), labkit_aims_must_fire)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that passed and leaves what it asked for, and say so of one that fails (rule 4)."""
    try:
        yield
    except BaseException:
        left = _left_by(item)
        if left:
            item.add_report_section("call", "labkit", _listed(left))
        raise
    left = _left_by(item)
    for what in left:
        if isinstance(what, BaseException):
            raise what
    if left:
        pytest.fail(_listed(left), pytrace=False)


def _left_by(item: pytest.Item) -> list[Any]:
    judged = [vault for node in (item, *_nodes_of_kept(item)) for vault in node.stash.get(JUDGED_VAULTS, [])]
    return [what for vault in judged for what in vault.unfired]


def _listed(left: list[Any]) -> str:
    from labkit.front.testing import listed

    return listed(left)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Reset the vaults that outlive a test, when its other fixtures are done."""
    try:
        return (yield)
    finally:
        for node in _nodes_of_kept(item):
            node.stash[SHARED_VAULT].reset()


def _nodes_of_kept(item: pytest.Item) -> list[Any]:
    """Return the nodes above a test whose vaults outlive it: that it has one shows only when it asks for it."""
    return [node for node in item.listchain() if SHARED_VAULT in node.stash]


def _kept(request: pytest.FixtureRequest, vault: Vault, is_judged: bool) -> Vault:
    """Let a vault be found when it is to be judged, and reset to what it holds now."""
    vault.keep_for_reset()
    request.node.stash[SHARED_VAULT] = vault
    request.node.stash[JUDGED_VAULTS] = [vault] if is_judged else []
    return vault


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


@pytest.fixture(scope="module")
def labkit_module_server(labkit_module_vault: Vault) -> Iterator[str]:
    """The URL of a real server for a whole module, with ``labkit_module_vault`` behind it."""
    with labkit_module_vault.serve() as url:
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
def _labkit_door() -> Iterator[ServedDoor]:
    """One port for all tests; each puts a vault of its own behind it."""
    from labkit.front.vault import Vault

    door = Vault.dev(seed=0).serve()
    with door:
        yield door


@pytest.fixture(scope="session")
def _labkit_tls_door() -> Iterator[tuple[ServedDoor, ServedVault]]:
    """The same with TLS: its files are made once."""
    from labkit.front.testing import tls_door
    from labkit.front.vault import Vault

    with tls_door(Vault.dev(seed=0)) as opened:
        yield opened


@pytest.fixture
def labkit_lab(labkit_seed: int, labkit_lab_file: str | None) -> Lab:
    """A lab as ``Lab.pair`` makes it, not yet replicating, or of the ``lab`` section of ``labkit_lab_file``."""
    try:
        from labkit.front.lab import Lab
    except ModuleNotFoundError as error:
        from labkit.missing_library import missing_library

        raise missing_library("a lab", error) or error from None

    if labkit_lab_file is None:
        return Lab.pair(seed=labkit_seed)
    from labkit.scenario.loading import load

    return Lab(load(labkit_lab_file).blueprint, seed=labkit_seed)


@pytest.fixture
def labkit_lab_urls(labkit_lab: Lab) -> Iterator[dict[str, str]]:
    """The URL of a real server for each cluster of ``labkit_lab``, by its name."""
    with labkit_lab.serve() as urls:
        yield urls
