"""A served lab: real clients of its clusters, verbs meanwhile, time that stands or passes by itself."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import hvac
import pytest
import requests

from labkit import Lab
from labkit.doors.lab_app import LabApp
from labkit.doors.served_lab import ServedLab, judged_port
from labkit.doors.server_thread import DoorSettings, NoServer
from labkit.lab.plan.blueprint import CloudPlan, pair
from labkit.lab.snapshot import Snapshot

SECOND_NS = 1_000_000_000


@pytest.fixture(scope="module")
def replicating() -> Snapshot:
    """Paris and tokyo, replicating."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    return lab.snapshot()


@pytest.fixture
def lab(replicating: Snapshot) -> Lab:
    return Lab.restore(replicating)


@pytest.fixture(scope="module")
def opened(replicating: Snapshot) -> Iterator[ServedLab]:
    """One door for most tests; each puts a lab of its own behind it."""
    found = Lab.restore(replicating).serve()
    with found:
        yield found


@pytest.fixture
def urls(lab: Lab, opened: ServedLab) -> dict[str, str]:
    opened.lead_to(lab.serve())
    return opened.urls


def read(lab: Lab, urls: dict[str, str], cluster: str, path: str, **how: Any) -> requests.Response:
    headers = {"X-Vault-Token": lab[cluster].root_token}
    return requests.get(f"{urls[cluster]}/v1/{path}", headers=headers, timeout=30, **how)


def test_each_cluster_has_a_port_and_clients_work_unchanged(lab: Lab, urls: dict[str, str]) -> None:
    client = hvac.Client(url=urls["paris"], token=lab["paris"].root_token)
    began_ns = lab.now
    assert client.secrets.kv.v2.create_or_update_secret("app", {"user": "ada"})["data"]["version"] == 1
    assert client.secrets.kv.v2.list_secrets("")["data"] == {"keys": ["app"]}
    client.adapter.close()

    assert began_ns < lab.now < began_ns + SECOND_NS
    assert read(lab, urls, "tokyo", "sys/health").status_code == 472
    assert requests.get(urls["tokyo"], timeout=10).headers["Content-Type"].startswith("text/html")
    assert requests.get(f"{urls['paris']}/sys/health", timeout=10).status_code == 404
    assert lab["paris"].get("secret/data/app").data["data"] == {"user": "ada"}


def test_verbs_are_called_while_it_is_served(lab: Lab, urls: dict[str, str]) -> None:
    lab["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    lab.run("1s")
    lab.crash("paris")
    assert read(lab, urls, "paris", "sys/health").status_code == 504
    lab["tokyo"].promote()

    assert read(lab, urls, "tokyo", "secret/data/app").json()["data"]["data"] == {"user": "ada"}


def test_a_sealed_cluster_says_so_and_is_unsealed_over_its_port(lab: Lab, urls: dict[str, str]) -> None:
    for node in lab["paris"].nodes:
        lab["paris"].put("sys/seal", node=node)
        lab.run("10s")
    assert lab["paris"].active == ""

    assert read(lab, urls, "paris", "sys/health").status_code == 503
    for share in lab["paris"].unseal_keys[:3]:
        answer = requests.put(f"{urls['paris']}/v1/sys/unseal", json={"key": share}, timeout=10)
    assert answer.json()["sealed"] is False
    lab.run("10s")
    assert read(lab, urls, "paris", "sys/health").status_code == 200


def test_the_same_calls_one_after_the_other_find_the_same_lab(
    lab: Lab, urls: dict[str, str], replicating: Snapshot
) -> None:
    beside, token = Lab.restore(replicating), lab["paris"].root_token
    for number in range(5):
        path, body = "/v1/secret/data/app", {"data": {"n": number}}
        requests.post(urls["paris"] + path, json=body, headers={"X-Vault-Token": token}, timeout=10)
        beside["paris"].request("POST", path, body, {"x-vault-token": token})
        lab.run("1s")
        beside.run("1s")

    assert lab.trace.digest() == beside.trace.digest()


def test_time_passes_by_itself_at_a_speed(lab: Lab) -> None:
    with lab.serve(speed=1_000_000) as urls:
        while lab.now < 100 * SECOND_NS:
            time.sleep(0.001)
        assert read(lab, urls, "paris", "sys/health").status_code == 200
        lab.crash("paris-1")
    now_ns = lab.now
    time.sleep(0.01)
    assert lab.now == now_ns


@pytest.mark.parametrize("speed", [0, pytest.param(20, marks=pytest.mark.slow)])
def test_clients_and_verbs_of_many_threads_meet(
    lab: Lab, opened: ServedLab, urls: dict[str, str], speed: float
) -> None:
    opened.driver.speed = speed
    versions: list[int] = []

    def write() -> None:
        with requests.Session() as session:
            session.headers["X-Vault-Token"] = lab["paris"].root_token
            for number in range(5):
                answer = session.post(
                    f"{urls['paris']}/v1/secret/data/shared", json={"data": {"n": number}}, timeout=60
                )
                versions.append(answer.json()["data"]["version"])

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        lab.partition("paris", "tokyo")
        lab.run("10ms")
        lab["paris"].post("secret/data/other", {"data": {}})
        lab.heal()
        lab.snapshot()
    for thread in threads:
        thread.join()
    opened.driver.speed = 0

    assert sorted(versions) == list(range(1, 41))
    assert lab.invariants.broken == {}
    lab.run("30s")
    assert lab["paris"].root == lab["tokyo"].root


def test_a_door_is_closed_and_the_lab_goes_on_without_it(lab: Lab) -> None:
    door = lab.serve()
    with door as urls:
        assert repr(door) == f"ServedLab({', '.join(urls.values())})"
        url = urls["paris"]
    door.close()

    assert repr(door) == "ServedLab(closed)"
    with pytest.raises(requests.ConnectionError):
        requests.get(f"{url}/v1/sys/health", timeout=10)
    assert not lab.parts.turns.shared
    assert lab.run("1s")["paris"].get("sys/health").ok


def test_its_ports_follow_one_another_where_the_first_is_given(lab: Lab) -> None:
    for first in range(20_000, 20_200, 2):  # of some of them others have taken the next
        with contextlib.suppress(NoServer), lab.serve(first) as urls:
            assert [int(url.rpartition(":")[2]) for url in urls.values()] == [first, first + 1]
            break
    else:
        pytest.fail("no two ports of 200 are free")
    with pytest.raises(ValueError, match="port: expected the first of 2 ports, or 0 for free ones"):
        lab.serve(65_535)


@pytest.mark.parametrize("speed", [-1, 1e9, float("nan"), "1", True, None])
def test_a_speed_that_cannot_be_had_is_refused(lab: Lab, speed: Any) -> None:
    with pytest.raises(ValueError, match="speed: expected simulated seconds in a second"):
        lab.serve(speed=speed)


def test_another_lab_stands_behind_a_door_that_leads_to_it(
    lab: Lab, opened: ServedLab, urls: dict[str, str], replicating: Snapshot
) -> None:
    plan = pair()
    other, small = Lab.restore(replicating), Lab(replace(plan, clusters=plan.clusters[:1]))
    lab["paris"].post("secret/data/app", {"data": {}})
    with pytest.raises(NoServer, match="this lab is served already"):
        lab.serve().open()

    opened.lead_to(other.serve())
    assert read(other, urls, "paris", "secret/data/app").status_code == 404
    with pytest.raises(ValueError, match="expected a lab of paris, tokyo"):
        opened.lead_to(small.serve())
    with lab.serve() as again:
        assert read(lab, again, "paris", "secret/data/app").status_code == 200


@pytest.mark.slow
def test_the_cloud_of_a_lab_has_a_port_and_its_machines_log_in_over_it() -> None:
    plan = pair()
    small = replace(plan, clusters=plan.clusters[:1])
    lab, other = [Lab(replace(small, cloud=CloudPlan(site="tokyo")), seed=seed) for seed in (5, 6)]
    bare = Lab(small, seed=5)
    vm, seen = lab.cloud.vm("web-1"), []
    paris, door = lab["paris"], lab.serve()
    for path, body in (
        ("sys/auth/cloud", {"type": "cloud"}),
        ("auth/cloud/config", lab.cloud.config),
        ("auth/cloud/role/web", {"bound_service_principal_ids": vm.principal_id}),
    ):
        assert paris.post(path, body).status == 204
    assert door.cloud_url == ""
    with door as urls:
        for _ in range(2):
            address = f"{door.cloud_url}/machines/web-1/metadata/identity/oauth2/token"
            query = {"api-version": "2018-02-01", "resource": vm.resource}
            asked = requests.get(address, query, headers={"Metadata": "true"}, timeout=10)
            login = {"role": "web", "jwt": asked.json()["access_token"], "vm_name": "web-1"}
            login |= {"subscription_id": vm.subscription_id, "resource_group_name": vm.resource_group}
            seen.append(requests.post(f"{urls['paris']}/v1/auth/cloud/login", json=login, timeout=30).status_code)
            lab.roll_keys()
        door.lead_to(other.serve())
        published = requests.get(f"{door.cloud_url}/login.cloud.test/common/discovery/keys", timeout=10).json()
    without = bare.serve()
    with without:
        assert without.cloud_url == ""

    assert (seen, door.cloud_url) == ([200, 200], "")
    numbers = [[key["n"] for key in keys["keys"]] for keys in (published, other.cloud.jwks(), lab.cloud.jwks())]
    assert numbers[0] == numbers[1] != numbers[2]
    assert bare.parts.clouds == {}


@pytest.mark.slow
def test_a_lab_with_a_port_that_is_taken_is_not_served() -> None:
    plan = pair()
    lab = Lab(replace(plan, clusters=plan.clusters[:1], cloud=CloudPlan(site="tokyo")), seed=5)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        for door in (lab.serve(number), lab.serve(settings=DoorSettings(cloud_port=number))):
            with pytest.raises(NoServer, match="cannot listen on"):
                door.open()
            assert (door.urls, door.cloud_url, lab.parts.turns.shared) == ({}, "", False)

    with door as urls:
        assert urls


def test_clients_of_a_lab_are_answered_plainly(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    usual = LabApp.answer_later

    async def count(self: LabApp, *given: Any) -> Any:
        asked.append(given[0])
        return await usual(self, *given)

    monkeypatch.setattr(LabApp, "answer_later", count)
    with lab.serve() as urls, requests.Session() as session:
        session.headers["X-Vault-Token"] = lab["paris"].root_token
        for number in range(1, 4):
            answer = session.post(f"{urls['paris']}/v1/secret/data/app", json={"data": {"n": number}}, timeout=30)
            assert answer.json()["data"]["version"] == number
        assert session.get(f"{urls['paris']}/v1/secret/data/app", timeout=30).json()["data"]["data"] == {"n": 3}
    assert asked == ["POST"] * 3 + ["GET"]


def test_without_a_port_and_a_speed_ports_are_free_ones_and_time_stands(lab: Lab) -> None:
    door = ServedLab(lab, lab._passage)

    assert (door._port, door.driver.speed, door.control.guard.key != "") == (0, 0, True)
    assert (repr(door), door.urls, door.cloud_url) == ("ServedLab(closed)", {}, "")


def test_what_may_be_asked_of_it_beside_the_api(lab: Lab) -> None:
    plain, controlled = (ServedLab(lab, lab._passage, settings=DoorSettings(control=yes)) for yes in (False, True))
    verb, page = ("POST", "/control/verbs/<name>"), ("GET", "/page/state")

    assert {verb, page} & {*plain.control._acts} == {page}
    assert {verb, page} <= {*controlled.control._acts}
    assert (plain._page.controlled, controlled._page.controlled) == (False, True)
    assert plain.app.beside is plain.control
    with pytest.raises(ValueError, match="this lab is another program's"):
        plain._begin_again()


def test_the_page_knows_where_each_cluster_is(lab: Lab) -> None:
    door = lab.serve()
    with door as urls:
        address = door.page
        headers = {"X-Labkit-Key": door.control.guard.key}
        overview = requests.get(f"{urls['tokyo']}/page/", headers=headers, timeout=10).json()
        with pytest.raises(NoServer, match="this lab is served already"):
            door.open()
    assert {name: cluster["url"] for name, cluster in overview["clusters"].items()} == urls
    assert address.startswith(f"{urls['paris']}/#key=")
    assert not lab.parts.turns.shared


@pytest.mark.parametrize(("count", "most"), [(1, 65_535), (2, 65_534), (3, 65_533)])
def test_as_many_ports_are_there_as_clusters(count: int, most: int) -> None:
    assert [judged_port(port, count) for port in (0, 1, most)] == [0, 1, most]
    for wrong in (most + 1, -1):
        with pytest.raises(ValueError, match=f"port: expected the first of {count} ports"):
            judged_port(wrong, count)
