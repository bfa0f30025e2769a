"""The front door: the promised names, and a clear answer for any other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import labkit

CHECKOUT = Path(__file__).parents[1]


def test_the_front_door_offers_what_it_promises():
    names = {name: getattr(labkit, name).__name__ for name in labkit.__all__}

    assert names == {**{name: name for name in labkit.__all__}, "testing": "labkit.testing"}


def test_a_missing_name_is_refused_with_the_names_there_are():
    with pytest.raises(
        AttributeError, match="no attribute 'Valut'; it offers Cloud, Lab, Request, Response, Vault, testing"
    ):
        labkit.Valut  # noqa: B018 - the look-up itself is what is tested


@pytest.mark.parametrize(
    ("before", "enabled", "frozen"), [("", True, False), ("gc.disable()", False, False), ("gc.freeze()", True, True)]
)
def test_loading_leaves_the_collector_as_it_was(before: str, enabled: bool, frozen: bool) -> None:
    state = "gc.isenabled(), gc.get_freeze_count() > 0"
    code = f"import gc\n{before}\nfrom labkit import Vault\nprint({state})"
    run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)

    assert run.stdout.split() == [str(enabled), str(frozen)]


def test_the_package_alone_loads_no_other_module() -> None:
    code = "import sys\nbefore = {*sys.modules}\nimport labkit\nprint(*sorted({*sys.modules} - before))"
    run = subprocess.run(
        [sys.executable, "-S", "-c", code], stdout=subprocess.PIPE, text=True, check=True, cwd=CHECKOUT
    )

    assert run.stdout.split() == ["__future__", "labkit"]  # typing is loaded later, while nothing is collected


def test_nothing_is_collected_while_it_is_loaded_nor_right_after() -> None:
    collections = "sum(each['collections'] for each in gc.get_stats())"
    code = f"import gc, labkit\nbefore = {collections}\nfrom labkit import Vault\nprint({collections} - before)"
    run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)

    assert run.stdout.split() == ["0"]


def test_completion_offers_the_public_names_only() -> None:
    code = "import labkit; print(*[name for name in dir(labkit) if not name.startswith('__')])"
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True
    ).stdout

    assert shown.split() == sorted(labkit.__all__)
    assert "__version__" in dir(labkit)
