"""Namespaces: ``sys/namespaces``, to list, create, read, change and delete the children of the request's namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest, NotFound
from labkit.service.routing import Route
from labkit.vault import namespaces
from labkit.vault.engines.kv import custom_metadata as custom
from labkit.vault.mounts import read_table

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.mounts import Namespace


def list_children(ctx: Context) -> dict[str, Any]:
    """List the children; 404 where there are none."""
    children = read_table(ctx.namespace_storage).namespaces
    if not children:
        raise NotFound
    return {
        "keys": [child.name for child in children],
        "key_info": {child.name: describe(child) for child in children},
    }


def read(ctx: Context, name: str) -> dict[str, Any]:
    """Read one child's id, path and custom metadata."""
    found = _find(ctx, name)
    if found is None:
        raise NotFound
    return describe(found)


def write(ctx: Context, name: str, custom_metadata: dict[str, Any] | None) -> dict[str, Any]:
    """Create a child, or replace the custom metadata of one that exists."""
    _check_texts(custom_metadata)
    metadata = custom.replace(custom_metadata)
    found = _find(ctx, name)
    if found is None:
        return describe(namespaces.create(ctx, namespaces.name_of(name), metadata))
    return _changed(ctx, found._replace(metadata=metadata))


def patch(ctx: Context, name: str, custom_metadata: dict[str, Any] | None) -> dict[str, Any]:
    """Change the custom metadata of a child name by name (RFC 7396)."""
    found = _find(ctx, name)
    if found is None:
        raise NotFound
    if "custom_metadata" not in ctx.body:
        return describe(found)
    _check_texts({name: value for name, value in (custom_metadata or {}).items() if value is not None})
    return _changed(ctx, found._replace(metadata=custom.merge(found.metadata, custom_metadata)))


def delete(ctx: Context, name: str) -> dict[str, Any] | None:
    """Delete a child and all that is in it; one that does not exist is not an error, but the answer warns."""
    found = _find(ctx, name)
    if found is None:
        ctx.warn("requested namespace does not exist")
        return None
    namespaces.delete(ctx, found)
    return {"status": DELETED}


def describe(namespace: Namespace) -> dict[str, Any]:
    """Lay out a namespace, as the API shows it."""
    return {"id": namespace.id, "path": namespace.path, "custom_metadata": dict(namespace.metadata)}


def _check_texts(metadata: dict[str, Any] | None) -> None:
    """Raise BadRequest unless each value is text: unlike a secret's, a namespace's metadata is not converted."""
    for name, value in (metadata or {}).items():
        if not isinstance(value, str):
            raise BadRequest(f"custom_metadata validation failed: the value of {name!r} must be text")


def _changed(ctx: Context, namespace: Namespace) -> dict[str, Any]:
    namespaces.replace(ctx, namespace)
    return describe(namespace)


def _find(ctx: Context, name: str) -> Namespace | None:
    return read_table(ctx.namespace_storage).child(namespaces.name_of(name))


DELETED = "deleted"  # clients read a status there; others name one under way here

NAME = fields.path("name", "name of the namespace: one segment")._replace(pattern=r".*[^/]/?")
METADATA = fields.mapping("custom_metadata", "names and texts to keep with the namespace")

ROUTES = (
    Route("list", "namespaces/", list_children, (), "enterprise"),
    Route("read", "namespaces/<name>", read, (NAME,), "enterprise"),
    Route("write", "namespaces/<name>", write, (NAME, METADATA), "enterprise"),
    Route("patch", "namespaces/<name>", patch, (NAME, METADATA), "enterprise"),
    Route("delete", "namespaces/<name>", delete, (NAME,), "enterprise"),
)
