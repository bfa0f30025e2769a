"""The primary in the model of replication: what it committed, what its backlog holds, and the secondary's connection.

1. Journal, tree and answers are the shipped code's, over tiny stores; each is made once for a history and kept.
2. A commit puts or deletes one of two keys, of which only one is overwritten.  Every value put is another one, as
   ciphertexts are.
3. A node that takes over has an empty backlog, no connection and no stream, and announces itself once to a secondary
   that was connected at some time.
4. An answer of keys holds one key, a push one entry: a batch is as small as the code allows.
5. Certificate and challenge are left out: a question by guard that arrives is accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from labkit.proof.parcels import (
    ANNOUNCEMENT,
    ANSWER,
    PUSH,
    REFUSAL,
    Parcel,
    Roles,
    parcel,
    renamed_serial,
)
from labkit.vault.replication.serving_secondaries import QUESTIONS, Here, SecondaryStream, echo, opened, push, shipment
from labkit.vault.replication.tree.journal import WAL_KEY, Journal
from labkit.vault.storage.memory import MemoryStorage

NODES = ("a", "b")
"""The primary's nodes by address; the term says which of them leads."""

SHARED, TOKEN = "logical/x", "token/y"
"""The keys that are written: one in each tree."""

FIRST = {SHARED: b"0"}

Contents = tuple[tuple[str, bytes], ...]
Write = tuple[str, bytes | None]
Answers = Mapping[str, Callable[[Journal, Mapping[str, Any]], dict[str, Any]]]


class Primary(NamedTuple):
    """One state of the primary; ``history`` are the writes since the first contents, ``oldest`` the backlog's end.

    ``known``: the secondary was connected at some time.  ``broken`` says what the primary did that it must not.
    """

    history: tuple[Write, ...] = ()
    oldest: int = 0
    term: int = 0
    nodes: int = 1
    known: bool = False
    connected: bool = False
    stream: SecondaryStream | None = None
    broken: str = ""

    @property
    def active(self) -> str:
        """The address of the node that leads."""
        return NODES[self.term % self.nodes]

    @property
    def last(self) -> int:
        """The number of the newest entry."""
        return len(self.history)


PrimaryStep = tuple[Primary, tuple[Parcel, ...]]


class PrimarySide:
    """The primary's steps; ``backlog`` is how many entries it holds, ``answers`` what answers a question."""

    def __init__(self, backlog: int, answers: Answers = QUESTIONS) -> None:
        self._backlog, self._answers = backlog, answers
        self._journals: dict[tuple[tuple[Write, ...], int], Journal] = {}
        self._stores: dict[tuple[tuple[Write, ...], int], MemoryStorage] = {}

    def writes(self, primary: Primary) -> list[Write]:
        """Return what can be committed next: the end of each key that there is, and a value of each that may be put."""
        held = dict(contents_at(primary.history, primary.last))
        value = str(primary.last + 1).encode()
        ends: list[Write] = [(key, None) for key in sorted(held)]
        return [*ends, *[(key, value) for key in (SHARED, TOKEN) if key not in held or key == SHARED]]

    def commit(self, primary: Primary, write: Write) -> PrimaryStep:
        """Commit a write, and push it where a stream is open."""
        history = (*primary.history, write)
        oldest = max(primary.oldest, len(history) - self._backlog)
        return self._pushed(primary._replace(history=history, oldest=oldest), [])

    def take_over(self, primary: Primary) -> PrimaryStep:
        """Let another node lead, and announce itself."""
        taken = primary._replace(term=primary.term + 1, oldest=primary.last, connected=False, stream=None)
        if not primary.known:
            return taken, ()
        said = {"address": taken.active, "term": taken.term}
        return taken, (parcel(ANNOUNCEMENT, taken.active, True, "announcement", said),)

    def answer(self, primary: Primary, question: Parcel) -> PrimaryStep:
        """Answer a question, or refuse it."""
        rpc, message, node = question.rpc, question.message(), question.node
        if node != primary.active or (rpc != "guard_hash" and not primary.connected):
            refused = {"serial": message["asked" if rpc == "echo" else "serial"], "addresses": [primary.active]}
            return primary, (parcel(REFUSAL, node, True, rpc, refused),)
        journal = self.journal(primary)
        if rpc == "echo":
            here = Here(0, primary.term, cluster_addrs=NODES[: primary.nodes], stream=primary.stream)
            answer = {**echo(journal, message, here), "last_wal": 0}
            return primary, (parcel(ANSWER, node, question.aside, rpc, answer),)
        answer = self._answers[rpc](journal, message)
        if rpc == "guard_hash":
            broken = _not_where_it_stood(journal, message, answer)
            primary = primary._replace(known=True, connected=True, stream=None, broken=broken)
            answer |= {"cluster_addrs": list(NODES[: primary.nodes]), "term": primary.term}
        elif rpc == "stream_wals" and not answer.get("gone"):
            primary = primary._replace(stream=opened(answer))
        sent = parcel(ANSWER, node, rpc == "guard_hash", rpc, answer)
        return self._pushed(primary, [sent])

    def journal(self, primary: Primary) -> Journal:
        """Return the journal of a state; nothing is written to it."""
        key = (primary.history, primary.oldest)
        if key not in self._journals:
            self._stores[key], self._journals[key] = self._made(*key)
        return self._journals[key]

    def _made(self, history: tuple[Write, ...], oldest: int) -> tuple[MemoryStorage, Journal]:
        """Return store and journal after some writes: those before the last of them, and that one; or newly on."""
        last = len(history)
        if oldest < last:
            before = (history[:-1], min(oldest, last - 1) if last - 1 - oldest < self._backlog else last - 1)
            state = self.journal(Primary(*before)).state()
            store = MemoryStorage.from_state(self._stores[before].state())
            journal = Journal.from_state(store, state)
            journal.commit(dict(history[-1:]), 0)
            return store, journal
        store = MemoryStorage({**dict(contents_at(history, last)), WAL_KEY: last.to_bytes(8, "big")})
        journal = Journal(store, self._backlog)
        journal.switch_on()
        return store, journal

    def _pushed(self, primary: Primary, sent: list[Parcel]) -> PrimaryStep:
        """Push what the stream lacks."""
        journal = self.journal(primary)
        while primary.stream is not None and primary.stream.sent != journal.last and not primary.stream.broken:
            stream, message, _ = push(primary.stream, shipment(journal, primary.stream.sent, 0))
            primary = primary._replace(stream=stream)
            sent.append(parcel(PUSH, primary.active, False, "stream", message))
        return primary, tuple(sent)


def _not_where_it_stood(journal: Journal, question: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """Return what is wrong with the answer to a guard: it is not found, though an entry of the backlog has it."""
    if answer["found"] or question["compare"] or journal.find(question["guard"]) is None:
        return ""
    return "the primary begins a comparison, though its backlog has the secondary's guard"


def renamed_primary(primary: Primary, roles: Roles) -> Primary:
    """Return the primary as it is after a step of the secondary gave serials other roles."""
    stream = primary.stream
    if stream is None:
        return primary
    return primary._replace(stream=stream._replace(serial=renamed_serial(stream.serial, roles)))


def contents_at(history: tuple[Write, ...], number: int) -> Contents:
    """Return the contents right after an entry."""
    held: dict[str, bytes] = dict(FIRST)
    for key, value in history[:number]:
        if value is None:
            held.pop(key, None)
        else:
            held[key] = value
    return tuple(sorted(held.items()))
