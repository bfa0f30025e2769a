"""Context: all that a handler may touch — storage, now, entropy, caller, mount — and the node's Core under it.

1. A step buffers its writes; they reach the store in one transaction when it commits (R4), or not at all.
2. What a refused request leaves behind is only what was put with ``keep``: a spent use, a reset attempt.
3. A handler that asks the outside gets a TapedContext: everything the context gives is on the tape, so that the handler
   can be played again from it, its earlier writes, warnings and observations swallowed (R2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from labkit.service.errors import Unavailable
from labkit.service.message import Body, Fetch, Request, Response
from labkit.service.record import NamedTuple
from labkit.vault.files import Files
from labkit.vault.replication import MODE_KEY
from labkit.vault.storage import Names, Storage
from labkit.vault.storage.barrier import Barrier
from labkit.vault.storage.views import Subtree

if TYPE_CHECKING:
    from labkit.vault.mounts import Mount, Resolved
    from labkit.vault.policies import Acl
    from labkit.vault.replication.journal import Journal
    from labkit.vault.replication.mode import Mode
    from labkit.vault.seal import SealState
    from labkit.vault.tokens import Token

KEPT_RECORDS = 65_536
NONCES_A_DRAW = 4

Observe = Callable[..., None]
Entropy = Callable[[int], bytes]


class Settings(NamedTuple):
    """What a node is told about itself: names, version, edition and addresses; never changes while it runs."""

    version: str = "1.16.3+ent"
    edition: str = "enterprise"
    cluster_name: str = "labkit"
    node: str = "node-1"
    api_address: str = "http://127.0.0.1:8200"
    cluster_address: str = "https://127.0.0.1:8201"
    storage_type: str = "inmem"
    max_body_bytes: int = 33_554_432
    high_availability: bool = False
    ring_entries: int = 16_384


class Surroundings(NamedTuple):
    """What a node is built into: where time, chance and the outside come from."""

    now: Callable[[], int]
    entropy: Entropy
    observe: Observe
    fetch: Callable[[Fetch], Response]


class Duty(NamedTuple):
    """Whether this node is the active one, under which leadership term, since when, and who is if it is not."""

    active: bool = True
    term: int = 0
    since_ns: int = 0
    leader: str = ""
    leader_cluster: str = ""


class Core:
    """One node's inside: the store, the open key ring while unsealed, and caches that any change of bytes outdates."""

    __slots__ = (
        "acls",
        "audit_line",
        "barrier",
        "callers",
        "commits",
        "duty",
        "entropy",
        "journal",
        "live",
        "lookups",
        "next_due_ns",
        "now",
        "observe",
        "peers",
        "records",
        "seal",
        "settings",
        "storage",
        "sync",
    )

    def __init__(
        self,
        storage: Storage,
        journal: Journal,
        surroundings: Surroundings,
        settings: Settings,
        seal: SealState,
    ) -> None:
        self.storage, self.journal, self.settings = storage, journal, settings
        self.now, self.entropy, self.observe = surroundings.now, surroundings.entropy, surroundings.observe
        self.barrier: Barrier | None = None
        self.audit_line: Callable[[str, bytes], None] = Files().append
        self.seal = seal
        self.duty = Duty()
        self.next_due_ns: int | None = None
        self.commits = 0
        self.sync: Any = None
        self.peers: dict[str, Any] = {}
        self.drop_caches()

    def __repr__(self) -> str:
        return f"Core({self.settings.node}, {'sealed' if self.barrier is None else 'unsealed'})"

    def drop_caches(self) -> None:
        """Forget every decoded record, memo and live generator: nothing of them is state."""
        self.records: dict[str, tuple[bytes, Any]] = {}
        self.lookups: dict[str, Any] = {}
        self.acls: dict[tuple[str, ...], Any] = {}
        self.callers: dict[str, tuple[bytes, bytes | None, Caller]] = {}
        self.live: dict[int, Any] = {}

    def keep_record(self, key: str, stored: bytes, record: Any) -> None:
        """Keep what a key's stored bytes say: valid while they are the same object (R22)."""
        if len(self.records) >= KEPT_RECORDS:
            self.records.clear()
        self.records[key] = (stored, record)

    def open(self, key: str, stored: bytes) -> bytes:
        """Decrypt a stored value; raise Unavailable while sealed."""
        if self.barrier is None:
            raise Unavailable("Vault is sealed", code="sealed")
        return self.barrier.open(key, stored)

    def close(self, key: str, value: bytes, entropy: Entropy) -> bytes:
        """Encrypt a value for its key; raise Unavailable while sealed."""
        if self.barrier is None:
            raise Unavailable("Vault is sealed", code="sealed")
        return self.barrier.close(key, value, entropy)

    def commit(self, writes: Mapping[str, bytes | None]) -> int | None:
        """Write one step through the journal under this node's leadership term; return the entry's index."""
        if not writes:
            return None
        index = self.journal.commit(writes, self.duty.term)
        self.commits += 1
        if MODE_KEY in writes:
            self.follow_mode()
        return index

    def mode(self) -> Mode:
        """Return the cluster's replication mode."""
        from labkit.vault.replication.mode import Mode  # few clusters replicate

        stored = self.storage.get(MODE_KEY)
        if stored is None:
            return Mode()
        kept = self.records.get(MODE_KEY)
        if kept is None or kept[0] is not stored:
            kept = self.records[MODE_KEY] = (stored, Mode.from_bytes(self.open(MODE_KEY, stored)))
        mode: Mode = kept[1]
        return mode

    @property
    def is_secondary(self) -> bool:
        """Whether the cluster is a disaster-recovery secondary: what every request asks first."""
        return self.storage.get(MODE_KEY) is not None and self.mode().mode == "secondary"

    def follow_mode(self) -> None:
        """Keep journal and index while this node is the active one of a cluster that replicates, else none.

        What falls due is worked out anew: a secondary does nothing of it, and a promoted one all (R5).
        """
        self.next_due_ns = None
        known = self.barrier is not None and self.storage.get(MODE_KEY) is not None
        replicates = self.duty.active and known and self.mode().mode != "disabled"
        if replicates and not self.journal.on:
            self.journal.switch_on()
        elif not replicates and self.journal.on:
            self.journal.switch_off()


class Caller(NamedTuple):
    """Who asks: the token's record, the hash it is stored under, and what its policies allow."""

    token: Token
    digest: str
    acl: Acl

    def __repr__(self) -> str:
        return f"Caller({self.token.display_name})"


class Context:
    """One request's view of the service."""

    __slots__ = (
        "_nonces",
        "_storage",
        "body",
        "caller",
        "core",
        "creating",
        "found",
        "headers",
        "kept",
        "now",
        "operation",
        "path",
        "request",
        "request_id",
        "warnings",
        "wrap_ttl_ns",
        "writes",
    )

    def __init__(self, core: Core, request: Request, now: int) -> None:
        self.core, self.request, self.now = core, request, now
        self.writes: dict[str, bytes | None] = {}
        self.kept: dict[str, bytes | None] = {}
        self.warnings: Names = []
        self.body: Body = {}
        self.headers: dict[str, str] = {}
        self.operation = ""
        self.path = ""
        self.request_id = ""
        self.creating = False
        self.wrap_ttl_ns = 0
        self.caller: Caller | None = None
        self.found: Resolved | None = None
        self._nonces = b""
        self._storage: Subtree | None = None

    @property
    def mount(self) -> Mount:
        """The mount whose engine answers."""
        assert self.found is not None
        assert self.found.mount is not None
        return self.found.mount

    @property
    def storage(self) -> Subtree:
        """The mount's own part of the store."""
        if self._storage is None:
            self._storage = Subtree(self, self.mount.prefix)
        return self._storage

    @property
    def everything(self) -> Subtree:
        """The whole decrypted store: for the system's own endpoints, never handed to an engine."""
        return Subtree(self, "")

    def read(self, key: str) -> bytes | None:
        """Return the stored bytes of a key as this step sees them."""
        writes = self.writes
        if writes and key in writes:
            return writes[key]
        return self.core.storage.get(key)

    def write(self, key: str, stored: bytes | None) -> None:
        """Put stored bytes (None deletes) when the step commits."""
        self.writes[key] = stored

    def keep(self, key: str, stored: bytes | None) -> None:
        """Put stored bytes that stay even when the request is refused."""
        self.kept[key] = stored
        self.writes[key] = stored

    def list(self, prefix: str) -> Names:
        """Return the names directly under a full prefix as this step sees them, sorted."""
        names = self.core.storage.list(prefix)
        if not self.writes:
            return names
        return self._with_writes(prefix, names)

    def entropy(self, count: int) -> bytes:
        """Draw random bytes."""
        return self.core.entropy(count)

    def nonce(self, count: int) -> bytes:
        """Draw the nonce of a write; a step draws several at once, as each draw costs as much as a cipher."""
        if not self._nonces:
            self._nonces = self.entropy(NONCES_A_DRAW * count)
        nonce, self._nonces = self._nonces[:count], self._nonces[count:]
        return nonce

    def warn(self, text: str) -> None:
        """Add a warning to the answer."""
        self.warnings.append(text)

    def note_due(self, when_ns: int) -> None:
        """Say that something falls due then (0 for never), so that the node's timer is early enough."""
        due = self.core.next_due_ns
        if due is not None and when_ns and (due == 0 or when_ns < due):
            self.core.next_due_ns = when_ns

    def observe(self, kind: str, **fields: Any) -> None:
        """Tell whoever watches this node that something happened; never a secret."""
        self.core.observe(kind, **fields)

    def _with_writes(self, prefix: str, stored: Names) -> Names:
        names = dict.fromkeys(stored)
        doubtful: dict[str, None] = {}
        for key, value in self.writes.items():
            if not key.startswith(prefix):
                continue
            rest = key[len(prefix) :]
            cut = rest.find("/") + 1
            if value is not None:
                names[rest[:cut] if cut else rest] = None
            elif not cut:
                names.pop(rest, None)
            else:
                doubtful[rest[:cut]] = None
        for name in doubtful:
            if name in names and not self._with_writes(prefix + name, self.core.storage.list(prefix + name)):
                del names[name]
        return sorted(names)


class TapedContext(Context):
    """The context of a handler that asks the outside: what it gives is taped, what it did is swallowed in a replay."""

    __slots__ = ("_position", "replaying", "tape")

    def __init__(self, core: Core, request: Request, now: int, tape: tuple[Any, ...] = ()) -> None:
        super().__init__(core, request, now)
        self.tape = [*tape]
        self.replaying = bool(tape)
        self._position = 0

    def begin(self, now: int) -> None:
        """Begin a step: the time is taped too, so that a replay lives through the same instants."""
        self.now = self._taped(lambda: now)
        self.writes = {}
        self.kept = {}

    def read(self, key: str) -> bytes | None:
        """Return stored bytes, from the tape in a replay."""
        if key in self.writes:
            return self.writes[key]
        value: bytes | None = self._taped(lambda: self.core.storage.get(key))
        return value

    def list(self, prefix: str) -> Names:
        """Return names under a prefix, from the tape in a replay."""
        names: tuple[str, ...] = self._taped(lambda: tuple(self.core.storage.list(prefix)))
        return self._with_writes(prefix, [*names])

    def entropy(self, count: int) -> bytes:
        """Draw random bytes, from the tape in a replay."""
        drawn: bytes = self._taped(lambda: self.core.entropy(count))
        return drawn

    def warn(self, text: str) -> None:
        """Add a warning; in a replay too, as the answer is built at the end."""
        self.warnings.append(text)

    def observe(self, kind: str, **fields: Any) -> None:
        """Tell whoever watches; swallowed in a replay."""
        if not self.replaying:
            self.core.observe(kind, **fields)

    def _taped(self, make: Callable[[], Any]) -> Any:
        if self._position < len(self.tape):
            value = self.tape[self._position]
        else:
            value = make()
            self.tape.append(value)
        self._position += 1
        return value
