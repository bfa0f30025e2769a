"""Libraries for the cloud that labkit's stands in for, unmodified, against its served door: nothing is patched."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import hvac
import jwt
import msal
import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session
from azure.identity import ClientSecretCredential, ManagedIdentityCredential
from joserfc import jwk as jose_keys
from joserfc import jwt as jose_tokens

from labkit import Vault
from labkit.doors.tls_files import make_tls_files

AUDIENCE = "https://management.cloud.test/"
SCOPE = f"{AUDIENCE}.default"


class Site(NamedTuple):
    """A vault's cloud behind two ports, with TLS and without, and how an application shows itself."""

    vault: Vault
    url: str
    plain: str
    authority: str
    config: dict[str, Any]

    @property
    def tenant(self) -> str:
        """The tenant's authority, as a library is given it."""
        return f"{self.url}/{self.config['tenant_id']}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    files = make_tls_files(tmp_path_factory.mktemp("tls"))
    vault = Vault.dev()  # of the wall clock, which libraries go by
    with vault.cloud.serve(tls=files) as url, vault.cloud.serve() as plain:
        yield Site(vault, url, plain, files.authority, vault.cloud.config)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, site: Site) -> None:
    """Take away what would lead elsewhere, and say where a machine's endpoint is."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", f"{site.plain}/machines/web-1")


def claims(site: Site, token: str) -> dict[str, Any]:
    """Verify a token as a service does that reads the tenant's document."""
    document = requests.get(
        f"{site.tenant}/v2.0/.well-known/openid-configuration", verify=site.authority, timeout=9
    ).json()
    context = ssl.create_default_context(cafile=site.authority)
    key = jwt.PyJWKClient(document["jwks_uri"], ssl_context=context).get_signing_key_from_jwt(token)
    audiences = [AUDIENCE, AUDIENCE.rstrip("/")]
    found: dict[str, Any] = jwt.decode(
        token, key.key, algorithms=["RS256"], audience=audiences, issuer=document["issuer"]
    )
    return found


def test_msal_gets_an_applications_token(site: Site) -> None:
    def app(secret: str) -> Any:
        return msal.ConfidentialClientApplication(
            site.config["client_id"],
            authority=site.tenant,
            client_credential=secret,
            instance_discovery=False,
            verify=site.authority,
        )

    found = app(site.config["client_secret"]).acquire_token_for_client([SCOPE])
    assert claims(site, found["access_token"])["appid"] == site.config["client_id"]
    refused = app("wrong").acquire_token_for_client([SCOPE])
    assert (refused["error"], refused["error_codes"]) == ("invalid_client", [7000215])
    assert {"timestamp", "trace_id", "correlation_id"} <= refused.keys()


def test_msal_gets_a_machines_token(site: Site) -> None:
    with requests.Session() as session:
        client = msal.ManagedIdentityClient(msal.SystemAssignedManagedIdentity(), http_client=session)
        found = client.acquire_token_for_client(resource=AUDIENCE)
        refused = client.acquire_token_for_client(resource="nothing")

    assert claims(site, found["access_token"])["oid"] == site.vault.cloud.vm("web-1").principal_id
    assert refused["error"] == "invalid_resource"


def test_azure_identity_gets_both(site: Site) -> None:
    names = (site.config["tenant_id"], site.config["client_id"], site.config["client_secret"])
    how: dict[str, Any] = {"disable_instance_discovery": True, "connection_verify": site.authority}
    with ClientSecretCredential(*names, authority=site.url, **how) as application:
        assert claims(site, application.get_token(SCOPE).token)["appid"] == site.config["client_id"]
    with ManagedIdentityCredential() as machine:
        assert claims(site, machine.get_token(SCOPE).token)["oid"] == site.vault.cloud.vm("web-1").principal_id


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_authlib_gets_and_verifies_a_token(site: Site, method: str) -> None:
    where = f"{site.tenant}/v2.0/.well-known/openid-configuration"
    with OAuth2Session(
        site.config["client_id"], site.config["client_secret"], token_endpoint_auth_method=method
    ) as session:
        session.verify = site.authority
        document = session.request("GET", where, withhold_token=True).json()
        token = session.fetch_token(document["token_endpoint"], grant_type="client_credentials", scope=SCOPE)
        keys = session.request("GET", document["jwks_uri"], withhold_token=True).json()
    found = jose_tokens.decode(token["access_token"], jose_keys.KeySet.import_key_set(keys), algorithms=["RS256"])

    assert found.claims["iss"] == document["issuer"]
    assert found.claims["appid"] == site.config["client_id"]


def test_hvac_logs_a_machine_in(site: Site) -> None:
    vault, vm = site.vault, site.vault.cloud.vm("web-1")
    vault.post("sys/auth/azure", {"type": "azure"})
    vault.post("auth/azure/config", site.config)
    vault.post("auth/azure/role/web", {"bound_resource_groups": ["web"]})
    client = msal.ManagedIdentityClient(msal.SystemAssignedManagedIdentity(), http_client=requests.Session())
    token = client.acquire_token_for_client(resource=AUDIENCE)["access_token"]
    with vault.serve() as url:
        answer = hvac.Client(url).auth.azure.login("web", token, vm.subscription_id, vm.resource_group, vm_name="web-1")

    assert answer["auth"]["metadata"]["resource_group_name"] == "web"
