"""The secondary's side of replication: what it does next, as a pure function of its state and what happened.

1. ``on(state, event)`` gives (state, effects).  It reads no clock, draws nothing, touches nothing: time comes
   in with the event; jitter is drawn and effects are carried out, in order, by the caller.
2. Every connection begins with the guard.  Found: stream from there.  Missing: compare, fetch and delete what
   differs, then stream from the generation that was compared with.
3. While the state is stream-wals, the contents are those of some generation of the upstream, entry by entry.
4. ``complete`` is false from the first of several fetched batches to the last.  A single batch is one
   transaction, so its contents are never incomplete.
5. A connection that fails is tried again after a backoff, at the next known address.  It fails when it is refused, or
   when no heartbeat was answered for a while: how long an answer takes to cross the link proves nothing.
6. The upstream's new active node may announce itself: then it is asked at once.
7. Only two functions read the Merkle tree: ``ask`` completes a question, ``heard`` an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from labkit.service.durations import SECOND_NS
from labkit.vault.replication.events import (
    Announced,
    Apply,
    AskUpstream,
    Changes,
    Effect,
    Event,
    Moment,
    Observe,
    Pushed,
    Refused,
    Reindexed,
    Remember,
    Replace,
    ReplyArrived,
    Start,
    StartTimer,
    Stop,
    TimerFired,
)
from labkit.vault.replication.shapes import MAX_KEYS
from labkit.vault.replication.state import (
    BACKOFF_SPREAD_PPM,
    DEAD_NS,
    HEARTBEAT_NS,
    TRANSITIONS,
    Heartbeat,
    State,
    Step,
    Work,
    ask_guard,
    backoff_ns,
    canary_age_ms,
    connect,
    from_plain,
    learned,
    move,
    plain,
    ready_to_promote,
    send,
    without_failures,
)
from labkit.vault.replication.stream import beat, echoed, pushed, reindexed
from labkit.vault.replication.tree.merkle import PAGE_BYTES, TREES, MerkleTree, compared

__all__ = [
    "TRANSITIONS",
    "Announced",
    "Apply",
    "AskUpstream",
    "Effect",
    "Event",
    "Heartbeat",
    "Moment",
    "Observe",
    "Pushed",
    "Refused",
    "Reindexed",
    "Remember",
    "Replace",
    "ReplyArrived",
    "Start",
    "StartTimer",
    "State",
    "Stop",
    "TimerFired",
    "Work",
    "ask",
    "canary_age_ms",
    "from_plain",
    "heard",
    "on",
    "plain",
    "ready_to_promote",
]

DIFF_PAGES = 128
"""How many pages one question of a comparison holds: 640 KiB of subpages at most."""

FETCH_KEYS, FETCH_BYTES = MAX_KEYS, 1 << 19
"""How many keys one fetch asks for, and about how many bytes it wants at most."""


def on(state: State, event: Event) -> Step:
    """Return the state after an event, and the effects to carry out."""
    return _HANDLERS[type(event)](state, event)


def ask(question: AskUpstream, merkle_tree: MerkleTree) -> dict[str, Any]:
    """Return the message of a question, with this side's hashes in it."""
    message = dict(question.payload)
    if question.rpc == "guard_hash":
        message["guard"] = merkle_tree.guard()
    elif question.rpc == "conflicting_pages":
        theirs = zip(TREES, message.pop("roots"), strict=True)
        differing = [tree for tree, root in theirs if merkle_tree.subtree_root(tree) != root]
        message["pages"] = [[tree, compared(merkle_tree.pages(tree))] for tree in differing]
    elif question.rpc == "sub_page_hashes":
        empty = bytes(PAGE_BYTES)
        own = [(tree, page, merkle_tree.subpages(tree, page)) for tree, page in message.pop("pages")]
        message["subpages"] = [
            [tree, page, b"" if digests == empty else compared(digests)] for tree, page, digests in own
        ]
    return message


def heard(rpc: str, answer: Mapping[str, Any], merkle_tree: MerkleTree) -> dict[str, Any]:
    """Return an answer as ``ReplyArrived`` carries it: leaves compared with this side's, its guard beside theirs."""
    message = dict(answer)
    if rpc == "echo":
        message["own_guard"] = merkle_tree.guard()
        if message["roots"]:
            message["own_roots"] = merkle_tree.roots()
    elif rpc == "sub_page_hashes" and "leaves" in message:
        theirs: dict[str, bytes] = dict(message.pop("leaves"))
        buckets: dict[int, set[int]] = {tree: set() for tree in TREES}
        for tree, number in message.pop("buckets"):
            buckets[tree].add(number)
        own: dict[str, bytes] = {}
        for tree in TREES:
            if buckets[tree]:
                own.update(merkle_tree.leaves(tree, buckets[tree]))
        message["fetch"] = sorted(key for key in theirs if own.get(key) != theirs[key])
        message["delete"] = sorted(key for key in own if key not in theirs)
    return message


# ---- starting, stopping, losing ---------------------------------------------------------------------------


def _start(state: State, event: Start) -> Step:
    resumed = event.complete and event.position is not None and bool(event.addresses)
    life = max(state.serial, event.serial) + 1
    started = State(
        state=state.state,
        addresses=event.addresses,
        primary_cluster_addr=event.primary_cluster_addr,
        secondary_id=event.secondary_id,
        term=event.term,
        complete=event.complete,
        position=event.position,
        last_remote_wal=event.last_remote_wal,
        last_start_ns=event.at.wall_ns,
        life=life,
        serial=life,
    )
    started, moves = move(started, "resume" if resumed else "start")
    if not event.addresses:
        return started, moves
    started, effects = connect(started, event.at.now_ns)
    return started, [*moves, StartTimer("heartbeat", life, HEARTBEAT_NS), *effects]


def _stop(state: State, event: Stop) -> Step:
    stopped, moves = move(state, "stop")
    stopped = State(
        state=stopped.state,
        connection_state="shutdown" if event.shut else "idle",
        secondary_id=state.secondary_id,
        complete=state.complete,
        last_remote_wal=state.last_remote_wal,
        life=state.serial + 1,
        serial=state.serial + 1,
    )
    return stopped, [*moves, Observe("replication_stopped", {"reason": event.reason})]


def _refused(state: State, event: Refused) -> Step:
    ended = event.rpc == ""
    asked = event.serial == state.serial and event.rpc in (state.awaiting, "echo")
    if state.connection_state not in ("connecting", "ready") or not (ended or asked):
        return state, []
    return _lost(state._replace(stream=0) if ended else state, event.reason, event.at, event.addresses)


def _lost(state: State, reason: str, at: Moment, active: tuple[str, ...] = ()) -> Step:
    """Drop the connection: ask the active node that was named, at once but not twice in a row; else back off.

    What was pushed before still counts when it arrives, until the guard is found or missed, or the upstream ends it.
    """
    known, at_once = state.addresses, bool(active) and not state.sent_on
    next_first = tuple(dict.fromkeys((*active, *known))) if active else known[1:] + known[:1]
    lost = state._replace(
        connection_state="transient_failure",
        addresses=next_first,
        failures=state.failures + 1,
        sent_on=at_once,
        last_error=(state.last_error if active else "") or reason,  # where to ask instead explains nothing
        awaiting="",
        work=Work(),
        loops=max(0, state.loops - (state.work != Work())),  # a comparison that is broken off was not in vain
        serial=state.serial + 1,
    )
    observed = Observe("replication_disconnected", {"reason": reason, "failures": lost.failures})
    if not at_once:
        return lost, [observed, StartTimer("backoff", lost.serial, backoff_ns(state.failures), BACKOFF_SPREAD_PPM)]
    lost, effects = connect(lost, at.now_ns)
    return lost, [observed, *effects]


def _announced(state: State, event: Announced) -> Step:
    if event.address not in state.addresses or event.term <= state.term:
        return state, []
    others = tuple([address for address in state.addresses if address != event.address])
    known = (event.address, *others)
    state = without_failures(state._replace(addresses=known, term=event.term))
    state, effects = connect(state, event.at.now_ns)
    observed = Observe("primary_announced", {"address": event.address, "term": event.term})
    return state, [observed, Remember(known, event.term), *effects]


def _timer(state: State, event: TimerFired) -> Step:
    if event.name == "backoff" and event.serial == state.serial and not state.awaiting and state.addresses:
        return connect(state, event.at.now_ns)
    if event.name != "heartbeat" or event.serial != state.life or not state.addresses:
        return state, []
    effects: list[Effect] = [StartTimer("heartbeat", state.life, HEARTBEAT_NS)]
    more: list[Effect] = []
    if state.connection_state in ("connecting", "ready"):
        if event.at.now_ns - state.heard_ns >= DEAD_NS:
            state, more = _lost(state, f"no heartbeat was answered for {DEAD_NS // SECOND_NS} s", event.at)
        else:
            state, more = beat(state, event.at)
    return state, effects + more


# ---- answers ----------------------------------------------------------------------------------------------


def _reply(state: State, event: ReplyArrived) -> Step:
    answer = event.payload
    if event.rpc == "echo":
        return echoed(state, event) if answer["serial"] == state.life and state.addresses else (state, [])
    if event.rpc != state.awaiting or answer["serial"] != state.serial:
        return state, []
    if _was_not_asked(state, event.rpc, answer):
        return state, [Observe("answer_refused", {"rpc": event.rpc, "reason": "it is not about what was asked"})]
    effects: list[Effect] = []
    if state.connection_state != "ready":
        effects.append(Observe("replication_connected", {"address": state.addresses[0]}))
    state = without_failures(state)._replace(awaiting="", connection_state="ready", heard_ns=event.at.now_ns)
    if answer.get("gone"):
        effects.append(Observe("generation_gone", {"rpc": event.rpc}))
        state, more = ask_guard(state)
    else:
        state, more = _ANSWERS[event.rpc](state, answer)
    return state, effects + more


def _was_not_asked(state: State, rpc: str, answer: Mapping[str, Any]) -> bool:
    """Whether an answer, well-formed as it is, is about other pages or keys than the question (R25)."""
    work = state.work
    if answer.get("gone"):
        return False
    if rpc == "sub_page_hashes":
        return not 1 <= answer["done"] <= len(work.pages[:DIFF_PAGES])
    if rpc == "fetch_keys":
        came = tuple([key for key, _ in answer["values"]])
        return not came or came != work.fetch[work.progress : work.progress + len(came)]
    return False


def _guard(state: State, answer: Mapping[str, Any]) -> Step:
    state, kept = learned(state._replace(stream=0), answer)
    if answer["found"]:
        behind = answer["last"] - answer["index"]
        observed = Observe("guard_found", {"index": answer["index"], "scanned_entries": behind})
        state, effects = _reached(state, "guard found", answer["index"], ())
        return state, [*kept, observed, *effects]
    generation = answer["generation"]
    if state.root_alarm == "comparing":
        state, moves = move(state, "roots differ")
    else:
        state, moves = move(state._replace(loops=state.loops + 1), "guard missing")
        moves.insert(0, Observe("missing_guard", {"generation": generation}))
    state, effects = state._replace(work=Work(generation)), [*kept, *moves]
    if state.loops > 1:
        effects.append(Observe("merkle_loop", {"comparisons": state.loops}))
    state, sent = send(state, "conflicting_pages", generation=generation, roots=list(answer["roots"]))
    return state, [*effects, sent]


def _pages(state: State, answer: Mapping[str, Any]) -> Step:
    pages = tuple([(tree, page) for tree, page in answer["pages"]])
    state = state._replace(work=state.work._replace(pages=pages))
    observed = Observe("merkle_diff", {"generation": state.work.generation, "pages": len(pages)})
    state, effects = _ask_subpages(state) if pages else _empty_diff(state)
    return state, [observed, *effects]


def _ask_subpages(state: State) -> Step:
    pages = [list(number) for number in state.work.pages[:DIFF_PAGES]]
    state, sent = send(state, "sub_page_hashes", generation=state.work.generation, pages=pages)
    return state, [sent]


def _subpages(state: State, answer: Mapping[str, Any]) -> Step:
    work = state.work
    work = work._replace(
        pages=work.pages[answer["done"] :],
        fetch=(*work.fetch, *answer["fetch"]),
        delete=(*work.delete, *answer["delete"]),
    )
    state = state._replace(work=work)
    if work.pages:
        return _ask_subpages(state)
    if not work.fetch and not work.delete:
        return _empty_diff(state)
    state, moves = move(state, "conflicts")
    counts = {"generation": work.generation, "fetch": len(work.fetch), "delete": len(work.delete)}
    counts["num_conflict_keys"] = len(work.fetch) + len(work.delete)
    state, effects = _next_batch(state, ())
    return state, [*moves, Observe("merkle_sync", counts), *effects]


def _empty_diff(state: State) -> Step:
    observed = Observe("merkle_diff_empty", {"generation": state.work.generation})
    state, effects = _reached(state, "empty diff", state.work.generation, ())
    return state, [observed, *effects]


def _values(state: State, answer: Mapping[str, Any]) -> Step:
    puts = tuple([(key, value) for key, value in answer["values"] if value is not False])
    damaged = [key for key, value in answer["values"] if value is False]
    new = [key for key in damaged if key not in state.damaged]
    if damaged:
        state = state._replace(damaged=(*state.damaged, *new), missing="named")
    work = state.work._replace(progress=state.work.progress + len(answer["values"]))
    state, effects = _next_batch(state._replace(work=work), puts)
    looped = [Observe("merkle_loop", {"comparisons": state.loops, "damaged": new})] if new else []
    return state, [*looped, *effects]


def _next_batch(state: State, puts: Changes) -> Step:
    """Write what was fetched; ask for more, or after the last key delete and reach the generation."""
    work = state.work
    if work.progress == len(work.fetch):
        changes = (*puts, *[(key, None) for key in work.delete])
        return _reached(state, "keys applied", work.generation, changes)
    effects: list[Effect] = []
    if puts:
        state = state._replace(complete=False, position=None)
        effects.append(Replace(puts, complete=False, position=None))
    keys = list(work.fetch[work.progress : work.progress + FETCH_KEYS])
    state, sent = send(state, "fetch_keys", generation=work.generation, keys=keys, limit_bytes=FETCH_BYTES)
    return state, [*effects, sent]


def _reached(state: State, event: str, generation: int, changes: Changes) -> Step:
    """Record that the contents are a complete generation, and ask for the stream from there."""
    state, moves = move(state, event)
    alarm = "compared" if state.root_alarm == "comparing" else state.root_alarm
    state = state._replace(complete=True, position=generation, work=Work(), root_alarm=alarm)
    state, sent = send(state, "stream_wals", **{"from": generation})
    return state._replace(stream=state.serial), [Replace(changes, True, generation), *moves, sent]


def _streaming(state: State, answer: Mapping[str, Any]) -> Step:
    return state, [Observe("stream_wals", {"from": answer["from"], "last": answer["last"]})]


_HANDLERS: dict[type, Callable[[State, Any], Step]] = {
    Start: _start,
    Stop: _stop,
    ReplyArrived: _reply,
    Refused: _refused,
    Pushed: pushed,
    Announced: _announced,
    Reindexed: reindexed,
    TimerFired: _timer,
}

_ANSWERS: dict[str, Callable[[State, Mapping[str, Any]], Step]] = {
    "guard_hash": _guard,
    "conflicting_pages": _pages,
    "sub_page_hashes": _subpages,
    "fetch_keys": _values,
    "stream_wals": _streaming,
}
