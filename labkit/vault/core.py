"""Core: one node's store and what the node holds in memory: its keys, its part in replication, its caches.

1. Only ``SealKeys`` assigns keyring and root key.  A reloaded keyring acts at once, sealing and unsealing once their
   request is recorded and committed; a step that joins a replication set carries the new keys itself, and they take
   effect when it commits.
2. A commit acts in this order: store with the journal's entry, keys, caches, mode; a changed mode switches the journal
   on or off.  A commit that the store refuses changes nothing (R4).
3. Nothing in ``Caches`` is state: it may be dropped at any time, and sealing drops all of it (R3, R21, R22).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from labkit.service.errors import NODE_SEALED, Unavailable
from labkit.service.limits import MAX_REQUEST_BYTES
from labkit.service.masked import NamesOnly
from labkit.service.message import Fetch, Response
from labkit.service.record import NamedTuple
from labkit.vault.caches import Caches
from labkit.vault.due_times import DueTimes
from labkit.vault.files import Files
from labkit.vault.identifiers import sha256, uuid_text
from labkit.vault.replication import MODE_KEY
from labkit.vault.storage import Storage
from labkit.vault.storage.barrier import FIRST_LOOK, KEYRING, Barrier, BarrierError, KeyringTerm
from labkit.vault.storage.nonce_counts import NonceCounts

if TYPE_CHECKING:
    from labkit.vault.replication.mode import Mode
    from labkit.vault.replication.tree.journal import Journal

SEALED = "Vault is sealed"

Observe = Callable[..., None]
Entropy = Callable[[int], bytes]
OnCommit = Callable[[int | None, Mapping[str, bytes | None], bool], None]
"""Given the entry's number, the writes, and whether they wiped the store to join a replication set."""


API_PORT, CLUSTER_PORT = 8200, 8201


class Settings(NamedTuple):
    """How a node is set up: names, version, edition and addresses; never changes while it runs."""

    version: str = "1.16.3+ent"
    edition: str = "enterprise"
    cluster_name: str = "labkit"
    node: str = "node-1"
    api_address: str = f"http://127.0.0.1:{API_PORT}"
    cluster_address: str = f"https://127.0.0.1:{CLUSTER_PORT}"
    peer_api_addresses: tuple[str, ...] = ()  # of the cluster's other nodes
    peer_cluster_addresses: tuple[str, ...] = ()
    storage_type: str = "inmem"
    max_request_bytes: int = MAX_REQUEST_BYTES
    high_availability: bool = False
    backlog_entries: int = 16_384
    nonce_limit: int = 2**32  # messages under one key with random nonces, from which on answers warn
    fips: bool = False  # FIPS 140-2 mode: what is not certified for it is refused
    environ: Mapping[str, str] = NamesOnly()  # variables of the environment that a configuration falls back on
    login_leeway_s: int = 60  # by how much the clocks of a login token's issuer and this node may differ (decision A4)
    key_cooldown_s: int = 300  # how long after an attempt no login's unknown key makes another fetch of keys


class Environment(NamedTuple):
    """Where a node's time, entropy, observer, answers from outside and ids of requests come from."""

    now: Callable[[], int]
    entropy: Entropy
    observe: Observe
    fetch: Callable[[Fetch], Response]
    request_id: Callable[[], str] | None = None  # draws the id of a request; None: from ``entropy``


class Leadership(NamedTuple):
    """Whether this node is the active one, under which term and since when; else which node is, if known."""

    active: bool = True
    term: int = 0
    since_ns: int = 0
    leader: str = ""
    leader_cluster: str = ""


def fingerprint_of(root_key: bytes) -> str:
    """Return a digest that stands for a root key."""
    return sha256(b"labkit root key " + root_key).hexdigest()[:16]


class SealKeys:
    """The keyring and the root key while unsealed, else None; the progress of an unseal; why it sealed itself."""

    __slots__ = ("barrier", "nonce", "progress", "reason", "root_key")

    def __init__(self, root_key: bytes | None = None, progress: tuple[bytes, ...] = (), nonce: str = "") -> None:
        self.barrier: Barrier | None = None
        self.root_key, self.progress, self.nonce, self.reason = root_key, progress, nonce, ""

    @classmethod
    def opened(cls, root_key: bytes, keyring: tuple[KeyringTerm, ...]) -> SealKeys:
        """Return the keys of an unsealed node."""
        keys = cls()
        keys.install(root_key, keyring)
        return keys

    def __repr__(self) -> str:
        return f"SealKeys({'sealed' if self.sealed else 'unsealed'}, progress={len(self.progress)})"

    @property
    def sealed(self) -> bool:
        """Whether there are no keys."""
        return self.barrier is None

    def install(self, root_key: bytes, keyring: tuple[KeyringTerm, ...]) -> None:
        """Unseal: from now on values are encrypted under this keyring; the count of a newest key that stays goes on."""
        barrier = self.barrier
        if barrier is None or barrier.keyring[-1] != keyring[-1]:
            self.barrier = Barrier(keyring)
        elif barrier.keyring != keyring:
            self.barrier = Barrier(keyring, barrier.encryptions, barrier.look_at)
        self.root_key = root_key
        self.progress, self.nonce, self.reason = (), "", ""

    def drop(self, reason: str = "") -> None:
        """Seal: drop the keys and the shares given so far; ``reason``: why, where nobody asked for it."""
        self.barrier, self.root_key = None, None
        self.progress, self.nonce, self.reason = (), "", reason

    def adopt(self, other: SealKeys) -> None:
        """Take over the keys of a step that joined a replication set, or that opened this node."""
        self.barrier, self.root_key, self.reason = other.barrier, other.root_key, ""

    def add_share(self, progress: tuple[bytes, ...], nonce: str) -> None:
        """Remember the key shares given so far, under the nonce of this unseal; an empty tuple resets it."""
        self.progress, self.nonce = progress, nonce

    def decrypt(self, key: str, stored: bytes) -> bytes:
        """Decrypt a stored value; raise Unavailable while sealed."""
        if self.barrier is None:
            raise Unavailable(SEALED, code=NODE_SEALED)
        return self.barrier.decrypt(key, stored)

    def encrypt(self, key: str, value: bytes, entropy: Entropy) -> bytes:
        """Encrypt a value for its key; raise Unavailable while sealed."""
        if self.barrier is None:
            raise Unavailable(SEALED, code=NODE_SEALED)
        return self.barrier.encrypt(key, value, entropy)

    def fingerprint(self) -> str:
        """Return a digest that stands for the root key: equal while it was not replaced; empty while sealed."""
        return "" if self.root_key is None else fingerprint_of(self.root_key)

    def state(self) -> tuple[Any, ...]:
        """Return the keys as plain values: root key, progress, nonce, keyring with its counts, why it sealed itself."""
        barrier = self.barrier
        counted = None if barrier is None else (barrier.keyring, barrier.encryptions, barrier.look_at)
        return self.root_key, self.progress, self.nonce, counted, self.reason

    @classmethod
    def from_state(cls, state: tuple[Any, ...]) -> SealKeys:
        """Return the keys that a node had; the keyring in the store may have changed since."""
        root_key, progress, nonce, counted, reason = state
        keys = cls(root_key, progress, nonce)
        keys.reason = reason
        if counted is not None:
            keyring, encryptions, look_at = counted
            keys.barrier = Barrier(tuple(KeyringTerm(*row) for row in keyring), encryptions, look_at)
        return keys


class Replica:
    """The node's part in DR replication: mode, journal, sync as a secondary, secondaries as a primary."""

    __slots__ = (
        "_caches",
        "_keys",
        "index_stored",
        "journal",
        "reconnects",
        "reindexed",
        "secondaries",
        "storage",
        "sync",
    )

    def __init__(self, storage: Storage, journal: Journal, keys: SealKeys, caches: Caches) -> None:
        self.storage, self.journal = storage, journal
        self._keys, self._caches = keys, caches
        self.sync: Any = None
        self.secondaries: dict[str, Any] = {}
        self.reconnects = False  # whether a primary ends the connections of its secondaries, after the present step
        self.reindexed = ""  # in what the index that the present step put in use differs; empty: it put none
        self.index_stored = False  # whether the present step stored the index that a reindex made

    @property
    def mode(self) -> Mode:
        """The cluster's replication mode, as stored, *disabled* when it does not open; raises Unavailable while sealed.

        A request that depends on the mode is judged by ``is_secondary`` and the context's, which raise BarrierError.
        """
        try:
            return self._stored_mode()
        except BarrierError:
            from labkit.vault.replication.mode import Mode  # few clusters replicate

            return Mode()

    @property
    def is_damaged(self) -> bool:
        """Whether a mode is stored that does not open."""
        if self._keys.sealed or self.storage.get(MODE_KEY) is None:
            return False
        try:
            self._stored_mode()
        except BarrierError:
            return True
        return False

    def _stored_mode(self) -> Mode:
        stored, cached = self.storage.get(MODE_KEY), self._caches.records.get(MODE_KEY)
        if cached is not None and cached[0] is stored:
            mode: Mode = cached[1]
            return mode
        from labkit.vault.replication.mode import Mode

        if stored is None:
            return Mode()
        mode = Mode.from_bytes(self._keys.decrypt(MODE_KEY, stored))
        self._caches.records.keep(MODE_KEY, stored, mode)
        return mode

    @property
    def is_secondary(self) -> bool:
        """Whether the cluster is a disaster-recovery secondary; checked for every request."""
        return self.storage.get(MODE_KEY) is not None and self._stored_mode().mode == "secondary"

    def apply_mode(self, leadership: Leadership) -> None:
        """Keep the journal on while this node is the active one of a cluster that replicates, else off."""
        has_mode = not self._keys.sealed and self.storage.get(MODE_KEY) is not None
        replicates = leadership.active and has_mode and self.mode.mode != "disabled"
        if replicates and not self.journal.on:
            self.journal.switch_on(leadership.term)
        elif not replicates and self.journal.on:
            self.journal.switch_off()

    def reconnect(self) -> None:
        """Let a primary end the connections of its secondaries, so that each begins another."""
        self.reconnects = True

    def leave(self) -> None:
        """Drop sync and secondaries and switch the journal off: the node's leadership begins or ends."""
        self.sync, self.secondaries, self.reindexed = None, {}, ""
        self.reconnects = self.index_stored = False
        self.journal.switch_off()


class Core:
    """The parts of one node: store, keys, replica and caches."""

    __slots__ = (
        "append_line",
        "caches",
        "commits",
        "damaged",
        "draw_once",
        "due_times",
        "entropy",
        "file_names",
        "is_seeded",
        "keeps_shares",
        "keys",
        "leadership",
        "names",
        "next_due_ns",
        "nonce_counts",
        "now",
        "observe",
        "on_commit",
        "on_step_down",
        "rate_counts",
        "read",
        "read_file",
        "replica",
        "request_id",
        "settings",
        "storage",
        "waiting",
    )

    def __init__(
        self,
        storage: Storage,
        journal: Journal,
        environment: Environment,
        settings: Settings,
        keys: SealKeys | None = None,
    ) -> None:
        self.storage, self.settings = storage, settings
        self.read, self.names = storage.get, storage.list
        self.now, self.entropy, self.observe = environment.now, environment.entropy, environment.observe
        self.request_id: Callable[[], str] = environment.request_id or partial(uuid_text, self.entropy)
        # Whether entropy comes from a seed, so that whatever is stored must be a function of it (R6)
        self.is_seeded: bool = getattr(self.entropy, "is_seeded", False)
        self.draw_once: Callable[[str, int], int | None] = getattr(self.entropy, "draw_once", lambda kind, count: None)
        self.use_files(Files())
        self.keys, self.caches = keys or SealKeys(), Caches()
        self.replica = Replica(storage, journal, self.keys, self.caches)
        self.leadership = Leadership()
        self.next_due_ns: int | None = None  # None: to be found in the due times, which None are to be derived
        self.due_times: DueTimes | None = None
        self.damaged: dict[str, None] = {}  # keys whose values did not open, as reported
        self.commits, self.nonce_counts = 0, NonceCounts()
        self.keeps_shares = False  # whether the key shares are stored beside the data, for practice
        self.rate_counts: dict[str, Any] = {}  # by a rate limit's name: what it is, and what it counted by address
        self.on_commit: OnCommit | None = None
        self.on_step_down: Callable[[], None] | None = None  # of a node that another can replace
        self.waiting: dict[int, str] = {}  # {number of a suspended request: digest of the token that it took a use off}

    def __repr__(self) -> str:
        return f"Core({self.settings.node}, {'sealed' if self.keys.sealed else 'unsealed'})"

    def commit(self, writes: Mapping[str, bytes | None], joined: SealKeys | None = None) -> int | None:
        """Write one step through the journal under this node's leadership term; return the entry's number.

        ``joined``: the keys that take effect, of a step that joined a replication set (rule 2).
        """
        if not writes:
            return None
        number = self.replica.journal.commit(writes, self.leadership.term)
        self.commits += 1
        if self.caches.leases is not None:
            self.caches.leases.note(writes)
        if self.on_commit is not None:
            self.on_commit(number, writes, joined is not None)
        if joined is not None:
            self.keys.adopt(joined)
            self.caches.clear()
        if MODE_KEY in writes:
            self.apply_mode()
        barrier = self.keys.barrier
        if barrier is not None and barrier.encryptions >= barrier.look_at:
            barrier.look_at = barrier.encryptions + FIRST_LOOK
            self.note_due(KEYRING, self.now())
        return number

    def use_files(self, files: Files) -> None:
        """Write and read these files from now on."""
        self.append_line: Callable[[str, bytes], None] = files.append
        self.read_file, self.file_names = files.read, files.names

    def note_due(self, key: str, when_ns: int) -> None:
        """Note when something in a key's record falls due; what is due first is looked up again where it may differ."""
        if self.due_times is not None and self.due_times.note(key, when_ns, self.next_due_ns):
            self.next_due_ns = None

    def note_damage(self, key: str) -> None:
        """Report a stored value that does not open, once (C12)."""
        if key not in self.damaged:
            self.damaged[key] = None
            self.observe("stored value damaged", key=key)

    def step_down(self) -> None:
        """End this node's leadership: a commit showed that another node leads (R25)."""
        self.set_leadership(self.leadership._replace(active=False, leader="", leader_cluster=""))
        self.observe("stepped down", reason="a newer leader holds the lease")

    def apply_mode(self) -> None:
        """Apply a changed mode or leadership; due times, leases and nonce counts are found again (R5)."""
        self.nonce_counts.look_up_again()
        self.next_due_ns, self.due_times, self.caches.leases = None, None, None
        if self.replica.is_damaged:
            self.note_damage(MODE_KEY)
        self.replica.apply_mode(self.leadership)

    def set_leadership(self, leadership: Leadership) -> None:
        """Begin or end this node's leadership, under a term."""
        self.leadership = leadership
        self.replica.leave()
        self.apply_mode()
