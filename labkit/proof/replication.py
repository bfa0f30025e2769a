"""The model of replication: a primary, its secondary and the network between them, each by the shipped code.

What must hold in every state:

1. While the secondary's state is stream-wals, its contents are those of the entry that is its position.
2. While it says that its contents are complete, they are those of some entry of the primary; and what it stored of its
   position is what it would begin again from.
3. While a promotion without force is accepted, the contents are those of some entry.
4. No step raises.
5. A guard that an entry of the backlog has is found: nothing is compared then.
6. A connection on which no heartbeat was answered for too long is given up.

What must be possible in every state, without any further fault (``search.stuck``): the stream is ready, and the
contents are those of the newest entry.

How many events a way has:

7. A question reaches the primary at once, unless a fault catches it: what the primary did meanwhile, it can have done
   before the question was sent, since it does not depend on the secondary.
8. A heartbeat and its answer are one event, which waits until nothing is before the answer in its lane, unless a fault
   catches the answer: one that takes longer is one that was sent later, or whose answer is about another question and
   proves nothing.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from labkit.proof.bounds import Bounds
from labkit.proof.modelled_network import Messages, ModelledNetwork
from labkit.proof.network_kinds import NETWORKS
from labkit.proof.planted_bugs import SOUND, PlantedBug
from labkit.proof.primary import NODES, Primary, PrimarySide, contents_at
from labkit.proof.secondary import STRAY, Secondary, SecondarySide, Stored
from labkit.proof.steps import (
    BEGAN,
    CAUGHT,
    CUT,
    GAVE_UP,
    RESTARTED,
    TOOK_OVER,
    TRIED,
    WROTE,
    Numbers,
    Occurrence,
    Steps,
    Taken,
)
from labkit.vault.replication.state import State, ready_to_promote

World = int
"""A state of everything: numbers of the primary's, the secondary's, the network's and what is left of the bounds."""

_SECONDARY, _WIRE, _LEFT = 20, 40, 72
_SIDE_MASK, _WIRE_MASK = (1 << 20) - 1, (1 << 32) - 1

FAULTS = frozenset({WROTE, CUT, CAUGHT, GAVE_UP, RESTARTED, TOOK_OVER})
BEGIN, TRY_AGAIN, GIVE_UP, RESTART, TAKE_OVER = (
    Occurrence(BEGAN),
    Occurrence(TRIED),
    Occurrence(GAVE_UP),
    Occurrence(RESTARTED),
    Occurrence(TOOK_OVER),
)


class Left(NamedTuple):
    """What is left of the bounds; ``silences``: how often the secondary may yet miss the answers of heartbeats."""

    writes: int
    cuts: int
    silences: int
    restarts: int
    takeovers: int


Successors = list[tuple[Occurrence, World]]


class Replication:
    """The model, within bounds; ``bug``: a mistake that is made on purpose, to see that the search finds it."""

    def __init__(self, bounds: Bounds, bug: PlantedBug = SOUND) -> None:
        self.bounds, self.kind = bounds, NETWORKS[bounds.network]
        self._catches = any(self.kind[1:])
        self._nodes = NODES if bounds.takeovers else NODES[:1]
        messages = Messages(self._nodes, bug.keeps_old)
        self.steps = Steps(messages, PrimarySide(bounds.backlog, bug.answers), SecondarySide(bug.on))
        self._lefts: Numbers[Left] = Numbers()
        self._spent: dict[tuple[int, str], int] = {}
        self._judged: dict[int, str] = {}

    # ---- what the search asks

    def start(self) -> World:
        """Return the state in which the secondary has not begun to connect."""
        bounds, steps = self.bounds, self.steps
        secondary = steps.secondaries.of(Secondary(State(addresses=self._nodes), STRAY, Stored(addresses=self._nodes)))
        primary = steps.primaries.of(Primary(nodes=len(self._nodes)))
        left = self._lefts.of(Left(bounds.writes, bounds.cuts, 0, bounds.restarts, bounds.takeovers))
        return _world(primary, secondary, steps.empty, left)

    def parts(self, world: World) -> tuple[Primary, Secondary, ModelledNetwork, Left]:
        """Return what a state consists of."""
        primary, secondary, wire, left = _numbers(world)
        steps = self.steps
        sides = steps.primaries.values[primary], steps.secondaries.values[secondary]
        return *sides, steps.wires.values[wire], self._lefts.values[left]

    def broken(self, world: World) -> str:
        """Return which property a state breaks."""
        key = world & (1 << _WIRE) - 1
        why = self._judged.get(key)
        if why is None:
            primary, secondary, _, _ = self.parts(world)
            why = self._judged[key] = broken_by(primary, secondary)
        return why

    def is_fault(self, event: Hashable) -> bool:
        """Whether an event counts against the bounds."""
        return isinstance(event, Occurrence) and event.kind in FAULTS

    def is_goal(self, world: World) -> bool:
        """Whether the stream is ready and the contents are the newest."""
        primary, secondary, _, _ = self.parts(world)
        state, stream = secondary.state, primary.stream
        level = state.position == primary.last and secondary.contents == contents_at(primary.history, primary.last)
        ready = (state.state, state.connection_state, state.awaiting) == ("stream-wals", "ready", "")
        return level and ready and stream is not None and stream[:2] == (state.stream, primary.last)

    def successors(self, world: World) -> Successors:
        """Return everything that can happen next."""
        primary, secondary, wire, left = _numbers(world)
        steps = self.steps
        whole = steps.secondaries.values[secondary]
        if whole.error:
            return []
        found: Successors = []
        rest = self._lefts.values[left]
        around, answered, sent = (primary, wire, left), steps.answered, steps.sent
        goes_up, received = steps.messages.goes_up, steps.received
        for event, message, without in steps.arrivals(wire):
            if goes_up[message]:
                after, more = answered(primary, message)
                found.append((event, _world(after, secondary, sent(without, more), left)))
            else:
                self._add(found, event, (primary, without, left), received(secondary, message))
        lanes = steps.wires.values[wire].lanes
        for event, lane, step in steps.exchanges(primary, secondary):
            if not lanes[lane] and (step.secondary != secondary or step.sent):
                self._add(found, event, around, step)
        if not whole.state.life:
            self._add(found, BEGIN, around, steps.by_itself(secondary, "start"))
        if whole.backoff:
            self._add(found, TRY_AGAIN, around, steps.by_itself(secondary, "try_again"))
        if rest.writes:
            after = self._after_fault(left, "writes")
            for event, committed, more in steps.commits(primary):
                found.append((event, _world(committed, secondary, sent(wire, more), after)))
        self._faults(found, world, rest)
        return found

    # ---- what comes of an event

    def _add(self, found: Successors, event: Occurrence, around: tuple[int, int, int], step: Taken) -> None:
        """Add a step of the secondary; and when it asks, that a fault catches what it asks."""
        primary, wire, left = around
        found.append((event, self._after(primary, step, wire, left)))
        if step.sent and self._catches and self._lefts.values[left].cuts:
            found.append((Occurrence(CAUGHT, event, step.sent), self._after_caught(primary, step, wire, left)))

    def _after(self, primary: int, step: Taken, wire: int, left: int) -> World:
        """Return the world after a step of the secondary, whose questions reach the primary."""
        primary, answers = self.steps.asked(primary, step)
        return _world(primary, step.secondary, self.steps.sent(wire, answers, step.roles), left)

    def _after_caught(self, primary: int, step: Taken, wire: int, left: int) -> World:
        """Return the world after a step of the secondary, whose questions a fault catches."""
        steps, kind = self.steps, self.kind
        left = self._after_fault(left, "cuts")
        if kind.repeats_one:
            after = self._after(primary, step, wire, left)
            primary, secondary, wire, left = _numbers(after)
            return _world(primary, secondary, steps.disturbed(wire, kind, step.sent), left)
        wire = steps.disturbed(steps.sent(wire, (), step.roles), kind, step.sent)
        return _world(steps.renamed(primary, step.roles), step.secondary, wire, left)

    def _faults(self, found: Successors, world: World, rest: Left) -> None:
        """Add what counts against the bounds, but for writes."""
        primary, secondary, wire, left = _numbers(world)
        steps, kind = self.steps, self.kind
        if rest.cuts:
            self._cuts(found, world)
        if rest.silences and steps.secondaries.values[secondary].state.connection_state in ("connecting", "ready"):
            step = steps.by_itself(secondary, "give_up")
            found.append((GIVE_UP, self._after(primary, step, wire, self._after_fault(left, "silences"))))
        if rest.restarts:
            step, disturbed = steps.by_itself(secondary, "start"), steps.disturbed(wire, kind)
            self._add(found, RESTART, (primary, disturbed, self._after_fault(left, "restarts")), step)
        if rest.takeovers:
            taken_over, sent = steps.taken_over(primary)
            disturbed = steps.sent(steps.disturbed(wire, kind), sent)
            after = self._after_fault(left, "takeovers")
            found.append((TAKE_OVER, _world(taken_over, secondary, disturbed, after)))

    def _cuts(self, found: Successors, world: World) -> None:
        """Add faults of the network; one that holds back or repeats may do it to the answer of a heartbeat too."""
        primary, secondary, wire, left = _numbers(world)
        steps, kind, after = self.steps, self.kind, self._after_fault(left, "cuts")
        for message, whole in steps.messages.faulty(steps.wires.values[wire], kind):
            found.append((Occurrence(CUT, message), _world(primary, secondary, steps.wires.of(whole), after)))
        if kind.holds_all or kind.repeats_one:
            for event, _, _ in steps.exchanges(primary, secondary):
                caught = (event.about,)
                disturbed = steps.disturbed(wire, kind, caught)
                found.append((Occurrence(CUT, None, caught), _world(primary, secondary, disturbed, after)))

    def _after_fault(self, left: int, bound: str) -> int:
        """Return what is left of the bounds after something that counts; cuts and takeovers allow a silence."""
        key = (left, bound)
        found = self._spent.get(key)
        if found is None:
            rest = self._lefts.values[left]
            spent = rest._replace(**{bound: getattr(rest, bound) - 1})
            if bound in ("cuts", "takeovers"):
                spent = spent._replace(silences=rest.silences + 1)
            found = self._spent[key] = self._lefts.of(spent)
        return found


def broken_by(primary: Primary, secondary: Secondary) -> str:
    """Return which property the two sides break, in a sentence; an empty text when they break none."""
    if secondary.error:
        return f"a step of the secondary raised {secondary.error}"
    if secondary.broken or primary.broken:
        return secondary.broken or primary.broken
    state, contents, stored = secondary.state, secondary.contents, secondary.stored
    known = state.complete, state.position, state.term, sorted(state.addresses)
    if known != (stored.complete, stored.position, stored.term, sorted(stored.addresses)):
        return f"what is stored is not what the state says: {tuple(stored)}"
    history, position = primary.history, state.position
    here = position is not None and 0 <= position <= primary.last and contents == contents_at(history, position)
    if state.state == "stream-wals" and not here:
        return f"it streams at entry {position}, and its contents are not those of that entry"
    if state.complete and position is not None and not here:
        return f"it is complete at entry {position}, and its contents are not those of that entry"
    some = any(contents == contents_at(history, number) for number in range(primary.last + 1))
    if state.complete and not some:
        return "it is complete, and its contents are those of no entry"
    if ready_to_promote(state) is None and not some:
        return "it may be promoted, and its contents are those of no entry"
    return ""


def _world(primary: int, secondary: int, wire: int, left: int) -> World:
    return primary | secondary << _SECONDARY | wire << _WIRE | left << _LEFT


def _numbers(world: World) -> tuple[int, int, int, int]:
    return world & _SIDE_MASK, world >> _SECONDARY & _SIDE_MASK, world >> _WIRE & _WIRE_MASK, world >> _LEFT
