"""Quotas: where there are none, nothing of them is loaded."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from labkit import Vault
vault = Vault.dev()
vault.post("auth/token/create", {"ttl": "1h"})
print(sorted(name for name in sys.modules if name.startswith("labkit.vault.quotas.")))
vault.put("sys/quotas/rate-limit/all", {"rate": 5})
vault.get("sys/mounts")
print("labkit.vault.quotas.rate_limits" in sys.modules)
"""


def test_nothing_is_loaded_before_there_is_a_quota() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "True"]
