"""Mounts: which engine answers a path, in which namespace, and the catalogue of engines and auth methods.

1. A namespace's mount table is one stored record; longest prefix wins, and ``foo`` reaches a mount at ``foo/``.
2. A memo of a route is valid while the stored mount table is the same object (R21): a change needs no invalidation.
3. No mount's path may begin with another's: with ``a/`` mounted, ``a/b/`` is refused, and the other way round.
4. A namespace stands in the mount table of its parent, so rules 1 to 3 hold for namespaces too; what it has of its own
   (mount table, policies) is stored under its prefix, that of the root namespace under none.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.service.routing import Groups, Match, Table, loaded
from labkit.vault.storage.records import decode_record, encode_record
from labkit.vault.storage.storage_view import StorageView

if TYPE_CHECKING:
    from labkit.vault.storage.storage_view import StepSource

MOUNTS = "core/mounts"
MANAGED_KEYS = "core/managed-keys"
AUDIT_DEVICES = "core/audit"
QUOTAS = "core/quotas"
"""Where these are stored, for which each request looks; where they are not, nothing of them is loaded (R24)."""

MAX_SHORT_CHARACTERS = 128
"""Of a short path, as it was sent, and its namespace's."""

RESERVED = ("sys/", "auth/", "audit/", "cubbyhole/", "identity/")


class Namespace(NamedTuple):
    """A part of the service with mounts, policies and tokens of its own; ``path`` is the whole one and ends in ``/``.

    One without an ``id`` does not exist: it only has the path that a request named.  A locked one has in ``lock`` the
    digest of the key that unlocks it.
    """

    path: str
    id: str
    metadata: tuple[tuple[str, str], ...] = ()
    lock: str = ""

    def __repr__(self) -> str:
        return f"Namespace({self.path or 'root'})"

    @property
    def prefix(self) -> str:
        """Where what the namespace has of its own is stored."""
        return f"namespace/{self.id}/" if self.path else ""

    @property
    def name(self) -> str:
        """The last segment of the path, with its slash."""
        return self.path[self.path[:-1].rfind("/") + 1 :]


ROOT = Namespace("", "root")


class EngineKind(NamedTuple):
    """One row of the catalogue: a kind and version, where its table is (``module:name``), and what else it has.

    ``due_work`` names the module that does what falls due (``due_ns``, ``carry_out``); it is needed
    only where ``due_folder`` of the mount's storage is not empty, or of its local part (``keeps_local``).
    ``cache_config`` is where the mount's storage says how many records of that folder are kept decoded.  ``renewal``
    (``module:name``) says what limits a renewed token of an auth method's role: a function of its storage, its mount
    and the token.  ``open_path`` is where the method answers without a token, whatever is asked there; with a slash at
    its end, all below it.  ``locks_out`` says whether it locks out whoever fails to log in too often.  Modules are
    imported at the first use (R24).
    """

    kind: str
    version: str
    table: str
    due_work: str = ""
    due_folder: str = ""
    cache_config: str = ""
    is_auth: bool = False
    renewal: str = ""
    keeps_local: bool = False
    open_path: str = ""
    locks_out: bool = False


_ROWS = (
    EngineKind("kv", "1", "labkit.vault.engines.kv.table_v1:TABLE"),
    EngineKind("kv", "2", "labkit.vault.engines.kv.table:TABLE"),
    EngineKind(
        "transit",
        "",
        "labkit.vault.engines.transit.table:TABLE",
        "labkit.vault.engines.transit.keys.rotation",
        "key/",
        "config/cache",
    ),
    EngineKind("token", "", "labkit.vault.auth.token.table:TABLE", is_auth=True),
    EngineKind(
        "cloud",
        "",
        "labkit.vault.auth.cloud.table:TABLE",
        is_auth=True,
        renewal="labkit.vault.auth.cloud.roles:renewal_limits",
    ),
    EngineKind(
        "approle",
        "",
        "labkit.vault.auth.approle.table:TABLE",
        "labkit.vault.auth.approle.expiry",
        "accessor/",
        is_auth=True,
        renewal="labkit.vault.auth.approle.renewal:renewal_limits",
        keeps_local=True,
        open_path="login",
        locks_out=True,
    ),
    EngineKind(
        "userpass",
        "",
        "labkit.vault.auth.userpass.table:TABLE",
        is_auth=True,
        renewal="labkit.vault.auth.userpass.renewal:renewal_limits",
        open_path="login/",
        locks_out=True,
    ),
    EngineKind("cubbyhole", "", "labkit.vault.auth.cubbyhole:TABLE"),
    EngineKind("identity", "", "labkit.vault.auth.identity.table:TABLE"),
    EngineKind("system", "", "labkit.vault.system.table:TABLE"),
)

CATALOGUE = {(row.kind, row.version): row for row in _ROWS}
"""{(kind, version): row} of every engine and auth method that can be mounted."""


class Mount(NamedTuple):
    """One mounted engine or auth method; ``path`` ends in ``/``, that of an auth method begins with ``auth/``.

    ``user_lockout`` is what it was tuned to of that (``user_lockout``), in the order of its fields; empty for nothing.
    ``alias`` is the name that it was enabled as, where that is another than its kind's own, such as azure.
    """

    path: str
    kind: str
    uuid: str
    accessor: str
    description: str = ""
    options: tuple[tuple[str, str], ...] = ()
    local: bool = False
    seal_wrap: bool = False
    default_lease_ttl_s: int = 0
    max_lease_ttl_s: int = 0
    token_type: str = "default-service"
    listing_visibility: str = ""
    audit_non_hmac_request_keys: tuple[str, ...] = ()
    audit_non_hmac_response_keys: tuple[str, ...] = ()
    external_entropy_access: bool = False
    user_lockout: tuple[int, ...] = ()
    alias: str = ""

    @property
    def shown_kind(self) -> str:
        """What answers and records call its kind: the name that it was enabled as."""
        return self.alias or self.kind

    @property
    def prefix(self) -> str:
        """Where the mount's data is stored; that of local mounts is in the local Merkle tree."""
        return f"{'local' if self.local else 'logical'}/{self.uuid}/"

    @property
    def local_prefix(self) -> str:
        """Where a mount stores what belongs to this cluster and its disaster-recovery secondaries only."""
        return f"local/{self.uuid}/"

    @property
    def own_prefix(self) -> str:
        """Where the cluster keeps what it knows of the mount for itself only: in no tree, never replicated."""
        return f"node/mount/{self.uuid}/"

    @property
    def prefixes(self) -> tuple[str, ...]:
        """Where anything of the mount is stored."""
        return self.prefix, self.own_prefix, self.local_prefix

    @property
    def version(self) -> str:
        """The engine's version option; empty for engines without."""
        return dict(self.options).get("version", "1" if self.kind == "kv" else "")


FIXED_FIELDS = 12
"""How many fields of a mount are always stored."""

LOCKOUT = 15
"""The place of ``user_lockout`` among the fields of a mount."""


class MountTable(NamedTuple):
    """All mounts and child namespaces of one namespace, sorted by path."""

    mounts: tuple[Mount, ...]
    namespaces: tuple[Namespace, ...] = ()

    def find(self, path: str) -> Mount | None:
        """Return the mount that a request's path (without ``/v1/``) falls under."""
        best: Mount | None = None
        for mount in self.mounts:
            inside = path.startswith(mount.path) or path + "/" == mount.path
            if inside and (best is None or len(mount.path) > len(best.path)):
                best = mount
        return best

    def at(self, path: str) -> Mount | None:
        """Return the mount at exactly this path (ending in ``/``)."""
        return next((mount for mount in self.mounts if mount.path == path), None)

    def with_mount(self, mount: Mount) -> MountTable:
        """Return the table with a mount added, or in place of the one at its path."""
        others = [other for other in self.mounts if other.path != mount.path]
        return self._replace(mounts=tuple(sorted((*others, mount))))

    def without(self, path: str) -> MountTable:
        """Return the table without the mount at a path."""
        return self._replace(mounts=tuple([mount for mount in self.mounts if mount.path != path]))

    def child(self, path: str) -> Namespace | None:
        """Return the child namespace that a path within this namespace begins with."""
        if not self.namespaces:
            return None
        from _bisect import bisect_left  # the written module is not loaded, and this not without a namespace (R24)

        first = self.namespaces[0]
        wanted = first.path.removesuffix(first.name) + path.partition("/")[0] + "/"
        place = bisect_left(self.namespaces, (wanted,))
        found = self.namespaces[place] if place < len(self.namespaces) else first
        return found if found.path == wanted else None

    def with_child(self, child: Namespace) -> MountTable:
        """Return the table with a child namespace added, or in place of the one at its path."""
        left = self.without_child(child.path).namespaces
        return self._replace(namespaces=tuple(sorted((*left, child))))

    def without_child(self, path: str) -> MountTable:
        """Return the table without the child namespace of that whole path."""
        return self._replace(namespaces=tuple([child for child in self.namespaces if child.path != path]))


class ResolvedRoute(NamedTuple):
    """What a (method, path) means: the clean path, its mount, and the route within it, or the refusal.

    The path is the one within ``namespace``; ``locked`` is the path of the first locked namespace on the way.  It has
    nothing of the mount tables but its own mount: who keeps many routes, like ``calls``, keeps no table.
    ``mount_type`` is what answers say of it, ``names_version`` whether they name the version of a key or secret, and
    ``is_short`` whether what was asked for has no query and few characters (``calls``).
    """

    operation: str
    path: str
    query: dict[str, Any]
    mount: Mount | None
    match: Match | Exception
    flags: frozenset[str] = frozenset()
    namespace: Namespace = ROOT
    locked: str = ""
    mount_type: str = ""
    names_version: bool = False
    is_short: bool = False

    def __repr__(self) -> str:
        return f"ResolvedRoute({self.operation} {self.path})"  # never the query, which may carry a token


def decode_table(stored: bytes) -> MountTable:
    """Read the stored mount table."""
    rows = decode_record(stored)
    children = rows.pop()["namespaces"] if rows and isinstance(rows[-1], dict) else ()
    return MountTable(tuple([_mount(row) for row in rows]), tuple([_namespace(row) for row in children]))


def _mount(row: list[Any]) -> Mount:
    row[5] = tuple([(name, value) for name, value in row[5]])
    row[FIXED_FIELDS : FIXED_FIELDS + 2] = map(tuple, row[FIXED_FIELDS : FIXED_FIELDS + 2])
    row[LOCKOUT : LOCKOUT + 1] = map(tuple, row[LOCKOUT : LOCKOUT + 1])
    return Mount(*row)


def _namespace(row: list[Any]) -> Namespace:
    path, number, metadata, *lock = row
    return Namespace(path, number, tuple([(name, value) for name, value in metadata]), *lock)


def encode_table(table: MountTable) -> bytes:
    """Write the mount table as it is stored: the mounts, behind them the child namespaces where there are any."""
    rows: list[Any] = [_row(mount) for mount in table.mounts]
    if table.namespaces:
        rows.append({"namespaces": [list(child if child.lock else child[:-1]) for child in table.namespaces]})
    return encode_record(rows)


def _row(mount: Mount) -> list[Any]:
    """Return a mount as a row of the table, without those of the later fields that nothing is set in, at the end."""
    if not any(mount[FIXED_FIELDS:]):
        return list(mount[:FIXED_FIELDS])
    row = list(mount)
    while not row[-1]:
        row.pop()
    return row


def namespace_at(step: StepSource, path: str) -> Namespace | None:
    """Return the namespace of a whole path (empty, or ending in ``/``), or None."""
    found: Namespace | None = ROOT
    while found is not None and found.path != path:
        found = read_table(StorageView(step, found.prefix)).child(path[len(found.path) :])
    return found


def all_mounts(step: StepSource) -> list[tuple[Namespace, Mount]]:
    """Return every mount of every namespace, parents before their children."""
    namespaces, found = [ROOT], []
    for namespace in namespaces:
        table = read_table(StorageView(step, namespace.prefix))
        namespaces += table.namespaces
        found += [(namespace, mount) for mount in table.mounts]
    return found


def read_table(storage: StorageView) -> MountTable:
    """Return a namespace's mount table as the step of this view of what the namespace has sees it."""
    return storage.decoded(MOUNTS, decode_table) or MountTable(())


def write_table(storage: StorageView, table: MountTable) -> None:
    """Store a new mount table when the step commits."""
    storage.put(MOUNTS, encode_table(table))


def new_mount(path: str, kind: str, entropy: Any, **settings: Any) -> Mount:
    """Make the record of a new mount with fresh identifiers."""
    from labkit.vault.identifiers import uuid_text

    prefix = "auth_" if path.startswith("auth/") else ""
    shown = settings.get("alias") or kind
    return Mount(path, kind, uuid_text(entropy), f"{prefix}{shown}_{entropy(4).hex()}", **settings)


def own_mounts(entropy: Any) -> list[Mount]:
    """Make the mounts that every namespace has from its beginning."""
    cubbyhole = "per-token private secret storage"
    return [
        new_mount("sys/", "system", entropy, description="system endpoints used for control, policy and debugging"),
        new_mount("auth/token/", "token", entropy, description="token based credentials"),
        new_mount("cubbyhole/", "cubbyhole", entropy, description=cubbyhole, local=True),
        new_mount("identity/", "identity", entropy, description="identity store"),
    ]


def routes_of(mount: Mount) -> Table | Groups:
    """Return the routes of a mount's engine, importing it at its first use."""
    return routes_of_engine(mount.kind, mount.version)


@cache
def routes_of_engine(kind: str, version: str) -> Table | Groups:
    """Return the routes of an engine of a version, importing it at its first use."""
    module, _, name = CATALOGUE[kind, version].table.partition(":")
    table: Table | Groups = getattr(loaded(module), name)
    return table


def check_free(table: MountTable, path: str) -> None:
    """Raise BadRequest when a new mount at ``path`` would clash with an existing one."""
    if path.startswith(RESERVED) and not path.startswith("auth/"):
        raise BadRequest(f'cannot mount "{path}"')
    for taken in (*[mount.path for mount in table.mounts], *[child.name for child in table.namespaces]):
        if taken.startswith(path) or path.startswith(taken):
            raise BadRequest(f"path is already in use at {taken}")
