"""Audit: without a device nothing of it is loaded or asked."""

from __future__ import annotations

import subprocess
import sys

from labkit.vault import audit

SCRIPT = """
import sys
from labkit import Vault
vault = Vault.dev()
vault.get("secret/data/none")
vault.post("secret/data/a", {"data": {"k": 1}})
print(sorted(name for name in sys.modules if name.startswith("labkit.vault.audit.")))
vault.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
print("labkit.vault.audit.records" in sys.modules)
"""


def test_nothing_is_loaded_before_there_is_a_device() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "True"]


def test_only_the_paths_about_the_state_of_a_node_are_not_recorded() -> None:
    assert set(audit.UNRECORDED) == {
        *("sys/health", "sys/leader", "sys/seal-status", "sys/replication/status", "sys/replication/dr/status")
    }
