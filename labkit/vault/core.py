"""Core: one node's store and what the node holds in memory: its keys, its part in replication, its caches.

1. Only ``SealKeys`` assigns keyring and root key.
2. A commit acts in this order: store with the journal's entry, keys, caches, mode; a changed mode switches the journal
   on or off.  A commit that the store refuses changes nothing (R4).
3. Nothing in ``Caches`` is state: it may be dropped at any time, and sealing drops all of it (R3, R21, R22).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from labkit.service.limits import MAX_REQUEST_BYTES
from labkit.service.message import Fetch, Response
from labkit.service.record import NamedTuple
from labkit.vault.caches import Caches
from labkit.vault.due_times import DueTimes
from labkit.vault.files import Files
from labkit.vault.identifiers import uuid_text
from labkit.vault.replica import Replica
from labkit.vault.replication import MODE_KEY
from labkit.vault.seal_keys import Entropy, SealKeys
from labkit.vault.storage import Storage
from labkit.vault.storage.barrier import FIRST_LOOK, KEYRING
from labkit.vault.storage.nonce_counts import NonceCounts

if TYPE_CHECKING:
    pass

Observe = Callable[..., None]
OnCommit = Callable[[int | None, Mapping[str, bytes | None], bool], None]
"""Given the entry's number, the writes, and whether they wiped the store to join a replication set."""


API_PORT, CLUSTER_PORT = 8200, 8201


class NamesOnly(dict[str, str]):
    """Names and texts, of which only the names are shown: a text may be a secret."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"NamesOnly({', '.join(sorted(self))})"


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


def never() -> bool:
    """Say of a process that it was not forked: of one in which nobody asks the operating system."""
    return False


class Environment(NamedTuple):
    """Where a node's time, entropy, observer, answers from outside and ids of requests come from.

    ``is_forked`` says whether the process is a child that was forked from the node's own, which is refused (C18).
    """

    now: Callable[[], int]
    entropy: Entropy
    observe: Observe
    fetch: Callable[[Fetch], Response]
    request_id: Callable[[], str] | None = None  # draws the id of a request; None: from ``entropy``
    steady: Callable[[], int] | None = None  # nanoseconds by a clock that nobody sets; None: ``now``
    is_forked: Callable[[], bool] = never


class Leadership(NamedTuple):
    """Whether this node is the active one, under which term and since when; else which node is, if known."""

    active: bool = True
    term: int = 0
    since_ns: int = 0
    leader: str = ""
    leader_cluster: str = ""


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
        "login_failures",
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
        "steady",
        "storage",
        "time_decided",
        "waiting",
    )

    def __init__(
        self,
        storage: Storage,
        environment: Environment,
        settings: Settings,
        keys: SealKeys | None = None,
        journal: Mapping[str, Any] | None = None,
    ) -> None:
        self.storage, self.settings = storage, settings
        self.read, self.names = storage.get, storage.list
        self.now, self.entropy, self.observe = environment.now, environment.entropy, environment.observe
        self.steady: Callable[[], int] = environment.steady or environment.now
        self.request_id: Callable[[], str] = environment.request_id or partial(uuid_text, self.entropy)
        # Whether entropy comes from a seed, so that whatever is stored must be a function of it (R6)
        self.is_seeded: bool = getattr(self.entropy, "is_seeded", False)
        self.draw_once: Callable[[str, int], int | None] = getattr(self.entropy, "draw_once", lambda kind, count: None)
        self.use_files(Files())
        self.keys, self.caches = keys or SealKeys(), Caches()
        self.replica = Replica(storage, self.keys, self.caches, settings.backlog_entries, journal)
        self.leadership = Leadership()
        self.next_due_ns: int | None = None  # None: to be found in the due times, which None are to be derived
        self.due_times: DueTimes | None = None
        self.damaged: dict[str, None] = {}  # keys whose values did not open, as reported
        self.commits, self.nonce_counts = 0, NonceCounts()
        self.keeps_shares = False  # whether the key shares are stored beside the data, for practice
        self.rate_counts: dict[str, Any] = {}  # by a rate limit's name: what it is, and what it counted by address
        self.login_failures: dict[str, tuple[int, int]] = {}  # by alias: how many, and when the last one was
        self.on_commit: OnCommit | None = None
        self.on_step_down: Callable[[], None] | None = None  # of a node that another can replace
        self.time_decided = False  # whether anything was decided by the time of day, since this was looked at last
        self.waiting: dict[int, str] = {}  # {number of a suspended request: digest of the token that it took a use off}

    def __repr__(self) -> str:
        return f"Core({self.settings.node}, {'sealed' if self.keys.sealed else 'unsealed'})"

    def commit(self, writes: Mapping[str, bytes | None], joined: SealKeys | None = None) -> int | None:
        """Write one step through the journal under this node's leadership term; return the entry's number.

        ``joined``: the keys that take effect, of a step that joined a replication set (rule 2).
        """
        if not writes:
            return None
        number = self.replica.commit(writes, self.leadership.term)
        self.commits += 1
        if None in writes.values():
            self.caches.drop_deleted(writes)
        if self.caches.leases is not None:
            self.caches.leases.note(writes)
        if self.caches.tokens is not None:
            self.caches.tokens.note(writes)
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

    @property
    def writes_alone(self) -> bool:
        """Whether what this node commits is all that changes the store; not so once it was overtaken."""
        return self.storage.belongs_to(self.leadership.term)

    def standing(self) -> tuple[int, int, int, int | None]:
        """Return leadership term, steady clock, newest entry, and up to which one every connected secondary applied.

        The last is None while none is connected.
        """
        return self.leadership.term, self.steady(), *self.replica.shipped(self.steady())

    def is_past(self, when_ns: int) -> bool:
        """Whether an instant is over, by the time of day: something is decided by that."""
        self.time_decided = True
        return self.now() >= when_ns

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
        """Apply a changed mode or leadership; due times, leases, tokens and nonce counts are found again (R5)."""
        self.nonce_counts.look_up_again()
        self.next_due_ns, self.due_times = None, None
        self.caches.leases, self.caches.tokens = None, None
        if self.replica.is_damaged:
            self.note_damage(MODE_KEY)
        self.replica.apply_mode(self.leadership.active, self.leadership.term)

    def set_leadership(self, leadership: Leadership) -> None:
        """Begin or end this node's leadership, under a term; failures to log in are counted from nothing."""
        self.leadership = leadership
        self.login_failures.clear()
        self.replica.leave()
        self.apply_mode()
