"""``python -m labkit`` is the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_it_runs_a_command_and_leaves_with_its_code(checkout: Path) -> None:
    program = [sys.executable, "-m", "labkit", "check"]
    good = subprocess.run(
        [*program, "scenarios/first/standby.lab.yaml"], cwd=checkout, capture_output=True, text=True, check=False
    )
    bad = subprocess.run([*program, "no such file"], cwd=checkout, capture_output=True, text=True, check=False)

    assert (good.returncode, good.stderr) == (0, "")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == "no such file: cannot be read: No such file or directory\n"
