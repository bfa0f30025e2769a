"""Secrets' metadata over the wire: list, read, write, patch, delete."""

from __future__ import annotations

from typing import Any

import pytest

DEFAULTS: dict[str, Any] = {
    "cas_required": False,
    "current_version": 0,
    "custom_metadata": None,
    "delete_version_after": "0s",
    "max_versions": 0,
    "oldest_version": 0,
    "versions": {},
}


def read(service: Any, path: str = "app") -> dict[str, Any]:
    answer = service.get("secret/metadata/" + path)
    assert answer.status == 200
    data: dict[str, Any] = answer.data
    return data


def settings(service: Any, path: str = "app") -> dict[str, Any]:
    """What metadata says beside its times."""
    return {name: value for name, value in read(service, path).items() if not name.endswith("_time")}


# ---- list ----------------------------------------------------------------------------------------


def test_names_are_listed_folder_by_folder(service: Any) -> None:
    for path in ("b", "dir/b", "dir/sub/c", "dir", "ü/x", "Z"):
        service.post(f"secret/data/{path}", {"data": {}})
    service.post("secret/metadata/bare", {"max_versions": 1})
    service.delete("secret/data/b")

    for path in ("secret/metadata", "secret/metadata/"):
        assert service.list(path).data == {"keys": ["Z", "b", "bare", "dir", "dir/", "ü/"]}
    assert service.get("secret/metadata?list=true").data["keys"] == ["Z", "b", "bare", "dir", "dir/", "ü/"]
    assert service.list("secret/metadata/dir").data == {"keys": ["b", "sub/"]}
    assert service.get("secret/metadata/dir/sub?list=1").data == {"keys": ["c"]}


@pytest.mark.parametrize("path", ["", "/b", "/none", "/none/deep"])
def test_a_list_of_nothing_is_404(service: Any, path: str) -> None:
    if path == "/b":
        service.post("secret/data/b", {"data": {}})

    answer = service.list("secret/metadata" + path)

    assert (answer.status, answer.body) == (404, {"errors": []})


def test_a_list_that_is_neither_true_nor_false_is_refused(service: Any) -> None:
    assert service.get("secret/metadata?list=maybe").status == 400


# ---- read ----------------------------------------------------------------------------------------


def test_times_move_with_data_alone(service: Any) -> None:
    service.post("secret/data/app", {"data": {}})
    first = read(service)
    assert first["created_time"] == first["updated_time"] == first["versions"]["1"]["created_time"]
    service.advance("1h")
    service.post("secret/metadata/app", {"max_versions": 4})
    service.delete("secret/data/app")
    assert read(service)["updated_time"] == first["updated_time"]
    service.post("secret/data/app", {"data": {}})

    second = read(service)

    assert second["created_time"] == first["created_time"]
    assert second["updated_time"] == second["versions"]["2"]["created_time"] > first["updated_time"]
    assert (second["current_version"], second["oldest_version"], sorted(second["versions"])) == (2, 0, ["1", "2"])


def test_a_slash_at_the_end_reads_and_deletes_the_secret(service: Any) -> None:
    service.post("secret/data/app", {"data": {}})

    assert service.get("secret/metadata/app/").data == service.get("secret/metadata/app").data
    assert service.delete("secret/metadata/app/").status == 204
    assert service.get("secret/data/app").body == {"errors": []}


def test_what_is_not_there_cannot_be_read(service: Any) -> None:
    assert service.get("secret/metadata/none").body == {"errors": []}


# ---- write ---------------------------------------------------------------------------------------


def test_settings_are_written_one_by_one(service: Any) -> None:
    body = {"max_versions": 5, "cas_required": True, "delete_version_after": "30m", "custom_metadata": {"n": 1}}
    assert service.post("secret/metadata/app", body).status == 204
    expected = {**DEFAULTS, **body, "delete_version_after": "30m0s", "custom_metadata": {"n": "1"}}
    assert settings(service) == expected

    assert service.put("secret/metadata/app", {"custom_metadata": {"team": "x"}}).status == 204
    assert settings(service) == {**expected, "custom_metadata": {"team": "x"}}
    service.post("secret/metadata/app", {"max_versions": None, "cas_required": None, "delete_version_after": None})
    assert settings(service) == {
        **expected,
        "custom_metadata": {"team": "x"},
        "max_versions": 0,
        "cas_required": False,
    }
    service.post("secret/metadata/app", {"delete_version_after": 0, "custom_metadata": {}})
    assert settings(service) == DEFAULTS


@pytest.mark.parametrize("body", [{}, {"nonsense": 1}, {"delete_version_after": None}])
def test_a_body_without_settings_makes_nothing(service: Any, body: dict[str, Any]) -> None:
    answer = service.post("secret/metadata/app", body)

    assert (answer.status, answer.body) == (204, None)
    assert service.get("secret/metadata/app").status == 404


def test_custom_metadata_shows_in_every_answer(service: Any) -> None:
    service.post("secret/metadata/app", {"custom_metadata": {"team": "x"}})

    assert service.post("secret/data/app", {"data": {}}).data["custom_metadata"] == {"team": "x"}
    assert service.get("secret/data/app").data["metadata"]["custom_metadata"] == {"team": "x"}
    service.get("secret/metadata/app").data["custom_metadata"]["team"] = "changed by the caller"
    assert settings(service)["custom_metadata"] == {"team": "x"}
    service.post("secret/metadata/app", {"custom_metadata": None})
    assert settings(service)["custom_metadata"] is None


@pytest.mark.parametrize("verb", ["post", "patch"])
def test_what_the_engine_mandates_is_told(service: Any, verb: str) -> None:
    service.post("secret/config", {"cas_required": True})
    service.post("secret/metadata/app", {"cas_required": True})

    answer = getattr(service, verb)("secret/metadata/app", {"cas_required": False})

    assert (answer.status, answer.data) == (200, None)
    assert answer.warnings == [
        '"cas_required" set to false, but is mandated by backend config. This value will be ignored.'
    ]
    assert settings(service)["cas_required"] is False
    assert getattr(service, verb)("secret/metadata/app", {"max_versions": 3}).status == 204
    assert getattr(service, verb)("secret/metadata/app", {"cas_required": True}).status == 204


BAD = [
    {"max_versions": "x"},
    {"max_versions": -1},
    {"max_versions": 1.5},
    {"cas_required": "perhaps"},
    {"delete_version_after": "soon"},
    {"delete_version_after": "-5s"},
    {"custom_metadata": "x"},
    {"custom_metadata": {"k": {"nested": 1}}},
    {"custom_metadata": {"": "v"}},
    {"custom_metadata": {f"k{number}": "v" for number in range(65)}},
]


@pytest.mark.parametrize("body", BAD)
def test_a_refused_write_changes_nothing(service: Any, body: dict[str, Any]) -> None:
    refused = service.post("secret/metadata/app", {"cas_required": True, **body})

    assert refused.status == 400
    assert len(refused.errors) == 1
    assert not refused.errors[0].startswith("Field validation failed")
    assert service.get("secret/metadata/app").status == 404


# ---- patch ---------------------------------------------------------------------------------------


def test_a_patch_merges(service: Any) -> None:
    service.post("secret/metadata/app", {"max_versions": 5, "custom_metadata": {"a": "1", "b": "2"}})
    service.patch("secret/metadata/app", {"custom_metadata": {"b": None, "c": 3}})
    assert settings(service) == {**DEFAULTS, "max_versions": 5, "custom_metadata": {"a": "1", "c": "3"}}

    assert service.patch("secret/metadata/app", {"max_versions": None, "cas_required": True}).status == 204
    assert service.patch("secret/metadata/app", {"delete_version_after": "1h"}).status == 204
    nothing: tuple[dict[str, Any], ...] = ({}, {"delete_version_after": None}, {"custom_metadata": {}})
    for unchanging in nothing:
        assert service.patch("secret/metadata/app", unchanging).status == 204
    assert settings(service) == {
        **DEFAULTS,
        "cas_required": True,
        "delete_version_after": "1h0m0s",
        "custom_metadata": {"a": "1", "c": "3"},
    }

    service.patch("secret/metadata/app", {"delete_version_after": "0s", "custom_metadata": None, "cas_required": None})
    assert settings(service) == DEFAULTS


@pytest.mark.parametrize("body", [{}, {"max_versions": 1}, {"nonsense": 1}])
def test_a_patch_of_what_is_not_there(service: Any, body: dict[str, Any]) -> None:
    answer = service.patch("secret/metadata/none", body)

    assert (answer.status, answer.body) == (404, None)


@pytest.mark.parametrize("body", BAD)
def test_a_refused_patch_changes_nothing(service: Any, body: dict[str, Any]) -> None:
    service.post("secret/metadata/app", {"custom_metadata": {"a": "1"}})

    assert service.patch("secret/metadata/app", {"cas_required": True, **body}).status == 400
    assert service.patch("secret/metadata/none", body).status == 400
    assert settings(service) == {**DEFAULTS, "custom_metadata": {"a": "1"}}


@pytest.mark.parametrize(("headers", "status"), [({}, 400), ({"Content-Type": "application/json"}, 415)])
def test_a_patch_says_what_it_is(service: Any, headers: dict[str, str], status: int) -> None:
    service.post("secret/metadata/app", {"max_versions": 1})
    headers = {"X-Vault-Token": service.root_token, **headers}

    for path in ("secret/metadata/app", "secret/data/app"):
        assert service.request("PATCH", path, json={"max_versions": 2}, headers=headers).status == status


# ---- delete --------------------------------------------------------------------------------------


def test_deleting_metadata_deletes_all_versions_and_nothing_else(service: Any) -> None:
    for path in ("app", "app/1", "app/1/2", "apple"):
        for number in (1, 2):
            service.post(f"secret/data/{path}", {"data": {"v": number}})

    assert service.delete("secret/metadata/app").status == 204

    assert service.get("secret/data/app?version=1").body == {"errors": []}
    assert service.get("secret/metadata/app").status == 404
    assert service.list("secret/metadata").data == {"keys": ["app/", "apple"]}
    for path in ("app/1", "app/1/2", "apple"):
        assert service.get(f"secret/data/{path}?version=1").data["data"] == {"v": 1}
        assert service.get(f"secret/data/{path}").data["data"] == {"v": 2}
    service.post("secret/data/app", {"data": {"v": 9}, "options": {"cas": 0}})
    assert list(read(service)["versions"]) == ["1"]


def test_deleting_what_is_not_there_is_no_error(service: Any) -> None:
    assert service.delete("secret/metadata/none").status == 204


# ---- permissions -----------------------------------------------------------------------------------

# what is asked, the path that its policy names, the capability that allows it
NEEDED = [
    ("GET", "data/app", "data/app", "read"),
    ("POST", "data/app", "data/app", "update"),
    ("POST", "data/new", "data/new", "create"),
    ("PATCH", "data/app", "data/app", "patch"),
    ("DELETE", "data/app", "data/app", "delete"),
    ("GET", "subkeys/app", "subkeys/app", "read"),
    ("POST", "delete/app", "delete/app", "update"),
    ("POST", "undelete/app", "undelete/app", "update"),
    ("PUT", "destroy/app", "destroy/app", "update"),
    ("LIST", "metadata/dir", "metadata/dir/", "list"),
    ("GET", "metadata/app", "metadata/app", "read"),
    ("POST", "metadata/app", "metadata/app", "update"),
    ("POST", "metadata/new", "metadata/new", "create"),
    ("PATCH", "metadata/app", "metadata/app", "patch"),
    ("DELETE", "metadata/app", "metadata/app", "delete"),
    ("GET", "config", "config", "read"),
    ("POST", "config", "config", "update"),
]
CAPABILITIES = ("create", "read", "update", "patch", "delete", "list")
ENDPOINTS = ("data", "subkeys", "delete", "undelete", "destroy", "metadata")
BODY = {"data": {"a": 1}, "versions": [1], "max_versions": 3}


@pytest.mark.parametrize(("method", "path", "rule", "capability"), NEEDED)
def test_one_capability_on_one_path_allows_a_request_and_no_other_does(
    service: Any, method: str, path: str, rule: str, capability: str
) -> None:
    service.post("secret/data/app", {"data": {"a": 0}})
    service.post("secret/data/dir/b", {"data": {"a": 0}})

    def answers(rules: str) -> int:
        """Ask with a token whose only policy says this."""
        service.post("sys/policies/acl/one", {"policy": rules})
        token = service.post("auth/token/create", {"policies": ["one"], "no_default_policy": True}).auth["client_token"]
        headers = {"X-Vault-Token": token, "Content-Type": "application/merge-patch+json"}
        answer = service.request(method, f"/v1/secret/{path}", json=BODY, headers=headers)
        status: int = answer.status
        return status

    others = ", ".join(f'"{name}"' for name in CAPABILITIES if name != capability)
    elsewhere = (f"{name}/{rule.partition('/')[2]}" for name in ENDPOINTS if not rule.startswith(name + "/"))
    everything = ", ".join(f'"{name}"' for name in CAPABILITIES)
    refused = f'path "secret/{rule}" {{ capabilities = [{others}] }}\n' + "\n".join(
        f'path "secret/{other}" {{ capabilities = [{everything}] }}' for other in elsewhere
    )

    assert answers(refused) == 403
    assert answers(f'path "secret/{rule}" {{ capabilities = ["{capability}"] }}') in (200, 204)
