"""What command lines and user interfaces read first: ``sys/internal/ui``.

The mounts can be listed without a token; then only those made visible with ``listing_visibility=unauth`` are shown,
without their settings.  A caller with a token sees what its policies reach.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import Forbidden
from labkit.service.routing import Route
from labkit.vault import tokens
from labkit.vault.mounts import read_table
from labkit.vault.policies import CAPABILITIES, DENY
from labkit.vault.policies.store import acl_for
from labkit.vault.system.mounted import AUTH, describe, in_area, place_of
from labkit.vault.token_record import Caller

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.mounts import Mount
    from labkit.vault.policies.access_list import Access
    from labkit.vault.policies.rules import Rule


def list_mounts(ctx: Context) -> dict[str, Any]:
    """List the mounts that the caller may see."""
    acl = _acl(ctx)
    table = read_table(ctx.namespace_storage)
    shown: dict[str, dict[str, Any]] = {"secret": {}, "auth": {}}
    for name, area in (("secret", ""), ("auth", AUTH)):
        for mount in in_area(table, area):
            seen = _seen(acl, mount, ctx.policy_prefix)
            if seen is not None:
                shown[name][mount.path.removeprefix(area)] = seen
    return shown


def read_mount(ctx: Context, path: str) -> dict[str, Any]:
    """Return the mount of a path, to a caller whose policies grant anything there: 403 otherwise, and for no mount."""
    storage, rest = place_of(ctx, path)
    mount = read_table(storage).find(rest)
    acl, below = _acl(ctx), path.removesuffix(rest)  # the child namespaces that the path begins with
    if acl is None or mount is None or not reaches(acl, ctx.policy_prefix + below + mount.path):
        raise Forbidden(
            "preflight capability check returned 403, please ensure client's policies grant access to path "
            f'"{path.strip("/")}/"'
        )
    return {**describe(mount), "path": below + mount.path}


def list_namespaces(ctx: Context) -> dict[str, Any]:
    """List the child namespaces in which the caller's policies grant anything; none without a token."""
    acl = _acl(ctx)
    names = [child.name for child in read_table(ctx.namespace_storage).namespaces]
    return {"keys": [name for name in names if acl is not None and reaches(acl, ctx.policy_prefix + name)]}


def resultant_acl(ctx: Context) -> dict[str, Any]:
    """Return the caller's own policies, merged; paths begin at the root namespace."""
    assert ctx.caller is not None
    acl, place = ctx.caller.acl, ctx.caller.namespace.path
    exact: dict[str, Any] = {}
    globs: dict[str, Any] = {}
    for rule in acl.rules():
        kept = globs if rule.pattern.endswith("*") or "+" in rule.pattern.split("/") else exact
        kept[place + rule.pattern.removesuffix("*")] = {"capabilities": _names(rule)}
    return {"root": acl.root, "exact_paths": exact, "glob_paths": globs}


def _acl(ctx: Context) -> Access | None:
    """Return what the caller may do, None without a token; raise Forbidden for one that is not valid."""
    text = tokens.sent_token(ctx)
    if not text:
        return None
    found = tokens.find(ctx, text)
    if found is None or found[0].uses < 0:
        raise Forbidden(tokens.INVALID_TOKEN)
    token, digest = found
    namespace = tokens.namespace_of(ctx, token)
    if namespace is None:
        raise Forbidden(tokens.INVALID_TOKEN)
    ctx.caller = Caller(token, digest, acl_for(ctx, token.policies, namespace), namespace)
    tokens.admit(ctx, token, digest)
    tokens.reach(ctx, ctx.caller)
    return ctx.caller.acl


def _seen(acl: Access | None, mount: Mount, prefix: str) -> dict[str, Any] | None:
    if acl is not None:
        return describe(mount) if reaches(acl, prefix + mount.path) else None
    if mount.listing_visibility != "unauth":
        return None
    return {"type": mount.shown_kind, "description": mount.description, "options": dict(mount.options) or None}


def reaches(acl: Access, path: str) -> bool:
    """Whether policies grant anything on a mount or on a path below it."""
    if acl.capabilities(path) != ["deny"]:
        return True
    return any(not rule.capabilities & DENY and _below(rule.pattern, path) for rule in acl.rules())


def _below(pattern: str, path: str) -> bool:
    """Whether a pattern can match a path below a mount's."""
    prefix = pattern.endswith("*")
    parts = pattern.removesuffix("*").split("/")
    for place, wanted in enumerate(path.removesuffix("/").split("/")):
        if place >= len(parts):
            return False
        part = parts[place]
        if prefix and place == len(parts) - 1:
            return wanted.startswith(part)
        if part not in ("+", wanted):
            return False
    return True


def _names(rule: Rule) -> list[str]:
    return sorted(name for name, bit in CAPABILITIES.items() if rule.capabilities & bit)


PATH = fields.path("path", "a mount's path, or one below it")._replace(pattern=r".*[^/]/?")

ROUTES = (
    Route("read", "internal/ui/mounts", list_mounts, (), "unauthenticated"),
    Route("read", "internal/ui/mounts/<path>", read_mount, (PATH,), "unauthenticated"),
    Route("read", "internal/ui/namespaces", list_namespaces, (), "unauthenticated", "enterprise"),
    Route("list", "internal/ui/namespaces/", list_namespaces, (), "unauthenticated", "enterprise"),
    Route("read", "internal/ui/resultant-acl", resultant_acl),
)
