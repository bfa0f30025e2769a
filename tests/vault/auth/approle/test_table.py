"""AppRole's routes: each found under its first segment."""

from __future__ import annotations

import pytest

from labkit.service.errors import NotFound, Unsupported
from labkit.vault.auth.approle.table import TABLE


def test_every_route_is_found_by_its_segment() -> None:
    assert len({(route.operation, route.pattern) for route in TABLE.routes}) == len(TABLE.routes)
    for route in TABLE.routes:
        assert TABLE.match(route.operation, route.pattern.replace("<role_name>", "r")).route is route


def test_what_is_not_there_is_refused() -> None:
    for operation, path in (("delete", "role/r/role-id"), ("write", "role"), ("read", "login")):
        with pytest.raises(Unsupported):
            TABLE.match(operation, path)
    for operation, path in (("list", "role/r/policies/"), ("read", "role/r/nonsense"), ("write", "tidy")):
        with pytest.raises(NotFound):
            TABLE.match(operation, path)
