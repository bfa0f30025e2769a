"""The secondary in the model of replication: its state by ``on``, its contents, and what it stored beside them.

A state's canonical form keeps what a later step can depend on.  Serials stand by their role (``parcels``); and:

- ``heard_ns`` and the clock: 0.  They are read for one question, whether 15 s passed without an echo; in the model that
  is an event of its own, which a fault of the network or a change of node allows.
- ``recheck_ns``, ``divergences``: 0.  They delay the question after unequal guards; here it is asked at once, and may
  also be late, since every message may wait.
- ``unanswered``: 0.  It decides whether the next heartbeat is a mark or goes aside: here either may happen next, as
  a mark may be under way at any time.
- ``failures``: 0.  They lengthen the backoff only, and time is left out.
- ``loops``: 0.  It is compared to choose what is observed, and sets nothing.
- ``heartbeat``, ``last_start_ns``, ``last_remote_wal``, ``last_error``: as in a new state.  They are measures for
  status answers; of them one step reads when the newest heartbeat answered was sent, which may set ``unanswered`` to 0.
- ``primary_cluster_addr``, ``secondary_id``: never change after the start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from labkit.proof.parcels import (
    ANNOUNCEMENT,
    ANSWER,
    LIFE,
    NOW,
    OLD_LIFE,
    PUSH,
    QUESTION,
    Parcel,
    Roles,
    parcel,
    role,
    roles_after,
)
from labkit.proof.primary import Contents
from labkit.vault.replication.events import (
    Announced,
    Apply,
    AskUpstream,
    Changes,
    Event,
    Moment,
    Pushed,
    Refused,
    Remember,
    Replace,
    ReplyArrived,
    Start,
    StartTimer,
    TimerFired,
)
from labkit.vault.replication.state import DEAD_NS, Heartbeat, State, Step
from labkit.vault.replication.sync import ask, heard, on
from labkit.vault.replication.tree.merkle import MerkleTree

AT = Moment(0, 0)
TOO_LATE = Moment(DEAD_NS, 0)
STRAY = (("token/y", b"stray"),)
"""What the secondary holds before it connects: of a key that the primary has not, or not with this value."""

MARK, ASIDE = 0, 1
"""How many heartbeats are unanswered when the next one is a mark, and when it goes aside."""


CONNECTED = ("connecting", "ready")
DEAD_AND_KEPT = "no heartbeat was answered for too long, and the secondary does not give the connection up"


class Stored(NamedTuple):
    """What a start reads: the applied position, the primary's addresses and its term."""

    complete: bool = False
    position: int | None = None
    addresses: tuple[str, ...] = ()
    term: int = 0


class Secondary(NamedTuple):
    """One state of the secondary; ``backoff``: the timer of the next attempt runs.  ``error`` ends everything.

    ``broken`` says what it did that it must not.
    """

    state: State
    contents: Contents
    stored: Stored
    backoff: bool = False
    error: str = ""
    broken: str = ""


class SecondaryStep(NamedTuple):
    """What came of an event: the state after it, the questions sent, and what became of the serials' roles."""

    secondary: Secondary
    sent: tuple[Parcel, ...]
    roles: Roles


class SecondarySide:
    """The secondary's steps, by ``on`` or a variant of it."""

    def __init__(self, step: Callable[[State, Event], Step] = on) -> None:
        self._on = step
        self._trees: dict[Contents, MerkleTree] = {}

    def start(self, secondary: Secondary) -> SecondaryStep:
        """Begin again on another node, from what is stored."""
        complete, position, addresses, term = secondary.stored
        started = Start(addresses, AT, complete=complete, position=position, serial=NOW, term=term)
        return self.step(secondary._replace(state=State(), backoff=False), started)

    def beat(self, secondary: Secondary, unanswered: int) -> SecondaryStep:
        """Let the heartbeat timer fire while a mark is under way, or while none is."""
        state = secondary.state._replace(unanswered=unanswered)
        return self.step(secondary._replace(state=state), TimerFired("heartbeat", LIFE, AT))

    def give_up(self, secondary: Secondary) -> SecondaryStep:
        """Let the heartbeat timer fire when no heartbeat was answered for too long."""
        step = self.step(secondary, TimerFired("heartbeat", LIFE, TOO_LATE))
        if step.secondary.state.connection_state in CONNECTED:
            return step._replace(secondary=step.secondary._replace(broken=DEAD_AND_KEPT))
        return step

    def try_again(self, secondary: Secondary) -> SecondaryStep:
        """Let the backoff timer fire."""
        return self.step(secondary._replace(backoff=False), TimerFired("backoff", NOW, AT))

    def receive(self, secondary: Secondary, given: Parcel) -> SecondaryStep:
        """Take a message."""
        message = given.message()
        event: Event
        if given.kind == ANSWER:
            event = ReplyArrived(given.rpc, heard(given.rpc, message, self.tree(secondary.contents)), AT)
        elif given.kind == PUSH:
            event = Pushed(message)
        elif given.kind == ANNOUNCEMENT:
            event = Announced(message["address"], message["term"], AT)
        else:
            event = Refused(given.rpc, message["serial"], "refused", AT, tuple(message["addresses"]))
        return self.step(secondary, event)

    def step(self, secondary: Secondary, event: Event) -> SecondaryStep:
        """Go through an event, carry its effects out, and bring the outcome into its canonical form."""
        before = secondary.state
        after, effects = self._on(before, event)
        contents, stored = dict(secondary.contents), secondary.stored
        backoff = secondary.backoff and after.serial == before.serial
        sent: list[Parcel] = []
        for effect in effects:
            if isinstance(effect, AskUpstream):
                message = ask(effect, self.tree(tuple(sorted(contents.items()))))
                sent.append(_question(after, effect, message))
            elif isinstance(effect, Apply):
                for number, changes in effect.entries:
                    _change(contents, changes)
                    stored = stored._replace(complete=True, position=number)
            elif isinstance(effect, Replace):
                _change(contents, effect.changes)
                stored = stored._replace(complete=effect.complete, position=effect.position)
            elif isinstance(effect, Remember):
                stored = stored._replace(addresses=effect.addresses, term=effect.term)
            elif isinstance(effect, StartTimer) and effect.name == "backoff":
                backoff = effect.serial == after.serial
        done = Secondary(canonical(after), tuple(sorted(contents.items())), stored, backoff)
        return SecondaryStep(done, tuple(sent), roles_after(before, after))

    def tree(self, contents: Contents) -> MerkleTree:
        """Return the Merkle tree of some contents."""
        tree = self._trees.get(contents)
        if tree is None:
            tree = self._trees[contents] = MerkleTree()
            tree.change_all(dict(contents))
        return tree


def canonical(state: State) -> State:
    """Return a state in its canonical form."""
    return state._replace(
        life=LIFE if state.life else OLD_LIFE,
        serial=NOW,
        stream=role(state, state.stream),
        heard_ns=0,
        recheck_ns=0,
        divergences=0,
        unanswered=0,
        failures=0,
        loops=0,
        heartbeat=Heartbeat(),
        last_start_ns=None,
        last_remote_wal=0,
        last_error="",
    )


def _question(state: State, effect: AskUpstream, message: Mapping[str, Any]) -> Parcel:
    """Return a question as it travels: one key for an answer, and of a heartbeat what the primary's answer reads."""
    content = dict(message)
    if effect.rpc == "echo":
        content = {name: content[name] for name in ("sent_ns", "aside", "position")}
        content |= {"serial": LIFE, "asked": role(state, message["asked"])}
    else:
        content["serial"] = role(state, message["serial"])
    if effect.rpc == "fetch_keys":
        content["limit_bytes"] = 0
    return parcel(QUESTION, effect.to, effect.aside, effect.rpc, content)


def _change(contents: dict[str, bytes], changes: Changes) -> None:
    for key, value in changes:
        if value is None:
            contents.pop(key, None)
        else:
            contents[key] = value
