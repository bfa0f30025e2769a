"""Node replica: what both sides of replication on a node see of it."""

from __future__ import annotations

from typing import Any

from labkit.lab.nodes.node_replica import NodeReplica
from labkit.lab.wire.messages import HEADER_BYTES


def test_it_shows_its_vault_as_that_is_now(calm):
    host = calm.parts.nodes["paris-1"]
    replica = NodeReplica(host.plan, host.services, host.vault, 0)

    assert (replica._mode.mode, replica._active, replica._leadership.term) == ("primary", True, 1)
    assert replica._journal is host.journal
    assert not NodeReplica(host.plan, host.services, calm.parts.nodes["paris-2"].vault, 0)._active, "a standby"

    host.vault.core.keys.drop()
    assert not replica._active, "sealed"


def test_what_it_sends_counts_a_header_on_the_line_and_goes_aside_when_asked(calm):
    host = calm.parts.nodes["paris-1"]
    sent: list[tuple[Any, ...]] = []

    def send(*message: Any, aside: bool) -> None:
        sent.append((*message, aside))

    replica = NodeReplica(host.plan, host.services._replace(send=send), host.vault, 0)
    replica._send("tokyo-1", "stream", "message", 40)
    replica._send("tokyo-1", "stream", "message", 40, aside=True)

    row = ("paris-1", "tokyo-1", "stream", "message", 40 + HEADER_BYTES)
    assert sent == [(*row, False), (*row, True)]
