"""Messages: every one is a record with one handler, and what waits in a lab's clock is made of nothing else."""

from __future__ import annotations

import inspect
from itertools import chain

from labkit.lab import client, messages, node, operator_console, replication_link
from labkit.lab.messages import HEADER_BYTES, size_of

RECORDS = {
    record
    for record in vars(messages).values()
    if inspect.isclass(record) and hasattr(record, "_fields") and record.__module__ == messages.__name__
} - {messages.Correlation}


def test_every_message_of_a_node_and_the_console_has_one_handler():
    tables = (
        node.MESSAGE_HANDLERS,
        node.TIMER_HANDLERS,
        replication_link.MESSAGE_HANDLERS,
        operator_console.TIMER_HANDLERS,
    )
    handled = list(chain.from_iterable(tables))
    by_the_sync = {messages.SyncTimer, messages.ReplyTimeout}
    of_clients = set(client.ClientTimer.__args__)

    assert len(handled) == len(set(handled))
    assert set(handled) | by_the_sync | of_clients == RECORDS


def test_only_named_records_wait_in_the_clock_and_in_nodes(lab):
    lab.parts.console.start("repoint", cluster="tokyo", to="paris")
    seen = set()
    for _ in range(600):
        for _, (verb, _, payload) in lab.parts.clock.pending():
            seen.add(type(payload.payload if verb == "deliver" else payload))
        lab.step()

    assert seen <= RECORDS
    assert {messages.ApiRequest, messages.StreamPush, messages.LeaseTimer, messages.AskDeadline} <= seen


def test_a_message_counts_its_body_and_a_header():
    assert size_of(None) == size_of({}) == HEADER_BYTES
    assert size_of({"a": "x" * 500}) - size_of({"a": ""}) == 500
