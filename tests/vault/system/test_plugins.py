"""Which plugins there are; reloading the engines of a kind or of some mounts."""

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


def test_what_can_be_mounted_is_in_the_catalogue(service) -> None:
    found = service.get("sys/plugins/catalog").data

    assert {kind: names for kind, names in found.items() if kind != "detailed"} == {
        "auth": ["approle", "cloud", "userpass"],
        "database": [],
        "secret": ["kv", "transit"],
    }
    assert found["detailed"][3] == {
        "builtin": True,
        "deprecation_status": "supported",
        "name": "kv",
        "type": "secret",
        "version": f"v{service.core.settings.version.partition('+')[0]}+builtin.vault",
    }
    assert [(plugin["type"], plugin["name"]) for plugin in found["detailed"]] == [
        *(("auth", "approle"), ("auth", "cloud"), ("auth", "userpass"), ("secret", "kv"), ("secret", "transit")),
    ]
    for kind, home in (("auth", "auth"), ("secret", "mounts")):
        for name in found[kind]:
            assert service.post(f"sys/{home}/of-{name}", {"type": name}).ok, name


def test_one_plugin_and_those_of_a_kind(service) -> None:
    assert service.list("sys/plugins/catalog/secret").data == {"keys": ["kv", "transit"]}
    assert service.list("sys/plugins/catalog/database").status == 404
    kv = service.get("sys/plugins/catalog/secret/kv").data
    assert (kv["name"], kv["args"], kv["command"], kv["sha256"]) == ("kv", [], "", "")
    for name in ("none", "cloud", "system"):
        assert service.get(f"sys/plugins/catalog/secret/{name}").status == 404
    for refused in (service.list("sys/plugins/catalog/other"), service.get("sys/plugins/catalog/other/kv")):
        assert (refused.status, refused.errors) == (400, ["type: expected one of auth, database, secret, not 'other'"])


def test_single_plugins_want_sudo(service) -> None:
    for path, capabilities in (("sys/plugins/catalog", "read"), ("sys/plugins/catalog/*", "read")):
        service.put("sys/policies/acl/p", {"policy": f'path "{path}" {{ capabilities = ["{capabilities}"] }}'})
        token = service.post("auth/token/create", {"policies": ["p"]}).auth["client_token"]
        asked = {each: service.get(each, token=token).status for each in (path, "sys/plugins/catalog/secret/kv")}
        assert asked["sys/plugins/catalog/secret/kv"] == 403, path
    assert service.get("sys/plugins/catalog", token="").status == 403
