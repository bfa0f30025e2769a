"""The system's own endpoints, ``sys/…``: one module a group, loaded when the first segment of a path asks for it."""

from __future__ import annotations

from importlib import import_module

from labkit.service.errors import NotFound, one_error
from labkit.service.routing import Match, Route, Table

# first segment of the path → module with ROUTES; nothing but what is asked for is loaded (R24)
GROUPS = {
    "audit": "labkit.vault.system.audit",
    "audit-hash": "labkit.vault.system.audit",
    "auth": "labkit.vault.system.mounts",
    "capabilities": "labkit.vault.system.capabilities",
    "capabilities-accessor": "labkit.vault.system.capabilities",
    "capabilities-self": "labkit.vault.system.capabilities",
    "health": "labkit.vault.system.health",
    "init": "labkit.vault.system.seal",
    "internal": "labkit.vault.system.specs",
    "leader": "labkit.vault.system.health",
    "mounts": "labkit.vault.system.mounts",
    "plugins": "labkit.vault.system.plugins",
    "policies": "labkit.vault.system.policies",
    "policy": "labkit.vault.system.policies",
    "remount": "labkit.vault.system.remount",
    "replication": "labkit.vault.replication.routes",
    "seal": "labkit.vault.system.seal",
    "seal-status": "labkit.vault.system.seal",
    "unseal": "labkit.vault.system.seal",
    "wrapping": "labkit.vault.system.wrapping",
}


class Groups:
    """A table of routes that is put together group by group, as they are asked for."""

    __slots__ = ()

    @property
    def routes(self) -> tuple[Route, ...]:
        """All routes of all groups, in the order of their modules' names: for manuals."""
        modules = sorted(set(GROUPS.values()))
        return tuple(route for module in modules for route in _routes(module))

    def match(self, operation: str, path: str) -> Match:
        """Find the route of an operation on a path; raise Unsupported (405) or NotFound (404)."""
        module = GROUPS.get(path.partition("/")[0])
        if module is None:
            raise NotFound(one_error("unsupported path"))
        return Table(_routes(module)).match(operation, path)


def _routes(module: str) -> tuple[Route, ...]:
    routes: tuple[Route, ...] = import_module(module).ROUTES
    return routes


TABLE = Groups()
