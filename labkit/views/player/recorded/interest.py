"""Interest: which messages of a run are slowed down for.

1. By default those that a fault, a promotion or a lost write touches: what was on its way when it happened, the first
   of each kind after it, lost or not, the last between clusters that arrived before it, and the request, the answer and
   the push of the first lost writes.
2. Messages inside a site pass too quickly to be of interest by themselves.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from labkit.lab.measures.traffic import API_KINDS
from labkit.lab.records.ledger import Write
from labkit.service.arguments import wrong
from labkit.service.durations import SECOND_NS
from labkit.views.player.recorded.carried_messages import Carried
from labkit.views.player.recorded.happenings import FAULT, LEADER, MODE, RULE, UNDOING, RunEvent

TOUCHING = (FAULT, UNDOING, LEADER, MODE, RULE)
AFTER_NS = 3 * SECOND_NS
MAX_OF_INTEREST, MAX_LOST = 2_000, 10
ONLY = ("replication", "clients")


class Ground(NamedTuple):
    """What says which hosts belong together: the site of each host, and the cluster of each node."""

    sites: Mapping[str, str]
    clusters: Mapping[str, str]


def of_interest(
    messages: Sequence[Carried],
    happenings: Sequence[RunEvent],
    lost: Iterable[Write],
    ground: Ground,
    only: str | None = None,
) -> list[int]:
    """Return the rows of the messages of interest, in order, at most 2,000: by default those that faults touch.

    ``only`` is ``replication`` or ``clients``: all messages between clusters, or all of clients.
    """
    if only is not None:
        if only not in ONLY:
            raise wrong("only", f"{' or '.join(ONLY)}, or nothing for what faults touch", only)
        chosen = _between_clusters(ground) if only == "replication" else _of_clients(ground)
        return [message.row for message in messages if chosen(message)][:MAX_OF_INTEREST]
    rows = _of_lost_writes(messages, list(lost)[:MAX_LOST])
    rows |= _touched(messages, [one for one in happenings if one.kind in TOUCHING], ground)
    return sorted(rows)[:MAX_OF_INTEREST]


def _between_clusters(ground: Ground) -> Callable[[Carried], bool]:
    def chosen(message: Carried) -> bool:
        ends = ground.clusters.get(message.source), ground.clusters.get(message.target)
        return ends[0] != ends[1] and (all(ends) or message.what not in API_KINDS)

    return chosen


def _of_clients(ground: Ground) -> Callable[[Carried], bool]:
    def chosen(message: Carried) -> bool:
        return message.what in API_KINDS and not {message.source, message.target} <= set(ground.clusters)

    return chosen


def _of_lost_writes(messages: Sequence[Carried], lost: Sequence[Write]) -> set[int]:
    """Return the answers that acknowledged lost writes, and what led to each: its request, and the push beside it."""
    answered = {(write.at_ns, write.client) for write in lost}
    by_row = {message.row: message for message in messages}
    pushes = [message for message in messages if message.lost and message.what == "stream"]
    found: set[int] = set()
    for message in messages:
        if (message.at_ns, message.target) in answered and message.what in API_KINDS:
            link: Carried | None = message
            found |= {push.row for push in pushes if _beside(push, message)}
            while link is not None and link.row not in found:
                found.add(link.row)
                link = by_row.get(link.cause)
    return found


def _beside(push: Carried, answer: Carried) -> bool:
    """Whether a lost push was sent by whoever gave an answer, about when it gave it."""
    return push.source == answer.source and 0 <= answer.at_ns - push.sent_ns <= SECOND_NS


def _touched(messages: Sequence[Carried], touching: Sequence[RunEvent], ground: Ground) -> set[int]:
    """Return what was on its way when something happened, and the first of each kind after it, from site to site."""
    far = sorted(
        (message for message in messages if ground.sites.get(message.source) != ground.sites.get(message.target)),
        key=lambda message: message.sent_ns,
    )
    longest_ns = max((message.at_ns - message.sent_ns for message in far), default=0)
    times = [message.sent_ns for message in far]
    found: set[int] = set()
    for one in touching:
        seen: set[tuple[str, str, str, bool]] = set()
        arrived: dict[tuple[str, str, str], Carried] = {}
        first, last = bisect_left(times, one.at_ns - longest_ns), bisect_right(times, one.at_ns + AFTER_NS)
        for message in far[first:last]:
            if message.at_ns < one.at_ns:
                if message.what not in API_KINDS and _names(one, message, ground):
                    arrived[message[2:5]] = message
                continue
            kind = (message.source, message.target, message.what, message.lost)
            if kind not in seen and _names(one, message, ground):
                seen.add(kind)
                found.add(message.row)
        found |= {message.row for message in arrived.values()}
    return found


def _names(one: RunEvent, message: Carried, ground: Ground) -> bool:
    """Whether something that happened is about an end of a message, its cluster or its site; without any, about all."""
    ends = {message.source, message.target}
    names = {*ends, *(ground.sites.get(end, "") for end in ends), *(ground.clusters.get(end, "") for end in ends)}
    return not one.hosts or "all" in one.hosts or bool(names & set(one.hosts))
