"""What a request's method and path mean: its mount, and the route within it, through a memo (R21).

1. A memo of a route is valid while the stored mount table is the same object.
2. It is filled only once the caller is known, and only for short paths (decision C14): who has no token leaves nothing
   behind.
3. A missing or unusable route is kept as the refusal that it leads to; a request without a token has another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest, NotFound, ServiceError, Unsupported
from labkit.service.fields import to_flag
from labkit.service.request_path import split_path
from labkit.service.routing import Match
from labkit.vault.context import Context
from labkit.vault.mounts import MOUNTS, Mount, MountTable, ResolvedRoute, decode_table, routes_of
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

MAX_CACHED_ROUTES = 8_192
MAX_CACHED_ROUTE_CHARACTERS = 512

NO_FORWARDING = "x-vault-no-request-forwarding"

# The system's own mount, for requests while the stored table cannot be read.
_SYSTEM = MountTable((Mount("sys/", "system", "system", "system"),))


def find_route(ctx: Context) -> None:
    """Resolve (method, path)."""
    request = ctx.request
    key = f"{request.method} {request.path}"
    table = ctx.source.read(MOUNTS) if ctx.keys.barrier is not None else None
    cached = ctx.core.caches.routes.get(key)
    if cached is not None and cached[0] is table:
        resolved: ResolvedRoute = cached[1]
    else:
        resolved = resolve(ctx, table)
        ctx.new_route = (key, table)
    ctx.resolved = resolved
    ctx.operation, ctx.path = resolved.operation, resolved.path
    ctx.body = (request.body or {}) if resolved.operation in ("write", "patch") else resolved.query


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
    """Put a route that was not in the memo into it, once the caller is known (decision C14)."""
    if ctx.caller is None or ctx.new_route is None or len(ctx.new_route[0]) > MAX_CACHED_ROUTE_CHARACTERS:
        return
    routes = ctx.core.caches.routes
    if len(routes) >= MAX_CACHED_ROUTES:
        routes.clear()
    key, table = ctx.new_route
    routes[key] = (table, ctx.resolved)


def resolve(ctx: Context, stored: bytes | None) -> ResolvedRoute:
    """Split a path into mount and route; a missing or unusable route is returned as the refusal to raise later."""
    method = ctx.request.method
    operation = METHODS.get(method, "") if type(method) is str else ""
    if not operation:
        raise Unsupported
    path, query = split_path(ctx.request.path)
    if operation == "read" and "list" in query:
        operation = "list" if _is_list(query.pop("list")) else "read"
    if any(part in (".", "..") for part in path.split("/")):
        raise BadRequest("relative paths not supported")
    if operation == "list" and not path.endswith("/"):
        path += "/"
    table, missing = MountTable(()), _no_route(path)
    try:
        table = decode_table(ctx.decrypt(MOUNTS, stored)) if stored is not None else table
    except BarrierError as error:  # the system's own paths still answer (C12)
        missing = error
    mount = table.find(path) or _SYSTEM.find(path)
    if mount is None:
        return ResolvedRoute(operation, path, query, None, missing)
    if operation in ("write", "patch") and path.endswith("/"):
        return ResolvedRoute(operation, path, query, mount, BadRequest("cannot write to a path ending in '/'"))
    try:
        match: Match | Exception = routes_of(mount).match(operation, path[len(mount.path) :])
    except ServiceError as error:
        match = error
    flags = match.route.flags if isinstance(match, Match) else frozenset()
    return ResolvedRoute(operation, path, query, mount, match, flags)


def check_mount(ctx: Context) -> None:
    """Raise NotFound when the mount of a request that fetched is not there any more, or not the same one (R4)."""
    resolved, stored = ctx.resolved, ctx.core.storage.get(MOUNTS)
    assert resolved is not None
    if resolved.mount is None or resolved.mount == _SYSTEM.mounts[0]:
        return
    table = MountTable(()) if stored is None else decode_table(ctx.core.keys.decrypt(MOUNTS, stored))
    mount = table.find(resolved.path)
    if mount is None or mount.uuid != resolved.mount.uuid:
        raise _no_route(resolved.path)


def _no_route(path: str) -> ServiceError:
    return NotFound(f'no handler for route "{path}". route entry not found.')


def _is_list(sent: Any) -> bool:
    try:
        return to_flag(sent or "x")
    except ValueError:
        raise BadRequest from None  # real servers give no text here
