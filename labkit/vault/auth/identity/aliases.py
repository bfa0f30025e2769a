"""Aliases: which entity stands for whoever logs in by a name at a mount; one alias has one entity, for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.vault.identifiers import sha256, uuid_text

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.mounts import Mount

ALIASES = "identity/alias/"


def entity_of(ctx: Context, alias: str) -> str:
    """Return the id of the entity of an alias of the request's mount; made at its first login."""
    storage, key = ctx.namespace_storage, folder_of(ctx.mount) + sha256(alias.encode()).hexdigest()
    known = storage.decoded(key, bytes.decode)
    if known is not None:
        return known
    made = uuid_text(ctx.entropy)
    storage.put(key, made.encode())
    return made


def folder_of(mount: Mount) -> str:
    """Return where a namespace keeps the entities of a mount's aliases."""
    return f"{ALIASES}{mount.uuid}/"
