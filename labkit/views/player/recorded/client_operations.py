"""Client operations: what clients had to do in a run, from when to when, how each ended, and what operators got.

1. An operation is with all its attempts.  One that had not ended when the run did is under way.
2. Operators' requests are those that the ledger has and no client.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.records.ledger import EndedOperation

UNDER_WAY = "under way"


class ClientOperation(NamedTuple):
    """An operation of a client: when it began and ended, whose and what it is, how it ended, and by which answer.

    ``answer`` is the row of the message that ended it; -1 for none.  ``status`` is what it said; 0 for none.
    """

    started_ns: int
    at_ns: int
    client: str
    operation: str
    path: str
    outcome: str
    answer: int
    status: int


def client_operations(run: RecordedRun) -> list[ClientOperation]:
    """Return the operations of all clients, by their ends; those under way come last."""
    found = []
    for number in run.facts:
        if run.rows[number][0] == "outcome":
            _, started_ns, at_ns, client, operation, path, _, outcome, status, _ = run.rows[number]
            answer = run.trigger(number, (client,))
            has_answer = answer is not None and run.rows[answer][0] == "message"
            row = answer if has_answer and answer is not None else -1
            found.append(ClientOperation(started_ns, at_ns, client, operation, path, outcome, row, status or 0))
    hosts, now_ns = run.queries.parts.clients, run.queries.now
    for name in run.clients:
        for pending in hosts[name].client.pending.values():
            path = pending.request.path.removeprefix("/v1/")
            found.append(ClientOperation(pending.started_ns, now_ns, name, pending.name, path, UNDER_WAY, -1, 0))
    return found


def operators_operations(run: RecordedRun) -> list[EndedOperation]:
    """Return how the requests of operators ended, in order."""
    left = Counter((run.at_ns(number), run.rows[number][7]) for number in run.facts if run.rows[number][0] == "outcome")
    found = []
    for operation in run.ledger.operations:
        if left[operation] > 0:
            left[operation] -= 1
        else:
            found.append(EndedOperation(*operation))
    return found
