"""Secrets engines and auth methods: ``sys/mounts`` and ``sys/auth``, to list, read, enable and disable.

One set of handlers serves both: an auth method is a mount whose path begins with ``auth/``, and answers under
``sys/auth`` leave that prefix out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault import leases, tokens
from labkit.vault.auth.identity import aliases
from labkit.vault.mounts import CATALOGUE, check_free, new_mount, read_table, write_table
from labkit.vault.quotas import rules
from labkit.vault.system import tuning
from labkit.vault.system.mounted import AUTH, PATH, SINGLETONS, area_of, describe, find_mount, full_path, in_area

if TYPE_CHECKING:
    from labkit.vault.context import Context

ALIASES = {"kv-v1": ("kv", "1"), "kv-v2": ("kv", "2"), "generic": ("kv", "1"), "azure": ("cloud", "")}
"""{name: (kind, version)} of the names that clients use beside the kinds' own."""


class MountRequest(NamedTuple):
    """The fields of a request to mount an engine or auth method."""

    path: str
    type: str | None
    description: str | None
    config: dict[str, Any] | None
    options: dict[str, str] | None
    local: bool | None
    seal_wrap: bool | None
    external_entropy_access: bool | None


def list_mounts(ctx: Context) -> dict[str, Any]:
    """List the mounts with their settings."""
    area = area_of(ctx)
    return {
        mount.path.removeprefix(area): describe(mount) for mount in in_area(read_table(ctx.namespace_storage), area)
    }


def read_mount(ctx: Context, path: str) -> dict[str, Any]:
    """Read one mount's settings."""
    return describe(find_mount(ctx, path))


def enable(ctx: Context, asked: MountRequest) -> None:
    """Mount an engine or auth method at a path."""
    area, full = area_of(ctx), full_path(ctx, asked.path)
    if not area and full.startswith(AUTH):
        raise BadRequest(f'cannot mount "{full}"')
    kind, chosen, alias = _kind(area, asked.type, asked.options or {})
    tuning.warn_of_ignored(ctx, asked.config or {})
    table = read_table(ctx.namespace_storage)
    check_free(table, full)
    mount = new_mount(
        full,
        kind,
        ctx.entropy,
        description=asked.description or "",
        options=chosen,
        local=bool(asked.local),
        seal_wrap=bool(asked.seal_wrap),
        external_entropy_access=bool(asked.external_entropy_access),
        alias=alias,
    )
    write_table(ctx.namespace_storage, table.with_mount(tuning.configured(mount, asked.config or {})))
    ctx.observe("mounted", path=ctx.namespace.path + full, type=kind)


def disable(ctx: Context, path: str) -> None:
    """Unmount an engine or auth method, delete its data and end its leases; nothing mounted there is not an error."""
    full = full_path(ctx, path)
    table = read_table(ctx.namespace_storage)
    mount = table.at(full)
    if mount is None:
        return
    if mount.kind in SINGLETONS:
        raise BadRequest("token auth method cannot be disabled" if area_of(ctx) else f'cannot unmount "{full}"')
    tokens.revoke(ctx, *leases.digests_below(ctx, full))
    for prefix in mount.prefixes:
        ctx.full_storage.delete_all(prefix)
    ctx.namespace_storage.delete_all(aliases.folder_of(mount))
    write_table(ctx.namespace_storage, table.without(full))
    rules.forget(ctx, ctx.namespace.path, full)
    ctx.observe("unmounted", path=ctx.namespace.path + full)


def _kind(area: str, kind: str | None, options: dict[str, str]) -> tuple[str, tuple[tuple[str, str], ...], str]:
    """Return kind, options and alias of what is to be mounted; raise BadRequest for what cannot be."""
    if not kind:
        raise BadRequest("backend type must be specified as a string")
    name, version = ALIASES.get(kind, (kind, ""))
    if name in SINGLETONS:
        raise BadRequest(f'mount type of "{name}" is not mountable')
    if not any(name == known and is_auth(known) == bool(area) for known, _ in CATALOGUE):
        raise BadRequest(f"plugin not found in the catalog: {kind}; labkit has {_there_is()}")
    if version:
        options = {**options, "version": version}
    asked = options.get("version", "")
    if asked and name != "kv":
        raise BadRequest(f'secrets engine "{name}" does not allow setting a version')
    if asked and (name, asked) not in CATALOGUE:
        raise BadRequest(f'{name} has no version "{asked}"; versions are 1 and 2')
    return name, tuple(sorted(options.items())), "" if name == "kv" or name == kind else kind


def _there_is() -> str:
    """Name every kind that there is: auth methods, then secrets engines, each with the name that peers have for it."""
    beside = {kind: name for name, (kind, version) in ALIASES.items() if not version}
    named: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for row in CATALOGUE.values():
        named[row.is_auth][f"{row.kind} ({beside[row.kind]})" if row.kind in beside else row.kind] = None
    return "; ".join([", ".join(named[True]), ", ".join(named[False])])


def is_auth(kind: str) -> bool:
    """Whether a kind is an auth method's."""
    return any(row.is_auth for row in CATALOGUE.values() if row.kind == kind)


ENABLE_FIELDS = (
    PATH,
    fields.text("type", "kind of the engine or auth method"),
    fields.text("description", "what it is for"),
    fields.mapping("config", "default_lease_ttl, max_lease_ttl, listing_visibility, token_type, audit_non_hmac_…_keys"),
    fields.text_mapping("options", "the kind's own options, such as version"),
    fields.flag("local", "whether it belongs to this cluster and its disaster-recovery secondaries only"),
    fields.flag("seal_wrap", "kept and shown"),
    fields.flag("external_entropy_access", "kept and shown: there is one source of entropy"),
)

ROUTES = (
    Route("read", "mounts", list_mounts, (), "top_level_data"),
    Route("read", "mounts/<path>", read_mount, (PATH,), "top_level_data"),
    Route("write", "mounts/<path>", enable, Form(MountRequest, ENABLE_FIELDS)),
    Route("delete", "mounts/<path>", disable, (PATH,)),
    Route("read", "auth", list_mounts, (), "top_level_data"),
    Route("read", "auth/<path>", read_mount, (PATH,), "top_level_data", "sudo"),
    Route("write", "auth/<path>", enable, Form(MountRequest, ENABLE_FIELDS), "sudo"),
    Route("delete", "auth/<path>", disable, (PATH,), "sudo"),
)
