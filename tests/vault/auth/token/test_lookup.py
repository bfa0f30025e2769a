"""Tokens looked up by each way of naming them, and the list of accessors."""

from __future__ import annotations

from tests.token_requests import create_plain

INVALID = ["2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n"]


def test_a_root_token_has_no_end(service) -> None:
    told = service.get("auth/token/lookup-self").data

    assert told == {
        "accessor": told["accessor"],
        "creation_time": 1_893_456_000,
        "creation_ttl": 0,
        "display_name": "root",
        "entity_id": "",
        "expire_time": None,
        "explicit_max_ttl": 0,
        "id": service.root_token,
        "meta": None,
        "num_uses": 0,
        "orphan": True,
        "path": "auth/token/root",
        "policies": ["root"],
        "ttl": 0,
        "type": "service",
    }


def test_times_of_a_token_that_ends(service) -> None:
    token = create_plain(service, {"ttl": "1h", "period": "1h"})["client_token"]
    service.advance("90s")
    service.post("auth/token/renew", {"token": token})
    service.advance("500ms")
    told = service.get("auth/token/lookup-self", token=token).data

    assert told["issue_time"] == "2030-01-01T00:00:00Z"
    assert told["last_renewal"] == "2030-01-01T00:01:30Z"
    assert told["last_renewal_time"] == 1_893_456_090
    assert told["expire_time"] == "2030-01-01T01:01:30Z"
    assert (told["ttl"], told["creation_ttl"], told["period"], told["renewable"]) == (3_600, 3_600, 3_600, True)


def test_ways_to_ask(service) -> None:
    auth = create_plain(service)
    token, accessor = auth["client_token"], auth["accessor"]
    wanted = service.get("auth/token/lookup-self", token=token).data

    assert service.post("auth/token/lookup", {"token": token}).data == wanted
    assert service.get(f"auth/token/lookup?token={token}").data == wanted
    assert service.post("auth/token/lookup-accessor", {"accessor": accessor}).data == wanted | {"id": ""}
    assert service.post("auth/token/lookup").data["id"] == service.root_token
    assert service.post("auth/token/lookup-self").data["id"] == service.root_token


def test_what_is_not_there(service) -> None:
    assert service.post("auth/token/lookup", {"token": "none"}).status == 403
    unknown = service.post("auth/token/lookup-accessor", {"accessor": "none"})
    assert (unknown.status, unknown.errors) == (400, ["1 error occurred:\n\t* invalid accessor\n\n"])
    assert service.post("auth/token/lookup-accessor").errors == ["missing accessor"]
    assert service.get("auth/token/lookup-self", token="none").errors == INVALID
    assert service.get("auth/token/lookup-self", token="").errors == ["permission denied"]


def test_a_bearer_is_told_its_own_token(service) -> None:
    headers = {"Authorization": f"Bearer {service.root_token}"}
    assert service.get("auth/token/lookup-self", token="", headers=headers).data["id"] == service.root_token


def test_accessors_are_listed(service) -> None:
    accessors = [create_plain(service)["accessor"] for _ in range(3)]
    root = service.get("auth/token/lookup-self").data["accessor"]
    assert service.list("auth/token/accessors").data == {"keys": sorted([root, *accessors])}


def test_what_a_role_gives_is_shown(service) -> None:
    service.post("auth/token/roles/web", {"token_bound_cidrs": ["127.0.0.0/8"], "token_period": "1h"})
    token = service.post("auth/token/create/web", {"policies": ["default"]}).auth["client_token"]
    shown = service.get("auth/token/lookup-self", token=token).data

    assert (shown["role"], shown["bound_cidrs"], shown["period"]) == ("web", ["127.0.0.0/8"], 3_600)
