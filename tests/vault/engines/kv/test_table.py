"""The routes of version 2: the endpoints, and behind them the answer to every other path."""

from __future__ import annotations

from importlib import import_module

import pytest

from labkit.service.routing import OPERATIONS
from labkit.vault.engines.kv.data import read_secret
from labkit.vault.engines.kv.table import TABLE
from labkit.vault.engines.kv.unknown_paths import explain_path


def test_an_endpoint_is_found() -> None:
    assert TABLE.match("read", "data/a/b").route.handler is read_secret


@pytest.mark.parametrize("operation", OPERATIONS)
def test_any_other_path_is_explained(operation: str) -> None:
    assert TABLE.match(operation, "nonsense/a").route.handler is explain_path


def test_every_segment_has_routes_that_begin_with_it() -> None:
    for segment, modules in TABLE.modules.items():
        patterns = [route.pattern for name in modules for route in import_module(name).ROUTES]
        assert any(pattern.split("/")[0] == segment for pattern in patterns), segment


def test_every_route_stands_under_its_segment() -> None:
    for route in TABLE.routes[: -len(OPERATIONS)]:
        assert route.pattern.split("/")[0] in TABLE.modules, route
