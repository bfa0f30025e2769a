"""Tokens renewed: how long they live then, and what cannot be renewed."""

from __future__ import annotations

import pytest

from tests.token_requests import create_plain, is_alive


def test_life_is_given_again(service) -> None:
    auth = create_plain(service, {"ttl": "1h"})
    token = auth["client_token"]
    service.advance("30m")

    renewed = service.post("auth/token/renew", {"token": token})
    assert renewed.auth == auth | {"lease_duration": 3_600}
    assert renewed.data is None
    own = service.post("auth/token/renew-self", {"increment": "10m"}, token=token).auth
    assert (own["lease_duration"], own["client_token"]) == (600, token)
    body = {"accessor": auth["accessor"], "increment": 1200}
    by_accessor = service.post("auth/token/renew-accessor", body).auth
    assert (by_accessor["lease_duration"], by_accessor["client_token"]) == (1_200, "")


def test_it_ends_at_the_maximum(service) -> None:
    token = create_plain(service, {"ttl": "1h", "explicit_max_ttl": "90m"})["client_token"]
    service.advance("45m")
    renewed = service.post("auth/token/renew-self", token=token)

    assert renewed.auth["lease_duration"] == 2_700
    assert renewed.warnings == ['TTL of "1h" exceeded the effective max_ttl of "45m"; TTL value is capped accordingly']
    service.advance("45m")
    assert not is_alive(service, token)


def test_a_periodic_token_lives_on(service) -> None:
    token = create_plain(service, {"period": "1h"})["client_token"]
    for _ in range(1_000):
        service.advance("59m")
        renewed = service.post("auth/token/renew-self", {"increment": "5h"}, token=token)
        assert renewed.auth["lease_duration"] == 3_600


def test_a_role_s_period_is_what_it_is_now(service) -> None:
    service.post("auth/token/roles/r", {"token_period": "1h"})
    token = service.post("auth/token/create/r", {"policies": ["default"]}).auth["client_token"]
    service.post("auth/token/roles/r", {"token_period": "2h"})
    assert service.post("auth/token/renew-self", token=token).auth["lease_duration"] == 7_200

    service.delete("auth/token/roles/r")
    refused = service.post("auth/token/renew-self", token=token)
    assert refused.errors == ['original token role "r" could not be found, not renewing']


@pytest.mark.parametrize(
    ("body", "text"),
    [({}, "missing token ID"), ({"token": "none"}, "token not found")],
)
def test_nothing_to_renew(service, body, text: str) -> None:
    refused = service.post("auth/token/renew", body)
    assert (refused.status, refused.errors) == (400, [text])


@pytest.mark.parametrize("increment", [{}, [], {"a": 1}, [60], "x"])
def test_an_increment_that_is_no_duration_is_refused(service, increment) -> None:
    token = service.post("auth/token/create", {"ttl": "1h"}).auth["client_token"]

    assert service.post("auth/token/renew", {"token": token, "increment": increment}).status == 400
    for nothing in (None, "", 0):
        assert service.post("auth/token/renew", {"token": token, "increment": nothing}).ok


def test_what_cannot_be_renewed(service) -> None:
    fixed = create_plain(service, {"renewable": False})["client_token"]
    assert service.post("auth/token/renew", {"token": fixed}).errors == ["lease is not renewable"]
    assert service.post("auth/token/renew-self").errors == ["invalid lease ID"]
    token = create_plain(service)["client_token"]
    assert service.post("auth/token/renew", {"token": token, "increment": "x"}).status == 400


def test_renewing_keeps_the_use_that_it_cost(service) -> None:
    token = create_plain(service, {"num_uses": 3})["client_token"]
    assert service.post("auth/token/renew-self", token=token).auth["num_uses"] == 2
    assert service.post("auth/token/lookup", {"token": token}).data["num_uses"] == 2


def test_a_renewal_gives_again_what_the_last_one_gave(service, clock):
    auth = create_plain(service, {"ttl": "1h"})
    by_accessor, by_text = {"accessor": auth["accessor"]}, {"token": auth["client_token"]}

    def renewed_s(how, body):
        return service.post(f"auth/token/{how}", body).auth["lease_duration"]

    assert renewed_s("renew-accessor", by_accessor) == 3_600
    assert renewed_s("renew", by_text | {"increment": "30m"}) == 1_800
    assert [renewed_s("renew-accessor", by_accessor), renewed_s("renew", by_text)] == [1_800] * 2
    assert renewed_s("renew-accessor", by_accessor | {"increment": 600}) == 600
    assert renewed_s("renew", by_text) == 600
    shown = service.get("auth/token/lookup-self", token=auth["client_token"]).data
    assert (shown["creation_ttl"], shown["ttl"]) == (3_600, 600)


def test_the_token_s_own_namespace_says_how_long(service):
    """Its mount's maximum and its role hold, wherever the request is made."""
    service.post("sys/namespaces/team")
    service.post("sys/auth/token/tune", {"max_lease_ttl": "2h", "default_lease_ttl": "1h"}, namespace="team")
    service.post("auth/token/roles/r", {"token_period": "90s"}, namespace="team")
    plain = service.post("auth/token/create", {"policies": ["default"]}, namespace="team").auth
    periodic = service.post("auth/token/create/r", {"policies": ["default"]}, namespace="team").auth

    for namespace in ("", "team"):
        for auth, seconds in ((plain, 7_200), (periodic, 90)):
            body = {"token": auth["client_token"], "increment": "20h"}
            renewed = service.post("auth/token/renew", body, namespace=namespace)
            assert renewed.auth["lease_duration"] == seconds
    service.delete("auth/token/roles/r", namespace="team")
    refused = service.post("auth/token/renew", {"token": periodic["client_token"]})
    assert refused.errors == ['original token role "r" could not be found, not renewing']
