"""Whatever is sent to the system and to the token method is answered: never a fault, never a 500."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import Vault
from labkit.service.routing import Route
from labkit.vault.auth.token.table import TABLE as TOKEN_TABLE
from labkit.vault.system.table import TABLE as SYSTEM_TABLE
from tests.examples import examples

METHODS = {"read": "GET", "write": "POST", "list": "LIST", "delete": "DELETE", "patch": "PATCH"}
ROUTES = [("sys/", route) for route in SYSTEM_TABLE.routes if not route.pattern.startswith("replication/")]
ROUTES += [("auth/token/", route) for route in TOKEN_TABLE.routes]

HEADERS: tuple[dict[str, str], ...] = ({}, {"X-Vault-Wrap-TTL": "1m"}, {"X-Vault-Namespace": "x"})

WORDS = (
    "",
    "a",
    "root",
    "default",
    "secret",
    "secret/",
    "auth/",
    "batch",
    "kv",
    "2",
    "-1",
    "1h",
    "x" * 40,
    "ä",
    "*",
    "true",
)

scalars = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    scalars | st.sampled_from(WORDS) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=examples(600))
@given(st.data())
@pytest.mark.slow
def test_nothing_makes_a_fault(data: st.DataObject) -> None:
    prefix, route = data.draw(st.sampled_from(ROUTES))
    vault = Vault.dev()
    vault.post("sys/namespaces/x")
    path = re.sub(
        "<.*?>",
        lambda found: data.draw(st.sampled_from(["secret", "auth/token", "a/b", "default", "x"])),
        route.pattern,
    )
    body = {name: data.draw(values) for name in data.draw(chosen(route))}
    if route.operation not in ("write", "patch"):
        path += "?" + urlencode(body)
    headers = {"X-Vault-Token": vault.root_token} | data.draw(st.sampled_from(HEADERS))
    if route.operation == "patch":
        headers["Content-Type"] = "application/merge-patch+json"
    response = vault.request(METHODS[route.operation], prefix + path, json=body, headers=headers)

    assert response.status in (200, 202, 204, 400, 403, 404, 405, 503), (route, body, response.body)
    if response.status >= 400:
        wordless = response.status == 404 or (response.status == 400 and path.startswith("health?"))
        assert response.errors or wordless  # a status that is none of HTTP's is refused without a word


def chosen(route: Route) -> st.SearchStrategy[list[Any]]:
    names = [field.name for field in route.fields] + ["from", "to", "unknown"]
    return st.lists(st.sampled_from(names), max_size=6, unique=True)
