"""Own name: how the reader can call this very copy of labkit, for the commands that a text proposes."""

from __future__ import annotations

import os
import sys
from shlex import quote
from shutil import which


def own_name() -> str:
    """Return `labkit` where that is found, else the program's path, else the interpreter with -m."""
    program = sys.argv[0]
    found = which("labkit")
    if os.path.basename(program) != "labkit":
        return "labkit" if found and _beside_python(found) else f"{quote(sys.executable)} -m labkit"
    if found and os.path.realpath(found) == os.path.realpath(program):
        return "labkit"
    return quote(program)


def _beside_python(found: str) -> bool:
    return os.path.realpath(os.path.dirname(found)) == os.path.realpath(os.path.dirname(sys.executable))
