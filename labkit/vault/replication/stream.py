"""The stream that the upstream pushes, and the heartbeat that shows whether all of it arrived.

1. Entries are applied in order of their numbers, without a gap.
2. A push that skips a number, an upstream that reports entries as pushed which did not arrive, and one without the
   stream mean loss: the secondary asks by guard again.  Entries may take long over a slow link, so the wait
   doubles each time until an entry arrives.
3. When everything pushed was applied and the guards differ, contents differ: the secondary asks by guard
   again, at growing intervals while they still differ.
4. The canary rides on the heartbeat: an instant of the upstream counts as seen once all entries before it
   are applied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.service.durations import MILLISECOND_NS
from labkit.vault.replication.events import Apply, Changes, Effect, Moment, Observe, Pushed, Remember, ReplyArrived
from labkit.vault.replication.state import State, Step, ask_guard, backoff_ns, canary_age_ms

MAX_CANARIES = 64


def heartbeat(state: State, at: Moment) -> dict[str, Any]:
    """Return what a heartbeat reports to the upstream; the numbers in ms are the last measured."""
    return {
        "serial": state.life,
        "secondary_id": state.secondary_id,
        "sent_ns": at.now_ns,
        "stream": 0 if state.awaiting else state.stream,
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
    awaiting = "" if state.awaiting == "stream_wals" else state.awaiting
    state = state._replace(awaiting=awaiting, connection_state="ready", heard_ns=event.at.now_ns)
    if push.get("gone"):
        state, asked = ask_guard(state)
        return state, [Observe("generation_gone", {"rpc": "stream_wals"}), *asked]
    entries: list[tuple[int, Changes]] = []
    expected = position + 1
    for number, changes in push["entries"]:
        if number > expected:
            break
        if number == expected:
            entries.append((number, tuple((key, after) for key, after in changes)))
            expected += 1
    effects: list[Effect] = []
    if entries:
        state = _advanced(state, expected - 1)
        effects.append(Apply(tuple(entries)))
    if push["entries"] and push["entries"][-1][0] >= expected:
        state, more = ask_guard(state)
        effects += [Observe("stream_gap", {"expected": expected, "came": push["entries"][-1][0]}), *more]
    return state, effects


def _advanced(state: State, position: int) -> State:
    beat = state.heartbeat
    seen = [wall_ns for number, wall_ns in beat.canaries if number <= position]
    if seen:
        left = tuple(canary for canary in beat.canaries if canary[0] > position)
        beat = beat._replace(canary_ns=seen[-1], canaries=left)
    return state._replace(position=position, last_remote_wal=position, heartbeat=beat, loops=0, losses=0, owed=None)


def echoed(state: State, event: ReplyArrived) -> Step:
    """Handle the answer of a heartbeat: clock, canary, addresses, and what was pushed."""
    answer, at = event.payload, event.at
    duration_ns = at.now_ns - answer["sent_ns"]
    beat = state.heartbeat._replace(
        last_wall_ns=at.wall_ns,
        duration_ns=duration_ns,
        clock_skew_ns=at.wall_ns - duration_ns // 2 - answer["wall_ns"],
        api_addr=answer["api_addr"],
        cluster_addr=answer["cluster_addr"],
    )
    if state.position is not None and answer["last_wal"] <= state.position:
        beat = beat._replace(canary_ns=answer["wall_ns"])
    elif state.position is not None and len(beat.canaries) < MAX_CANARIES:
        beat = beat._replace(canaries=(*beat.canaries, (answer["last_wal"], answer["wall_ns"])))
    state = state._replace(heartbeat=beat)
    if state.connection_state == "ready":
        state = state._replace(heard_ns=at.now_ns)
    current, configured = state.addresses[0], state.primary_cluster_addr
    known = tuple(dict.fromkeys(filter(None, (current, *answer["cluster_addrs"], configured))))
    effects: list[Effect] = []
    if sorted(known) != sorted(state.addresses):
        state = state._replace(addresses=known)
        effects.append(Remember(known))
    if state.stream and not state.awaiting and answer["asked"] == state.stream:
        state, more = _judge(state, answer, at)
        effects += more
    return state, effects


def _judge(state: State, answer: Mapping[str, Any], at: Moment) -> Step:
    """Compare what the upstream reports of the stream with what arrived (rules 2 and 3)."""
    position = state.position
    if answer["stream"] != state.stream or position is None:
        state, effects = ask_guard(state)
        return state, [Observe("stream_forgotten", {"position": position}), *effects]
    if answer["sent"] > position:
        if state.owed is None or state.owed[1] != position:
            return state._replace(owed=(answer["sent"], position, at.now_ns)), []
        if at.now_ns - state.owed[2] < backoff_ns(state.losses):
            return state, []
        observed = Observe("stream_stalled", {"position": position, "sent": answer["sent"]})
        state, effects = ask_guard(state._replace(losses=state.losses + 1))
        return state, [observed, *effects]
    state = state._replace(owed=None)
    if not answer["guard"] or answer["sent"] < position:
        return state, []
    if answer["guard"] == answer["own_guard"]:
        return state._replace(loops=0, divergences=0, recheck_ns=0), []
    if at.now_ns < state.recheck_ns:
        return state, []
    state = state._replace(divergences=state.divergences + 1, recheck_ns=at.now_ns + backoff_ns(state.divergences))
    observed = Observe("contents_differ", {"position": position, "times": state.divergences})
    state, effects = ask_guard(state)
    return state, [observed, *effects]
