"""Paths that the engine does not have, operations that a path does not have, and whatever else may come."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples

ROOT_PATH = "Non-listing operations on the root of a K/V v2 mount are not supported."
INVALID_PATH = "Invalid path for a versioned K/V secrets engine. "


@pytest.mark.parametrize("root", ["data", "metadata", "delete", "undelete", "destroy"])
@pytest.mark.parametrize("verb", ["get", "post", "put", "patch", "delete"])
def test_the_root_of_an_endpoint_is_for_listing(service: Any, root: str, verb: str) -> None:
    body: tuple[dict[str, Any], ...] = ({"data": {}},) if verb in ("post", "put", "patch") else ()

    answer = getattr(service, verb)(f"secret/{root}", *body)

    assert answer.status == 404
    assert "errors" not in answer.body
    assert answer.data is None
    assert answer.warnings == [ROOT_PATH]


@pytest.mark.parametrize(
    ("verb", "path", "advice"),
    [
        ("get", "nonsense", "kv get"),
        ("get", "", "kv get"),
        ("get", "data/", "kv get"),
        ("get", "data/a/", "kv get"),
        ("delete", "data/a/", "kv delete"),
        ("get", "subkeys", "kv get"),
        ("post", "nonsense/a", "kv put"),
        ("put", "config/x", "kv put"),
        ("patch", "nonsense", "kv patch"),
        ("delete", "a/b", "kv delete"),
        ("list", "nonsense", "kv list"),
        ("list", "", "kv list"),
        ("list", "config", "kv list"),
        ("list", "data", "kv list"),
    ],
)
def test_an_unknown_path_says_what_there_is(service: Any, verb: str, path: str, advice: str) -> None:
    answer = getattr(service, verb)(f"secret/{path}")

    assert answer.status == 404
    assert "errors" not in answer.body
    assert answer.data is None
    (warning,) = answer.warnings
    assert warning.startswith(INVALID_PATH)
    assert f"'{advice}'" in warning


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("list", "data/a"),
        ("list", "subkeys/a"),
        ("list", "destroy/a/b"),
        ("patch", "config"),
        ("delete", "config"),
        ("patch", "subkeys/a"),
        ("post", "subkeys/a"),
        ("get", "delete/a"),
        ("delete", "undelete/a"),
        ("patch", "destroy/a"),
    ],
)
def test_an_operation_that_a_known_path_does_not_have(service: Any, verb: str, path: str) -> None:
    answer = getattr(service, verb)(f"secret/{path}")

    assert answer.status == 405
    assert answer.errors == ["1 error occurred:\n\t* unsupported operation\n\n"]


@pytest.mark.parametrize("verb", ["post", "put", "patch"])
@pytest.mark.parametrize("path", ["data/a/", "metadata/a/", "destroy/a/"])
def test_nothing_is_written_to_a_folder(service: Any, verb: str, path: str) -> None:
    answer = getattr(service, verb)(f"secret/{path}", {"data": {}})

    assert answer.status == 400
    assert answer.errors == ["cannot write to a path ending in '/'"]


VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 2, -1, 2**70, 1.5, float("inf"), "", "1", "x", "1h", "-5s", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "cas", ""]), inner, max_size=3),
    max_leaves=6,
)
NAMES = ("data", "options", "versions", "max_versions", "cas_required", "delete_version_after", "custom_metadata")
BODIES = st.dictionaries(st.sampled_from((*NAMES, "path", "nonsense")), VALUES, max_size=4)
ENDPOINTS = ("data", "metadata", "delete", "undelete", "destroy", "subkeys", "config", "nonsense")
REQUESTS = st.tuples(
    st.sampled_from(["GET", "LIST", "POST", "PUT", "PATCH", "DELETE"]),
    st.sampled_from(ENDPOINTS),
    st.sampled_from(["", "/", "/a", "/a/", "/a/b", "/a?version=1", "/a?version=x&depth=2", "/a?depth=-1"]),
    BODIES,
)


@settings(max_examples=examples(250), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(REQUESTS, min_size=1, max_size=8))
def test_whatever_comes_is_answered_and_what_is_refused_changes_nothing(
    service: Any, requests: list[tuple[str, str, str, dict[str, Any]]]
) -> None:
    stored = service.core.storage
    for method, endpoint, rest, body in requests:
        before = stored.state()["items"]
        headers = {"X-Vault-Token": service.root_token, "Content-Type": "application/merge-patch+json"}

        answer = service.request(method, f"secret/{endpoint}{rest}", json=body, headers=headers)

        assert answer.status in (200, 204, 400, 404, 405)
        if answer.status >= 400:
            assert stored.state()["items"] == before
