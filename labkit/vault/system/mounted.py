"""Mounts as the system's endpoints show them: found by path, laid out as the API lists them.

An auth method is a mount whose path begins with ``auth/``; answers under ``sys/auth`` leave that prefix out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.vault.auth import user_lockout
from labkit.vault.mounts import CATALOGUE, Mount, MountTable, read_table
from labkit.vault.storage.storage_view import StorageView
from labkit.vault.walk.request_route import barred

if TYPE_CHECKING:
    from labkit.vault.context import Context

AUTH = "auth/"

SINGLETONS = frozenset(("token", "system", "cubbyhole", "identity"))
"""Kinds that every cluster has once: not to be mounted, unmounted or moved."""

PATH = fields.path("path", "where it is mounted, without auth/")._replace(pattern=r".*[^/]/?")


def describe(mount: Mount) -> dict[str, Any]:
    """Lay out a mount's settings, as the API lists them."""
    config: dict[str, Any] = {
        "default_lease_ttl": mount.default_lease_ttl_s,
        "force_no_cache": False,
        "max_lease_ttl": mount.max_lease_ttl_s,
    }
    if mount.path.startswith(AUTH):
        config["token_type"] = mount.token_type
    if mount.listing_visibility:
        config["listing_visibility"] = mount.listing_visibility
    config |= exempt_keys(mount)
    if mount.user_lockout:
        config["user_lockout_config"] = user_lockout.described(mount.user_lockout, "lockout")
    return {
        "type": mount.shown_kind,
        "description": mount.description,
        "accessor": mount.accessor,
        "uuid": mount.uuid,
        "local": mount.local,
        "seal_wrap": mount.seal_wrap,
        "external_entropy_access": mount.external_entropy_access,
        "options": dict(mount.options) or ({} if CATALOGUE[mount.kind, mount.version].locks_out else None),
        "config": config,
    }


def exempt_keys(mount: Mount) -> dict[str, list[str]]:
    """Return the members of request and response data that audit records show in the clear, where there are any."""
    exempt = {
        "audit_non_hmac_request_keys": mount.audit_non_hmac_request_keys,
        "audit_non_hmac_response_keys": mount.audit_non_hmac_response_keys,
    }
    return {name: list(keys) for name, keys in exempt.items() if keys}


def area_of(ctx: Context) -> str:
    """Return what the paths of the requested mounts begin with: ``auth/`` under ``sys/auth``, else nothing."""
    return AUTH if ctx.path.startswith("sys/auth") else ""


def in_area(table: MountTable, area: str) -> list[Mount]:
    """Return the secrets engines, or the auth methods."""
    return [mount for mount in table.mounts if mount.path.startswith(AUTH) == bool(area)]


def full_path(ctx: Context, path: str) -> str:
    """Return the path that a mount is kept under."""
    return f"{area_of(ctx)}{path.strip('/')}/"


class Place(NamedTuple):
    """What a namespace has of its own, and a path within it."""

    storage: StorageView
    path: str


def place_of(ctx: Context, path: str) -> Place:
    """Return where a path within the request's namespace leads; it may begin with child namespaces, none locked."""
    storage = ctx.namespace_storage
    while (child := read_table(storage).child(path)) is not None:
        if child.lock:
            raise barred(child.path)
        storage, path = StorageView(ctx, child.prefix), path[len(child.name) :]
    return Place(storage, path)


def find_mount(ctx: Context, path: str) -> Mount:
    """Return the mount at a path; raise BadRequest when there is none."""
    full = full_path(ctx, path)
    mount = read_table(ctx.namespace_storage).at(full)
    if mount is None:
        area = area_of(ctx)
        raise BadRequest(f"No {'auth' if area else 'secret'} engine{'' if area else ' mount'} at {full[len(area) :]}")
    return mount
