"""Message columns: the messages of a run and the operations of its clients as short lists of whole numbers.

1. A message is a few differences: to the end of the one before it, to its own sending, in rows of the trace, and to its
   cause's place in the list.  A flight is what it took more than the shortest of its kind.
2. Requests name the place of their path, if any, and those that are not the first attempt the one before.
3. An operation that an answer ended is the place of that; it began with the request that led to the answer, or
   ``began`` before that.  Of any other, when it ended, how long it took, whose it was and how it ended is said.
4. How an operation ended is the place of a way: an outcome, with the status of the answer (0: none).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from labkit.lab.wire.reports import ANSWERED, REFUSED, UNKNOWN
from labkit.service.durations import MILLISECOND_NS
from labkit.views.player.map_signs import shape_of
from labkit.views.player.message_words import words_of
from labkit.views.player.recorded.carried_messages import Carried
from labkit.views.player.recorded.client_operations import UNDER_WAY, ClientOperation
from labkit.views.player.recorded.recording import Recording

OUTCOMES = (ANSWERED, REFUSED, UNKNOWN, UNDER_WAY)
MICROSECOND_NS = MILLISECOND_NS // 1_000
REQUEST = "request"


class ValueTable:
    """Values in the order in which they came first, each once."""

    def __init__(self) -> None:
        self.values: dict[Any, int] = {}

    def place(self, value: Any) -> int:
        """Return the place of a value, a new one where it is not there yet."""
        return self.values.setdefault(value, len(self.values))


def microseconds(at_ns: int) -> int:
    """Return an instant as the script has it."""
    return at_ns // MICROSECOND_NS


def differences(numbers: Iterable[int]) -> list[int]:
    """Return how much more each number is than the one before; the first one is itself."""
    found, last = [], 0
    for number in numbers:
        found.append(number - last)
        last = number
    return found


def message_columns(recording: Recording, hosts: Sequence[str]) -> dict[str, Any]:
    """Return the messages, their kinds, what requests carry, and the operations; ``hosts`` as they are drawn."""
    messages, places = recording.messages, {name: number for number, name in enumerate(hosts)}
    whats, kinds = ValueTable(), ValueTable()
    numbers = {message.row: number for number, message in enumerate(messages)}
    of_kind = [
        kinds.place((places[one.source], places[one.target], whats.place(one.what), int(one.lost))) for one in messages
    ]
    took = [microseconds(one.at_ns) - microseconds(one.sent_ns) for one in messages]
    shortest: dict[int, int] = {}
    for kind, its in zip(of_kind, took, strict=True):
        shortest[kind] = min(its, shortest.get(kind, its))
    causes = [numbers.get(one.cause, number) for number, one in enumerate(messages)]
    kind_of = {host.name: host.kind for host in recording.hosts}
    shapes = {kind: shape_of(one, kind_of) for kind, one in zip(of_kind, messages, strict=True)}
    return {
        "messages": {
            "at": differences(microseconds(one.at_ns) for one in messages),
            "took": [its - shortest[kind] for its, kind in zip(took, of_kind, strict=True)],
            "kind": of_kind,
            "row": differences(one.row for one in messages),
            "cause": [number - cause for number, cause in enumerate(causes)],
        },
        "kinds": [[*kind, shortest[place], shapes[place]] for kind, place in kinds.values.items()],
        "whats": [[what, words_of(what)] for what in whats.values],
        "gone": [
            [numbers[one.row], microseconds(one.gone_ns)] for one in messages if one.lost and one.gone_ns != one.at_ns
        ],
        "interesting": differences([numbers[row] for row in recording.interesting]),
        **_carried(messages, numbers),
        **_operations(recording.operations, messages, numbers, places),
        "asks": {
            "at": differences(microseconds(one.at_ns) for one in recording.asks),
            "how": [OUTCOMES.index(one.outcome) for one in recording.asks],
        },
    }


def _carried(messages: Sequence[Carried], numbers: dict[int, int]) -> dict[str, Any]:
    """Return the path of each request, in order, and which requests follow an attempt before, with its place."""
    paths = ValueTable()
    requests = [one for one in messages if one.what == REQUEST]
    carried = [paths.place(one.path) + 1 if one.path else 0 for one in requests]
    again = [(numbers[one.row], numbers[one.earlier]) for one in requests if one.earlier in numbers]
    return {
        "paths": list(paths.values),
        "carried": carried if paths.values else [],
        "again": {"place": differences(place for place, _ in again), "back": [place - back for place, back in again]},
    }


def _operations(
    operations: Iterable[ClientOperation], messages: Sequence[Carried], numbers: dict[int, int], places: dict[str, int]
) -> dict[str, Any]:
    answered, silent, ways = [], [], ValueTable()
    for one in operations:
        answer = numbers.get(one.answer, -1)
        how, began_us = ways.place((OUTCOMES.index(one.outcome), one.status)), microseconds(one.started_ns)
        if answer >= 0:
            late = microseconds(_root(messages, numbers, answer).sent_ns) - began_us
            if late >= 0:
                answered.append((answer, how, late))
                continue
        at_us = microseconds(one.at_ns)
        silent.append((at_us, at_us - began_us, places[one.client], how))
    answered.sort()
    silent.sort()
    return {
        "ways": list(ways.values),
        "operations": {
            "by": differences(place for place, _, _ in answered),
            "how": [how for _, how, _ in answered],
            "began": [late for _, _, late in answered],
        },
        "silent": {
            "at": differences(at for at, *_ in silent),
            "took": [took for _, took, _, _ in silent],
            "who": [who for _, _, who, _ in silent],
            "how": [how for _, _, _, how in silent],
        },
    }


def _root(messages: Sequence[Carried], numbers: dict[int, int], place: int) -> Carried:
    """Return the message that a chain of causes begins with, as far as it is kept."""
    while messages[place].cause in numbers:
        place = numbers[messages[place].cause]
    return messages[place]
