"""Tools below ``sys/``: the engine's own handlers, beside every caller's policies."""

from __future__ import annotations

from labkit.vault.engines.transit.data import hashing, random_bytes
from labkit.vault.system.tools import ROUTES


def test_they_are_those_of_the_transit_engine():
    engine = (*random_bytes.ROUTES, *hashing.ROUTES)

    assert [route.pattern for route in ROUTES] == ["tools/" + route.pattern for route in engine]
    assert [route.handler for route in ROUTES] == [route.handler for route in engine]


def test_no_input_is_an_empty_one(service):
    for path in ("hash", "hash/sha2-256"):
        assert service.post(f"sys/tools/{path}", {}).data == service.post(f"transit/{path}", {"input": ""}).data
    assert service.post("transit/hash", {}).status == 400


def test_every_token_may_hash_and_a_policy_lets_it_draw(service):
    token = service.post("auth/token/create", {"policies": ["default"]}).auth["client_token"]

    assert service.post("sys/tools/hash/sha2-256", {"input": "aGk="}, token=token).ok
    assert service.post("sys/tools/random", token=token).status == 403
    service.post("sys/namespaces/team")
    assert service.post("sys/tools/random/4", namespace="team").ok
