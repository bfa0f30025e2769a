"""The cloud's door: tokens, keys and metadata over HTTP, and no host but this machine's and the cloud's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from labkit import Cloud, Vault
from labkit.doors.cloud_door import CloudApp, CloudDoor
from labkit.doors.server_thread import DoorSettings
from labkit.service.message import respond

TOKEN = "/machines/web-1/metadata/identity/oauth2/token?api-version=2018-02-01&resource=api://x"


@pytest.fixture(scope="module")
def vault() -> Vault:
    return Vault.dev(seed=1)


@pytest.fixture
def cloud(vault: Vault) -> Cloud:
    return vault.cloud


@pytest.fixture(scope="module")
def url(vault: Vault) -> Iterator[str]:
    with CloudDoor(lambda *asked, **named: vault.cloud.request(*asked, **named)) as address:
        yield address


def got(url: str, path: str, **headers: str) -> Any:
    return requests.get(url + path, headers=headers, timeout=10)


def test_a_machines_token_and_the_keys_that_verify_it(cloud: Cloud, url: str) -> None:
    answer = got(url, TOKEN, Metadata="true")

    assert answer.json()["access_token"] == cloud.vm("web-1").token("api://x")
    numbers = [(key["kid"], key["n"]) for key in cloud.jwks()["keys"]]
    for path, host in (("/login.cloud.test/common", ""), ("/common", "login.cloud.test"), ("/common", "localhost")):
        found = got(url, f"{path}/discovery/keys", **({"Host": host} if host else {})).json()["keys"]
        assert [(key["kid"], key["n"]) for key in found] == numbers
    assert got(url, TOKEN).status_code == 400
    assert "simulated cloud" in got(url, "/").text


def test_documents_name_addresses_below_the_one_that_was_asked(cloud: Cloud, url: str) -> None:
    tenant = cloud.config["tenant_id"]
    for base in (f"{url}/{tenant}", f"{url}/login.cloud.test/{tenant}"):
        for version in ("", "/v2.0"):
            found = got(f"{base}{version}", "/.well-known/openid-configuration").json()
            assert found["issuer"] == f"https://sts.cloud.test/{tenant}/"
            assert found["token_endpoint"] == f"{base}/oauth2{version}/token"
            keys = got(found["jwks_uri"], "").json()["keys"]
            assert [key["kid"] for key in keys] == [key["kid"] for key in cloud.jwks()["keys"]]
    asked = f"/common/discovery/instance?authorization_endpoint={url}/{tenant}/oauth2/v2.0/authorize"
    document = got(url, asked).json()["tenant_discovery_endpoint"]
    assert got(document, "").json()["issuer"] == f"https://sts.cloud.test/{tenant}/"
    assert got(url, "/common/discovery/instance").json()["error"] == "invalid_instance"


def test_one_value_of_a_machine_is_text(url: str) -> None:
    path = "/machines/web-1/metadata/instance/compute/location?api-version=2021-02-01&format=text"
    answer = got(url, path, Metadata="true")

    assert (answer.headers["Content-Type"], answer.text) == ("text/plain; charset=utf-8", "westeurope")


def test_an_application_sends_a_form(cloud: Cloud, url: str) -> None:
    config = cloud.config
    form = {"grant_type": "client_credentials", "resource": "https://management.cloud.test/"}
    form |= {name: config[name] for name in ("client_id", "client_secret")}
    token = requests.post(f"{url}/login.cloud.test/{config['tenant_id']}/oauth2/token", data=form, timeout=10).json()
    vm = cloud.vm("web-1")
    found = got(
        url,
        f"/management.cloud.test{vm.resource_id}?api-version=2024-07-01",
        Authorization=f"Bearer {token['access_token']}",
    )

    assert found.json()["identity"]["principalId"] == vm.principal_id


def test_a_foreign_host_that_leads_here_is_refused(url: str) -> None:
    port = url.rpartition(":")[2]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", f"login.cloud.test.evil:{port}"):
        assert got(url, TOKEN, Metadata="true", Host=host).status_code == 403, host
    for host in (f"localhost:{port}", "localhost", f"[::1]:{port}"):
        assert got(url, TOKEN, Metadata="true", Host=host).status_code == 200, host


def test_odd_requests_are_answered(cloud: Cloud, url: str) -> None:
    posted = requests.post(f"{url}/login.cloud.test/x/oauth2/token", data=b"\xff", timeout=10)
    assert posted.status_code == 400
    for path in ("/%ff", "/moon", "/machines//x", "/machines/moon/x", "/" + "a" * 5_000):
        assert 400 <= got(url, path).status_code < 500, path
    cloud.outage("keys")
    assert got(url, "/login.cloud.test/common/discovery/keys").status_code == 503
    cloud.recover("keys")


def test_it_leads_to_the_cloud_that_a_reset_vault_has(vault: Vault, cloud: Cloud, url: str) -> None:
    cloud.outage()
    assert got(url, TOKEN, Metadata="true").status_code == 503
    vault.reset()

    assert got(url, TOKEN, Metadata="true").json()["access_token"] == vault.cloud.vm("web-1").token("api://x")


def test_it_says_where_it_is(cloud: Cloud) -> None:
    door = CloudDoor(cloud.request)
    assert repr(door) == "CloudDoor(closed)"
    door.open()
    assert repr(door) == f"CloudDoor({door.url})"
    assert door.url.startswith("http://127.0.0.1:")
    door.close()


def asked_by(app: CloudApp, path: str, content: bytes = b"", method: str = "GET", **scope: Any) -> tuple[int, bytes]:
    """Status and body of the answer of an application to who stands in the scope."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": content}

    async def send(message: Any) -> None:
        sent.append(message)

    host = scope.pop("host", b"127.0.0.1:1")
    whole = {"type": "http", "method": method, "raw_path": path.encode(), "query_string": b"", **scope}
    asyncio.run(app({**whole, "headers": [(b"host", host)] if host else []}, receive, send))
    return sent[0]["status"], sent[1]["body"]


def test_the_cloud_is_asked_with_the_address_of_who_asks() -> None:
    seen: list[Any] = []

    def ask(*asked: Any, remote_address: str, origin: str) -> Any:
        seen.append((*asked[:3], remote_address, origin))
        return respond(204)

    app = CloudApp(ask, DoorSettings(max_request_bytes=10))
    assert asked_by(app, "/a", client=("127.0.0.9", 7))[0] == 204
    assert asked_by(app, "/a", b"{}", "POST")[0] == 204
    assert asked_by(app, "/a", client=None, host=b"")[0] == 204
    assert asked_by(app, "/", host=b"login.cloud.test")[0] == 204, "the path / of a part of the cloud is its own"
    assert seen == [
        ("GET", "/a", None, "127.0.0.9", "http://127.0.0.1:1"),
        ("POST", "/a", {}, "127.0.0.1", "http://127.0.0.1:1"),
        ("GET", "/a", None, "127.0.0.1", ""),
        ("GET", "/", None, "127.0.0.1", "http://login.cloud.test"),
    ]


def test_what_the_cloud_is_not_asked() -> None:
    lines: list[str] = []
    app = CloudApp(lambda *asked, **named: respond(500), DoorSettings(max_request_bytes=10, log=lines.append))

    assert asked_by(app, "/")[0] == 200
    assert asked_by(app, "/a", host=b"evil.example")[0] == 403
    assert asked_by(app, "/a", host=b"evil.example:80")[0] == 403
    assert asked_by(app, "/a", b"x" * 11, "POST")[0] == 413
    assert asked_by(app, "/a", b"{", "POST")[0] == 400
    assert [line.rpartition(" ")[2] for line in lines] == ["200", "403", "403", "413", "400"]


def test_its_door_is_on_loopback_whatever_was_asked_for() -> None:
    door = CloudDoor(lambda *asked, **named: respond(204), settings=DoorSettings(host="0.0.0.0"))  # refused

    assert (door._thread._host, door._port) == ("127.0.0.1", 0)
