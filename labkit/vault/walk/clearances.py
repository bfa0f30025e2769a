"""Clearances: what the walk found of a request that comes again, while nothing that decides about it was written.

1. A clearance belongs to a method, a path and a token: the route, the caller, and that this node answers such a
   request.  All of them end when the store counts a write that may decide otherwise, or leadership or keys are other
   objects: neither replication nor takeover nor rollback needs an invalidation (R21).
2. Given is one only where nothing else decides: no quota, no use to take off, no address to compare, no route that
   fetches, no header that means something else.
3. What depends on the instant or on the body is judged each time: expiry, fields, and policies where they look at
   parameters, wrapping or what is there already.
4. Tokens stand in them as text: a hash of each would cost as much as all the rest.  They are in memory only, never
   shown, and gone with the next write that decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.routing import Match
from labkit.vault.mounts import AUDIT_DEVICES, MANAGED_KEYS, QUOTAS
from labkit.vault.walk.request_walk import is_permitted

if TYPE_CHECKING:
    from labkit.vault.context import Context

MAX_CLEARANCES = 4_096
MAX_PATH_CHARACTERS = MAX_TOKEN_CHARACTERS = 512

TOKEN = "x-vault-token"

DECIDING_FLAGS = frozenset(("fetches", "invalid_token_is_400", "on_standby", "unauthenticated", "while_sealed"))
"""Flags of routes whose requests are judged each time."""

DECIDING_HEADERS = frozenset(("authorization", "origin", "x-vault-index", "x-vault-namespace"))
"""Headers of requests that are judged each time."""


def take(ctx: Context) -> bool:
    """Give a request the route and the caller that it was cleared with; return whether it was."""
    core, request, headers = ctx.core, ctx.request, ctx.headers
    clearances = core.caches.clearances
    if (
        clearances.deciding_writes != core.storage.deciding_writes
        or clearances.leadership is not core.leadership
        or clearances.keyring is not core.keys.barrier
    ):
        clearances.clear()
        clearances.deciding_writes = core.storage.deciding_writes
        clearances.leadership, clearances.keyring = core.leadership, core.keys.barrier
        return False
    method, path = request.method, request.path
    if type(method) is not str or type(path) is not str:
        return False
    found = clearances.get((method, path, headers.get(TOKEN, "")))
    if found is None or (len(headers) > 1 and not DECIDING_HEADERS.isdisjoint(headers)):
        return False
    resolved, caller, ends_ns, policy_prefix, is_permitted, is_quiet = found
    if ends_ns and ctx.is_past(ends_ns):
        return False
    ctx.resolved, ctx.caller, ctx.is_permitted, ctx.is_quiet = resolved, caller, is_permitted, is_quiet
    operation = ctx.operation = resolved.operation
    ctx.path, ctx.policy_prefix = resolved.path, policy_prefix
    ctx.body = (request.body or {}) if operation == "write" or operation == "patch" else resolved.query
    return True


def give(ctx: Context) -> None:
    """Clear a request that was found to have a route and a caller, if nothing else decides about it (rule 2)."""
    request, resolved, caller = ctx.request, ctx.resolved, ctx.caller
    if resolved is None or caller is None or not isinstance(resolved.match, Match):
        return
    token, text, stored = caller.token, ctx.headers.get(TOKEN, ""), ctx.core.storage.get
    if token.uses or token.bound_cidrs or token.kind == "batch" or not DECIDING_FLAGS.isdisjoint(resolved.flags):
        return
    if not DECIDING_HEADERS.isdisjoint(ctx.headers):
        return
    if len(request.path) > MAX_PATH_CHARACTERS or len(text) > MAX_TOKEN_CHARACTERS:
        return
    if stored(QUOTAS) is not None:
        return
    clearances = ctx.core.caches.clearances
    if len(clearances) >= MAX_CLEARANCES:
        clearances.clear()
    is_quiet = stored(AUDIT_DEVICES) is None and stored(MANAGED_KEYS) is None
    clearances[request.method, request.path, text] = (
        resolved,
        caller,
        token.expires_ns,
        ctx.policy_prefix,
        caller.acl.root or is_permitted(ctx, caller, resolved),
        is_quiet,
    )
