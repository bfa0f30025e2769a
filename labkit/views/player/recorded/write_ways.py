"""Write ways: the messages by which a write was asked for, answered, and pushed to a secondary.

1. The answer is what reached its writer at the instant of the acknowledgement; the request is what led to it.
2. The push was sent by whoever committed the write, when it did: before that the answer had not left.
"""

from __future__ import annotations

from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.records.ledger import Write


def way_of(run: RecordedRun, write: Write) -> tuple[int, ...]:
    """Return the rows of the request and of the answer that acknowledged a write; none where the trace lacks them."""
    links = links_of(run, write)
    return (links[-1], links[0]) if links else ()


def links_of(run: RecordedRun, write: Write) -> list[int]:
    """Return the rows from the answer that acknowledged a write back to its request, forwarding included."""
    answers = run.messages(run.between(write.at_ns, write.at_ns), target=write.client, fate="delivered")
    for answer in answers:
        found: list[int] = []
        link: int | None = answer
        while link is not None and run.rows[link][3] != write.client:
            found.append(link)
            link = run.sent_for(link)
        from_there = run.nodes.get(run.rows[answer][3], write.committed.cluster) == write.committed.cluster
        if link is not None and from_there:
            return [*found, link]
    return []


def push_of(run: RecordedRun, write: Write, survivor: str) -> int | None:
    """Return the row of the push of a write to a secondary; None where none was sent when it was committed."""
    for link in links_of(run, write)[:-1]:
        _, sent_ns, _, source, *_ = run.rows[link]
        rows = range(run.between(sent_ns, sent_ns).start, len(run.rows))
        pushes = run.messages(rows, source=source, what="stream", sent_ns=sent_ns)
        found = next((row for row in pushes if run.nodes.get(run.rows[row][4]) == survivor), None)
        if found is not None:
            return found
    return None
