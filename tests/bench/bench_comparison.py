"""Bench: how one key that differs among a million is found: how many round trips, how many bytes.

    python tests/bench/bench_comparison.py [keys]

A primary and a secondary hold the same keys but one.  The primary's active node is a new one, so that its backlog
reaches no earlier state and the guard is missing.  Questions and answers are those that the lab carries, judged by the
same functions, and weighed as it weighs them; the header of each message is printed apart.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit.lab.wire.messages import HEADER_BYTES
from labkit.vault.replication import serving_secondaries, sync
from labkit.vault.replication.events import Moment
from labkit.vault.replication.state import State
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.storage.memory import MemoryStorage
from tests.bench.bench_merkle import stored_items

KEYS = 1_000_000
GOAL_TRIPS, GOAL_BYTES = 2, 12_000
COMPARING = ("conflicting_pages", "sub_page_hashes")
NOW = Moment(0, 0)


class Trip(NamedTuple):
    """A question and its answer: which, and what both weigh without their headers."""

    rpc: str
    question_bytes: int
    answer_bytes: int


def journal(items: dict[str, bytes]) -> Journal:
    """Return the journal of a node that has just become active."""
    made = Journal(MemoryStorage(items))
    made.switch_on()
    return made


def compare(primary: Journal, secondary: Journal) -> tuple[list[Trip], list[str]]:
    """Let a secondary find what differs; return the round trips up to the first fetch, and the keys it fetches."""
    assert secondary.tree is not None
    start = sync.Start(("a",), NOW, secondary_id="tokyo", complete=True, position=0, last_remote_wal=0)
    state, effects = sync.on(State(), start)
    trips: list[Trip] = []
    while True:
        (effect,) = (effect for effect in effects if isinstance(effect, sync.AskUpstream) and effect.rpc != "echo")
        question = sync.ask(effect, secondary.tree)
        if effect.rpc == "fetch_keys":
            return trips, list(question["keys"])
        answer: dict[str, Any] = serving_secondaries.QUESTIONS[effect.rpc](primary, question)
        trips.append(Trip(effect.rpc, serving_secondaries.size_bytes(question), serving_secondaries.size_bytes(answer)))
        if effect.rpc == "guard_hash":
            answer |= {"cluster_addrs": ["a"], "term": 1}
        heard = sync.heard(effect.rpc, answer, secondary.tree)
        state, effects = sync.on(state, sync.ReplyArrived(effect.rpc, heard, NOW))


def main(count: int) -> int:
    """Measure, print a line for each trip, and return 1 when a goal is missed."""
    items = dict(stored_items(count))
    chosen = list(items)[count // 3]
    began = process_time()
    primary = journal(items)
    secondary = journal({**items, chosen: items[chosen][:-1] + b"?"})
    print(f"{count:,} keys, two indexes built in {process_time() - began:.1f} s")
    began = process_time()
    trips, fetched = compare(primary, secondary)
    took_s = process_time() - began
    assert fetched == [chosen]
    for trip in trips:
        print(f"{trip.rpc:18} {trip.question_bytes:6} bytes asked, {trip.answer_bytes:6} answered")
    comparing = [trip for trip in trips if trip.rpc in COMPARING]
    total = sum(trip.question_bytes + trip.answer_bytes for trip in comparing)
    headers = 2 * HEADER_BYTES * len(comparing)
    print(f"{len(comparing)} round trips (goal {GOAL_TRIPS}), {total:,} bytes (goal {GOAL_BYTES:,}), headers {headers}")
    print(f"{took_s * 1000:.0f} ms of work on both sides")
    return int(len(comparing) > GOAL_TRIPS or total >= GOAL_BYTES)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else KEYS))
