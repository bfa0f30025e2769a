"""The network in the model of replication: messages in lanes that keep their order, and what a fault does to them.

1. From each node of the primary to the secondary there are two lanes: what keeps its turn, and what goes aside.  The
   messages of a lane arrive in the order in which they were sent, after any time; lanes wait for no other.
2. What a fault does stands in ``network_kinds``.  What it holds back arrives later or never, past everything that was
   sent since, but not past what was held back before it on the same lane; questions have lanes of this kind too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from labkit.proof.network_kinds import NetworkKind
from labkit.proof.parcels import OLD, OLD_LIFE, Parcel, Roles, renamed

LANES_PER_NODE = 4  # answers in turn, answers aside, questions in turn, questions aside


Lanes = tuple[tuple[int, ...], ...]


class ModelledNetwork(NamedTuple):
    """What is on its way: numbers of messages in each lane, and those held back in each lane."""

    lanes: Lanes
    held: Lanes


class Messages:
    """Every message that was seen, by number, and the lane of each."""

    def __init__(self, nodes: tuple[str, ...], keeps_old: bool = False) -> None:
        self._keeps_old = keeps_old
        self.dropped: list[bool] = []
        self.parcels: list[Parcel] = []
        self.lanes: list[int] = []
        self.goes_up: list[bool] = []
        self._numbers: dict[Parcel, int] = {}
        self._nodes = nodes
        self._renamed: dict[tuple[int, Roles], int] = {}

    def number(self, parcel: Parcel) -> int:
        """Return the number of a message."""
        number = self._numbers.get(parcel)
        if number is None:
            number = self._numbers[parcel] = len(self.parcels)
            self.parcels.append(parcel)
            self.dropped.append(not self._keeps_old and self._is_over(parcel))
            self.goes_up.append(parcel.goes_up)
            self.lanes.append(self._nodes.index(parcel.node) * LANES_PER_NODE + 2 * parcel.goes_up + parcel.aside)
        return number

    def renamed(self, number: int, roles: Roles) -> int:
        """Return the number of the message that a message is after a step of the secondary."""
        key = (number, roles)
        found = self._renamed.get(key)
        if found is None:
            found = self._renamed[key] = self.number(renamed(self.parcels[number], roles))
        return found

    def empty(self) -> ModelledNetwork:
        """Return the network with nothing on its way."""
        lanes = ((),) * (LANES_PER_NODE * len(self._nodes))
        return ModelledNetwork(lanes, lanes)

    def sent(self, wire: ModelledNetwork, numbers: Iterable[int]) -> ModelledNetwork:
        """Return the network with more messages, each at the end of its lane."""
        return wire._replace(lanes=self._with(wire.lanes, numbers))

    def holding(self, wire: ModelledNetwork, numbers: Iterable[int]) -> ModelledNetwork:
        """Return the network holding more messages back."""
        return wire._replace(held=self._with(wire.held, numbers))

    def _with(self, lanes: Lanes, numbers: Iterable[int]) -> Lanes:
        longer = list(lanes)
        for number in numbers:
            if not self.dropped[number]:
                lane = self.lanes[number]
                longer[lane] = (*longer[lane], number)
        return tuple(longer)

    def _is_over(self, parcel: Parcel) -> bool:
        """Whether a message is about a question or a stream that is over, and leaves nothing but that to be read."""
        if parcel.rpc == "echo" and len(self._nodes) > 1:  # it names addresses and term too
            return False
        if parcel.goes_up and parcel.rpc in ("guard_hash", "stream_wals"):  # it ends one stream, or begins another
            return False
        content = dict(parcel.content)
        return content.get("asked", content.get("serial")) == OLD or content.get("serial") == OLD_LIFE

    def after(self, wire: ModelledNetwork, roles: Roles) -> ModelledNetwork:
        """Return the network after a step of the secondary that gave serials other roles."""
        return ModelledNetwork(self._renamed_all(wire.lanes, roles), self._renamed_all(wire.held, roles))

    def _renamed_all(self, lanes: Lanes, roles: Roles) -> Lanes:
        renamed = [[self.renamed(number, roles) for number in lane] for lane in lanes]
        return tuple([tuple([number for number in lane if not self.dropped[number]]) for lane in renamed])

    def faulty(self, wire: ModelledNetwork, kind: NetworkKind) -> Iterable[tuple[int, ModelledNetwork]]:
        """Yield each outcome of a fault, with the number of the message that it is about, -1 for all."""
        if kind.loses_one or kind.repeats_one:
            for lane, numbers in enumerate(wire.lanes):
                if numbers:
                    left = without(wire.lanes, lane)
                    yield numbers[0], wire._replace(lanes=left) if kind.loses_one else self.holding(wire, numbers[:1])
        else:
            yield -1, self.disturbed(wire, kind)

    def disturbed(self, wire: ModelledNetwork, kind: NetworkKind) -> ModelledNetwork:
        """Return the network after what interrupts all of it."""
        if not (kind.loses_all or kind.holds_all):
            return wire
        left = wire._replace(lanes=((),) * len(wire.lanes))
        return self.holding(left, [number for lane in wire.lanes for number in lane]) if kind.holds_all else left


def without(lanes: Lanes, lane: int) -> Lanes:
    """Return lanes without the first message of one."""
    return (*lanes[:lane], lanes[lane][1:], *lanes[lane + 1 :])
