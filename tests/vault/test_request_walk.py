"""The walk: the order of judgement, paths, headers, and the memos that need no invalidation."""

from __future__ import annotations

import pytest

from labkit import Vault
from labkit.service.errors import BadRequest
from labkit.service.message import Request
from labkit.vault.request_walk import split_path


@pytest.mark.parametrize(
    ("raw", "path", "query"),
    [
        ("/v1/secret/data/a", "secret/data/a", {}),
        ("secret/data/a", "secret/data/a", {}),
        ("/v1/a//b///c", "a/b/c", {}),
        ("/v1/a%20b/%C3%BC", "a b/ü", {}),
        ("/v1/a?version=2&list=", "a", {"version": "2", "list": ""}),
        ("/v1/a?x=1&x=2", "a", {"x": ["1", "2"]}),
    ],
)
def test_paths_are_split_and_decoded(raw, path, query):
    assert split_path(raw) == (path, query)


def test_what_cannot_be_printed_is_refused():
    with pytest.raises(BadRequest):
        split_path("/v1/secret/data/a%00b")


def test_who_asks_is_judged_before_what_is_there(service):
    for path in ("nowhere/x", "secret/data/x", "sys/nonsense"):
        assert service.get(path, token="").errors == ["permission denied"]
        assert service.get(path, token="bogus").status == 403
    assert service.get("nowhere/x").status == 404


def test_a_sealed_node_answers_nothing_but_how_to_open_it(service):
    service.post("sys/seal")

    assert service.get("secret/data/x", token="").status == 503
    assert service.get("nowhere/x").errors == ["Vault is sealed"]
    assert service.get("sys/seal-status", token="").ok
    assert service.get("sys/health", token="").status == 503


@pytest.mark.parametrize("path", ["secret/data/../config", "./secret/data/a", "secret/data/a/.."])
def test_relative_paths_are_refused(service, path):
    assert service.get(path).errors == ["relative paths not supported"]


def test_writes_to_a_folder_are_refused(service):
    assert service.post("secret/data/a/", {"data": {}}).errors == ["cannot write to a path ending in '/'"]


@pytest.mark.parametrize("method", ["FETCH", "", "get"])
def test_unknown_methods_are_405(service, method):
    assert service.request(method, "secret/data/a", None, {"X-Vault-Token": service.root_token}).status == 405


def test_the_token_may_come_as_bearer_and_names_of_headers_in_any_case(service):
    service.post("secret/data/a", {"data": {"x": 1}})

    for headers in (
        {"Authorization": f"Bearer {service.root_token}"},
        {"x-vault-token": service.root_token},
        {"X-Vault-Token": service.root_token, "Authorization": "Bearer bogus"},
    ):
        assert service.request("GET", "/v1/secret/data/a", None, headers).ok
    assert (
        service.request("GET", "/v1/secret/data/a", None, {"Authorization": f"Basic {service.root_token}"}).status
        == 403
    )


def test_a_namespace_that_does_not_exist_is_not_found(service):
    answer = service.get("secret/data/a", headers={"X-Vault-Namespace": "team/"})

    assert (answer.status, answer.errors) == (404, ["namespace not found"])
    assert service.get("secret/data/a", headers={"X-Vault-Namespace": "/"}).status == 404


def test_a_patch_needs_its_media_type(service):
    service.post("secret/data/a", {"data": {"x": 1}})
    headers = {"X-Vault-Token": service.root_token}

    assert service.request("PATCH", "/v1/secret/data/a", {"data": {}}, headers).status == 400
    answer = service.request("PATCH", "/v1/secret/data/a", {"data": {}}, {**headers, "Content-Type": "text/plain"})
    assert answer.status == 415


@pytest.mark.parametrize("body", [[1], "text", 7, {"a": object()}])
def test_a_body_that_is_no_object_is_refused(service, body):
    answer = service.request("POST", "/v1/secret/data/a", body, {"X-Vault-Token": service.root_token})

    assert answer.status == 400
    assert "failed to decode JSON input" in answer.errors[0]


def test_a_body_over_the_limit_is_413():
    vault = Vault.dev(max_body_bytes=10_000)

    assert vault.post("secret/data/a", {"data": {"x": "y" * 10_000}}).status == 413
    assert vault.post("secret/data/a", {"data": {"x": "y" * 5_000}}).ok


def test_mounting_and_policies_take_effect_at_once(service):
    service.put("sys/policies/acl/reader", {"policy": 'path "secret/data/*" { capabilities = ["read"] }'})
    token = service.post("auth/token/create", {"policies": ["reader"]}).auth["client_token"]
    service.post("secret/data/a", {"data": {"x": 1}})
    assert service.get("secret/data/a", token=token).ok
    assert service.post("secret/data/a", {"data": {}}, token=token).status == 403

    service.put("sys/policies/acl/reader", {"policy": 'path "secret/data/*" { capabilities = ["update"] }'})
    assert service.get("secret/data/a", token=token).status == 403
    assert service.post("secret/data/a", {"data": {}}, token=token).ok

    service.delete("sys/mounts/secret")
    assert service.get("secret/data/a").status == 404
    service.post("sys/mounts/secret", {"type": "kv-v2"})
    assert service.get("secret/data/a").errors == []


def test_a_denied_request_costs_a_use_and_the_last_one_revokes(service):
    token = service.post("auth/token/create", {"policies": ["default"], "num_uses": 2}).auth["client_token"]

    assert service.get("secret/data/a", token=token).status == 403
    assert service.get("auth/token/lookup-self", token=token).data["num_uses"] in (0, -1)
    assert service.get("auth/token/lookup-self", token=token).status == 403
    accessors = service.list("auth/token/accessors").data["keys"]
    assert len(accessors) == 1


def test_the_community_edition_refuses_the_enterprise_parts():
    vault = Vault.dev(edition="community")

    for path in ("primary/enable", "secondary/promote", "primary/secondary-token"):
        answer = vault.post(f"sys/replication/dr/{path}", {})
        assert (answer.status, answer.errors) == (400, ["enterprise-only feature"])
    assert vault.get("sys/replication/dr/status", token="").data == {"mode": "disabled"}


def test_a_refusal_of_a_node_that_was_overtaken_is_still_an_answer(service):
    token = service.post("auth/token/create", {"policies": ["default"], "num_uses": 5}).auth["client_token"]
    service.core.storage.claim(9)

    answer = service.get("secret/data/a", token=token)
    assert answer.status == 503
    assert "not the active one any more" in answer.errors[0]
    assert not service.core.leadership.active


def test_every_answer_has_an_id_of_its_own(service):
    first, second = service.get("sys/mounts"), service.get("sys/mounts")

    assert first.body["request_id"] != second.body["request_id"]
    assert len(first.body["request_id"]) == 36


def test_the_caller_is_found_again_when_the_token_changes(service, clock):
    made = service.post("auth/token/create", {"policies": ["default"], "ttl": "1h"}).auth
    token, accessor = made["client_token"], {"accessor": made["accessor"]}
    for _ in range(2):
        assert service.get("auth/token/lookup-self", token=token).data["ttl"] == 3_600
    clock.now_ns += 1_800 * 1_000_000_000
    assert service.get("auth/token/lookup-self", token=token).data["ttl"] == 1_800
    assert service.post("auth/token/renew-accessor", accessor).ok
    assert service.get("auth/token/lookup-self", token=token).data["ttl"] == 3_600

    service.post("auth/token/revoke-accessor", accessor)
    assert service.get("auth/token/lookup-self", token=token).status == 403


def test_a_caller_that_is_known_ends_at_its_time(service, clock):
    token = service.post("auth/token/create", {"policies": ["default"], "ttl": "1h"}).auth["client_token"]
    assert service.get("auth/token/lookup-self", token=token).ok
    clock.now_ns += 3_600 * 1_000_000_000

    request = Request("GET", "/v1/auth/token/lookup-self", {"X-Vault-Token": token})
    assert service.handle(request).status == 403  # though nothing has ended it in the store


def test_known_callers_are_bounded_and_no_tokens(service, monkeypatch):
    monkeypatch.setattr("labkit.vault.request_walk.MAX_CACHED_CALLERS", 3)
    texts = [service.post("auth/token/create", {}).auth["client_token"] for _ in range(5)]
    for text in texts:
        assert service.get("auth/token/lookup-self", token=text).ok
    callers = service.core.caches.callers

    assert len(callers) <= 3
    assert not any(text in key for text in texts for key in callers)
    service.post("sys/seal")
    assert service.core.caches.callers == {}
