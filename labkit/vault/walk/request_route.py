"""What a request's method, namespace and path mean: its mount, and the route within it, through a memo (R21).

1. A memo of a route is valid while the stored mount tables that it was found in are the same objects: the root
   namespace's, and below it those on the way to the request's namespace.  All that are kept were found in the present
   ones: another one drops them, so no table is held that was replaced.
2. It is filled only once the caller is known, and only for short paths (decision C14): who has no token leaves nothing
   behind but the routes of paths without names, such as that of a login.
3. A missing or unusable route is kept as the refusal that it leads to; a request without a token has another one.
4. The namespace is the header's, then that of the longest prefix of the path.  One that does not exist has the system's
   own routes only, some of which answer in any namespace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest, NotFound, ServiceError, Unavailable, UnknownMethod
from labkit.service.fields import to_flag
from labkit.service.limits import check_path
from labkit.service.request_path import split_path
from labkit.service.routing import Groups, Match
from labkit.vault.context import Context
from labkit.vault.mounts import (
    CATALOGUE,
    MAX_SHORT_CHARACTERS,
    MOUNTS,
    ROOT,
    Mount,
    MountTable,
    Namespace,
    ResolvedRoute,
    decode_table,
    routes_of,
)
from labkit.vault.storage.barrier import BarrierError

if TYPE_CHECKING:
    from labkit.service.message import Request
    from labkit.vault.core import Core

METHODS = {
    "GET": "read",
    "HEAD": "read",
    "LIST": "list",
    "POST": "write",
    "PUT": "write",
    "PATCH": "patch",
    "DELETE": "delete",
}

HELP = "help"
"""The operation of a request for help, and the parameter that asks for it."""

_HELP = Groups({HELP: ("labkit.vault.system.facts.path_help",)})  # loaded at the first such request (R24)

Tables = tuple[tuple[str, "bytes | None"], ...]
"""Where stored mount tables stand, and their bytes."""

MAX_CACHED_ROUTES = 8_192
MAX_CACHED_ROUTE_CHARACTERS = 512

NO_FORWARDING = "x-vault-no-request-forwarding"
NAMESPACE = "x-vault-namespace"
ROTATE_ROOT = "/rotate-root"
UNLOCK = "sys/namespaces/api-lock/unlock"

# First segments of the system's paths that only the root namespace has: they are about the cluster as a whole.
ROOT_ONLY = frozenset(
    (
        *("audit", "audit-hash", "config", "decode-token", "experiments"),
        *("generate-recovery-token", "generate-root", "generate-root-token"),
        *("ha-status", "host-info", "in-flight-req", "init", "key-status", "license", "loggers", "managed-keys"),
        *(
            "metrics",
            "monitor",
            "pprof",
            "raw",
            "rekey",
            "rekey-recovery-key",
            "quotas",
            "replication",
            "rotate",
            "seal",
        ),
        *("sealwrap", "step-down", "storage", "unseal"),
    )
)

_OPEN = frozenset(("unauthenticated",))

# The system's own mount, for requests while the stored table cannot be read.
_SYSTEM = MountTable((Mount("sys/", "system", "system", "system"),))


def find_route(ctx: Context, found: Context | None = None) -> None:
    """Resolve (method, namespace, path); ``found``: the same request's context, for which that was done just now."""
    request = ctx.request
    key: Any = f"{request.method} {request.path}"
    asked = ctx.headers.get(NAMESPACE)
    if asked:
        key = (key, asked)
    table = ctx.source.read(MOUNTS) if ctx.keys.barrier is not None else None
    kept = ctx.core.caches.routes.get(key)
    if kept is not None and _holds(ctx, kept[1], table):
        resolved: ResolvedRoute = kept[0]
    elif found is not None and found.resolved is not None and _was_found_in(found.new_route, table):
        resolved = found.resolved
    else:
        resolved, tables = resolve(ctx, table)
        ctx.new_route = key, tables
    ctx.resolved = resolved
    ctx.operation, ctx.path = resolved.operation, resolved.path
    ctx.body = (request.body or {}) if resolved.operation in ("write", "patch") else resolved.query


def _holds(ctx: Context, tables: Tables, table: bytes | None) -> bool:
    """Whether a route was found in the mount tables that are stored; the first one is the root namespace's.

    None that was found in a table of a namespace holds on a tape, where a memo must not change what is read (R2).
    """
    if tables[0][1] is not table:
        return False
    return len(tables) == 1 or (not ctx.is_taped and all(ctx.source.read(key) is stored for key, stored in tables))


def _was_found_in(new_route: Any, table: bytes | None) -> bool:
    """Whether a route that is not in the memo yet was found in this table of the root namespace, and in no other."""
    return new_route is not None and len(new_route[1]) == 1 and new_route[1][0][1] is table


def is_for_active_node(core: Core, request: Request) -> bool:
    """Whether a standby forwards a request: any that is not about the node itself, unless its sender wants none of it.

    Nothing else of it is judged: what no node would answer is for the active one too (decision C16).
    """
    if any(type(name) is str and name.lower() == NO_FORWARDING and value for name, value in request.headers.items()):
        return False
    ctx = Context(core, request, core.now())
    try:
        find_route(ctx)
    except ServiceError:
        return True
    return ctx.resolved is None or "on_standby" not in ctx.resolved.flags


def keep_route(ctx: Context) -> None:
    """Put a route that was not in the memo into it, once the caller is known, or if no other path has it (C14)."""
    if ctx.new_route is None or (ctx.caller is None and not _has_one_path(ctx)):
        return
    key, tables = ctx.new_route
    if (len(key) if type(key) is str else len(key[0]) + len(key[1])) > MAX_CACHED_ROUTE_CHARACTERS:
        return
    routes = ctx.core.caches.routes
    present = routes.tables
    if len(routes) >= MAX_CACHED_ROUTES or any(present.get(name, stored) is not stored for name, stored in tables):
        routes.clear()
    present.update(tables)
    routes[key] = ctx.resolved, tables


def _has_one_path(ctx: Context) -> bool:
    """Whether a request names a route of a path without names, as it is usually written: there are few of those."""
    resolved = ctx.resolved
    if resolved is None or not isinstance(resolved.match, Match) or resolved.match.captured or resolved.query:
        return False
    return ctx.headers.get(NAMESPACE) is None and ctx.request.path in (f"/v1/{resolved.path}", resolved.path)


def resolve(ctx: Context, stored: bytes | None) -> tuple[ResolvedRoute, Tables]:
    """Split a path into mount and route; a missing or unusable route is returned as the refusal to raise later.

    With it come the stored tables that were read, of which ``stored`` is the first.
    """
    method = ctx.request.method
    operation = METHODS.get(method, "") if isinstance(method, str) else ""
    if not operation:
        raise UnknownMethod
    path, query = split_path(ctx.request.path)
    if operation == "read" and "list" in query:
        operation = "list" if _is_list(query.pop("list")) else "read"
    elif operation == "read" and query.get(HELP):
        operation, query = HELP, {}
    if any(part in (".", "..") for part in path.split("/")):
        raise BadRequest("relative paths not supported")
    if operation == "list" and not path.endswith("/"):
        path += "/"
    place = _Place(ctx, stored)
    path = place.enter(_named(ctx, path), path)
    mount = place.table.find(path) or _SYSTEM.find(path)
    if mount is None and path.endswith(ROTATE_ROOT):
        mount, path = _rotating(place.table, path)
    match = _matched(mount, operation, path, place.damage)
    flags = match.route.flags if isinstance(match, Match) else _flags_of_refusal(mount, path)
    kind = "" if mount is None else mount.kind
    names_version = kind == "transit" or (kind == "kv" and mount is not None and mount.version == "2")
    namespace = place.namespace
    is_short = not query and len(ctx.request.path) + len(namespace.path) <= MAX_SHORT_CHARACTERS
    said = "" if mount is None else mount.shown_kind, names_version, is_short
    resolved = ResolvedRoute(operation, path, query, mount, match, flags, namespace, place.locked, *said)
    return resolved, tuple(place.tables)


def _matched(mount: Mount | None, operation: str, path: str, damage: BarrierError | None) -> Match | Exception:
    """Return the route within a mount, or the refusal of a path without one."""
    if operation == HELP:
        return damage or _HELP.match("read", HELP)
    if mount is None:
        return damage or _no_route(path)
    if operation in ("write", "patch") and path.endswith("/"):
        return BadRequest("cannot write to a path ending in '/'")
    try:
        return routes_of(mount).match(operation, path[len(mount.path) :])
    except ServiceError as error:
        return error


def _flags_of_refusal(mount: Mount | None, path: str) -> frozenset[str]:
    """Return the flags of a path without a route: at a mount's open path it is refused without a token too."""
    open_path = "" if mount is None else CATALOGUE[mount.kind, mount.version].open_path
    if mount is None or not open_path:
        return frozenset()
    within = path[len(mount.path) :]
    is_open = within.startswith(open_path) if open_path.endswith("/") else within == open_path
    return _OPEN if is_open else frozenset()


def _rotating(table: MountTable, path: str) -> tuple[Mount | None, str]:
    """Return the method and path of a rotation that is asked for without ``auth/`` (decision A7)."""
    whole = f"auth/{path}"
    mount = table.at(whole.removesuffix(ROTATE_ROOT[1:]))
    return (mount, whole) if mount is not None and mount.kind == "cloud" else (None, path)


class _Place:
    """Where a path leads: the namespace so far, its mount table, and the stored tables that were read on the way."""

    __slots__ = ("_ctx", "damage", "locked", "namespace", "table", "tables")

    def __init__(self, ctx: Context, stored: bytes | None) -> None:
        self._ctx = ctx
        self.namespace, self.locked = ROOT, ""
        self.damage: BarrierError | None = None
        self.tables: list[tuple[str, bytes | None]] = [(MOUNTS, stored)]
        self.table = self._read(MOUNTS, stored)

    def enter(self, asked: str, path: str) -> str:
        """Go to the namespace of the header, then into those of the path; return what is left of the path."""
        rest = asked
        while rest and self._descend(rest):
            rest = asked[len(self.namespace.path) :]
        if rest:
            self.namespace, self.table = Namespace(asked, ""), MountTable(())
            return path
        while self._descend(path):
            path = path[len(self.namespace.name) :]
        return path

    def _descend(self, path: str) -> bool:
        child = self.table.child(path)
        if child is None:
            return False
        self.namespace, key = child, child.prefix + MOUNTS
        if child.lock and not self.locked:
            self.locked = child.path
        stored = self._ctx.source.read(key)
        self.tables.append((key, stored))
        self.table = self._read(key, stored)
        return True

    def _read(self, key: str, stored: bytes | None) -> MountTable:
        if stored is None:
            return MountTable(())
        try:
            return self._ctx.records.derive(key, stored, decode_table, self._ctx)
        except BarrierError as error:  # the system's own paths still answer (C12)
            self.damage = error
            return MountTable(())


def _named(ctx: Context, path: str) -> str:
    """Return the path of the header's namespace, empty for the root's; raise BadRequest for one that is too long."""
    asked = ctx.headers.get(NAMESPACE, "").strip("/")
    if not asked or asked == "root":
        return ""
    check_path(f"{asked}/{path}")
    while "//" in asked:
        asked = asked.replace("//", "/")
    if any(part in (".", "..") for part in asked.split("/")):
        raise BadRequest("relative paths not supported")
    return asked + "/"


def check_namespace(ctx: Context) -> None:
    """Judge a request outside the root namespace: whether its namespace exists, and has such a path (C4, C5)."""
    resolved = ctx.resolved
    assert resolved is not None
    namespace, (area, _, path) = resolved.namespace, resolved.path.partition("/")
    by_header = ctx.headers.get(NAMESPACE, "").strip("/") not in ("", "root")
    if by_header and namespace.id and namespace.path.isascii():
        ctx.answer_headers = {**(ctx.answer_headers or {}), "X-Vault-Namespace": namespace.path}
    if "any_namespace" in resolved.flags:
        return
    if ctx.core.settings.edition == "community":
        raise BadRequest("enterprise-only feature")
    if area == "sys" and path.startswith("replication/"):
        raise BadRequest(f"operation only available in the root namespace, not in {namespace.path}")
    if not namespace.id:
        raise resolved.match if isinstance(resolved.match, BarrierError) else NotFound("namespace not found")
    if resolved.locked and resolved.path.rstrip("/") != UNLOCK:
        raise barred(resolved.locked)
    if area == "sys" and is_root_only(path):
        where = "operation unavailable in namespaces" if by_header else "operation only available in root namespace"
        raise BadRequest(where)


def barred(path: str) -> Unavailable:
    """Return the refusal of what lies in a locked namespace, or below it."""
    return Unavailable(
        f'API access to this namespace has been locked by an administrator - "{path}" must be unlocked to gain access.'
    )


def is_root_only(path: str) -> bool:
    """Whether a path below ``sys/`` is about the cluster as a whole."""
    return path.partition("/")[0] in ROOT_ONLY or path.startswith("plugins/catalog")


def check_mount(ctx: Context) -> None:
    """Raise NotFound when the mount of a request that fetched is not there any more, or not the same one (R4)."""
    resolved = ctx.resolved
    assert resolved is not None
    if resolved.mount is None or resolved.mount == _SYSTEM.mounts[0]:
        return
    key = resolved.namespace.prefix + MOUNTS
    stored = ctx.core.storage.get(key)
    table = MountTable(()) if stored is None else decode_table(ctx.core.keys.decrypt(key, stored))
    mount = table.find(resolved.path)
    if mount is None or mount.uuid != resolved.mount.uuid:
        raise _no_route(resolved.path)


def _no_route(path: str) -> ServiceError:
    return NotFound(f'no handler for route "{path}". route entry not found.')


def _is_list(sent: Any) -> bool:
    try:
        return to_flag(sent or "")
    except ValueError:
        raise BadRequest from None  # real servers give no text here
