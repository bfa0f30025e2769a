"""A secondary's replication state, the table of its transitions, and the steps that the handlers share.

1. ``TRANSITIONS`` is the whole table.  A lost connection is not an event of it: it ends the open question and
   changes ``connection_state``, but neither ``state`` nor contents.
2. One question is open at a time, under a serial; an answer or a push with another serial is ignored.  Heartbeats
   are outside this: all of one start have its serial.
3. The question by guard begins a connection: it goes aside, all others wait their turn on the line.
4. State is plain values: ``plain`` and ``from_plain`` carry it through JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.service.durations import MILLISECOND_NS, SECOND_NS
from labkit.service.record import NamedTuple
from labkit.vault.replication.events import AskUpstream, Effect, Observe, Remember

TRANSITIONS: dict[str, dict[str, str]] = {
    "idle": {
        "start": "idle",
        "resume": "stream-wals",
        "guard found": "stream-wals",
        "guard missing": "merkle-diff",
        "stop": "idle",
    },
    "merkle-diff": {
        "start": "idle",
        "resume": "stream-wals",
        "guard found": "stream-wals",
        "guard missing": "merkle-diff",
        "roots differ": "merkle-diff",
        "empty diff": "stream-wals",
        "conflicts": "merkle-sync",
        "stop": "idle",
    },
    "merkle-sync": {
        "start": "idle",
        "resume": "stream-wals",
        "guard found": "stream-wals",
        "guard missing": "merkle-diff",
        "roots differ": "merkle-diff",
        "keys applied": "stream-wals",
        "stop": "idle",
    },
    "stream-wals": {
        "start": "idle",
        "resume": "stream-wals",
        "guard found": "stream-wals",
        "guard missing": "merkle-diff",
        "roots differ": "merkle-diff",
        "stop": "idle",
    },
}
"""{state: {event: state}}; ``resume`` is a start with complete contents and a known position."""

CONNECTION_STATES = ("idle", "connecting", "ready", "transient_failure", "shutdown")

HEARTBEAT_NS = SECOND_NS
DEAD_NS = 15 * SECOND_NS
BACKOFF_NS, BACKOFF_CAP_NS, BACKOFF_SPREAD_PPM = 2 * SECOND_NS, 60 * SECOND_NS, 200_000


class Work(NamedTuple):
    """A comparison under way: generation, pages to compare, keys to fetch and delete, number fetched."""

    generation: int = 0
    pages: tuple[tuple[int, int], ...] = ()
    fetch: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()
    progress: int = 0


class Heartbeat(NamedTuple):
    """What the last heartbeat showed; ``canaries`` are (entry, wall clock) that contents have not reached."""

    last_wall_ns: int | None = None
    duration_ns: int = 0
    clock_skew_ns: int = 0  # this node's wall clock minus the upstream's
    canary_ns: int | None = None
    canaries: tuple[tuple[int, int], ...] = ()
    sent_ns: int = -1  # when the newest that was answered was sent
    api_addr: str = ""
    cluster_addr: str = ""


class State(NamedTuple):
    """Everything the secondary's active node knows about its replication."""

    state: str = "idle"
    connection_state: str = "idle"
    addresses: tuple[str, ...] = ()  # of the upstream, the one in use first; empty: none
    primary_cluster_addr: str = ""
    secondary_id: str = ""
    term: int = 0  # the highest of the upstream that was seen
    complete: bool = False
    position: int | None = None
    last_remote_wal: int = 0
    last_start_ns: int | None = None  # wall clock
    life: int = 0  # serial of the start: heartbeats and their timer belong to it
    serial: int = 0
    awaiting: str = ""
    stream: int = 0  # serial of the stream that is, or is about to be, pushed
    work: Work = Work()
    heartbeat: Heartbeat = Heartbeat()
    heard_ns: int = 0
    unanswered: int = 0  # heartbeats since a mark was sent that is not answered yet; 0: none is under way
    failures: int = 0
    sent_on: bool = False  # the address in use was named by a node that was asked in vain
    last_error: str = ""
    loops: int = 0  # comparisons since a streamed entry or equal guards, but those that a lost connection broke off
    divergences: int = 0  # unequal guards since equal ones
    recheck_ns: int = 0
    damaged: tuple[str, ...] = ()  # keys that the upstream holds damaged values of, as reported
    missing: str = ""  # what a comparison that met such keys left: "named", then how the guards differ, in hex
    root_alarm: str = ""  # unequal roots over equal guards: comparing, compared, reported; empty: none were seen
    reindexed: bool = False  # this side's index was made again since equal roots were seen


Step = tuple[State, list[Effect]]


def ready_to_promote(state: State, reindexing: bool = False) -> str | None:
    """Return why this secondary is not safe to promote without force, or None when it is.

    A lost connection does not make it unsafe: otherwise failover would never be possible.
    """
    if reindexing:
        return "the Merkle tree is being rebuilt"
    if state.state == "merkle-sync":
        return f"it has fetched {state.work.progress} of {len(state.work.fetch)} keys that differ"
    if state.state == "idle" and not (state.complete and not state.addresses):
        return "its data is not known to be complete: no state of the primary was reached yet"
    if state.state == "merkle-diff":
        return "it is comparing its data with the primary's"
    return None


def canary_age_ms(state: State, wall_ns: int) -> int:
    """Return the age of the newest instant of the upstream that contents have reached, skew included."""
    canary_ns = state.heartbeat.canary_ns
    return 0 if canary_ns is None else (wall_ns - canary_ns) // MILLISECOND_NS


def plain(state: State) -> dict[str, Any]:
    """Return a state as values that JSON can hold."""
    return {**state._asdict(), "work": state.work._asdict(), "heartbeat": state.heartbeat._asdict()}


def from_plain(values: Mapping[str, Any]) -> State:
    """Return the state that ``plain`` was given; lists become tuples."""
    nested = {"work": Work(**_frozen(values["work"])), "heartbeat": Heartbeat(**_frozen(values["heartbeat"]))}
    return State(**{**_frozen(values), **nested})


def move(state: State, event: str) -> Step:
    """Apply an event of the table."""
    following = TRANSITIONS[state.state].get(event)
    assert following is not None, f"no transition from {state.state} on {event!r}"
    if following == state.state:
        return state, []
    fields = {"before": state.state, "after": following, "because": event}
    return state._replace(state=following), [Observe("sync_state", fields)]


def without_failures(state: State) -> State:
    """Return the state once somebody who can be believed has answered: what failed before does not count any more."""
    return state._replace(failures=0, sent_on=False, last_error="")


def connect(state: State, now_ns: int) -> Step:
    """Begin a connection with the first address; a comparison for the sake of the roots is given up."""
    alarm = "" if state.root_alarm == "comparing" else state.root_alarm
    return ask_guard(state._replace(connection_state="connecting", heard_ns=now_ns, unanswered=0, root_alarm=alarm))


def ask_guard(state: State) -> Step:
    """Ask the upstream which generation has this side's guard; what was under way is given up, but for the stream."""
    state, sent = send(state._replace(work=Work()), "guard_hash", compare=state.root_alarm == "comparing")
    return state, [sent]


def send(state: State, rpc: str, **payload: Any) -> tuple[State, AskUpstream]:
    """Open a question under a serial of its own."""
    serial = state.serial + 1
    sent = AskUpstream(rpc, state.addresses[0], {"serial": serial, **payload}, rpc == "guard_hash")
    return state._replace(serial=serial, awaiting=rpc), sent


def learned(state: State, answer: Mapping[str, Any]) -> Step:
    """Keep the addresses and term that an answer names, where they are not those that are known."""
    current, configured, known = state.addresses[0], state.primary_cluster_addr, state.addresses
    addresses = tuple(dict.fromkeys(filter(None, (current, *answer["cluster_addrs"], configured))))
    if answer["term"] <= state.term and (addresses == known or sorted(addresses) == sorted(known)):
        return state, []
    state = state._replace(addresses=addresses, term=max(answer["term"], state.term))
    return state, [Remember(state.addresses, state.term)]


def backoff_ns(times: int) -> int:
    """Return 2 s, doubled for each time before, 60 s at most."""
    return min(BACKOFF_NS << min(times, 16), BACKOFF_CAP_NS)


def _frozen(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: as_tuples(value) for name, value in values.items()}


def as_tuples(value: Any) -> Any:
    """Return plain values with tuples in the place of lists, however deep."""
    return tuple(map(as_tuples, value)) if isinstance(value, list | tuple) else value
