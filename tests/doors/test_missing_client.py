"""Missing clients: who imports a door without its client reads what to install."""

from __future__ import annotations

import subprocess
import sys

IMPORTS = """
import importlib, sys

for package, door in [("urllib3", "requests"), ("httpx", "httpx"), ("hvac", "hvac"), ("requests", "requests")]:
    sys.modules[package] = None  # as if it were not installed
    try:
        importlib.import_module(f"labkit.doors.{door}")
    except ModuleNotFoundError as error:
        print(error.name, error)
"""


def test_a_door_without_its_client_says_what_to_install() -> None:
    ended = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)

    assert [line.partition(": pip install ")[::2] for line in ended.stdout.splitlines()] == [
        (f"{missing} labkit.doors.{package} is for the client {package}, which is not installed{lacks}", package)
        for missing, package, lacks in [
            ("urllib3", "requests", " with all that it needs (urllib3 is missing)"),
            ("httpx", "httpx", ""),
            ("hvac", "hvac", ""),
            ("requests", "requests", ""),
        ]
    ]
