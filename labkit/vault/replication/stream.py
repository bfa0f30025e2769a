"""The stream that the upstream pushes, and the heartbeat that shows whether all of it arrived.

1. Entries are applied in order of their numbers, without a gap.
2. Messages that are sent the same way arrive in order, so a heartbeat can prove a loss.  Its answer comes before that
   of an earlier question: the question or its answer was lost.  Its answer names another entry as the last pushed: a
   push was lost, or what came was never pushed.  After such a proof the secondary asks by guard again; without one it
   waits, however long the link takes.
3. A heartbeat is a mark when it waits its turn on the line, as all questions but the one by guard do.  While a mark is
   under way a heartbeat per second goes aside, and further marks after 4, 8, 16 ... of them, as the first may be lost.
   When two heartbeats in a row went unanswered, something cut the link meanwhile: the next one is a mark.
   The question by guard goes aside, so the heartbeats after it do, and are its marks.
4. When everything pushed was applied and the guards differ, contents differ: the secondary asks by guard
   again, at growing intervals while they still differ.  Where the last comparison met values that are damaged upstream,
   it asks again only once the guards differ otherwise than after that comparison: nothing else can have come of it.
5. When the guards are equal and the roots are not, a tree is damaged: one comparison follows, and when the roots differ
   after it too, ``merkle_loop`` is reported, once until they are equal again.
6. The canary rides on the heartbeat: an instant of the upstream counts as seen once all entries before it
   are applied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.service.durations import MILLISECOND_NS
from labkit.vault.replication.events import (
    LEAVES,
    NODES,
    Apply,
    AskUpstream,
    Changes,
    Effect,
    Moment,
    Observe,
    Pushed,
    Reindexed,
    ReplyArrived,
)
from labkit.vault.replication.state import (
    HEARTBEAT_NS,
    Heartbeat,
    State,
    Step,
    ask_guard,
    backoff_ns,
    canary_age_ms,
    learned,
    move,
)

MAX_CANARIES = 64
MISSED_NS = 2 * HEARTBEAT_NS
ADVICE = "equal contents under unequal roots: a tree is damaged; run merkle-check on both clusters and reindex that one"
STILL_IRRECONCILABLE = "the roots still differ after this side's reindex: reindex the primary"
MARKS = frozenset(1 << power for power in range(2, 40))
"""After how many heartbeats without an answered mark another one is sent."""


def beat(state: State, at: Moment) -> Step:
    """Send the heartbeat of this second: as a mark when none is under way, else aside, now and then as both."""
    if state.awaiting == "guard_hash":
        ways = [True]
    else:
        state = state._replace(unanswered=state.unanswered + 1)
        number = state.unanswered
        ways = [False] if number == 1 else [True, False] if number in MARKS else [True]
    to = state.addresses[0]
    return state, [AskUpstream("echo", to, heartbeat(state, at, aside), aside) for aside in ways]


def heartbeat(state: State, at: Moment, aside: bool) -> dict[str, Any]:
    """Return what a heartbeat reports to the upstream; the numbers in ms are the last measured."""
    return {
        "serial": state.life,
        "secondary_id": state.secondary_id,
        "sent_ns": at.now_ns,
        "asked": state.serial,
        "aside": aside,
        "position": -1 if state.awaiting or state.position is None else state.position,
        "state": state.state,
        "last_remote_wal": state.last_remote_wal,
        "last_heartbeat_duration_ms": state.heartbeat.duration_ns // MILLISECOND_NS,
        "clock_skew_ms": state.heartbeat.clock_skew_ns // MILLISECOND_NS,
        "replication_primary_canary_age_ms": canary_age_ms(state, at.wall_ns),
    }


def pushed(state: State, event: Pushed) -> Step:
    """Apply what arrived on the stream, as far as it continues from the position."""
    push = event.payload
    position = state.position
    if not state.stream or push["serial"] != state.stream or position is None:
        return state, []
    if state.awaiting == "stream_wals":
        state = state._replace(awaiting="")
    asking = state.awaiting == "guard_hash"
    ready = state.connection_state == "ready"
    if push.get("gone"):
        if asking or not ready:
            return state._replace(stream=0), []
        state, asked = ask_guard(state)
        return state, [Observe("generation_gone", {"rpc": "stream_wals"}), *asked]
    entries: list[tuple[int, Changes]] = []
    expected = position + 1
    for number, changes in push["entries"]:
        if number > expected:
            break
        if number == expected:
            entries.append((number, changes))
            expected += 1
    effects: list[Effect] = []
    if entries:
        state = _advanced(state, expected - 1)
        effects.append(Apply(tuple(entries)))
    gap = bool(push["entries"]) and push["entries"][-1][0] >= expected
    if gap and ready and not asking:
        effects.append(Observe("stream_gap", {"expected": expected, "came": push["entries"][-1][0]}))
    elif not (entries and asking):  # a guard that is asked about is the one from before these entries
        return state, effects
    state, more = ask_guard(state)
    return state, effects + more


def reindexed(state: State, event: Reindexed) -> Step:
    """Ask by guard with the new index where that matters, unless a connection that is about to begin does so.

    Other leaves end a stream as well as a comparison, other nodes only a comparison, which then counts for none:
    until the guard is found, the contents are not known to be those of a generation.
    """
    state = state._replace(root_alarm="", reindexed=True, divergences=0, recheck_ns=0)
    matters = event.differing == LEAVES or (event.differing == NODES and state.state != "stream-wals")
    if not matters or state.connection_state != "ready":
        return state, []
    state, moves = move(state._replace(loops=0), "roots differ")
    state, asked = ask_guard(state)
    return state, [*moves, *asked]


def _advanced(state: State, position: int) -> State:
    beat = state.heartbeat
    seen = [wall_ns for number, wall_ns in beat.canaries if number <= position]
    if seen:
        left = tuple([canary for canary in beat.canaries if canary[0] > position])
        beat = beat._replace(canary_ns=seen[-1], canaries=left)
    return state._replace(position=position, last_remote_wal=position, heartbeat=beat, loops=0)


def echoed(state: State, event: ReplyArrived) -> Step:
    """Handle the answer of a heartbeat: clock, canary, addresses, and what it proves."""
    answer, at = event.payload, event.at
    missed = answer["sent_ns"] - state.heartbeat.sent_ns > MISSED_NS
    state = state._replace(
        heartbeat=_measured(state, answer, at),
        unanswered=state.unanswered if answer["aside"] and not missed else 0,
        heard_ns=at.now_ns if state.connection_state == "ready" else state.heard_ns,
    )
    state, effects = learned(state, answer)
    if state.connection_state in ("connecting", "ready") and answer["asked"] == state.serial:
        state, more = _judge(state, answer, at)
        effects += more
    return state, effects


def _measured(state: State, answer: Mapping[str, Any], at: Moment) -> Heartbeat:
    """Return what a heartbeat's answer shows.

    One that a later heartbeat's overtook, or to one that is not sent yet, shows only that something was heard.
    """
    beat = state.heartbeat
    if not beat.sent_ns < answer["sent_ns"] <= at.now_ns:
        return beat._replace(last_wall_ns=at.wall_ns)
    number, canary_ns = answer["last_wal"], beat.canary_ns
    if state.position is not None and number <= state.position:
        canary_ns = answer["wall_ns"]
    duration_ns = at.now_ns - answer["sent_ns"]
    beat = beat._replace(
        last_wall_ns=at.wall_ns,
        canary_ns=canary_ns,
        duration_ns=duration_ns,
        clock_skew_ns=at.wall_ns - duration_ns // 2 - answer["wall_ns"],
        api_addr=answer["api_addr"],
        cluster_addr=answer["cluster_addr"],
        sent_ns=answer["sent_ns"],
    )
    canaries = beat.canaries
    if state.position is None or number <= state.position:
        return beat
    if canaries and canaries[-1][0] == number:  # the later instant says more
        canaries = canaries[:-1]
    if len(canaries) < MAX_CANARIES:
        beat = beat._replace(canaries=(*canaries, (number, answer["wall_ns"])))
    return beat


def _judge(state: State, answer: Mapping[str, Any], at: Moment) -> Step:
    """Compare what the upstream reports, as of the last question, with what arrived (rules 2 and 4)."""
    position = state.position
    if state.awaiting:
        if answer["aside"] != (state.awaiting == "guard_hash"):
            return state, []
        lost = Observe("question_lost", {"rpc": state.awaiting})
    elif answer["stream"] != state.stream or position is None:
        lost = Observe("stream_forgotten", {"position": position})
    elif answer["sent"] != position and not answer["aside"]:
        kind = "entries_lost" if answer["sent"] > position else "entries_unknown"
        lost = Observe(kind, {"position": position, "sent": answer["sent"]})
    else:
        return _compared(state, answer, at)
    state, effects = ask_guard(state)
    return state, [lost, *effects]


def _compared(state: State, answer: Mapping[str, Any], at: Moment) -> Step:
    """Compare the guards, where both sides are at the same entry."""
    position = state.position
    if not answer["guard"] or answer["sent"] != position:
        return state, []
    if answer["guard"] == answer["own_guard"]:
        if state.loops or state.divergences or state.damaged:
            state = state._replace(loops=0, divergences=0, recheck_ns=0, damaged=(), missing="")
        return _compared_roots(state, answer)
    difference = _difference(answer["guard"], answer["own_guard"])
    if state.missing in ("named", difference):
        return state._replace(missing=difference), []
    if at.now_ns < state.recheck_ns:
        return state, []
    state = state._replace(divergences=state.divergences + 1, recheck_ns=at.now_ns + backoff_ns(state.divergences))
    observed = Observe("contents_differ", {"position": position, "times": state.divergences})
    state, effects = ask_guard(state)
    return state, [observed, *effects]


def _difference(guard: bytes, own_guard: bytes) -> str:
    """Return what two guards differ by: it stays the same while both sides take the same entries."""
    return bytes([one ^ other for one, other in zip(guard, own_guard, strict=False)]).hex()


def _compared_roots(state: State, answer: Mapping[str, Any]) -> Step:
    """Compare the roots, which come when nothing is on its way."""
    if not answer["roots"]:
        return state, []
    if answer["roots"] == answer["own_roots"]:
        if state.root_alarm or state.reindexed:
            state = state._replace(root_alarm="", reindexed=False)
        return state, []
    if state.root_alarm == "compared":
        advice = STILL_IRRECONCILABLE if state.reindexed else ADVICE
        return state._replace(root_alarm="reported"), [Observe("merkle_loop", {"comparisons": 1, "advice": advice})]
    if state.root_alarm:
        return state, []
    state, effects = ask_guard(state._replace(root_alarm="comparing"))
    return state, [Observe("roots_differ", {"position": state.position}), *effects]
