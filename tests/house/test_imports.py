"""Who may import whom: the contracts of pyproject.toml hold, and each of them bites."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

FOR_ANNOTATIONS = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "

# A breach is a module with one import, and the contract that must break when it is planted.
BREACHES = [
    ("service/planted.py", "from labkit.vault import vault", "packages"),
    ("service/planted.py", FOR_ANNOTATIONS + "from labkit.vault import vault", "packages"),
    ("planted.py", "STANDS_IN_NO_LAYER = True", "packages"),
    ("doors/planted.py", "from labkit.front import gallery", "packages"),
    ("vault/storage/planted.py", "from labkit import real", "handed-in"),
    ("sim/planted.py", "from labkit.service import message", "sim"),
    ("lab/planted.py", "from labkit.vault.engines import kv", "lab"),
    ("doors/planted.py", "from labkit import trace", "doors"),
    ("vault/storage/planted.py", "import time", "no-clock-no-dice"),
    ("service/planted.py", "from os import urandom", "no-clock-no-dice"),
    ("vault/storage/planted.py", "import pandas", "light"),
    ("vault/storage/planted.py", "from labkit.vault import tokens", "vault"),
    ("vault/planted.py", "STANDS_IN_NO_LAYER = True", "vault"),
    ("vault/replication/planted.py", "STANDS_IN_NO_LAYER = True", "replication"),
    ("vault/storage/planted.py", FOR_ANNOTATIONS + "from labkit.vault.context import Context", "vault"),
    ("cloud/planted.py", "STANDS_IN_NO_LAYER = True", "inside-cloud"),
    ("lab/planted.py", "STANDS_IN_NO_LAYER = True", "inside-lab"),
    ("scenario/planted.py", "STANDS_IN_NO_LAYER = True", "inside-scenario"),
    ("views/planted.py", "STANDS_IN_NO_LAYER = True", "inside-views"),
    ("proof/planted.py", "STANDS_IN_NO_LAYER = True", "inside-proof"),
    ("hunt/planted.py", "STANDS_IN_NO_LAYER = True", "inside-hunt"),
    ("lessons/planted.py", "STANDS_IN_NO_LAYER = True", "inside-lessons"),
    ("vault/engines/kv/planted.py", "from labkit.vault.engines import transit", "engines"),
]


@pytest.mark.slow
def test_the_contracts_hold(checkout: Path) -> None:
    finished = lint_imports(checkout)

    assert finished.returncode == 0, finished.stdout


@pytest.fixture(scope="module")
def found(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said of each contract, by its id, when every breach is planted in one copy of the package."""
    folder = tmp_path_factory.mktemp("breaches")
    shutil.copytree(checkout / "labkit", folder / "labkit", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(checkout / "pyproject.toml", folder)
    for number, (place, line, _) in enumerate(BREACHES):
        planted = folder / "labkit" / numbered(place, number)
        planted.parent.mkdir(exist_ok=True)
        (planted.parent / "__init__.py").touch()
        planted.write_text(line + "\n")
    finished = lint_imports(folder)
    assert finished.returncode == 1, finished.stdout
    _, _, said = finished.stdout.partition("Broken contracts")
    contracts = tomllib.loads((checkout / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    begins = sorted((said.index(each["name"][:60]), each["id"]) for each in contracts)  # a longer name is broken there
    ends = [at for at, _ in begins[1:]] + [len(said)]
    return {contract: said[at:end] for (at, contract), end in zip(begins, ends, strict=True)}


@pytest.mark.parametrize("number", range(len(BREACHES)), ids=[f"{place}-{its}" for place, _, its in BREACHES])
@pytest.mark.slow
def test_a_breach_is_found(number: int, found: dict[str, str]) -> None:
    place, _, contract = BREACHES[number]
    name = "labkit." + numbered(place, number).removesuffix(".py").replace("/", ".")

    assert re.search(rf"{re.escape(name)}(?!\d)", found[contract]), found[contract]


@pytest.mark.slow
def test_every_contract_has_its_breach(found: dict[str, str]) -> None:
    assert {contract for _, _, contract in BREACHES} == set(found)


def numbered(place: str, number: int) -> str:
    """A place of its own for each breach."""
    return place.replace("planted", f"planted_{number}")


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports")],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
