"""Steps of either side, each computed once: states, messages and networks are numbers here.

1. A step depends on its own side's state and on a message, never on the rest of the world: so it is computed by the
   shipped code once for each pair, however many states of the world contain it.
2. A step that raises is a state of its own, with the error's text.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, TypeVar

from labkit.proof.modelled_network import Messages, ModelledNetwork, without
from labkit.proof.network_kinds import NetworkKind
from labkit.proof.parcels import UNCHANGED, Roles
from labkit.proof.primary import Primary, PrimarySide, PrimaryStep, renamed_primary
from labkit.proof.secondary import ASIDE, MARK, Secondary, SecondarySide, SecondaryStep

T = TypeVar("T", bound=Hashable)


class Numbers(Generic[T]):
    """Values by number, in the order in which they came."""

    def __init__(self) -> None:
        self.values: list[T] = []
        self._numbers: dict[T, int] = {}

    def of(self, value: T) -> int:
        """Return the number of a value."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number


BEGAN, DELIVERED, BEAT, TRIED, WROTE = "began", "delivered", "beat", "tried", "wrote"
CUT, CAUGHT, GAVE_UP, RESTARTED, TOOK_OVER = "cut", "caught", "gave up", "restarted", "took over"


class Occurrence(NamedTuple):
    """One event: its kind; what it is about, the number of a message or a write; and which messages a fault caught."""

    kind: str
    about: Any = None
    caught: tuple[int, ...] = ()


class Taken(NamedTuple):
    """A step of the secondary in numbers: its state after it, the questions sent, what became of the serials' roles."""

    secondary: int
    sent: tuple[int, ...]
    roles: int = 0


class Exchange(NamedTuple):
    """A heartbeat and its answer: the answer's lane, and the secondary's step on it."""

    event: Occurrence
    lane: int
    step: Taken


class Steps:
    """The steps of one model, and the values behind all numbers."""

    def __init__(self, messages: Messages, primary_side: PrimarySide, secondary_side: SecondarySide) -> None:
        self.primaries: Numbers[Primary] = Numbers()
        self.secondaries: Numbers[Secondary] = Numbers()
        self.wires: Numbers[ModelledNetwork] = Numbers()
        self.messages = messages
        self.empty = self.wires.of(self.messages.empty())
        self._primary_side, self._secondary_side = primary_side, secondary_side
        self._roles: Numbers[Roles] = Numbers()
        self._roles.of(UNCHANGED)
        self._answered: dict[tuple[int, int], tuple[int, tuple[int, ...]]] = {}
        self._committed: dict[int, list[tuple[Occurrence, int, tuple[int, ...]]]] = {}
        self._taken: dict[tuple[int, int], Taken] = {}
        self._own: dict[tuple[int, str], Taken] = {}
        self._exchanged: dict[tuple[int, int], tuple[Exchange, ...]] = {}
        self._arriving: dict[int, list[tuple[Occurrence, int, int]]] = {}
        self._deliveries: dict[int, Occurrence] = {}
        self._sent: dict[tuple[int, int, tuple[int, ...]], int] = {}
        self._asked: dict[tuple[int, tuple[int, ...], int], tuple[int, tuple[int, ...]]] = {}
        self._disturbed: dict[tuple[int, tuple[int, ...]], int] = {}

    # ---- the primary's

    def answered(self, primary: int, question: int) -> tuple[int, tuple[int, ...]]:
        """Return the primary after a question, and what it sent."""
        key = (primary, question)
        found = self._answered.get(key)
        if found is None:
            step = self._primary_side.answer(self.primaries.values[primary], self.messages.parcels[question])
            found = self._answered[key] = self._numbered(step)
        return found

    def commits(self, primary: int) -> list[tuple[Occurrence, int, tuple[int, ...]]]:
        """Return each write that is possible, with the primary after it, and what it sent."""
        found = self._committed.get(primary)
        if found is None:
            side, whole = self._primary_side, self.primaries.values[primary]
            found = self._committed[primary] = [
                (Occurrence(WROTE, write), *self._numbered(side.commit(whole, write))) for write in side.writes(whole)
            ]
        return found

    def taken_over(self, primary: int) -> tuple[int, tuple[int, ...]]:
        """Return the primary after another of its nodes took over, and what that one sent."""
        return self._numbered(self._primary_side.take_over(self.primaries.values[primary]))

    def asked(self, primary: int, step: Taken) -> tuple[int, tuple[int, ...]]:
        """Return the primary after a step of the secondary, whose questions it answers, and what it sent."""
        key = (primary, step.sent, step.roles)
        found = self._asked.get(key)
        if found is None:
            after, sent = self.renamed(primary, step.roles), list[int]()
            for question in step.sent:
                after, more = self.answered(after, question)
                sent += more
            found = self._asked[key] = after, tuple(sent)
        return found

    def renamed(self, primary: int, roles: int) -> int:
        """Return the primary after a step of the secondary that gave serials other roles."""
        return self.primaries.of(renamed_primary(self.primaries.values[primary], self._roles.values[roles]))

    # ---- the secondary's

    def received(self, secondary: int, message: int) -> Taken:
        """Return the step on a message."""
        key = (secondary, message)
        found = self._taken.get(key)
        if found is None:
            whole, parcel = self.secondaries.values[secondary], self.messages.parcels[message]
            found = self._taken[key] = self._step(whole, lambda: self._secondary_side.receive(whole, parcel))
        return found

    def by_itself(self, secondary: int, what: str) -> Taken:
        """Return the step on a timer, or on a start: a method of the secondary's side by name."""
        key = (secondary, what)
        found = self._own.get(key)
        if found is None:
            whole, act = self.secondaries.values[secondary], getattr(self._secondary_side, what)
            found = self._own[key] = self._step(whole, lambda: act(whole))
        return found

    def exchanges(self, primary: int, secondary: int) -> tuple[Exchange, ...]:
        """Return what heartbeats would do now: a mark's, and one's that goes aside."""
        key = (primary, secondary)
        found = self._exchanged.get(key)
        if found is None:
            whole = self.secondaries.values[secondary]
            ways = (MARK, ASIDE) if whole.state.connection_state in ("connecting", "ready") else ()
            made = [self._exchange(primary, whole, way) for way in ways]
            found = self._exchanged[key] = tuple(dict.fromkeys(made))  # while the guard is asked for, both go aside
        return found

    def _exchange(self, primary: int, whole: Secondary, way: int) -> Exchange:
        beaten = self._secondary_side.beat(whole, way)
        (heartbeat,) = beaten.sent
        _, (answer,) = self.answered(primary, self.messages.number(heartbeat))
        step = self.received(self.secondaries.of(beaten.secondary), answer)
        return Exchange(Occurrence(BEAT, answer), self.messages.lanes[answer], step)

    def _step(self, whole: Secondary, act: Callable[[], SecondaryStep]) -> Taken:
        try:
            done, sent, roles = act()
        except Exception as error:
            return Taken(self.secondaries.of(whole._replace(error=f"{type(error).__name__}: {error}")), ())
        return Taken(self.secondaries.of(done), self._number_all(sent), self._roles.of(roles))

    def dropped(self) -> list[int]:
        """Return the messages that were dropped, since they are about a question or a stream that is over."""
        return [number for number, dropped in enumerate(self.messages.dropped) if dropped]

    def not_ignored(self) -> tuple[int, int] | None:
        """Return (number of a side's state, message) where a dropped message would have changed something; or None."""
        old = self.dropped()
        asked = [message for message in old if self.messages.goes_up[message]]
        heard = [message for message in old if not self.messages.goes_up[message]]
        for secondary, whole in enumerate(list(self.secondaries.values)):
            for message in heard:
                if whole.state.life and not whole.error and self.received(secondary, message)[:2] != (secondary, ()):
                    return secondary, message
        for primary in range(len(self.primaries.values)):
            for message in asked:
                after, sent = self.answered(primary, message)
                if after != primary or not all(self.messages.dropped[number] for number in sent):
                    return primary, message
        return None

    # ---- the network's

    def arrivals(self, wire: int) -> list[tuple[Occurrence, int, int]]:
        """Return (event, message, network without it) of everything that can arrive next."""
        found = self._arriving.get(wire)
        if found is None:
            whole = self.wires.values[wire]
            found = self._arriving[wire] = []
            for lane, numbers in enumerate(whole.lanes):
                if numbers:
                    left = whole._replace(lanes=without(whole.lanes, lane))
                    found.append((self._delivered(numbers[0]), numbers[0], self.wires.of(left)))
            for lane, numbers in enumerate(whole.held):
                if numbers:
                    left = whole._replace(held=without(whole.held, lane))
                    found.append((self._delivered(numbers[0]), numbers[0], self.wires.of(left)))
        return found

    def sent(self, wire: int, messages: tuple[int, ...], roles: int = 0) -> int:
        """Return the network after a step: with other roles of serials, and with more messages."""
        if not roles and not messages:
            return wire
        key = (wire, roles, messages)
        found = self._sent.get(key)
        if found is None:
            whole = self.wires.values[wire]
            if roles:
                whole = self.messages.after(whole, self._roles.values[roles])
            found = self._sent[key] = self.wires.of(self.messages.sent(whole, messages))
        return found

    def disturbed(self, wire: int, kind: NetworkKind, caught: tuple[int, ...] = ()) -> int:
        """Return the network after a fault of all of it, which also catches messages that were just sent."""
        key = (wire, caught)
        found = self._disturbed.get(key)
        if found is None:
            whole = self.messages.disturbed(self.wires.values[wire], kind)
            holds = kind.holds_all or kind.repeats_one
            found = self._disturbed[key] = self.wires.of(self.messages.holding(whole, caught) if holds else whole)
        return found

    def _delivered(self, message: int) -> Occurrence:
        event = self._deliveries.get(message)
        if event is None:
            event = self._deliveries[message] = Occurrence(DELIVERED, message)
        return event

    def _numbered(self, step: PrimaryStep) -> tuple[int, tuple[int, ...]]:
        primary, sent = step
        return self.primaries.of(primary), self._number_all(sent)

    def _number_all(self, sent: tuple[Any, ...]) -> tuple[int, ...]:
        return tuple([self.messages.number(parcel) for parcel in sent])
