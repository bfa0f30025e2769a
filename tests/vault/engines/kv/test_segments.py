"""The first segments of version 2: each is answered by the routes that begin with it."""

from __future__ import annotations

from importlib import import_module

from labkit.vault.engines.kv.segments import ENDPOINTS


def test_every_segment_has_routes_that_begin_with_it() -> None:
    for segment, modules in ENDPOINTS.modules.items():
        patterns = [route.pattern for name in modules for route in import_module(name).ROUTES]
        assert any(pattern.split("/")[0] == segment for pattern in patterns), segment


def test_every_route_stands_under_its_segment() -> None:
    for route in ENDPOINTS.routes:
        assert route.pattern.split("/")[0] in ENDPOINTS.modules, route
