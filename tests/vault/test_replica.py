"""Replica: a journal only for what replicates, and a mode that does not open."""

from __future__ import annotations

import subprocess
import sys

import pytest

from labkit import Vault
from labkit.vault.core import Leadership
from labkit.vault.replication import MODE_KEY
from labkit.vault.replication.mode import Mode
from labkit.vault.replication.unindexed_writes import MARK
from labkit.vault.storage.barrier import BarrierError

LOADED = """
import sys
from labkit import Vault
vault = Vault.dev()
vault.post("secret/data/a", {"data": {"b": 1}}).raise_for_status()
vault.put("sys/seal").raise_for_status()
vault.unseal_with(vault.unseal_keys[:3])
vault.get("sys/health").raise_for_status()
vault.advance("1h")
print(*sorted(name for name in sys.modules if name.startswith("labkit.vault.replication.")))
"""


def test_a_mode_that_does_not_open_is_none_for_the_journal_and_refused_for_requests(service):
    service.post("sys/replication/dr/primary/enable")
    core, stored = service.core, service.core.storage.get(MODE_KEY)
    assert not core.replica.is_damaged
    core.storage.apply({MODE_KEY: stored[:-1] + bytes([stored[-1] ^ 1])}, 0)

    assert core.replica.is_damaged
    assert core.replica.mode == Mode()
    with pytest.raises(BarrierError, match="stored at node/mode does not open"):
        _ = core.replica.is_secondary
    core.set_leadership(Leadership())
    assert (core.replica.journal.on, tuple(core.damaged)) == (False, (MODE_KEY,))
    assert service.next_due() is None
    assert service.put("sys/seal").status == 500, "whether this is a secondary is not known"
    assert service.get("sys/health").ok


def test_who_leads_again_takes_the_mark_away_that_another_node_left(service):
    """Otherwise the nodes that stand under it would be believed, with another's contents."""
    core = service.core
    service.post("secret/data/a", {"data": {"b": 1}}).raise_for_status()
    core.set_leadership(Leadership(active=False))
    core.storage.apply({MARK: b"stands at an entry"}, 0)
    core.set_leadership(Leadership())
    service.post("secret/data/a", {"data": {"b": 2}}).raise_for_status()

    assert core.storage.get(MARK) is None


def test_the_journal_is_on_while_an_active_node_replicates(service):
    core = service.core
    on = []
    for change in (
        lambda: service.post("sys/replication/dr/primary/enable"),
        lambda: service.set_leadership(Leadership(active=False)),
        lambda: service.set_leadership(Leadership()),
        lambda: service.post("sys/replication/dr/primary/disable"),
    ):
        change()
        on.append((core.replica.journal.on, core.replica.is_secondary))

    assert on == [(True, False), (False, False), (True, False), (False, False)]


def test_a_vault_that_does_not_replicate_loads_no_journal():
    run = subprocess.run([sys.executable, "-c", LOADED], stdout=subprocess.PIPE, text=True, check=True)

    assert run.stdout.split() == ["labkit.vault.replication.mode", "labkit.vault.replication.unindexed_writes"]


def test_looking_at_a_journal_that_was_never_on_changes_no_state(service):
    before = service.state()
    assert not service.core.replica.journal.on

    assert before["journal"] is None
    assert service.state() == before


def test_a_journal_that_was_on_keeps_its_number(service):
    service.post("sys/replication/dr/primary/enable")
    service.post("secret/data/a", {"data": {}})
    service.post("sys/replication/dr/primary/disable")
    last = service.core.replica.journal.last
    again = Vault(service.core.storage, service.environment, service.core.settings, service.state())

    assert last > 0
    assert (again.core.replica.journal.last, again.core.replica.journal.on) == (last, False)
    assert again.state() == service.state()
