"""What every test stands on: an environment of its own, the checkout, a guard against the real clock and real dice."""

from __future__ import annotations

import gc
import os
import random
import secrets
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from tests import environment
from tests.examples import EVERYDAY, WHOLE, register_profiles

# Before a test's module is imported: a client reads some variables then.
HOME = environment.isolate()

register_profiles()

# Where JupyterLab is installed, jsonschema would load a grammar of addresses with it: a second, for what no test asks.
sys.modules["rfc3987_syntax"] = ModuleType("rfc3987_syntax")  # nothing can be imported from it

CHECKOUT = Path(__file__).resolve().parent.parent

SCENARIOS = CHECKOUT / "scenarios"
CATALOGUE = SCENARIOS / "dr"
LONG = [
    SCENARIOS / name
    for name in (
        *("first/bad-line.lab.yaml", "first/how-much-is-lost.lab.yaml"),
        *("faults/one-crash-many-ends.lab.yaml", "faults/site-with-its-clients.lab.yaml"),
    )
]
"""The files of other folders that take half a second and more."""

GUARDED_PACKAGES = frozenset({"service", "vault", "cloud", "sim", "lab", "trace", "keymaking", "sealed_box"})

OBJECTS_BEFORE_COLLECTING = 50_000

# What is guarded, by the module that offers it.  A class is left alone: others make subclasses of it.
CLOCK_AND_DICE: dict[ModuleType, tuple[str, ...]] = {
    time: (
        *("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"),
        *("process_time", "process_time_ns", "sleep"),
    ),
    random: (
        *("random", "randint", "randrange", "randbytes", "getrandbits", "uniform", "gauss", "expovariate"),
        *("choice", "choices", "sample", "shuffle", "seed"),
    ),
    secrets: ("token_bytes", "token_hex", "token_urlsafe", "randbelow", "randbits", "choice"),
    uuid: ("uuid1", "uuid4"),
    os: ("urandom",),
}


def pytest_configure(config: pytest.Config) -> None:
    """Choose how many examples properties are tried with, unless --hypothesis-profile has chosen."""
    os.environ.pop("COLUMNS", None)  # a process of xdist is given 80: what is printed would be wrapped
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile(EVERYDAY if config.getoption("markexpr") == "not slow" else WHOLE)
    gc.disable()


def pytest_unconfigure() -> None:
    """Remove the home that the tests had."""
    environment.remove(HOME)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the catalogue of scenarios as slow, but for every fourth file in the order of names, and the long files."""
    catalogue = sorted(CATALOGUE.glob("*.lab.yaml"))
    slow = {*catalogue, *LONG} - {*catalogue[::4]}
    for item in items:
        if item.path in slow:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Take what was collected out of the garbage collector's sight: it stays to the end.

    It looks less often than by itself: it took a tenth of the time, and what tests leave behind is small.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_BEFORE_COLLECTING)
    gc.enable()


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder that holds pyproject.toml."""
    return CHECKOUT


@pytest.fixture(autouse=True, scope="session")
def no_real_clock_or_dice() -> Iterator[None]:
    """Make the system's clock, dice and entropy raise when a module asks that must be handed them.

    It holds for all tests at once: to replace the functions for each of them takes longer than most of them do.
    """
    with pytest.MonkeyPatch.context() as replacing:
        for module, names in CLOCK_AND_DICE.items():
            for name in names:
                if hasattr(module, name):
                    replacing.setattr(module, name, guarded(module.__name__, name, getattr(module, name)))
        yield


def guarded(module_name: str, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, but refusing callers inside the guarded packages of labkit."""

    def ask(*arguments: Any, **named: Any) -> Any:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.startswith("labkit.") and caller.split(".")[1] in GUARDED_PACKAGES:
            raise AssertionError(
                f"{caller} called {module_name}.{name}(); time and entropy come in as arguments, "
                "and labkit.real alone asks the system for them"
            )
        return original(*arguments, **named)

    return ask
