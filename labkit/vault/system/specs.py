"""``sys/internal/specs/openapi``: the API of what is mounted now, written out of the route tables.

It needs no token, and shows the mounts that ``sys/internal/ui/mounts`` shows to the same caller; the system's own
endpoints and those of tokens, which every cluster has, are always shown.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from labkit.service.routing import Route
from labkit.vault.mounts import ROOT, read_table, routes_of_engine
from labkit.vault.system import interface
from labkit.vault.system.mounted import AUTH, SINGLETONS
from labkit.vault.walk.request_route import is_root_only

if TYPE_CHECKING:
    from labkit.vault.context import Context

MAX_KEPT = 8
TITLE = "labkit secrets service"


def describe_api(ctx: Context) -> dict[str, Any]:
    """Describe the endpoints that are mounted now, as an OpenAPI document."""
    listed = interface.list_mounts(ctx)
    shown = {*listed["secret"], *(AUTH + path for path in listed["auth"])}
    mounts = (
        mount for mount in read_table(ctx.namespace_storage).mounts if mount.path in shown or mount.kind in SINGLETONS
    )
    mounted = tuple([(mount.path, mount.kind, mount.version) for mount in mounts])
    described: dict[str, Any] = json.loads(_described(ctx.core.settings.version, mounted, ctx.namespace is ROOT))
    return described


@lru_cache(MAX_KEPT)
def _described(version: str, mounted: tuple[tuple[str, str, str], ...], in_root: bool) -> str:
    """Return the document about some mounts, in JSON: it follows from them, and takes long to write."""
    from labkit.service.openapi import document  # a manual is requested rarely

    mounts = [(path, kind, routes_of_mount(kind, number, in_root)) for path, kind, number in mounted]
    return json.dumps(document(TITLE, version, mounts, is_refused_in_namespaces))


def is_refused_in_namespaces(path: str) -> bool:
    """Whether a path of the document, such as ``/sys/rotate``, takes no namespace."""
    return path.startswith("/sys/") and is_root_only(path.removeprefix("/sys/"))


def routes_of_mount(kind: str, version: str, in_root: bool) -> tuple[Route, ...]:
    """Return an engine's routes: outside the root namespace without those that are about the cluster."""
    routes = routes_of_engine(kind, version).routes
    if in_root or kind != "system":
        return routes
    return tuple([route for route in routes if "any_namespace" in route.flags or not is_root_only(route.pattern)])


ROUTES = (Route("read", "internal/specs/openapi", describe_api, (), "unauthenticated", "no_envelope"),)
