"""What command lines ask before they begin: mounts that one may see, and one's own policies."""

from __future__ import annotations

import pytest

from labkit.vault.policies.access_list import Acl
from labkit.vault.policies.policy_text import parse_policy
from labkit.vault.system.interface import reaches

POLICY = """
path "secret/data/app/*" { capabilities = ["read"] }
path "transit/*" { capabilities = ["deny"] }
path "+/things/here" { capabilities = ["read"] }
path "exact/path" { capabilities = ["list", "update"] }
"""


@pytest.fixture
def token(service) -> str:
    """A token that reaches secret/ and, through a wildcard, anything with things/here."""
    service.put("sys/policies/acl/p", {"policy": POLICY})
    body = {"policies": ["p"], "no_default_policy": True}
    return service.post("auth/token/create", body).auth["client_token"]


def preflight(path: str) -> list[str]:
    text = "preflight capability check returned 403, please ensure client's policies grant access to path"
    return [f'{text} "{path}"']


def test_without_a_token_only_what_is_shown_to_all(service) -> None:
    assert service.get("sys/internal/ui/mounts", token="").data == {"secret": {}, "auth": {}}
    service.post("sys/mounts/secret/tune", {"listing_visibility": "unauth", "description": "d"})
    assert service.get("sys/internal/ui/mounts", token="").data == {
        "secret": {"secret/": {"type": "kv", "description": "d", "options": {"version": "2"}}},
        "auth": {},
    }


def test_with_a_token_what_it_reaches(service, token: str) -> None:
    everything = service.get("sys/internal/ui/mounts").data
    assert sorted(everything["secret"]) == ["cubbyhole/", "identity/", "secret/", "sys/", "transit/"]
    assert everything["auth"] == service.get("sys/auth").data
    assert everything["secret"]["secret/"] == service.get("sys/mounts/secret").data

    service.post("sys/mounts/exact", {"type": "kv"})
    seen = service.get("sys/internal/ui/mounts", token=token).data
    # the wildcard may match below any mount but those that are denied
    assert sorted(seen["secret"]) == ["cubbyhole/", "exact/", "identity/", "secret/", "sys/", "transit/"]
    assert seen["auth"] == {}


def test_a_token_that_is_not_valid_is_refused(service) -> None:
    assert service.get("sys/internal/ui/mounts", token="none").status == 403


@pytest.mark.parametrize("path", ["secret", "secret/", "secret/data/app/x"])
def test_which_mount_a_path_lies_in(service, token: str, path: str) -> None:
    wanted = service.get("sys/mounts/secret").data | {"path": "secret/"}
    assert service.get(f"sys/internal/ui/mounts/{path}", token=token).data == wanted


def test_an_auth_method_s_path(service) -> None:
    assert service.get("sys/internal/ui/mounts/auth/token/create").data["path"] == "auth/token/"


def test_what_may_not_be_seen_looks_like_what_is_not_there(service) -> None:
    service.put("sys/policies/acl/p", {"policy": 'path "secret/data/a" { capabilities = ["read"] }'})
    token = service.post("auth/token/create", {"policies": ["p"], "no_default_policy": True}).auth["client_token"]
    for path, caller in (("transit", token), ("none", token), ("none", service.root_token), ("secret", "")):
        refused = service.get(f"sys/internal/ui/mounts/{path}", token=caller)
        assert (refused.status, refused.errors) == (403, preflight(f"{path}/"))
    assert service.get("sys/internal/ui/mounts/secret", token=token).status == 200


def test_one_s_own_policies(service) -> None:
    assert service.get("sys/internal/ui/resultant-acl").data == {"root": True, "exact_paths": {}, "glob_paths": {}}
    service.put("sys/policies/acl/p", {"policy": POLICY})
    token = service.post("auth/token/create", {"policies": ["p"]}).auth["client_token"]
    told = service.get("sys/internal/ui/resultant-acl", token=token).data
    assert told["root"] is False
    assert told["exact_paths"]["exact/path"] == {"capabilities": ["list", "update"]}
    assert told["glob_paths"]["secret/data/app/"] == {"capabilities": ["read"]}
    assert told["glob_paths"]["transit/"] == {"capabilities": ["deny"]}
    assert told["glob_paths"]["+/things/here"] == {"capabilities": ["read"]}
    assert told["exact_paths"]["auth/token/lookup-self"] == {"capabilities": ["read"]}


@pytest.mark.parametrize(
    ("rule", "path", "is_below"),
    [
        ("secret/data/a", "secret/", True),
        ("secret/*", "secret/", True),
        ("sec*", "secret/", True),
        ("sex*", "secret/", False),
        ("+/data", "secret/", True),
        ("+", "secret/data/", False),
        ("other/data", "secret/", False),
        ("secret/data", "secret/data/a/", False),
        ("secret/+/a", "secret/data/", True),
    ],
)
def test_what_policies_reach(rule: str, path: str, is_below: bool) -> None:
    for capability, reached in (("read", is_below), ("deny", False)):
        acl = Acl([parse_policy(f'path "{rule}" {{ capabilities = ["{capability}"] }}')])
        assert reaches(acl, path) is reached


def test_what_is_shown_in_a_namespace_is_its_own(service) -> None:
    service.post("sys/namespaces/team")
    service.post("sys/mounts/kv", {"type": "kv", "config": {"listing_visibility": "unauth"}}, namespace="team")
    policy = 'path "kv/a" { capabilities = ["read"] }\npath "sys/internal/ui/*" { capabilities = ["read"] }'
    service.put("sys/policies/acl/p", {"policy": policy}, namespace="team")
    token = service.post("auth/token/create", {"policies": ["p"], "no_default_policy": True}, namespace="team").auth
    own = {"token": token["client_token"], "namespace": "team"}

    assert set(service.get("sys/internal/ui/mounts", token="", namespace="team").data["secret"]) == {"kv/"}
    assert service.get("sys/internal/ui/mounts", token="").data["secret"] == {}
    assert service.get("sys/internal/ui/mounts/kv", **own).data["path"] == "kv/"
    assert service.get("sys/internal/ui/mounts/secret", **own).status == 403
    assert service.get("sys/internal/ui/mounts/team/kv", token=own["token"]).status == 403
    acl = service.get("sys/internal/ui/resultant-acl", **own).data
    assert (set(acl["exact_paths"]), set(acl["glob_paths"])) == ({"team/kv/a"}, {"team/sys/internal/ui/"})


def test_a_token_without_its_namespace_lists_nothing(service) -> None:
    service.post("sys/namespaces/team")
    made = {"type": "batch", "policies": ["default"]}
    token = service.post("auth/token/create", made, namespace="team").auth["client_token"]
    service.delete("sys/namespaces/team")

    for path in ("sys/internal/ui/mounts", "sys/internal/ui/namespaces", "sys/internal/specs/openapi"):
        assert service.get(path, token=token).status == 403


def test_a_parent_s_token_sees_what_its_policies_reach_below(service) -> None:
    service.post("sys/namespaces/team")
    for path in ("kv", "hidden"):
        service.post(f"sys/mounts/{path}", {"type": "kv"}, namespace="team")
    service.put("sys/policies/acl/p", {"policy": 'path "team/kv/*" { capabilities = ["read"] }'})
    token = service.post("auth/token/create", {"policies": ["p"], "no_default_policy": True}).auth["client_token"]

    shown = service.get("sys/internal/ui/mounts", token=token, namespace="team").data
    assert (set(shown["secret"]), set(shown["auth"])) == ({"kv/"}, set())
    assert service.get("sys/internal/ui/mounts/kv", token=token, namespace="team").ok
    assert service.get("sys/internal/ui/mounts/hidden", token=token, namespace="team").status == 403
    by_path = service.get("sys/internal/ui/mounts/team/kv/a", token=token)
    assert (by_path.data["path"], by_path.data["type"]) == ("team/kv/", "kv")
    assert service.get("sys/internal/ui/mounts/team/kv").data["path"] == "team/kv/"
    for path in ("team/hidden", "team", "team/none", "kv"):
        assert service.get(f"sys/internal/ui/mounts/{path}", token=token).status == 403
    assert service.get("sys/internal/ui/mounts/team").status == 403
