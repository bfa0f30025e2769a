"""How a mount is found and laid out."""

from __future__ import annotations

import pytest

from labkit.service.errors import BadRequest
from labkit.service.message import Request
from labkit.vault.context import Context
from labkit.vault.mounts import Mount, MountTable
from labkit.vault.system.mounted import AUTH, describe, find_mount, full_path, in_area

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


@pytest.mark.parametrize(
    ("asked", "path", "found", "refusal"),
    [
        ("sys/mounts/secret", "secret", "secret/", ""),
        ("sys/mounts/secret", "/secret/", "secret/", ""),
        ("sys/auth/token", "token", "auth/token/", ""),
        ("sys/mounts/none", "none/", "", "No secret engine mount at none/"),
        ("sys/auth/secret", "secret", "", "No auth engine at secret/"),
    ],
)
def test_a_mount_is_found_by_the_path_that_the_api_uses(service, asked, path, found, refusal) -> None:
    ctx = Context(service.core, Request("GET", asked), 0)
    ctx.path = asked
    if refusal:
        with pytest.raises(BadRequest) as refused:
            find_mount(ctx, path)
        assert refused.value.errors == (refusal,)
    else:
        assert find_mount(ctx, path).path == full_path(ctx, path) == found


def test_what_is_laid_out_of_a_mount() -> None:
    assert {name: value for name, value in describe(KV).items() if name != "config"} == {
        "type": "kv",
        "description": "",
        "accessor": "kv_1",
        "uuid": "uuid-1",
        "local": False,
        "seal_wrap": False,
        "external_entropy_access": False,
        "options": {"version": "2"},
    }
