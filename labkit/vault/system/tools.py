"""Tools that touch nothing stored: ``sys/tools/random`` and ``sys/tools/hash``, as the transit engine answers them."""

from __future__ import annotations

from labkit.service.routing import Route
from labkit.vault.engines.transit.data import hashing, random_bytes


def _below_tools(route: Route) -> Route:
    """Return a route of the engine as it stands below ``sys/``."""
    given = tuple([field._replace(default="") if field.name == "input" else field for field in route.fields])
    return Route(route.operation, "tools/" + route.pattern, route.handler, given)


ROUTES = tuple([_below_tools(route) for route in (*random_bytes.ROUTES, *hashing.ROUTES)])
