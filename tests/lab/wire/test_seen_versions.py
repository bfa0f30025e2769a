"""Which version an answer names: of a reading, of a write, and of what is neither."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.wire.seen_versions import (
    HiddenVersions,
    SeenVersion,
    hidden_versions,
    made_version,
    read_version,
    written_value,
)
from labkit.service.message import Request, Response

FACTS = {"version": 3, "created_time": "2030-01-01T00:00:00Z"}
SHOWN = Response(200, {}, {"data": {"data": {"a": 1}, "metadata": FACTS}})
NAMED = SeenVersion("secret/data/a", 3, "2030-01-01T00:00:00Z")


def get(path: str = "/v1/secret/data/a", **headers: str) -> Request:
    return Request("GET", path, dict(headers))


@pytest.mark.parametrize(
    ("request_", "response", "seen"),
    [
        (get(), SHOWN, NAMED),
        (get("/v1/secret/data/a?x=1"), SHOWN, NAMED),
        (get("secret//d%61ta/%61"), SHOWN, NAMED),
        (get("/v1/kv/a"), SHOWN, None),
        (get("/v1/secret/data/a?version=2"), SHOWN, None),
        (get("/v1/secret/data/a?x=1&version=2"), SHOWN, None),
        (Request("POST", "/v1/secret/data/a", {}), SHOWN, None),
        (get(), Response(404, {}, {"data": {"data": None, "metadata": FACTS}}), NAMED),
        (get(), Response(404, {}, {"errors": []}), SeenVersion("secret/data/a", 0, "")),
        (get(), Response(404, {}, {"errors": ["no handler"]}), None),
        (get(), Response(403, {}, {"errors": []}), None),
        (get(), Response(200, {}, {"data": {"keys": ["a"]}}), None),
        (get("/v1/kv/a"), Response(200, {}, {"data": FACTS}), None),
        (get(), Response(200, {}, {"data": None, "wrap_info": {}}), None),
        (get(), Response(200, {}, {"data": {"metadata": {"version": "3", "created_time": 4}}}), None),
        (get(), Response(200, {}, None), None),
    ],
)
def test_what_a_reading_showed(request_, response, seen):
    assert read_version(request_, response) == seen


@pytest.mark.parametrize(
    ("header", "namespace", "path"),
    [
        ("X-Vault-Namespace", "team/", "team/secret/data/a"),
        ("x-vault-namespace", "/team", "team/secret/data/a"),
        ("X-Vault-Namespace", "root", "secret/data/a"),
        ("X-Vault-Namespace", "", "secret/data/a"),
        ("X-Vault-Tokenspace", "team", "secret/data/a"),
    ],
)
def test_a_path_has_its_namespace(header, namespace, path):
    seen = read_version(Request("GET", "/v1/secret/data/a", {"X-Vault-Token": "x", header: namespace}), SHOWN)
    assert seen is not None
    assert seen.path == path


@pytest.mark.parametrize(
    ("method", "path", "body", "made"),
    [
        ("POST", "/v1/secret/data/a", {"data": FACTS}, NAMED),
        ("PATCH", "/v1/secret/data/a", {"data": FACTS}, NAMED),
        ("DELETE", "/v1/secret/metadata/a", None, SeenVersion("secret/data/a", 0, "")),
        ("DELETE", "/v1/secret/metad%61ta/%61", None, SeenVersion("secret/data/a", 0, "")),
        ("DELETE", "//secret//metadata/a?x=1", None, SeenVersion("secret/data/a", 0, "")),
        ("DELETE", "/v1/secret/metadata/a/metadata/b", None, SeenVersion("secret/data/a/metadata/b", 0, "")),
        ("DELETE", "/v1/secret/data/a/metadata/b", None, None),
        ("DELETE", "/v1/secret/data/a", None, None),
        ("POST", "/v1/transit/encrypt/a", {"data": {"ciphertext": "x", "key_version": 1}}, None),
        ("POST", "/v1/secret/data/a", {"data": None}, None),
    ],
)
def test_what_a_write_made(method, path, body: Any, made):
    assert made_version(Request(method, path, {}), Response(200, {}, body)) == made
    assert made_version(Request(method, path, {}), Response(400, {}, body)) is None


def test_the_answers_of_a_cluster_are_read():
    lab = Lab.pair(seed=7)
    paris = lab["paris"]
    paris.post("secret/data/a", {"data": {"x": 1}})
    paris.post("secret/data/a", {"data": {"x": 2}})
    paris.get("secret/data/a")
    paris.delete("secret/data/a")
    paris.get("secret/data/a")
    paris.delete("secret/metadata/a")
    paris.get("secret/data/a")
    log = lab.ledger.read_log

    assert [(made.path, made.version) for made in log.versions] == [
        ("secret/data/a", 1),
        ("secret/data/a", 2),
        ("secret/data/a", 0),
    ]
    assert [(read.cluster, read.version) for read in log.reads] == [("paris", 2), ("paris", 2), ("paris", 0)]
    assert log.reads[0].created == log.versions[1].created != log.versions[0].created


def value(method: str, path: str, body: Any, *, status: int = 204, made: SeenVersion | None = None) -> bytes:
    return written_value(Request(method, path, {}, body), Response(status, {}), made)


def test_what_a_write_left_is_known_by_its_request():
    left = value("POST", "/v1/auth/x/role/a", {"a": 1, "b": [2]})

    assert len(left) == 8
    assert left == value("PUT", "auth/x/role/a?x=1", {"b": [2], "a": 1})
    others = [
        value("PATCH", "/v1/auth/x/role/a", {"a": 1, "b": [2]}),
        value("POST", "/v1/auth/x/role/b", {"a": 1, "b": [2]}),
        value("POST", "/v1/auth/x/role/a", {"a": 1, "b": [3]}),
    ]
    assert len({left, *others}) == 4


def test_of_a_secret_its_data_count():
    body = {"data": {"a": 1}}
    first = value("POST", "/v1/secret/data/a", body, status=200, made=NAMED)

    assert first == value("POST", "/v1/secret/data/a", {**body, "options": {"cas": 2}}, status=200, made=NAMED)
    assert first != value("POST", "/v1/secret/data/a", {"data": {"a": 2}}, status=200, made=NAMED)


def test_a_request_for_something_new_does_not_say_what_it_left():
    assert value("POST", "/v1/transit/keys/a", {}, status=200) == b""


@pytest.mark.parametrize(
    ("method", "path", "body", "hidden"),
    [
        ("DELETE", "/v1/secret/data/a", None, HiddenVersions("secret/data/a", (), True)),
        ("POST", "secret/delete/a", {"versions": [1, "2", True, 3]}, HiddenVersions("secret/data/a", (1, 3), True)),
        ("PUT", "secret/destroy/a/b", {"versions": [4]}, HiddenVersions("secret/data/a/b", (4,), True)),
        ("POST", "secret/undelete/data/a", {"versions": [4]}, HiddenVersions("secret/data/data/a", (4,), False)),
        ("DELETE", "secret/data/delete/a", None, HiddenVersions("secret/data/delete/a", (), True)),
        ("POST", "secret/data/delete/a", {"data": {}, "versions": [1]}, None),
        ("POST", "secret/metadata/undelete/a", {"versions": [1]}, None),
        ("POST", "secret/delete/a", {"versions": "1"}, None),
        ("POST", "secret/delete/a", None, None),
        ("POST", "sys/seal", None, None),
    ],
)
def test_what_a_request_hid_or_showed_again(method, path, body: Any, hidden):
    assert hidden_versions(Request(method, path, {}, body), Response(204, {})) == hidden
    assert hidden_versions(Request(method, path, {}, body), Response(400, {})) is None
