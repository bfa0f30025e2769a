"""What every request knows of replication: the key under which the cluster's mode lies, and no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from labkit.vault.replication import MODE_KEY
from labkit.vault.replication.mode import Mode
from labkit.vault.replication.tree.merkle import NO_TREE, classify


def test_the_mode_is_the_clusters_own() -> None:
    assert classify(MODE_KEY) == NO_TREE


def test_a_cluster_that_stored_no_mode_never_replicated(service) -> None:
    assert service.core.storage.get(MODE_KEY) is None
    assert service.core.replica.mode == Mode()
    assert not service.core.replica.is_secondary


def test_a_cluster_that_does_not_replicate_does_not_load_what_a_mode_is(checkout: Path) -> None:
    code = (
        "import sys\nfrom labkit import Vault\nvault = Vault.dev()\nvault.post('secret/data/a', {'data': {}})\n"
        "print('labkit.vault.replication.mode' in sys.modules)\nvault.get('sys/replication/dr/status')\n"
        "print('labkit.vault.replication.mode' in sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=True)
    assert process.stdout.split() == ["False", "True"]
