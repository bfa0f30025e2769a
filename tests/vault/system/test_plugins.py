"""Reloading the engines of a kind or of some mounts."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("body", [{"plugin": "transit"}, {"mounts": "transit/"}, {"mounts": ["transit", "secret/"]}])
def test_what_was_kept_in_memory_is_dropped_and_all_goes_on(service, body) -> None:
    service.post("transit/keys/k")
    sealed = service.post("transit/encrypt/k", {"plaintext": "aGk="}).data["ciphertext"]
    prefix = f"logical/{service.get('sys/mounts/transit').data['uuid']}/"
    assert any(key.startswith(prefix) for key in service.core.caches.records)

    reloaded = service.put("sys/plugins/reload/backend", body)
    assert (reloaded.status, reloaded.data) == (200, {"reload_id": reloaded.body["request_id"]})
    assert not any(key.startswith(prefix) for key in service.core.caches.records)
    assert service.post("transit/decrypt/k", {"ciphertext": sealed}).data["plaintext"] == "aGk="


def test_on_every_node(service) -> None:
    assert service.put("sys/plugins/reload/backend", {"plugin": "kv", "scope": "global"}).status == 202


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "plugin or mounts must be provided"),
        ({"plugin": "kv", "mounts": "secret/"}, "plugin and mounts cannot be set at the same time"),
        ({"plugin": "none"}, "no mount of type 'none' to reload"),
        ({"mounts": "none/"}, "cannot fetch mount entry for 'none/'"),
        ({"plugin": "kv", "scope": "near"}, "reload scope must be omitted or 'global'"),
    ],
)
def test_what_cannot_be_reloaded(service, body, text: str) -> None:
    refused = service.put("sys/plugins/reload/backend", body)
    assert (refused.status, refused.errors) == (400, [text])


def test_each_mount_that_is_reloaded_is_reported(service, observed) -> None:
    service.put("sys/plugins/reload/backend", {"mounts": ["transit/", "secret/"]})

    assert observed == [("plugin reloaded", {"mount": "transit/"}), ("plugin reloaded", {"mount": "secret/"})]
