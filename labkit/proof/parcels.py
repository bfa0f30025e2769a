"""Parcels: messages between a primary and its secondary as values that can be compared, with serials by their role.

A serial is compared only for equality, and only with the serials of three roles: of the open question, of the stream,
of the start.  Each new serial is greater than all before it, so a serial without a role never gets one again.  A parcel
therefore holds, in place of a serial, a number that stands for its role.  When a step gives a role to another serial,
the parcels in flight are rewritten (``renamed``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from labkit.vault.replication.state import State, as_tuples

OLD, STREAM, NOW = 3, 5, 10
"""Serials: of a question that is over; of the stream, when that is not the last question's; of the last question."""

OLD_LIFE, LIFE = 0, 1
"""The serial of a start before the last one, and of the last one: heartbeats have it."""

QUESTION, ANSWER, PUSH, REFUSAL, ANNOUNCEMENT = "question", "answer", "push", "refusal", "announcement"

Frozen = tuple[tuple[str, Any], ...]


class Parcel(NamedTuple):
    """One message: what it is, with which of the primary's nodes, whether it goes aside, and what it says."""

    kind: str
    node: str
    aside: bool
    rpc: str
    content: Frozen

    @property
    def goes_up(self) -> bool:
        """Whether the secondary sent it."""
        return self.kind == QUESTION

    def message(self) -> dict[str, Any]:
        """Return what it says, as it is handed over: a dict of plain values and lists, of a push tuples."""
        return dict(self.content) if self.kind == PUSH else {name: _lists(value) for name, value in self.content}


class Roles(NamedTuple):
    """What becomes of the roles in one step: of the last question's serial, of the stream's, of the start's."""

    now: int = NOW
    stream: int = STREAM
    life: int = LIFE


UNCHANGED = Roles()
BEGUN_AGAIN = Roles(OLD, OLD, OLD_LIFE)


def parcel(kind: str, node: str, aside: bool, rpc: str, message: Mapping[str, Any]) -> Parcel:
    """Return a message as a value."""
    return Parcel(kind, node, aside, rpc, tuple([(name, as_tuples(message[name])) for name in sorted(message)]))


def roles_after(before: State, after: State) -> Roles:
    """Return what becomes of the roles by a step from one state to another."""
    if after.life != before.life:
        return BEGUN_AGAIN
    return Roles(_role(after, before.serial), _role(after, before.stream) if before.stream else STREAM)


def role(state: State, serial: int) -> int:
    """Return what stands for a serial in a state; 0 stands for none."""
    return _role(state, serial) if serial else 0


def _role(state: State, serial: int) -> int:
    return NOW if serial == state.serial else STREAM if serial == state.stream else OLD


def renamed(given: Parcel, roles: Roles) -> Parcel:
    """Return a message in flight as it is after a step of the secondary."""
    if roles == UNCHANGED:
        return given
    content = dict(given.content)
    heartbeat = given.rpc == "echo" and given.kind != REFUSAL
    for name in ("serial", "asked", "stream"):
        if name in content:
            in_life = heartbeat and name == "serial"
            content[name] = renamed_life(content[name], roles) if in_life else renamed_serial(content[name], roles)
    return given._replace(content=tuple(content.items()))


def renamed_serial(serial: int, roles: Roles) -> int:
    """Return what stands for a serial after a step."""
    return roles.now if serial == NOW else roles.stream if serial == STREAM else serial


def renamed_life(life: int, roles: Roles) -> int:
    """Return what stands for the serial of a start after a step."""
    return roles.life if life == LIFE else life


def _lists(value: Any) -> Any:
    return list(map(_lists, value)) if isinstance(value, tuple) else value
