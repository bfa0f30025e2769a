"""Locks: ``sys/namespaces/api-lock`` bars a namespace and all below it from use, until it is unlocked.

1. Who locks one is given a key, once; its digest is stored.  Whoever may do everything, or has ``sudo`` on the path,
   unlocks without it.
2. Below a lock only ``api-lock/unlock`` and the endpoints that answer in any namespace do; tokens and data stay.
3. The root namespace is not locked: nobody could unlock it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest
from labkit.service.routing import Route
from labkit.vault import namespaces
from labkit.vault.identifiers import base62, sha256
from labkit.vault.mounts import namespace_at
from labkit.vault.policies import SUDO

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.mounts import Namespace

KEY_DIGITS = 24


def lock(ctx: Context) -> dict[str, Any]:
    """Lock the request's namespace."""
    return _lock(ctx, ctx.namespace.path)


def lock_below(ctx: Context, sub: str) -> dict[str, Any]:
    """Lock a namespace below the request's."""
    return _lock(ctx, _below(ctx, sub))


def unlock(ctx: Context, unlock_key: str | None) -> None:
    """Unlock the request's namespace."""
    _unlock(ctx, ctx.namespace.path, unlock_key)


def unlock_below(ctx: Context, sub: str, unlock_key: str | None) -> None:
    """Unlock a namespace below the request's."""
    _unlock(ctx, _below(ctx, sub), unlock_key)


def _below(ctx: Context, sub: str) -> str:
    return f"{ctx.namespace.path}{sub.strip('/')}/"


def _found(ctx: Context, path: str) -> Namespace:
    if not path:
        raise BadRequest("the root namespace cannot be locked or unlocked")
    found = namespace_at(ctx, path)
    if found is None:
        raise BadRequest(f"no namespace {path}")
    return found


def _lock(ctx: Context, path: str) -> dict[str, Any]:
    found = _found(ctx, path)
    if found.lock:
        raise BadRequest(f"namespace {path} is locked already")
    key = base62(ctx.entropy, KEY_DIGITS)
    namespaces.replace(ctx, found._replace(lock=_digest(key)))
    ctx.observe("namespace locked", path=path)
    return {"unlock_key": key}


def _unlock(ctx: Context, path: str, key: str | None) -> None:
    found = _found(ctx, path)
    if not found.lock:
        raise BadRequest(f"namespace {path} is not locked")
    assert ctx.caller is not None
    acl = ctx.caller.acl
    if not (acl.root or acl.allows(SUDO, ctx.policy_path)):
        if not key:
            raise BadRequest("provided empty key")
        import hmac  # it loads OpenSSL again, and few namespaces are locked

        if not hmac.compare_digest(_digest(key), found.lock):
            raise BadRequest("incorrect unlock key")
    namespaces.replace(ctx, found._replace(lock=""))
    ctx.observe("namespace unlocked", path=path)


def _digest(key: str) -> str:
    return sha256(key.encode()).hexdigest()


SUB = fields.path("sub", "path of the namespace, below the request's")._replace(pattern=r".*[^/]/?")
KEY = fields.text("unlock_key", "what locking it returned; not needed with sudo")

ROUTES = (
    Route("write", "namespaces/api-lock/lock", lock, (), "enterprise"),
    Route("write", "namespaces/api-lock/lock/<sub>", lock_below, (SUB,), "enterprise"),
    Route("write", "namespaces/api-lock/unlock", unlock, (KEY,), "enterprise"),
    Route("write", "namespaces/api-lock/unlock/<sub>", unlock_below, (SUB, KEY), "enterprise"),
)
