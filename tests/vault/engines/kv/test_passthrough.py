"""KV v1 over the wire: one value a path."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def plain(service: Any) -> Any:
    """The service with a KV v1 engine at ``plain/``."""
    assert service.post("sys/mounts/plain", {"type": "kv"}).status == 204
    return service


def test_what_is_written_is_read(plain: Any) -> None:
    for body in ({"x": 1}, {"y": {"deep": [1.5, None]}, "path": "kept", "ttl": "1h"}):
        written = plain.post("plain/a/b", body)
        assert (written.status, written.body) == (204, None)
        read = plain.get("plain/a/b")
        assert read.status == 200
        assert read.data == body

    assert plain.put("plain/a", {"z": 1}).status == 204
    assert plain.list("plain").data == plain.list("plain/").data == {"keys": ["a", "a/"]}
    assert plain.list("plain/a").data == {"keys": ["b"]}


def test_nobody_gets_hold_of_the_stored_object(plain: Any) -> None:
    sent: dict[str, Any] = {"l": [1]}
    plain.post("plain/a", sent)
    sent["l"].append(2)
    plain.get("plain/a").data["l"].append(3)

    assert plain.get("plain/a").data == {"l": [1]}


def test_what_is_deleted_is_gone(plain: Any) -> None:
    plain.post("plain/a", {"x": 1})

    assert plain.delete("plain/a").status == 204
    assert plain.delete("plain/a").status == 204
    assert (plain.get("plain/a").status, plain.get("plain/a").body) == (404, {"errors": []})
    assert (plain.list("plain").status, plain.list("plain").body) == (404, {"errors": []})


@pytest.mark.parametrize(
    ("body", "text"), [({}, "missing data fields"), ({"x": float("nan")}, "failed to decode JSON input")]
)
def test_a_refused_write_changes_nothing(plain: Any, body: dict[str, Any], text: str) -> None:
    refused = plain.post("plain/a", body)

    assert refused.status == 400
    assert refused.errors[0].startswith(text)
    assert plain.get("plain/a").status == 404


@pytest.mark.parametrize("path", ["plain", "plain/", "plain/a/"])
def test_a_folder_holds_no_value(plain: Any, path: str) -> None:
    plain.post("plain/a", {"x": 1})

    assert (plain.get(path).status, plain.get(path).body) == (404, {"errors": []})
    assert plain.delete(path).status == 204
    assert plain.post("plain/a/", {"x": 1}).errors == ["cannot write to a path ending in '/'"]
    assert plain.get("plain/a").data == {"x": 1}


def test_there_is_no_patch(plain: Any) -> None:
    plain.post("plain/a", {"x": 1})

    assert plain.patch("plain/a", {"x": 2}).status == 405


@pytest.mark.parametrize(
    ("body", "lease_s"),
    [
        ({"x": 1}, 2_764_800),
        ({"ttl": "1h"}, 3_600),
        ({"lease": 90}, 90),
        ({"ttl": "1h", "lease": 90}, 3_600),
        ({"ttl": "", "lease": "2m"}, 120),
        ({"ttl": 0}, 2_764_800),
        ({"ttl": "soon"}, 2_764_800),
    ],
)
def test_how_long_a_value_may_be_kept(plain: Any, body: dict[str, Any], lease_s: int) -> None:
    plain.post("plain/a", body)

    assert plain.get("plain/a").body["lease_duration"] == lease_s


def test_a_write_is_a_creation_where_there_was_nothing(plain: Any) -> None:
    for name, capability in (("creator", "create"), ("updater", "update")):
        plain.put(f"sys/policies/acl/{name}", {"policy": f'path "plain/*" {{ capabilities = ["{capability}"] }}'})
    creator, updater = (
        plain.post("auth/token/create", {"policies": [name]}).auth["client_token"] for name in ("creator", "updater")
    )

    assert plain.post("plain/a", {"x": 1}, token=updater).status == 403
    assert plain.post("plain/a", {"x": 1}, token=creator).status == 204
    assert plain.post("plain/a", {"x": 2}, token=creator).status == 403
    assert plain.post("plain/a", {"x": 2}, token=updater).status == 204
