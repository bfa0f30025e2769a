"""Namespaces made and deleted: each has mounts, policies and tokens of its own, under its own storage prefix.

1. A namespace's name is one segment; a nested one is made by a request in its parent.
2. It is made and deleted in one transaction with all that is in it; one that has children is not deleted.
3. Ids are drawn, and a second namespace at the same path has another one: no token of the first is valid in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest
from labkit.service.limits import check_path
from labkit.vault import tokens
from labkit.vault.identifiers import base62
from labkit.vault.mounts import (
    QUOTAS,
    MountTable,
    Namespace,
    check_free,
    namespace_at,
    own_mounts,
    read_table,
    write_table,
)
from labkit.vault.policies import store as policy_store
from labkit.vault.storage.storage_view import StorageView

if TYPE_CHECKING:
    from labkit.vault.context import Context

RESERVED = ("root", "sys", "audit", "auth", "cubbyhole", "identity", ".", "..")
ID_DIGITS = 5


def name_of(sent: str) -> str:
    """Return a namespace's name with its final slash; raise BadRequest for one that no namespace can have."""
    name = sent.strip("/")
    if "/" in name:
        raise BadRequest("name must not contain /; a nested namespace is made by a request in its parent")
    if " " in name:
        raise BadRequest(f'"{name}" contains space characters and cannot be used as a namespace name')
    if name in RESERVED:
        raise BadRequest(f'"{name}" is a reserved path and cannot be used as a namespace name')
    return name + "/"


def create(ctx: Context, name: str, metadata: tuple[tuple[str, str], ...]) -> Namespace:
    """Make a child of the request's namespace, with mounts and default policy; BadRequest where it cannot stand."""
    parent, storage = ctx.namespace, ctx.namespace_storage
    check_path(parent.path + name)
    table = read_table(storage)
    check_free(table, name)
    number = base62(ctx.entropy, ID_DIGITS)
    while ctx.list(f"namespace/{number}/"):
        number = base62(ctx.entropy, ID_DIGITS)
    made = Namespace(parent.path + name, number, metadata)
    write_table(storage, table.with_child(made))
    own = StorageView(ctx, made.prefix)
    write_table(own, MountTable(tuple(sorted(own_mounts(ctx.entropy)))))
    policy_store.write_default(own)
    ctx.observe("namespace created", path=made.path)
    return made


def replace(ctx: Context, namespace: Namespace) -> None:
    """Store a namespace's changed record, in its parent's mount table."""
    parent = namespace_at(ctx, namespace.path.removesuffix(namespace.name))
    assert parent is not None, "a namespace has its parent"
    storage = StorageView(ctx, parent.prefix)
    write_table(storage, read_table(storage).with_child(namespace))


def delete(ctx: Context, namespace: Namespace) -> None:
    """Delete a child of the request's namespace with its tokens, mounts and policies; raise BadRequest for a parent."""
    own = StorageView(ctx, namespace.prefix)
    table = read_table(own)
    if table.namespaces:
        raise BadRequest(f'cannot delete namespace "{namespace.path}" containing child namespaces')
    storage = ctx.full_storage
    left = [namespace.prefix, *[prefix for mount in table.mounts for prefix in mount.prefixes]]
    to_delete = [key for prefix in left for key in storage.keys(prefix)]  # before the first delete: reads stay cheap
    tokens.revoke(ctx, *tokens.digests_of(ctx, namespace))
    for key in to_delete:
        storage.delete(key)
    write_table(ctx.namespace_storage, read_table(ctx.namespace_storage).without_child(namespace.path))
    if ctx.read(QUOTAS) is not None:
        from labkit.vault.quotas import rules

        rules.forget(ctx, namespace.path)
    ctx.observe("namespace deleted", path=namespace.path)
