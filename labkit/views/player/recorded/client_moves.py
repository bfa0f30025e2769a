"""Client moves: when clients of a run turn to another address, and whether silence made them.

1. A client that tries one address after another moves when it sends a request to another host than the one before.
   Those that go by health checks ask every address all the time; they are left out.
2. It moves for silence where a request of its own had passed its time, and the host asked had answered nothing since.
3. Moves of one group from one host to another are gathered as long as no client of it moves elsewhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from labkit.lab.measures.traffic import API_KINDS
from labkit.lab.plan.blueprint import ClientPlan
from labkit.service.durations import SECOND_NS, in_seconds
from labkit.views.player.recorded.carried_messages import Carried

REQUEST = "request"


class ClientMove(NamedTuple):
    """Clients of a group turn from one host to another: the first when, the last when, who, and of which silence.

    ``unanswered`` is the row of the request that the first one waited for in vain; -1 where the host had answered.
    """

    at_ns: int
    last_ns: int
    source: str
    target: str
    clients: tuple[str, ...]
    timeout_ns: int
    unanswered: int

    @property
    def words(self) -> str:
        """What happens, in words."""
        others = len(self.clients) - 1
        more = f", {others} other client{'s' if others > 1 else ''} by {in_seconds(self.last_ns)} s" if others else ""
        silence = f"{self.source} answers nothing within {self.timeout_ns / SECOND_NS:g} s"
        why = f"as {silence}" if self.unanswered >= 0 else f"after an answer of {self.source}"
        return f"{self.clients[0]} asks {self.target} next{more}, {why}"


def client_moves(messages: Iterable[Carried], groups: Sequence[ClientPlan]) -> list[ClientMove]:
    """Return the moves of all clients that try one address after another, the first one first."""
    plans = {name: group for group in groups if not group.check_ns and not group.through for name in group.names}
    by_client: dict[str, list[Carried]] = {name: [] for name in plans}
    for message in messages:
        if message.what in API_KINDS:
            by_client.get(message.source, by_client.get(message.target, [])).append(message)
    moves = [(move, plans[name].name) for name, its in by_client.items() for move in _moves(name, its, plans[name])]
    return list(_gathered(sorted(moves, key=lambda one: one[0].at_ns)))


def _moves(client: str, messages: Sequence[Carried], plan: ClientPlan) -> Iterator[ClientMove]:
    """Yield the moves of one client, from what it sent and was sent."""
    requests = sorted((one for one in messages if one.source == client), key=_sent_ns)
    asked: dict[str, list[Carried]] = {}
    for request in requests:
        asked.setdefault(request.target, []).append(request)
    heard: dict[str, list[int]] = {}
    for answer in messages:  # by their ends
        if answer.target == client and not answer.lost:
            heard.setdefault(answer.source, []).append(answer.at_ns)
    for last, request in pairwise(requests):
        if request.target != last.target:
            of_host = (asked[last.target], heard.get(last.target, []))
            silent = _unanswered(request.sent_ns, *of_host, plan.timeout_ns)
            row = -1 if silent is None else silent.row
            ends = (last.target, request.target)
            yield ClientMove(request.sent_ns, request.sent_ns, *ends, (client,), plan.timeout_ns, row)


def _sent_ns(message: Carried) -> int:
    return message.sent_ns


def _unanswered(at_ns: int, asked: Sequence[Carried], heard_ns: Sequence[int], timeout_ns: int) -> Carried | None:
    """Return the last request to a host whose time was over at an instant, and since which the host answered nothing.

    ``heard_ns``: when it answered, in order.
    """
    over = bisect_right(asked, at_ns - timeout_ns, key=_sent_ns)
    answered = bisect_right(heard_ns, at_ns)
    heard = heard_ns[answered - 1] if answered else -1
    return asked[over - 1] if over and asked[over - 1].sent_ns > heard else None


def _gathered(moves: Iterable[tuple[ClientMove, str]]) -> Iterator[ClientMove]:
    """Yield the moves of each group, those from one host to another in a row as one."""
    open_moves: dict[str, ClientMove] = {}
    done: list[ClientMove] = []
    for move, group in moves:
        first = open_moves.get(group)
        if first is not None and first[2:4] == move[2:4] and move.clients[0] not in first.clients:
            clients = (*first.clients, *move.clients)
            open_moves[group] = first._replace(last_ns=move.at_ns, clients=clients)
            continue
        done += [first] if first is not None else []
        open_moves[group] = move
    yield from sorted([*done, *open_moves.values()], key=lambda one: one.at_ns)
