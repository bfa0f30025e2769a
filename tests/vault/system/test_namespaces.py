"""The endpoints of namespaces: what they answer and refuse, and what a namespace has of its own."""

from __future__ import annotations

import json

import pytest

from labkit import Vault
from labkit.vault.system.namespaces import describe

RESERVED = ("root", "sys", "audit", "auth", "cubbyhole", "identity")


@pytest.fixture
def team(service):
    """A service with namespaces team/ and team/sub/, each with secret/ (KV v2)."""
    assert service.post("sys/namespaces/team", {"custom_metadata": {"owner": "ada"}}).ok
    assert service.post("sys/namespaces/sub", namespace="team").ok
    for name in ("team", "team/sub"):
        assert service.post("sys/mounts/secret", {"type": "kv", "options": {"version": "2"}}, namespace=name).ok
    return service


def token_of(service, namespace, *policies, **fields):
    """The text of a new token of a namespace."""
    answer = service.post("auth/token/create", {"policies": list(policies), **fields}, namespace=namespace)
    return answer.auth["client_token"]


def allow(service, namespace, name, path, *capabilities):
    text = f'path "{path}" {{ capabilities = {json.dumps(capabilities)} }}'
    assert service.put(f"sys/policies/acl/{name}", {"policy": text}, namespace=namespace).ok


def test_created_read_listed_and_changed(service):
    made = service.post("sys/namespaces/team", {"custom_metadata": {"owner": "ada", "size": "3"}})

    assert made.status == 200
    assert made.data == {**made.data, "path": "team/", "custom_metadata": {"owner": "ada", "size": "3"}}
    assert len(made.data["id"]) == 5
    assert made.data["id"].isalnum()
    assert service.get("sys/namespaces/team").data == made.data
    assert service.list("sys/namespaces").data == {"keys": ["team/"], "key_info": {"team/": made.data}}
    patched = service.patch("sys/namespaces/team", {"custom_metadata": {"owner": None, "tier": "gold"}})
    assert patched.data == {**made.data, "custom_metadata": {"size": "3", "tier": "gold"}}
    assert service.patch("sys/namespaces/team", {}).data == patched.data
    written = service.put("sys/namespaces/team", {"custom_metadata": {"a": "b"}})
    assert written.data == {**made.data, "custom_metadata": {"a": "b"}}
    assert service.get("sys/namespaces/team").data == written.data
    assert service.patch("sys/namespaces/team", {"custom_metadata": None}).data["custom_metadata"] == {}


@pytest.mark.parametrize("value", [1, True, None, 2.5, [], {}])
def test_custom_metadata_is_text_as_sent(service, value):
    refused = service.post("sys/namespaces/team", {"custom_metadata": {"a": value}})
    assert (refused.status, refused.errors) == (
        400,
        ["custom_metadata validation failed: the value of 'a' must be text"],
    )
    service.post("sys/namespaces/team")
    if value is not None:
        assert service.patch("sys/namespaces/team", {"custom_metadata": {"a": value}}).errors == refused.errors
    assert service.get("sys/namespaces/team").data["custom_metadata"] == {}


def test_a_record_is_laid_out_without_its_storage(service):
    service.post("sys/namespaces/team")

    assert set(service.get("sys/namespaces/team").data) == {"id", "path", "custom_metadata"}
    assert describe(service.core.caches.records["core/mounts"][1].namespaces[0])["path"] == "team/"


def test_none_is_there_before_one_is_made(service):
    assert service.list("sys/namespaces").status == 404
    assert service.get("sys/namespaces/team").status == 404
    assert service.patch("sys/namespaces/team", {"custom_metadata": {}}).status == 404
    gone = service.delete("sys/namespaces/team")
    assert (gone.status, gone.data, gone.warnings) == (200, None, ["requested namespace does not exist"])


@pytest.mark.parametrize("name", RESERVED)
def test_a_reserved_name_is_refused(service, name):
    answer = service.post(f"sys/namespaces/{name}")

    assert answer.errors == [f'"{name}" is a reserved path and cannot be used as a namespace name']
    assert service.list("sys/namespaces").status == 404


@pytest.mark.parametrize(
    ("name", "status", "text"),
    [
        ("a/b", 400, "name must not contain /"),
        ("a b", 400, "space"),
        ("a%20b", 400, "space"),
        ("..", 400, "relative paths"),
        (".", 400, "relative paths"),
        ("a" * 5_000, 400, "bytes"),
        ("a%0Ab", 400, "printable"),
        ("secret", 400, "path is already in use at secret/"),
        ("transit", 400, "path is already in use at transit/"),
    ],
)
def test_a_name_that_cannot_be_used(service, name, status, text):
    answer = service.post(f"sys/namespaces/{name}")

    assert answer.status == status
    assert text in answer.errors[0]
    assert service.list("sys/namespaces").status == 404


@pytest.mark.parametrize("name", ["Team", "TEAM", "équipe", "a.b", "a-b", "a+b", "*", "v1", "roots", "0"])
def test_names_keep_their_letters_and_case(service, name):
    assert service.post(f"/v1/sys/namespaces/{name}").data["path"] == f"{name}/"
    assert service.get("sys/mounts", namespace=name).ok
    assert service.get("sys/mounts", namespace=name.swapcase() + "x").status == 404


@pytest.mark.parametrize("sent", ["text", 7, ["a"], {"a": {"b": 1}}, {"": "x"}, {"a": "x" * 513}, {"a" * 129: "x"}])
def test_metadata_that_cannot_be_kept_is_refused(service, sent):
    service.post("sys/namespaces/team")

    assert service.post("sys/namespaces/other", {"custom_metadata": sent}).status == 400
    assert service.patch("sys/namespaces/team", {"custom_metadata": sent}).status == 400
    assert service.list("sys/namespaces").data["keys"] == ["team/"]


def test_a_mount_and_a_namespace_do_not_share_a_path(team):
    for path in ("team", "team/x"):
        refused = team.post(f"sys/mounts/{path}", {"type": "kv"})
        assert refused.errors == ["path is already in use at team/"]
    team.post("sys/mounts/deep/kv", {"type": "kv"})
    assert team.post("sys/namespaces/deep").errors == ["path is already in use at deep/kv/"]
    assert team.post("sys/mounts/team", {"type": "kv"}, namespace="team").ok


def test_header_and_path_lead_to_the_same_place(team):
    team.post("secret/data/a", {"data": {"x": 1}}, namespace="team/sub")

    assert team.get("team/sub/secret/data/a").data["data"] == {"x": 1}
    assert team.get("sub/secret/data/a", namespace="team").data["data"] == {"x": 1}
    for name in ("team/sub/", "/team/sub", "team//sub//"):
        assert team.get("secret/data/a", namespace=name).data["data"] == {"x": 1}
    for path, name in (("secret/data/a", "team"), ("team/secret/data/a", ""), ("secret/data/a", "")):
        assert team.get(path, namespace=name).status == 404
    assert team.get("secret/data/a", namespace="sub").errors == ["namespace not found"]
    assert team.get("secret/data/a", namespace="team/../team/sub").errors == ["relative paths not supported"]
    assert team.get("team").errors == ['no handler for route "". route entry not found.']


def test_the_answer_repeats_the_namespace_of_the_header(team):
    assert team.get("sys/mounts", namespace="/team//sub").headers["X-Vault-Namespace"] == "team/sub/"
    assert team.get("secret/data/none", namespace="team").headers["X-Vault-Namespace"] == "team/"
    assert team.get("sub/secret/data/none", namespace="team", token="bad").headers["X-Vault-Namespace"] == "team/sub/"
    for answer in (team.get("team/sys/mounts"), team.get("sys/mounts"), team.get("sys/mounts", namespace="none")):
        assert "X-Vault-Namespace" not in answer.headers


def test_each_has_its_own_mounts_and_policies(team):
    own = team.get("sys/mounts", namespace="team").data
    assert set(own) == {"sys/", "cubbyhole/", "identity/", "secret/"}
    assert set(team.get("sys/auth", namespace="team").data) == {"token/"}
    assert set(team.get("sys/mounts").data) == set(own) | {"transit/"}
    assert own["sys/"]["accessor"] != team.get("sys/mounts").data["sys/"]["accessor"]
    allow(team, "team", "p", "secret/*", "read")
    assert team.list("sys/policies/acl", namespace="team").data["keys"] == ["default", "p", "root"]
    assert team.list("sys/policies/acl").data["keys"] == ["default", "root"]
    assert team.get("sys/policies/acl/p").status == 404
    team.post("sys/mounts/secret/tune", {"max_lease_ttl": "1h"}, namespace="team")
    assert team.get("sys/mounts/secret/tune", namespace="team").data["max_lease_ttl"] == 3_600
    assert team.get("sys/mounts/secret/tune").data["max_lease_ttl"] == 2_764_800
    team.post("secret/data/a", {"data": {"x": 1}}, namespace="team")
    assert team.delete("sys/mounts/secret", namespace="team").ok
    assert "secret/" not in team.get("sys/mounts", namespace="team").data
    assert team.get("sys/mounts/secret").ok
    assert team.post("sys/plugins/reload/backend", {"mounts": "transit/"}, namespace="team").status == 400


def test_tokens_reach_down_and_nowhere_else(team):
    allow(team, "team", "p", "secret/data/a", "create", "read")
    allow(team, "team", "down", "sub/secret/data/a", "create", "read")
    team.post("sys/namespaces/other")
    own, down = token_of(team, "team", "p"), token_of(team, "team", "p", "down")

    assert team.post("secret/data/a", {"data": {}}, namespace="team", token=own).ok
    assert team.post("secret/data/a", {"data": {}}, namespace="team/sub", token=own).status == 403
    assert team.post("secret/data/a", {"data": {}}, namespace="team/sub", token=down).ok
    for name in ("", "other"):
        for path in ("secret/data/a", "auth/token/lookup-self", "sys/internal/ui/mounts"):
            refused = team.get(path, namespace=name, token=down)
            assert (refused.status, refused.errors) == (403, ["1 error occurred:\n\t* permission denied\n\n"])


def test_tokens_and_accessors_end_in_the_namespace_s_id(team):
    number = team.get("sys/namespaces/team").data["id"]
    for kind in ("service", "batch"):
        auth = team.post("auth/token/create", {"type": kind, "policies": ["default"]}, namespace="team").auth
        if kind == "service":
            assert auth["accessor"].endswith("." + number)
        assert auth["client_token"].endswith("." + number)
        text = auth["client_token"]
        assert team.get("auth/token/lookup-self", namespace="team", token=text).data["namespace_path"] == "team/"
        for other in (text.rpartition(".")[0], text + "x", text.rpartition(".")[0] + ".root"):
            assert team.get("auth/token/lookup-self", namespace="team", token=other).status == 403
    assert "namespace_path" not in team.get("auth/token/lookup-self").data


def test_tokens_are_named_from_their_namespace_and_above(team):
    inner = team.post("auth/token/create", {"policies": ["default"]}, namespace="team/sub").auth
    body, text = {"accessor": inner["accessor"]}, {"token": inner["client_token"]}
    team.post("sys/namespaces/other")

    for name in ("", "team", "team/sub"):
        assert team.post("auth/token/lookup", text, namespace=name).data["namespace_path"] == "team/sub/"
        assert team.post("auth/token/lookup-accessor", body, namespace=name).ok
        assert team.post("auth/token/renew-accessor", body, namespace=name).ok
    assert team.post("auth/token/lookup", text, namespace="other").errors == ["bad token"]
    assert team.post("auth/token/renew", text, namespace="other").errors == ["token not found"]
    assert "invalid accessor" in team.post("auth/token/lookup-accessor", body, namespace="other").errors[0]
    assert team.post("auth/token/revoke-accessor", body, namespace="other").warnings
    assert team.post("auth/token/revoke", text, namespace="other").ok
    outer = {"token": team.post("auth/token/create", {"policies": ["default"]}).auth["client_token"]}
    assert team.post("auth/token/revoke", outer, namespace="team").ok
    assert team.post("auth/token/lookup", outer).ok
    assert team.list("auth/token/accessors", namespace="team/sub").data["keys"] == [inner["accessor"]]
    assert inner["accessor"] not in team.list("auth/token/accessors").data["keys"]
    assert team.post("auth/token/revoke", text, namespace="team").ok
    assert team.post("auth/token/lookup", text).status == 403


def test_a_child_token_of_another_namespace_has_none_of_its_parent_s_policies(team):
    """A policy of one name is another one below."""
    allow(team, "", "maker", "team/auth/token/*", "update")
    allow(team, "team", "maker", "secret/*", "read")
    maker = token_of(team, "", "maker")
    made = team.post("auth/token/create", {}, namespace="team", token=maker)

    assert made.auth["policies"] == ["default"]
    refused = team.post("auth/token/create", {"policies": ["maker"]}, namespace="team", token=maker)
    assert refused.errors == ["child policies must be subset of parent"]
    allow(team, "", "maker", "team/auth/token/*", "update", "sudo")
    assert team.post("auth/token/create", {"policies": ["maker"]}, namespace="team", token=maker).ok
    team.post("auth/token/revoke", {"token": maker})
    gone = team.get("auth/token/lookup-self", namespace="team", token=made.auth["client_token"])
    assert gone.status == 403


def test_root_below_is_root_there_only(team):
    inner = token_of(team, "team", "root")

    assert team.get("sys/mounts", namespace="team/sub", token=inner).ok
    assert team.post("sys/namespaces/more", namespace="team", token=inner).ok
    assert team.get("sys/mounts", token=inner).status == 403
    assert team.get("sys/internal/ui/resultant-acl", namespace="team", token=inner).data["root"] is True
    refused = team.post("auth/token/create", {"id": "mine"}, namespace="team")
    assert "root namespace" in refused.errors[0]


ROOT_ONLY = ("audit", "seal", "step-down", "unseal", "init", "rekey/init", "rotate", "generate-root/attempt", "raw/x")


@pytest.mark.parametrize("path", [*ROOT_ONLY, "audit-hash/x", "host-info", "config/state/sanitized", "plugins/catalog"])
def test_what_is_about_the_cluster_is_the_root_namespace_s(team, path):
    for method in ("GET", "POST"):
        headers = {"X-Vault-Token": team.root_token, "X-Vault-Namespace": "team"}
        refused = team.request(method, f"sys/{path}", {}, headers)
        assert (refused.status, refused.errors) == (400, ["operation unavailable in namespaces"])
        refused = team.request(method, f"team/sub/sys/{path}", {}, {"X-Vault-Token": team.root_token})
        assert (refused.status, refused.errors) == (400, ["operation only available in root namespace"])
    assert not team.sealed


def test_replication_names_the_namespace_that_it_refuses(team):
    refused = team.post("team/sys/replication/dr/primary/enable")

    assert (refused.status, refused.errors) == (400, ["operation only available in the root namespace, not in team/"])
    for path in ("team/sys/replication/dr/status", "team/sub/sys/replication/status", "team/sys/health"):
        assert team.get(path, token="").status == 200


def test_deleting_one_ends_all_that_is_in_it(team):
    refused = team.delete("sys/namespaces/team")
    assert refused.errors == ['cannot delete namespace "team/" containing child namespaces']
    before = set(team.core.storage.keys())
    team.post("sys/namespaces/other")
    team.post("sys/mounts/transit", {"type": "transit"}, namespace="other")
    team.post("transit/keys/k", namespace="other")
    allow(team, "other", "p", "transit/*", "update")
    service_token, batch = token_of(team, "other", "p"), token_of(team, "other", "p", type="batch")
    token_of(team, "other", "p", period="1h")
    headers = {"X-Vault-Wrap-TTL": "60s"}
    assert team.get("sys/mounts", namespace="other", headers=headers).wrap_info

    assert team.delete("sys/namespaces/other").data == {"status": "deleted"}
    assert set(team.core.storage.keys()) == before
    assert team.get("sys/mounts", namespace="other").errors == ["namespace not found"]
    team.post("sys/namespaces/other")
    for text in (service_token, batch):
        assert team.get("auth/token/lookup-self", namespace="other", token=text).status == 403
    assert team.get("sys/mounts", namespace="team/sub").ok


def test_the_listing_of_children_shows_what_policies_reach(team):
    team.post("sys/namespaces/other")
    allow(team, "", "p", "other/secret/*", "read")
    token = token_of(team, "", "p")

    assert team.get("sys/internal/ui/namespaces").data == {"keys": ["other/", "team/"]}
    assert team.list("sys/internal/ui/namespaces", token=token).data == {"keys": ["other/"]}
    assert team.get("sys/internal/ui/namespaces", token="").data == {"keys": []}
    assert team.get("sys/internal/ui/namespaces", token=token, namespace="team").data == {"keys": []}


def test_the_community_edition_has_none(clock):
    community = Vault.dev(clock=clock, edition="community")

    for path in ("sys/namespaces/team", "sys/internal/ui/namespaces", "sys/namespaces?list=true"):
        assert community.get(path).errors == ["enterprise-only feature"]
    assert community.post("sys/namespaces/team").errors == ["enterprise-only feature"]
    assert community.get("sys/mounts", namespace="team").errors == ["enterprise-only feature"]
    assert community.get("sys/mounts", namespace="root").ok
