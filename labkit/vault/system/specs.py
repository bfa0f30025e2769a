"""``sys/internal/specs/openapi``: the API of what is mounted now, written out of the route tables.

It needs no token, and shows the mounts that ``sys/internal/ui/mounts`` shows to the same caller; the system's own
endpoints and those of tokens, which every cluster has, are always shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.routing import Route
from labkit.vault.mounts import ROOT, read_table, routes_of
from labkit.vault.system import interface
from labkit.vault.system.mounted import AUTH, SINGLETONS
from labkit.vault.walk.request_route import is_root_only

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.mounts import Mount

TITLE = "labkit secrets service"


def describe_api(ctx: Context) -> dict[str, Any]:
    """Describe the endpoints that are mounted now, as an OpenAPI document."""
    from labkit.service.openapi import document  # a manual is requested rarely

    listed = interface.list_mounts(ctx)
    shown = {*listed["secret"], *(AUTH + path for path in listed["auth"])}
    mounts = (
        mount for mount in read_table(ctx.namespace_storage).mounts if mount.path in shown or mount.kind in SINGLETONS
    )
    mounted = [(mount.path, mount.kind, _routes(ctx, mount)) for mount in mounts]
    return document(TITLE, ctx.core.settings.version, mounted, _is_refused_in_namespaces)


def _is_refused_in_namespaces(path: str) -> bool:
    """Whether a path of the document, such as ``/sys/rotate``, takes no namespace."""
    return path.startswith("/sys/") and is_root_only(path.removeprefix("/sys/"))


def _routes(ctx: Context, mount: Mount) -> tuple[Route, ...]:
    """Return a mount's routes: outside the root namespace without those that are about the cluster."""
    routes = routes_of(mount).routes
    if ctx.namespace is ROOT or mount.kind != "system":
        return routes
    return tuple([route for route in routes if "any_namespace" in route.flags or not is_root_only(route.pattern)])


ROUTES = (Route("read", "internal/specs/openapi", describe_api, (), "unauthenticated", "no_envelope"),)
