"""The identity store: it is listed, and has no endpoint."""

from __future__ import annotations


def test_it_is_listed_and_answers_nothing(service):
    assert service.get("sys/mounts/identity").data["description"] == "identity store"
    for method, path in (("GET", "entity"), ("LIST", "entity/id"), ("POST", "entity"), ("DELETE", "group/id/x")):
        headers = {"X-Vault-Token": service.root_token}
        assert service.request(method, f"identity/{path}", {}, headers).status == 404
    assert service.post("sys/mounts/other", {"type": "identity"}).status == 400
    assert service.delete("sys/mounts/identity").status == 400
