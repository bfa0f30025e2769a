"""How a mount is found and laid out."""

from __future__ import annotations

from labkit.vault.mounts import Mount, MountTable
from labkit.vault.system.mounted import AUTH, describe, in_area

KV = Mount("secret/", "kv", "uuid-1", "kv_1", options=(("version", "2"),), listing_visibility="hidden")
TOKEN = Mount("auth/token/", "token", "uuid-2", "auth_token_1", default_lease_ttl_s=60)


def test_engines_and_auth_methods_are_told_apart() -> None:
    table = MountTable((TOKEN, KV))
    assert in_area(table, "") == [KV]
    assert in_area(table, AUTH) == [TOKEN]


def test_only_auth_methods_have_a_token_type() -> None:
    assert describe(KV)["config"] == {
        "default_lease_ttl": 0,
        "force_no_cache": False,
        "max_lease_ttl": 0,
        "listing_visibility": "hidden",
    }
    assert describe(TOKEN)["config"] == {
        "default_lease_ttl": 60,
        "force_no_cache": False,
        "max_lease_ttl": 0,
        "token_type": "default-service",
    }


def test_no_options_are_null() -> None:
    assert describe(KV)["options"] == {"version": "2"}
    assert describe(TOKEN)["options"] is None
