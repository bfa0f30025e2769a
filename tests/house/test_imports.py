"""Who may import whom: the contracts of pyproject.toml hold, and each of them bites."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOR_ANNOTATIONS = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "

# A breach is a module with one import, and the contract that must break when it is planted.
BREACHES = [
    ("service/planted.py", "from labkit.vault import vault", "packages"),
    ("service/planted.py", FOR_ANNOTATIONS + "from labkit.vault import vault", "packages"),
    ("planted.py", "STANDS_IN_NO_LAYER = True", "packages"),
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
    ("lab/planted.py", "STANDS_IN_NO_LAYER = True", "inside-lab"),
    ("scenario/planted.py", "STANDS_IN_NO_LAYER = True", "inside-scenario"),
    ("views/planted.py", "STANDS_IN_NO_LAYER = True", "inside-views"),
    ("vault/engines/kv/planted.py", "from labkit.vault.engines import transit", "engines"),
]


def test_the_contracts_hold(checkout: Path) -> None:
    finished = lint_imports(checkout)

    assert finished.returncode == 0, finished.stdout


@pytest.mark.parametrize(("place", "line", "contract"), BREACHES)
def test_a_breach_is_found(place: str, line: str, contract: str, checkout: Path, tmp_path: Path) -> None:
    shutil.copytree(checkout / "labkit", tmp_path / "labkit", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(checkout / "pyproject.toml", tmp_path)
    planted = tmp_path / "labkit" / place
    planted.parent.mkdir(exist_ok=True)
    (planted.parent / "__init__.py").touch()
    planted.write_text(line + "\n")

    finished = lint_imports(tmp_path, "--contract", contract)

    assert finished.returncode == 1, finished.stdout
    assert "0 kept, 1 broken" in finished.stdout
    assert "labkit." + place.removesuffix(".py").replace("/", ".") in finished.stdout


def lint_imports(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
