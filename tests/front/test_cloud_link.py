"""Cloud link: a vault's own cloud is made when it is asked for, and its hosts are reached in process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labkit import Cloud, Vault
from labkit.front.cloud_link import CONFIG, CloudLink
from labkit.service.message import Fetch, Request, Response, respond, silence
from labkit.vault.storage.memory import MemoryStorage

KEYS = Fetch("https://login.cloud.test", Request("GET", "/common/discovery/keys"))


class Beside:
    """Stands for a vault's login method: what is stored, and what was asked."""

    def __init__(self, stored: dict[str, Any] | None = None, status: int = 0) -> None:
        self.stored, self.status = stored, status
        self.asked: list[str] = []

    def handle(self, request: Request) -> Response:
        assert request.path == CONFIG
        self.asked.append(request.method)
        if self.status:
            return respond(self.status)
        if request.method == "POST":
            self.stored = request.body
            return respond(204)
        return respond(404, {"errors": []}) if self.stored is None else respond(200, {"data": self.stored})


@pytest.fixture(scope="module")
def cloud() -> Cloud:
    return Cloud.dev(seed=1)


def test_the_first_touch_configures_the_login_method(cloud: Cloud) -> None:
    beside, link = Beside(), CloudLink(lambda: cloud)
    for _ in range(2):
        assert link.connect(beside.handle, "t") is cloud

    assert beside.stored == cloud.config
    assert beside.asked == ["GET", "POST"]


def test_a_configuration_of_ones_own_stays_unless_it_was_another_processs(cloud: Cloud) -> None:
    mine = {"tenant_id": "99999999-0000-4000-8000-000000000002"}
    beside, opened = Beside(mine), Beside(mine)
    CloudLink(lambda: cloud).connect(beside.handle, "t")
    CloudLink(lambda: cloud, replaces=True).connect(opened.handle, "t")

    assert beside.stored == mine
    assert opened.stored == cloud.config
    CloudLink(lambda: cloud, replaces=True).connect(opened.handle, "t")
    assert opened.asked == ["GET", "POST", "GET"]


def test_what_cannot_be_configured_is_looked_at_again(cloud: Cloud) -> None:
    sealed, link = Beside(status=503), CloudLink(lambda: cloud)
    assert link.connect(sealed.handle, "t") is cloud
    sealed.status = 0
    link.connect(sealed.handle, "t")

    assert sealed.stored == cloud.config


def test_only_the_clouds_hosts_are_reached_here(cloud: Cloud) -> None:
    made = []

    def make() -> Cloud:
        made.append(1)
        return cloud

    link = CloudLink(make)
    other = link.fetch(Fetch("http://paris-1:8200", Request("GET", "/")), lambda fetch: silence("elsewhere"))
    cluster = link.fetch(KEYS._replace(channel="cluster"), lambda fetch: silence("elsewhere"))

    assert (other.status, cluster.status, made) == (0, 0, [])
    assert link.fetch(KEYS, lambda fetch: silence("elsewhere")).body == cloud.jwks()
    assert made == [1]


def test_a_vault_has_a_cloud_of_its_own_or_the_given_one(cloud: Cloud, tmp_path: Path) -> None:
    vault = Vault.dev(seed=7)

    assert vault.cloud is vault.cloud
    assert vault.cloud.state() == Vault.dev(seed=7).cloud.state() != Vault.dev(seed=8).cloud.state()
    vault.advance("1h")
    assert vault.cloud.parts.now() == vault.now()
    made = vault.cloud
    assert len(vault.calls) == 0
    vault.reset()
    assert vault.cloud is not made
    assert vault.cloud.state() == Vault.dev(seed=7).cloud.state()
    assert Vault.dev(cloud=cloud).cloud is cloud
    opened = Vault.open(str(tmp_path / "lab.db"))
    assert opened.cloud.vm("web-1").name == "web-1"
    opened.close()


def test_a_fetch_of_a_vault_reaches_its_cloud() -> None:
    vault = Vault.dev(seed=7)

    assert vault._fetch(KEYS).ok
    assert vault._fetch(KEYS._replace(address="http://paris-1:8200")).status == 0


def test_a_vault_that_its_environment_configures_is_left_to_that(cloud: Cloud) -> None:
    vault = Vault.dev(seed=7, cloud=cloud, environ={"CLOUD_TENANT_ID": "mine"})

    assert vault.cloud is cloud
    assert vault.get("auth/cloud/config").status == 404
    assert Vault.dev(seed=7, cloud=cloud, environ={"HOME": "x"}).get("auth/cloud/config").ok


def test_what_is_no_cloud_is_refused() -> None:
    with pytest.raises(ValueError, match=r"cloud: expected a cloud, such as Cloud.dev\(\) makes, or None, got 7"):
        Vault.dev(cloud=7)  # type: ignore[arg-type]  # that is the point
    bare = Vault(MemoryStorage(), Vault.dev(seed=1).environment)
    with pytest.raises(ValueError, match="this vault has no cloud beside it"):
        bare.cloud  # noqa: B018 - the look-up itself is what is tested


def test_a_vault_that_is_configured_for_this_cloud_is_asked_once(cloud: Cloud) -> None:
    configured = Beside(dict(cloud.config))
    for replaces in (True, False):
        link = CloudLink(lambda: cloud, replaces=replaces)
        configured.asked.clear()
        for _ in range(3):
            assert link.connect(configured.handle, "t") is cloud
        assert configured.asked == ["GET"]
    unasked = CloudLink(lambda: cloud, configures=False)
    configured.asked.clear()
    assert unasked.connect(configured.handle, "t") is cloud
    assert configured.asked == []


def test_a_vault_that_fails_is_looked_at_again_in_the_name_of_the_same_token(cloud: Cloud) -> None:
    beside, link, headers = Beside(), CloudLink(lambda: cloud), list[dict[str, str]]()

    def handle(request: Request) -> Response:
        headers.append(dict(request.headers))
        return beside.handle(request)

    beside.status = 500
    link.connect(handle, "t")
    beside.status = 0
    link.connect(handle, "t")

    assert beside.asked == ["GET", "GET", "POST"]
    assert headers == [{"X-Vault-Token": "t"}] * 3
