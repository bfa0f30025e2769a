"""What the Merkle index costs, as ratios to the least work that gives the same answers in plain Python.

Floor and index are measured by turns in one run, in time of this process, and the median of the rounds is printed:
absolute times mean nothing on a machine that others use too.  Run it by itself: ``python tests/bench/bench_merkle.py``.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from statistics import median
from time import process_time_ns
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Vault
from labkit.vault.replication.tree.generation import Entry
from labkit.vault.replication.tree.journal import WAL_KEY, Journal
from labkit.vault.replication.tree.merkle import UNSETTLED, MerkleTree, classify
from labkit.vault.replication.tree.rebuild import COMMIT, Rebuild, ReindexOptions
from labkit.vault.storage import Storage, Writes
from labkit.vault.storage.memory import MemoryStorage

KEYS = 100_000
ROUNDS = 9
FLUSH = MemoryStorage.flush_entries
CHANGES = 2_000
VALUE_BYTES = 200

GOALS = {
    "index of 100,000 keys": 1.25,
    "change of one key, written": 0.1,
    "the same, guard asked at the end": 0.25,
    "change of one key, root asked": 1.1,
    "takeover, tail full, guard asked": 0.05,
    "reindex of 100,000 keys": 1.5,
    "KV write, new keys": 1.1,
    "KV write, written over": 1.1,
}

WRITES_PER_HEARTBEAT = 20
SECRET = {"password": "x" * 100, "user": "ada", "url": "postgres://db-1.example.org:5432/orders?sslmode=verify-full"}

Items = list[tuple[str, bytes]]


def floor_build(items: Items) -> tuple[list[list[bytes]], bytes]:
    """Hash each leaf, place it in its subpage, fold 256 x 256."""
    places: list[list[bytes]] = [[] for _ in range(65_536)]
    for key, value in items:
        leaf = sha256(key.encode() + value).digest()
        places[leaf[0] << 8 | leaf[1]].append(leaf)
    subpages = [sha256(b"".join(place)).digest() for place in places]
    pages = [sha256(b"".join(subpages[at : at + 256])).digest() for at in range(0, 65_536, 256)]
    return places, sha256(b"".join(pages)).digest()


class FloorTree:
    """The same fold, kept, and made anew at once for every change: four hashes and their joins."""

    def __init__(self, items: Items) -> None:
        self.places, _ = floor_build(items)
        self.subpages = [sha256(b"".join(place)).digest() for place in self.places]
        self.pages = [sha256(b"".join(self.subpages[at : at + 256])).digest() for at in range(0, 65_536, 256)]

    def change(self, key: str, value: bytes) -> bytes:
        """Hash the leaf, its subpage, its page and the root."""
        leaf = sha256(key.encode() + value).digest()
        place = leaf[0] << 8 | leaf[1]
        page = place >> 8
        self.subpages[place] = sha256(b"".join((*self.places[place], leaf))).digest()
        self.pages[page] = sha256(b"".join(self.subpages[page << 8 : (page + 1) << 8])).digest()
        return sha256(b"".join(self.pages)).digest()


class UnkeptJournal(Journal):
    """The floor of a KV write: entries and guard are kept up, the index is never stored."""

    def commit(self, writes: Writes, term: int) -> int | None:
        """Write a step, note it and keep its entry."""
        tree = self.tree
        names = [] if tree is None else [key for key in writes if classify(key)]
        if tree is None or not names:
            self.storage.apply(writes, term)
            return None
        before = self.storage.get
        changes = tuple([(key, before(key), writes[key]) for key in sorted(names)])
        number = self.last + 1
        self.storage.apply({**writes, WAL_KEY: number.to_bytes(8, "big")}, term)
        for key, _, after in changes:
            tree.change(key, after)
        self.last = number
        size_bytes = sum([len(key) + len(old or b"") + len(new or b"") for key, old, new in changes])
        self._keep(Entry(number, changes, size_bytes, (UNSETTLED,) * len(changes)))
        return number


def stored_items(count: int) -> Items:
    """Keys and ciphertexts as a vault of many secrets holds them."""
    mount = "logical/6f1c2d34-0000-4000-8000-5e0c7f3a9b11"
    return [
        (f"{mount}/versions/team-{n % 97}/service-{n}/1", sha256(b"%d" % n).digest() * (VALUE_BYTES // 32))
        for n in range(count)
    ]


def timed(work: Callable[[], object]) -> int:
    """Nanoseconds that a piece of work takes, the collector held back."""
    gc.collect()
    gc.disable()
    started = process_time_ns()
    work()
    passed = process_time_ns() - started
    gc.enable()
    return passed


def ratios(measured: Callable[[], object], floor: Callable[[], object]) -> tuple[float, float]:
    """Return the median ratio of work to floor, taken by turns, and the floor's median in nanoseconds."""
    rounds = [(timed(measured), timed(floor)) for _ in range(ROUNDS)]
    return median(ours / theirs for ours, theirs in rounds), median(theirs for _, theirs in rounds)


def bytes_per_key(items: Items) -> float:
    """Return the memory that an index takes for each key, keys and ciphertexts apart."""
    tracemalloc.start()
    index = MerkleTree.build(items)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken / len(index)


def primary(journal: type[Journal]) -> Callable[[int, int], Callable[[], None]]:
    """Return a maker of work of a primary with such a journal: as many KV writes as a flush holds, to so many paths."""
    vault = Vault.dev()
    core, headers = vault.core, {"X-Vault-Token": vault.root_token}
    core.replica._journal = journal(core.storage)
    vault.post("sys/replication/dr/primary/enable", {})

    def writes(begin: int, paths: int) -> Callable[[], None]:
        asked: list[Any] = [f"/v1/secret/data/team-{n % 97}/service-{begin + n % paths}" for n in range(FLUSH)]

        def write() -> None:
            tree = core.replica.journal.tree
            assert tree is not None
            for number, path in enumerate(asked):
                vault.request("POST", path, json={"data": SECRET}, headers=headers)
                if number % WRITES_PER_HEARTBEAT == 0:
                    tree.guard()

        return write

    return writes


def writes_ratio(paths: int, ours: Any, theirs: Any, begin: int) -> tuple[float, float]:
    """Return the median ratio of KV writes to those without a kept index, and the median of the latter."""
    rounds = []
    for number in range(ROUNDS):
        at = begin + number * FLUSH
        rounds.append((timed(ours(at, paths)), timed(theirs(at, paths))))
    return median(one / other for one, other in rounds), median(other for _, other in rounds)


def full_tail(items: Items) -> MemoryStorage:
    """Return a store with a kept index, and entries of three keys each behind it: one more, and they were flushed."""
    storage = MemoryStorage(dict(items))
    journal = Journal(storage)
    journal.switch_on()
    for number in range(FLUSH - 1):
        journal.commit({key: value[:-1] + b"?" for key, value in items[number * 3 : number * 3 + 3]}, 0)
    assert journal.flushed == 0
    return storage


def takeover(storage: MemoryStorage) -> bytes:
    """Load the index and ask for the guard."""
    journal = Journal(storage)
    journal.switch_on()
    assert journal.tree is not None
    return journal.tree.guard()


def rebuild(storage: Storage) -> bytes:
    """Build the index from what is stored and ask for the guard."""
    stored = ((key, storage.get(key) or b"") for key in storage.keys())  # noqa: SIM118  # a store is not a dict
    return MerkleTree.build(stored).guard()


def reindex(journal: Journal) -> None:
    """Make the index again in batches, put it in the place of the one in use and store it."""
    batches = Rebuild(ReindexOptions(), 0)
    while batches.stage != COMMIT:
        batches.do_batch(journal.storage)
    journal.replace(batches.finish(journal.storage), {}, 0, whole=False, stored=True)


def main() -> int:
    """Measure, print a line each, and return 1 when a goal is missed."""
    items = stored_items(KEYS)
    changes = [(key, value[:-1] + b"!") for key, value in items[:: KEYS // CHANGES]]
    floor, index = FloorTree(items), MerkleTree.build(items)

    def change_floor() -> None:
        for key, value in changes:
            floor.change(key, value)

    def change_written() -> None:
        for key, value in changes:
            index.change(key, value)

    def change_settled() -> None:
        change_written()
        index.guard()

    def change_asked() -> None:
        for key, value in changes:
            index.change(key, value)
            index.root()

    index.root()
    measured = {
        "index of 100,000 keys": (*ratios(lambda: MerkleTree.build(items), lambda: floor_build(items)), KEYS),
        "change of one key, written": (*ratios(change_written, change_floor), len(changes)),
        "the same, guard asked at the end": (*ratios(change_settled, change_floor), len(changes)),
        "change of one key, root asked": (*ratios(change_asked, change_floor), len(changes)),
    }
    storage = full_tail(items)
    assert takeover(storage) == rebuild(storage)
    rebuilt = ratios(lambda: takeover(storage), lambda: rebuild(storage))
    measured["takeover, tail full, guard asked"] = (*rebuilt, KEYS)
    journal = Journal(MemoryStorage(dict(items)))
    journal.switch_on()
    reindexed = ratios(lambda: reindex(journal), lambda: rebuild(journal.storage))
    measured["reindex of 100,000 keys"] = (*reindexed, KEYS)
    ours, theirs = primary(Journal), primary(UnkeptJournal)
    measured["KV write, new keys"] = (*writes_ratio(FLUSH, ours, theirs, 0), FLUSH)
    measured["KV write, written over"] = (*writes_ratio(FLUSH // 4, ours, theirs, 0), FLUSH)
    for what, (ratio, floor_ns, count) in measured.items():
        print(f"{what:32} {ratio:6.3f} of the floor ({floor_ns / count / 1000:.2f} µs), goal {GOALS[what]}")
    print(f"{'memory':32} {bytes_per_key(items):6.1f} bytes a key, goal 200")
    return int(any(measured[what][0] > goal for what, goal in GOALS.items()))


if __name__ == "__main__":
    sys.exit(main())
