"""Carried messages: what hosts sent each other in a run, each with its cause, in the order of the trace.

1. A message is there once it has ended; what is still on its way at the end of a run is not.
2. What a request is for is known where it was recorded.
3. A run with too many messages is thinned: of each kind between two hosts every so many are kept, and with them all of
   interest and their causes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.measures.request_record import CarriedRequest

MAX_MESSAGES = 20_000
LOST = "lost"


class Carried(NamedTuple):
    """One message: when it was sent and ended, between whom, what it is, whether it was lost, and its row of the trace.

    ``gone_ns`` is when a lost one was lost: by a fault while it was on its way, else where it ended.  ``cause`` is the
    row of the message whose arrival made its sender send it; -1 for a timer, or a client's own work.  Of a request,
    where that was recorded, ``path`` is method and path, and ``earlier`` the row of the attempt before it (-1: none).
    """

    sent_ns: int
    at_ns: int
    source: str
    target: str
    what: str
    lost: bool
    row: int
    gone_ns: int
    cause: int = -1
    path: str = ""
    earlier: int = -1


def messages_of(run: RecordedRun) -> list[Carried]:
    """Return every message of a run, without causes, by their rows."""
    return [
        Carried(row[1], row[2], row[3], row[4], row[5], row[7] == LOST, number, row[2])
        for number, row in enumerate(run.rows)
        if row[0] == "message"
    ]


def with_causes(run: RecordedRun, messages: Iterable[Carried]) -> list[Carried]:
    """Return messages, each with its cause, and where a fault took it when that was."""
    found = []
    for message in messages:
        cause = run.sent_for(message.row)
        caused = message if cause is None else message._replace(cause=cause)
        found.append(caused._replace(gone_ns=_gone_ns(run, caused)) if caused.lost else caused)
    return found


def with_requests(messages: Iterable[Carried], requests: Iterable[CarriedRequest]) -> list[Carried]:
    """Return messages, the requests among them with their paths and the attempts before them, as far as recorded."""
    carried = {request.row: request for request in requests}
    attempts = {request[1:4]: request.row for request in carried.values()}
    found = []
    for message in messages:
        request = carried.get(message.row)
        if request is not None:
            earlier = attempts.get((request.asker, request.number, request.attempt - 1), -1)
            message = message._replace(path=request.asked, earlier=earlier)
        found.append(message)
    return found


def _gone_ns(run: RecordedRun, message: Carried) -> int:
    """Return when a message was lost: at the first fault that took it on its way, else where it ended."""
    if message.sent_ns == message.at_ns:
        return message.at_ns
    hosts = (message.source, message.target)
    ends = (run.site_of(message.source), run.site_of(message.target))
    hit = run.faults.hit(hosts, ends, range(run.between(message.sent_ns, message.sent_ns).start, message.row))
    return message.at_ns if hit is None else run.at_ns(hit)


def thinned(messages: Sequence[Carried], kept: Collection[int], limit: int = MAX_MESSAGES) -> list[Carried]:
    """Return messages without so many that no more than a limit are left; those in ``kept``, by row, stay."""
    if len(messages) <= limit:
        return list(messages)
    wanted, room = set(kept), limit - len(kept)
    every = -(-len(messages) // max(1, room))
    seen: dict[tuple[str, str, str], int] = {}
    found = []
    for message in messages:
        kind = (message.source, message.target, message.what)
        seen[kind] = seen.get(kind, -1) + 1
        if message.row in wanted or (room > 0 and seen[kind] % every == 0):
            found.append(message)
    return found
