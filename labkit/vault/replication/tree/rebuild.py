"""Rebuild: a second index of the contents, made from the store in batches beside the index in use.

1. It trusts nothing that was kept: every leaf is computed again from the ciphertext that the store has.
2. The stages are a table.  *scanning* lists the keys, *building* computes their leaves, *wal-replay* computes those of
   keys that were written meanwhile; in *commit* the last of these are computed and the new index takes the place of
   the other, in one step: the node lets writes wait for it.  *flush* waits to store an index that is in use already.
3. A batch is as much as a stage does in ``BATCH_NS``; between two batches requests are answered.
4. A key that is changed while the rebuild runs is *touched*: its leaf is computed again, whatever it was.
5. A rebuild is state, saved and restored with its node; what another node had built is worth nothing.
6. It ends under any load: the rounds of *wal-replay* go on only while each leaves less than half of the one before.
7. Whoever can tell whether a value opens says so as it is read: those that do not are counted, and kept as they are.
8. Between two batches lies a duration, though the clock shows instants: one that is set back holds nothing up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from labkit.service.durations import MILLISECOND_NS, SECOND_NS
from labkit.service.record import NamedTuple
from labkit.vault.replication.tree.key_classes import classify
from labkit.vault.replication.tree.leaves import computed_leaf
from labkit.vault.replication.tree.merkle import MerkleTree, tree_of
from labkit.vault.storage import Storage

BATCH_NS = 100 * MILLISECOND_NS
SCANNED_KEYS, BUILT_KEYS, COMPARED_KEYS = 8_192, 2_048, 512
"""How many keys a batch lists, builds, and builds where key is compared with key (``diff``)."""

REPLAYED_KEYS = 256
"""So few touched keys are left for the step that commits, more only where a round leaves no fewer than half."""

LOCKED_NS, LOCKED_WHOLE_NS, LOCKED_UNSTORED_NS = 100 * MILLISECOND_NS, 400 * MILLISECOND_NS, 20 * MILLISECOND_NS
"""How long a commit takes: where differing pages are stored, all of them (``force``), or none (``skip_flush``)."""

FLUSH_NS = SECOND_NS
"""How long after it came into use an index is stored that ``skip_flush`` did not store at once."""

SCANNING, BUILDING, REPLAY, COMMIT, FLUSH = STAGES = ("scanning", "building", "wal-replay", "commit", "flush")

TRANSITIONS: dict[str, dict[str, str]] = {
    SCANNING: {"keys are left": SCANNING, "all keys listed": BUILDING},
    BUILDING: {"keys are left": BUILDING, "all leaves computed": REPLAY},
    REPLAY: {"many were touched": REPLAY, "few were touched": COMMIT, "as many were touched": COMMIT},
    COMMIT: {"not stored yet": FLUSH, "stored": "", "could not be stored": REPLAY},
    FLUSH: {"stored": ""},
}
"""{stage: {event: stage}}; the empty one is the end."""


Opens = Callable[[str, bytes], bool]
"""Whether a stored value opens under its key."""


class ReindexOptions(NamedTuple):
    """What a reindex was asked for: to compare key by key, to store every page, not to wait for the pages' storing."""

    diff: bool = False
    force: bool = False
    skip_flush: bool = False


class Rebuild:
    """An index under construction, and which keys changed since it was begun."""

    __slots__ = (
        "_leaves",
        "_listed",
        "_replayed",
        "_touched",
        "_wait_ns",
        "damaged",
        "done",
        "due_ns",
        "options",
        "stage",
    )

    def __init__(self, options: ReindexOptions, now_ns: int) -> None:
        self.options = options
        self.put_off(now_ns, BATCH_NS)
        self.stage = SCANNING
        self.done = 0  # keys of the present stage that are done
        self._listed: tuple[str, ...] = ()
        self._leaves: dict[str, bytes] = {}
        self._touched: dict[str, None] = {}
        self.damaged: dict[str, None] = {}  # keys whose values do not open
        self._replayed = 0  # how many touched keys the last round of wal-replay read

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Rebuild:
        """Restore a rebuild from what ``state`` returned."""
        rebuild = cls(ReindexOptions(*state["options"]), 0)
        rebuild.due_ns, rebuild._wait_ns, rebuild._replayed = state["due_ns"], state["wait_ns"], state["replayed"]
        rebuild.stage, rebuild.done, rebuild._listed = state["stage"], state["done"], state["listed"]
        rebuild._leaves, rebuild._touched = dict(state["leaves"]), dict.fromkeys(state["touched"])
        rebuild.damaged = dict.fromkeys(state.get("damaged", ()))
        return rebuild

    def __repr__(self) -> str:
        return f"Rebuild({self.described})"

    @property
    def described(self) -> str:
        """How far it is, in words."""
        return f"{self.stage}, {self.done} of {self.total} keys" if self.total else self.stage

    @property
    def total(self) -> int:
        """How many keys were listed."""
        return len(self._listed)

    def state(self) -> dict[str, Any]:
        """Return the rebuild as plain values."""
        return {
            "options": tuple(self.options),
            "due_ns": self.due_ns,
            "wait_ns": self._wait_ns,
            "replayed": self._replayed,
            "stage": self.stage,
            "done": self.done,
            "listed": self._listed,
            "leaves": dict(self._leaves),
            "touched": tuple(self._touched),
            "damaged": tuple(self.damaged),
        }

    def touch(self, changed: Iterable[str]) -> None:
        """Note keys of the trees that a step changes."""
        self._touched.update(dict.fromkeys(changed))

    def move(self, event: str) -> None:
        """Apply an event of the table."""
        self.stage = TRANSITIONS[self.stage][event]

    def put_off(self, from_ns: int, wait_ns: int) -> None:
        """Let the next batch be due a while after an instant."""
        self.due_ns, self._wait_ns = from_ns + wait_ns, wait_ns

    def keep_pace(self, now_ns: int) -> bool:
        """Let the next batch be due no later than it could be now; return whether that is a change."""
        held_up = self.due_ns - now_ns > self._wait_ns
        if held_up:
            self.put_off(now_ns, self._wait_ns)
        return held_up

    def is_committing(self, now_ns: int) -> bool:
        """Whether the commit is under way: it has begun, and the time that it takes is not over."""
        return self.stage == COMMIT and now_ns < self.due_ns

    def misses(self, key: str = "") -> bool:
        """Whether what is damaged now stays so: a node of the index, or (``key``) a stored value."""
        return self.stage == FLUSH or (key in self._leaves and key not in self._touched)

    def do_batch(self, storage: Storage, opens: Opens | None = None) -> None:
        """Do a batch of a stage before the commit; an error of the store leaves all of it to be done again."""
        self.move(_BATCHES[self.stage](self, storage, opens))
        self.put_off(self.due_ns, self._locked_ns if self.stage == COMMIT else BATCH_NS)

    def finish(self, storage: Storage, opens: Opens | None = None) -> MerkleTree:
        """Return the tree of the contents as they are now, over what the store keeps."""
        self._read(storage, tuple(self._touched), opens)
        self._touched.clear()
        return tree_of(self._leaves, storage)

    @property
    def _locked_ns(self) -> int:
        if self.options.skip_flush:
            return LOCKED_UNSTORED_NS
        return LOCKED_WHOLE_NS if self.options.force else LOCKED_NS

    def _scan(self, storage: Storage, opens: Opens | None) -> str:
        if not self._listed:
            keys = storage.keys()
            self._listed = tuple([key for key in keys if classify(key)])
        self.done += SCANNED_KEYS
        if self.done < len(self._listed):
            return "keys are left"
        self.done = 0
        return "all keys listed"

    def _build(self, storage: Storage, opens: Opens | None) -> str:
        at, count = self.done, COMPARED_KEYS if self.options.diff else BUILT_KEYS
        self._read(storage, self._listed[at : at + count], opens)
        self.done = min(at + count, self.total)
        return "keys are left" if self.done < self.total else "all leaves computed"

    def _replay(self, storage: Storage, opens: Opens | None) -> str:
        touched = tuple(self._touched)
        self._read(storage, touched, opens)
        self._touched.clear()
        before, self._replayed = self._replayed, len(touched)
        if len(touched) <= REPLAYED_KEYS:
            return "few were touched"
        return "many were touched" if not before or len(touched) < before // 2 else "as many were touched"

    def _read(self, storage: Storage, keys: Iterable[str], opens: Opens | None) -> None:
        leaves, value = self._leaves, storage.get
        for key in keys:
            stored = value(key)
            self.damaged.pop(key, None)
            if stored is not None and opens is not None and not opens(key, stored):
                self.damaged[key] = None
            if stored is None:
                leaves.pop(key, None)
            else:
                leaves[key] = computed_leaf(key, stored)


_BATCHES: dict[str, Callable[[Rebuild, Storage, Opens | None], str]] = {
    SCANNING: Rebuild._scan,
    BUILDING: Rebuild._build,
    REPLAY: Rebuild._replay,
}
