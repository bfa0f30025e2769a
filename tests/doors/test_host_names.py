"""Host names: under which names, and from which pages, a served world with a seed is asked."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from labkit import Lab, Vault
from labkit.doors.host_names import OPTION, HostNames, judged_name
from labkit.doors.served_door import ServedDoor
from labkit.doors.server_thread import DoorSettings

OWN = (
    *("", "localhost", "LOCALHOST:8200", "x.localhost", "127.0.0.1", "127.9.8.7:1", "127.0.0.1:"),
    *("[::1]", "[::1]:8200"),
)
FOREIGN = (
    *("evil.example", "127.0.0.1.evil.example", "localhost.", "localhost.evil.example", "notlocalhost", "192.0.2.1"),
    *("127.0.0.256", "127.1", "[::2]", "::1", "localhost:x", "user@localhost", "[::1]evil", "evil:80:80", "0.0.0.0"),
)


def test_loopback_names_count_and_ports_do_not() -> None:
    names = HostNames()

    assert [host for host in OWN if not names.has_host(host)] == []
    assert [host for host in FOREIGN if names.has_host(host)] == []
    assert [host for host in OWN if host and not names.has_origin(f"http://{host}")] == []
    assert not any(
        map(names.has_origin, ("null", "", "http://", "localhost", "ftp://localhost", "http://evil.example"))
    )


def test_names_that_were_given_count_too() -> None:
    names = HostNames(["Drill.example", "[fd00::1]"], also=lambda host: host.endswith(".cloud.test"))

    assert all(map(names.has_host, ("drill.EXAMPLE:8200", "[fd00::1]:1", "login.cloud.test", "localhost")))
    assert not any(map(names.has_host, ("x.drill.example", "example", "cloud.test.evil")))
    for text in ("", "a b", "a:80", "http://a", "-", "a/b", "*", "ä", "a\n"):
        with pytest.raises(ValueError, match="expected a host's name"):
            judged_name(text)


def test_no_more_than_some_spellings_are_remembered() -> None:
    names = HostNames()
    for port in range(1_000):
        assert names.has_host(f"localhost:{port}")
    assert len(names._known) < 100


def status(url: str, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    """Status and text of an answer."""
    address = urlsplit(url)
    line = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)
    try:
        line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": "localhost", **headers}.items():
            line.putheader(name.replace("_", "-"), value)
        line.endheaders()
        answer = line.getresponse()
        return answer.status, answer.read().decode()
    finally:
        line.close()


@pytest.fixture(params=["vault", "lab"])
def served(request: pytest.FixtureRequest) -> Iterator[tuple[Any, str]]:
    """A served world with a seed, and its URL."""
    if request.param == "vault":
        vault = Vault.dev(seed=7)
        with vault.serve() as url:
            yield vault, url
    else:
        lab = Lab.pair(seed=7)
        with lab.serve() as urls:
            yield lab["paris"], urls["paris"]


@pytest.mark.parametrize("extra", [{}, {"TE": "x"}])  # read plainly, and by h11
def test_another_name_gets_nothing_of_a_world_with_a_seed(served: tuple[Any, str], extra: dict[str, str]) -> None:
    service, url = served
    token = {"X_Vault_Token": service.root_token, **extra}

    assert status(url, "/v1/sys/mounts", **token)[0] == 200
    assert status(url, "/v1/sys/mounts", Origin="http://localhost:1", **token)[0] == 200
    for path in ("/v1/sys/mounts", "/v1/sys/health", "/", "/page.js", "/moon"):
        for foreign in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
            refused, said = status(url, path, **foreign, **token)
            assert (refused, OPTION in said) == (403, True), (path, foreign)
    assert status(url, "http://evil.example/v1/sys/mounts", **token)[0] == 403
    assert status(url, "http://localhost/v1/sys/mounts", **{**token, "Host": "evil.example"})[0] == 200


def test_where_cors_is_configured_it_says_which_origins_are_allowed(served: tuple[Any, str]) -> None:
    service, url = served
    assert service.post("sys/config/cors", {"allowed_origins": ["http://good.example"]}).ok
    service.post("secret/data/app", {"data": {}})  # on the same lab: its active node has the configuration now

    assert status(url, "/v1/sys/health", Origin="http://good.example")[0] == 200
    refused, said = status(url, "/v1/sys/health", Origin="http://evil.example")
    assert (refused, "origin not allowed" in said) == (403, True)
    assert status(url, "/v1/sys/health", Host="evil.example", Origin="http://good.example")[0] == 403


@pytest.mark.slow
def test_a_name_that_was_given_and_a_world_without_a_seed() -> None:
    with ServedDoor(Vault.dev(seed=7), settings=DoorSettings(host_names=("drill.example",))) as url:
        assert status(url, "/v1/sys/health", Host="Drill.example:99")[0] == 200
        assert status(url, "/v1/sys/health", Host="x.drill.example")[0] == 403
    door = ServedDoor(Vault.dev())
    with door as url:
        assert status(url, "/v1/sys/health", Host="evil.example", Origin="http://evil.example")[0] == 200
        door.lead_to(Vault.dev(seed=7))
        assert status(url, "/v1/sys/health", Host="evil.example")[0] == 403
    with ServedDoor(Lab.pair(seed=7)["paris"]) as url:
        assert status(url, "/v1/sys/health", Host="evil.example")[0] == 403


def test_a_spelling_that_was_let_in_is_known_and_one_that_was_not_is_judged_again() -> None:
    names = HostNames(["Drill.example"])
    for host, known in (("localhost:1", True), ("drill.example", True), ("evil.example", False)):
        assert names.admit({"host": host}) == known
        assert (host in names._known) == known
    assert names.admit({"host": "localhost:1", "origin": "http://evil.example"}) is False
    assert names.admit({"host": "localhost:1", "origin": "http://evil.example"}, lambda: True) is True
    assert repr(names) == "HostNames(loopback, drill.example)"
