"""``sys/internal/specs/openapi``: the API of what is mounted now, written out of the route tables.

It needs no token, and shows the mounts that ``sys/internal/ui/mounts`` shows to the same caller; the system's own
endpoints and those of tokens, which every cluster has, are always shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.routing import Route
from labkit.vault.mounts import read_table, routes_of
from labkit.vault.system import interface
from labkit.vault.system.mounted import AUTH, SINGLETONS

if TYPE_CHECKING:
    from labkit.vault.context import Context

TITLE = "labkit secrets service"


def describe_api(ctx: Context) -> dict[str, Any]:
    """Describe the endpoints that are mounted now, as an OpenAPI document."""
    from labkit.service.openapi import document  # a manual is requested rarely

    listed = interface.list_mounts(ctx)
    shown = {*listed["secret"], *(AUTH + path for path in listed["auth"])}
    mounts = (
        mount for mount in read_table(ctx.namespace_storage).mounts if mount.path in shown or mount.kind in SINGLETONS
    )
    mounted = [(mount.path, mount.kind, routes_of(mount).routes) for mount in mounts]
    return document(TITLE, ctx.core.settings.version, mounted)


ROUTES = (Route("read", "internal/specs/openapi", describe_api, (), "unauthenticated", "no_envelope"),)
