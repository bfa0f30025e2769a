"""Identity provider: discovery for a tenant, published keys, and tokens for who has a secret."""

from __future__ import annotations

from base64 import b64encode
from typing import Any
from urllib.parse import quote_plus

import pytest

from labkit.cloud.application_directory import LIFETIME_NS
from labkit.front.cloud import Cloud
from tests.cloud.conftest import Ask, MovedClock, credentials


def test_discovery_names_the_issuer_and_where_keys_are(cloud: Cloud, ask: Ask) -> None:
    tenant = cloud.vm("web-1").tenant_id
    found = ask("login", "GET", f"/{tenant}/.well-known/openid-configuration").body

    assert found["issuer"] == f"https://sts.cloud.test/{tenant}/"
    assert ask("login", "GET", f"/{tenant.upper()}/.well-known/openid-configuration").body == found
    assert found["jwks_uri"] == f"https://login.cloud.test/{tenant}/discovery/keys"
    assert found["id_token_signing_alg_values_supported"] == ["RS256"]
    assert ask("login", "GET", found["jwks_uri"].removeprefix("https://login.cloud.test")).body == cloud.jwks()
    common = ask("login", "GET", "/common/.well-known/openid-configuration").body
    assert common["issuer"] == "https://sts.cloud.test/{tenantid}/"


def test_what_is_not_there_is_refused(cloud: Cloud, ask: Ask) -> None:
    tenant = cloud.vm("web-1").tenant_id
    cases: list[tuple[str, str, str, int, str]] = [
        ("login", "GET", "/nowhere/.well-known/openid-configuration", 400, "invalid_tenant"),
        ("login.china", "GET", f"/{tenant}/.well-known/openid-configuration", 400, "invalid_tenant"),
        ("login", "POST", "/common/oauth2/token", 400, "invalid_tenant"),
        ("login", "POST", f"/{tenant}/discovery/keys", 405, "MethodNotAllowed"),
        ("login", "GET", f"/{tenant}/oauth2/token", 405, "MethodNotAllowed"),
        ("login", "GET", f"/{tenant}/other", 404, "NotFound"),
        ("login", "GET", "/", 404, "NotFound"),
    ]
    for part, method, path, status, code in cases:
        answer = ask(part, method, path)
        error = answer.body["error"]
        assert (answer.status, error if isinstance(error, str) else error["code"]) == (status, code), path


@pytest.mark.parametrize("path", ["oauth2/token", "oauth2/v2.0/token"])
def test_an_application_gets_a_token_for_its_secret(cloud: Cloud, ask: Ask, path: str) -> None:
    audience = {"scope": "api://x/.default"} if "v2.0" in path else {"resource": "api://x"}
    answer = ask("login", "POST", f"/{cloud.config['tenant_id']}/{path}", credentials(cloud) | audience)
    claims = cloud.parts.claims_of("CloudPublicCloud", answer.body["access_token"])

    assert (answer.body["token_type"], answer.body["expires_in"]) == ("Bearer", 3_600)
    assert claims is not None
    assert (claims["aud"], claims["appid"], claims["appidacr"]) == ("api://x", cloud.config["client_id"], "1")


def test_every_other_request_for_a_token_is_refused(cloud: Cloud, ask: Ask, clock: MovedClock) -> None:
    other = cloud.inventory.add_tenant().tenant_id
    good: dict[str, Any] = credentials(cloud) | {"resource": "api://x"}

    def refused(tenant: str = cloud.config["tenant_id"], **changes: Any) -> Any:
        body = ask("login", "POST", f"/{tenant}/oauth2/token", good | changes).body
        return body["error"], body.get("error_codes")

    assert refused(grant_type="password") == ("unsupported_grant_type", None)
    assert refused(resource="") == ("invalid_request", None)
    assert refused(client_secret="wrong") == ("invalid_client", [7000215])
    assert refused(client_secret="é\ud800") == ("invalid_client", [7000215])
    assert refused(client_secret=7) == ("invalid_client", [7000215])
    assert refused(client_id="unknown") == ("unauthorized_client", [700016])
    assert refused(tenant=other) == ("unauthorized_client", [700016])
    assert refused(tenant="moon") == ("invalid_tenant", [90002])
    assert ask("login", "POST", f"/{cloud.config['tenant_id']}/oauth2/token", None).body["error"] == (
        "unsupported_grant_type"
    )
    clock.move(LIFETIME_NS / 1e9 + 1)
    assert refused() == ("invalid_client", [7000222])


def basic(client_id: str, secret: str) -> str:
    return "Basic " + b64encode(f"{quote_plus(client_id)}:{quote_plus(secret)}".encode()).decode()


def test_a_secret_is_shown_by_http_basic_too(cloud: Cloud, ask: Ask) -> None:
    config = cloud.config
    path, form = f"/{config['tenant_id']}/oauth2/token", {"grant_type": "client_credentials", "resource": "api://x"}

    def status(header: str) -> int:
        answer: Any = ask("login", "POST", path, form, Authorization=header)
        return int(answer.status)

    assert status(basic(config["client_id"], config["client_secret"])) == 200
    assert status(basic(config["client_id"], "wrong")) == 401
    for odd in ("Basic", "Basic x", "Basic é", "Basic " + b64encode(b"\xff:x").decode(), "Basic ====", "Bearer x"):
        assert status(odd) == 400, odd
