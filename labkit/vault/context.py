"""Context: what a handler can reach in one request: storage, now, entropy, caller, mount.

1. A step buffers its writes; they reach the store in one transaction when it commits (R4), or not at all.
2. A refused request leaves only what was put with ``write_even_if_refused`` (a spent use, a reset attempt), and a
   token's revocation after its last use.
3. What a context gives comes from its source: the node, or a tape over it (``suspension``), from which a request that
   fetches is replayed.  Its handler reads the node only through its context; settings are read directly, as they never
   change (R2).
4. Engines are written against ``EngineContext``, which a context is too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from labkit.service.errors import NODE_SEALED, Unavailable
from labkit.service.message import Body, Request
from labkit.vault.mount_caches import storage_of
from labkit.vault.mounts import ROOT
from labkit.vault.replication import MODE_KEY
from labkit.vault.seal_keys import SEALED, SealKeys
from labkit.vault.storage.barrier import NONCE_BYTES
from labkit.vault.storage.storage_view import StorageView

if TYPE_CHECKING:
    from typing import Protocol

    from labkit.service.routing import Route
    from labkit.vault.core import Core
    from labkit.vault.engine_context import EngineContext
    from labkit.vault.managed_keys import ManagedKey
    from labkit.vault.mounts import Mount, Namespace, ResolvedRoute
    from labkit.vault.replication.mode import Mode
    from labkit.vault.storage import Names
    from labkit.vault.storage.nonce_counts import NonceCounts
    from labkit.vault.token_record import Caller

    class ContextSource(Protocol):
        """Where what a context gives comes from: the node, or a tape over it."""

        def read(self, key: str, /) -> bytes | None:
            """Return the stored bytes of a key."""

        def names(self, prefix: str, /) -> Names:
            """Return the names stored directly under a prefix, sorted."""

        def entropy(self, count: int, /) -> bytes:
            """Draw random bytes."""

        def draw_once(self, kind: str, count: int, /) -> int | None:
            """Draw a number below ``count`` that this seeded world has not drawn of its kind; None without a seed."""

        def standing(self) -> tuple[int, int, int, int | None]:
            """Return leadership term, steady clock, newest entry, and up to which one all connected secondaries are."""

        def observe(self, kind: str, **fields: Any) -> None:
            """Report to the node's observer."""

        def append_line(self, path: str, line: bytes, /) -> None:
            """Append a line to one of the node's files; raise OSError when it cannot be written."""

        def read_file(self, path: str, /) -> bytes | None:
            """Return what one of the node's files holds; None for one that is missing."""

        def file_names(self, folder: str, /) -> tuple[str, ...]:
            """Return the names of the node's files below a folder, sorted."""

        def note_due(self, key: str, when_ns: int, /) -> None:
            """Note when something in a key's record falls due."""


NONCES_PER_DRAW = 4

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Context:
    """One request's view of the service; every ``EngineContext`` is one."""

    __slots__ = (
        "_nonces",
        "after_commit",
        "answer_headers",
        "audit_reason",
        "audited",
        "body",
        "caller",
        "core",
        "devices",
        "existing",
        "headers",
        "is_create",
        "is_permitted",
        "is_quiet",
        "is_taped",
        "keys",
        "mount_storage",
        "new_route",
        "now",
        "operation",
        "path",
        "policy_prefix",
        "records",
        "refused_writes",
        "request",
        "request_id",
        "resolved",
        "route",
        "source",
        "use_spent",
        "warnings",
        "wrap_ttl_ns",
        "writes",
    )

    def __init__(self, core: Core, request: Request, now: int, source: ContextSource | None = None) -> None:
        self.core, self.request, self.now = core, request, now
        self.source: ContextSource = source or core
        self.is_taped = self.source is not core  # then every read is made, and no memo replaces one
        self.keys: SealKeys = core.keys
        self.records = core.caches.records
        self.writes: dict[str, bytes | None] = {}
        self.refused_writes: Mapping[str, bytes | None] = NOTHING
        self.warnings: list[str] = []
        self.body: Body = {}
        self.headers: dict[str, str] = {}
        self.operation = ""
        self.path = ""
        self.answer_headers: dict[str, str] | None = None  # beside those that every answer has
        self.audit_reason = ""  # why the request is refused, for audit records only: the answer does not say it
        self.policy_prefix = ""  # what the caller's policies put in front of the path: it is below their namespace
        self.request_id = ""
        self.new_route: Any = None  # what its route is kept by, and tables, of one that was not kept (request_route)
        self.existing: Any = None  # what the request's write updates, as its route found it
        self.is_create = False
        self.is_permitted = False  # whether it is known that policies permit it, whatever it sends (clearances)
        self.is_quiet = False  # whether it is known that no audit device and no managed key are there (clearances)
        self.audited: Any = None  # what its audit records say, once it has one
        self.devices: tuple[Any, ...] | None = None  # audit devices of the request, once it has a record
        self.after_commit: Callable[[], None] | None = None  # what acts once the step is committed
        self.use_spent = False
        self.wrap_ttl_ns = 0
        self.caller: Caller | None = None
        self.resolved: ResolvedRoute | None = None
        self.route: Route | None = None  # whose handler answers, once the caller may call it
        self._nonces = b""
        self.mount_storage: StorageView | None = None  # what ``storage`` gave; it leads back here

    @property
    def mount(self) -> Mount:
        """The mount whose engine answers."""
        assert self.resolved is not None
        assert self.resolved.mount is not None
        return self.resolved.mount

    @property
    def storage(self) -> StorageView:
        """The mount's own part of the store."""
        found, resolved = self.mount_storage, self.resolved
        if found is None:
            assert resolved is not None
            core, mount = self.core, resolved.mount
            assert mount is not None
            if self.is_taped:
                found = StorageView(self, mount.prefix)  # the tape holds values, not which cache they came from
            else:
                found = StorageView(self, *(core.caches.by_mount.get(mount.uuid) or storage_of(core, mount)))
            self.mount_storage = found
        return found

    @property
    def local_storage(self) -> StorageView:
        """The mount's own part of what belongs to this cluster and its disaster-recovery secondaries only."""
        return StorageView(self, self.mount.local_prefix)

    @property
    def full_storage(self) -> StorageView:
        """The whole store, decrypted: for the system's endpoints, replication, tokens, policies and audit."""
        return StorageView(self, "")

    @property
    def namespace(self) -> Namespace:
        """The namespace that the request is made in."""
        return ROOT if self.resolved is None else self.resolved.namespace

    @property
    def namespace_storage(self) -> StorageView:
        """What the request's namespace has of its own, decrypted: its mount table and policies."""
        return StorageView(self, self.namespace.prefix)

    @property
    def policy_path(self) -> str:
        """The request's path as the caller's policies name it."""
        return self.policy_prefix + self.path

    @property
    def service_version(self) -> str:
        """The version of the service that this node runs."""
        return self.core.settings.version

    @property
    def fips(self) -> bool:
        """Whether the service runs in FIPS 140-2 mode."""
        return self.core.settings.fips

    @property
    def nonce_limit(self) -> int:
        """How many messages a key may encrypt with random nonces before each answer warns."""
        return self.core.settings.nonce_limit

    @property
    def nonce_counts(self) -> NonceCounts:
        """The node's counts of random nonces."""
        return self.core.nonce_counts

    def store_nonce_counts(self) -> None:
        """Write the node's counts when the step commits, of one that lets another node lead."""
        counts = self.nonce_counts
        for key in counts.changed():
            self.full_storage.put(key, counts.encoded(key) or b"")

    @property
    def edition(self) -> str:
        """The edition of the service: enterprise or community."""
        return self.core.settings.edition

    @property
    def mode(self) -> Mode:
        """The cluster's replication mode as this step sees it."""
        from labkit.vault.replication.mode import Mode  # few clusters replicate

        return self.full_storage.decoded(MODE_KEY, Mode.from_bytes) or Mode()

    @property
    def joined(self) -> SealKeys | None:
        """The keys that hold once this step commits, of a step that joins a replication set; else None."""
        return None if self.keys is self.core.keys else self.keys

    def managed_key(self, name: str, key_id: str) -> ManagedKey | None:
        """Return the managed key of a name or, without one, of an id."""
        from labkit.vault import managed_keys  # few requests use one (R24)

        return managed_keys.find(self.full_storage, name, key_id)

    def begin(self, now: int) -> None:
        """Begin the next step of a request that fetched, with empty buffers."""
        self.now = now
        self.writes, self.refused_writes = {}, NOTHING
        self._nonces = b""  # what an earlier step drew would be the same in two branches (R7)

    def end(self) -> None:
        """Let go of the view of the mount's storage, which leads back here: no cycle is left to the collector."""
        self.mount_storage = None

    def is_past(self, when_ns: int) -> bool:
        """Whether an instant is over, by the time of day: something is decided by that."""
        self.core.time_decided = True
        return self.now >= when_ns

    def read(self, key: str) -> bytes | None:
        """Return the stored bytes of a key as this step sees them."""
        writes = self.writes
        if writes and key in writes:
            return writes[key]
        return self.source.read(key)

    def write(self, key: str, stored: bytes | None, due_ns: int = 0) -> None:
        """Put stored bytes (None deletes) when the step commits; ``due_ns``: when some of it falls due, 0 for never."""
        self.writes[key] = stored
        if due_ns:
            self.source.note_due(key, due_ns)

    def put(self, key: str, value: bytes, due_ns: int = 0, label: bytes | None = None) -> bytes:
        """Encrypt a value for its key and put it when the step commits, as ``write`` does; return what is stored.

        ``label`` is what is stored in the clear with it.
        """
        barrier = self.keys.barrier
        if barrier is None:
            raise Unavailable(SEALED, code=NODE_SEALED)
        nonces = self._nonces or self.source.entropy(NONCES_PER_DRAW * NONCE_BYTES)  # as nonce() does
        self._nonces = nonces[NONCE_BYTES:]
        if label is None:
            stored = barrier.encrypt_under(nonces[:NONCE_BYTES], key, value)
        else:
            stored = barrier.encrypt_labelled(nonces[:NONCE_BYTES], key, value, label)
        self.writes[key] = stored
        if due_ns:
            self.source.note_due(key, due_ns)
        return stored

    def write_even_if_refused(self, key: str, stored: bytes | None) -> None:
        """Put stored bytes that stay even when the request is refused."""
        self.refused_writes = {**self.refused_writes, key: stored}
        self.writes[key] = stored

    def list(self, prefix: str) -> Names:
        """Return the names directly under a full prefix as this step sees them, sorted."""
        names = self.source.names(prefix)
        return self._with_writes(prefix, names) if self.writes else names

    def encrypt(self, key: str, value: bytes) -> bytes:
        """Encrypt a value for its key; raise Unavailable while sealed."""
        barrier = self.keys.barrier
        if barrier is None:
            raise Unavailable(SEALED, code=NODE_SEALED)
        return barrier.encrypt_under(self.nonce(), key, value)

    def decrypt(self, key: str, stored: bytes) -> bytes:
        """Decrypt a key's stored bytes; raise Unavailable while sealed."""
        barrier = self.keys.barrier
        if barrier is None:
            raise Unavailable(SEALED, code=NODE_SEALED)
        return barrier.decrypt(key, stored)

    def entropy(self, count: int) -> bytes:
        """Draw random bytes."""
        return self.source.entropy(count)

    def draw_once(self, kind: str, count: int) -> int | None:
        """Draw a number below ``count`` that this seeded world has not drawn of its kind; None without a seed."""
        return self.source.draw_once(kind, count)

    def nonce(self) -> bytes:
        """Draw the nonce of a write; a step draws several at once, because a draw costs as much as an encryption."""
        nonces = self._nonces or self.source.entropy(NONCES_PER_DRAW * NONCE_BYTES)
        self._nonces = nonces[NONCE_BYTES:]
        return nonces[:NONCE_BYTES]

    def warn(self, text: str) -> None:
        """Add a warning to the answer."""
        self.warnings.append(text)

    def observe(self, kind: str, **fields: Any) -> None:
        """Report to the node's observer; never a secret."""
        self.source.observe(kind, **fields)

    def _with_writes(self, prefix: str, stored: Names) -> Names:
        names = dict.fromkeys(stored)
        maybe_empty: dict[str, None] = {}
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
                maybe_empty[rest[:cut]] = None
        for name in maybe_empty:
            if name in names and not self._with_writes(prefix + name, self.source.names(prefix + name)):
                del names[name]
        return sorted(names)


def own_work(core: Core) -> Context:
    """Return a context for work without a request: expiry, rotation, what replication reads of the store."""
    return Context(core, Request("", ""), core.now())


def as_engines_see(ctx: Context) -> EngineContext:
    """Return a context as the type that engines are written against: the type checker checks that it fits."""
    return ctx
