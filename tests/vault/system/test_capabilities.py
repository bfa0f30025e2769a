"""What a token may do on paths, asked in three ways."""

from __future__ import annotations

import pytest

POLICY = """
path "secret/data/a" { capabilities = ["read", "list"] }
path "secret/data/b" { capabilities = ["deny"] }
"""


@pytest.fixture
def auth(service):
    """A token with a policy of its own."""
    service.put("sys/policies/acl/p", {"policy": POLICY})
    return service.post("auth/token/create", {"policies": ["p"]}).auth


def test_of_oneself(service, auth) -> None:
    paths = ["secret/data/a", "secret/data/b", "secret/data/c"]
    told = service.post("sys/capabilities-self", {"paths": paths}, token=auth["client_token"])
    wanted = {"secret/data/a": ["list", "read"], "secret/data/b": ["deny"], "secret/data/c": ["deny"]}
    assert told.data == wanted
    assert {path: told.body[path] for path in paths} == wanted


def test_one_path_is_told_twice(service) -> None:
    told = service.post("sys/capabilities-self", {"path": "secret/data/a"})
    assert told.data == {"capabilities": ["root"], "secret/data/a": ["root"]}
    assert told.body["capabilities"] == ["root"]


def test_of_another(service, auth) -> None:
    wanted = {"capabilities": ["list", "read"], "secret/data/a": ["list", "read"]}
    body = {"paths": "secret/data/a"}
    assert service.post("sys/capabilities", body | {"token": auth["client_token"]}).data == wanted
    assert service.post("sys/capabilities-accessor", body | {"accessor": auth["accessor"]}).data == wanted


def test_what_is_missing(service, auth) -> None:
    for path in ("capabilities", "capabilities-self", "capabilities-accessor"):
        refused = service.post(f"sys/{path}", {})
        assert (refused.status, refused.errors) == (400, ["paths must be supplied"])
    unknown = service.post("sys/capabilities", {"token": "none", "paths": ["a"]})
    assert (unknown.status, unknown.errors) == (400, ["1 error occurred:\n\t* invalid token\n\n"])
    unknown = service.post("sys/capabilities-accessor", {"accessor": "none", "paths": ["a"]})
    assert (unknown.status, unknown.errors) == (400, ["1 error occurred:\n\t* invalid accessor\n\n"])
    assert service.post("sys/capabilities", {"paths": ["a"]}).status == 400
    for nothing in ([None], [""], [None, ""]):
        refused = service.post("sys/capabilities-self", {"paths": nothing})
        assert (refused.status, refused.errors) == (400, ["paths must be supplied"])


def test_asking_about_others_needs_a_policy(service, auth) -> None:
    body = {"token": service.root_token, "paths": ["a"]}
    assert service.post("sys/capabilities", body, token=auth["client_token"]).status == 403


@pytest.mark.parametrize("path", ["a" * 4_097, "/".join("a" * 65), "sys/mounts," + "a" * 5_000])
@pytest.mark.parametrize("endpoint", ["capabilities", "capabilities-self", "capabilities-accessor"])
def test_long_paths_are_refused(service, endpoint: str, path: str) -> None:
    own = service.get("auth/token/lookup-self").data
    body = {"token": service.root_token, "accessor": own["accessor"], "paths": path}

    assert service.post(f"sys/{endpoint}", body).status == 400
    assert service.post(f"sys/{endpoint}", {**body, "paths": ["a", "b" * 4_096]}).ok


def test_many_paths_are_refused(service) -> None:
    assert service.post("sys/capabilities-self", {"paths": ["a"] * 1_000}).ok
    assert service.post("sys/capabilities-self", {"paths": ["a"] * 1_001}).status == 400


def test_paths_are_those_of_the_request_s_namespace(service) -> None:
    service.post("sys/namespaces/team")
    service.post("sys/namespaces/sub", namespace="team")
    policy = 'path "sub/kv/*" { capabilities = ["read"] }\npath "kv/a" { capabilities = ["list"] }'
    service.put("sys/policies/acl/p", {"policy": policy}, namespace="team")
    auth = service.post("auth/token/create", {"policies": ["p"]}, namespace="team").auth
    body = {"paths": ["kv/a"], "token": auth["client_token"], "accessor": auth["accessor"]}

    def granted(name: str, endpoint: str = "") -> list[str]:
        return service.post(f"sys/capabilities{endpoint}", body, namespace=name).data["kv/a"]

    assert (granted("team"), granted("team/sub"), granted("")) == (["list"], ["read"], ["deny"])
    assert granted("team", "-accessor") == ["list"]
    assert granted("", "-accessor") == ["deny"]
    service.post("sys/namespaces/other")
    assert service.post("sys/capabilities-accessor", body, namespace="other").status == 400
    assert granted("other", "-self") == ["root"]
    service.put("sys/policies/acl/s", {"policy": 'path "+/sys/*" { capabilities = ["update"] }'})
    own = service.post("auth/token/create", {"policies": ["s"]}).auth["client_token"]
    answer = service.post("sys/capabilities-self", {"paths": ["sys/x"]}, namespace="team", token=own)
    assert answer.data["sys/x"] == ["update"]
