"""The token that a request is about: named by text, by accessor, or the caller's own."""

from __future__ import annotations

import pytest


@pytest.fixture
def auth(service):
    return service.post("auth/token/create", {"policies": ["default"], "num_uses": 5}).auth


@pytest.mark.parametrize(
    ("path", "body", "text"),
    [
        ("renew", {}, "missing token ID"),
        ("renew", {"token": "none"}, "token not found"),
        ("renew-accessor", {}, "missing accessor"),
        ("renew-accessor", {"accessor": "none"}, "1 error occurred:\n\t* invalid accessor\n\n"),
        ("lookup-accessor", {}, "missing accessor"),
    ],
)
def test_a_token_that_is_not_there(service, path: str, body: dict[str, str], text: str) -> None:
    refused = service.post(f"auth/token/{path}", body)

    assert (refused.status, refused.errors) == (400, [text])


def test_every_name_of_a_token_leads_to_it(service, auth) -> None:
    token, accessor = auth["client_token"], auth["accessor"]
    by_text = service.post("auth/token/lookup", {"token": token}).data
    by_accessor = service.post("auth/token/lookup-accessor", {"accessor": accessor}).data

    assert by_text["accessor"] == by_accessor["accessor"] == accessor
    for path, body in (("renew", {"token": token}), ("renew-accessor", {"accessor": accessor})):
        assert service.post(f"auth/token/{path}", body).auth["accessor"] == accessor
    endless = service.post("auth/token/create", {"policies": ["default"]}).auth
    assert service.get("auth/token/lookup-self", token=endless["client_token"]).data["accessor"] == endless["accessor"]


def test_the_callers_own_is_read_after_its_use(service, auth) -> None:
    assert service.get("auth/token/lookup-self", token=auth["client_token"]).data["num_uses"] == 4
