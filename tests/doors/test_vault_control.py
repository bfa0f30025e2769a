"""Control of a served vault: clock, calls, failures, reset; from another process, by its key."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from labkit import Lab, Vault
from labkit.doors.control import ControlRequest
from labkit.doors.served_door import ServedDoor
from labkit.doors.server_thread import DoorSettings
from labkit.doors.vault_control import VaultControl, newest
from labkit.doors.worker import Worker
from tests.doors.conftest import done

Send = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def opened() -> Iterator[ServedDoor]:
    """One door for all tests; each puts a vault of its own behind it."""
    found = Vault.dev(seed=7).serve(control=True)
    with found:
        yield found


@pytest.fixture
def door(vault: Vault, opened: ServedDoor) -> ServedDoor:
    opened.lead_to(vault)
    return opened


@pytest.fixture
def send(door: ServedDoor) -> Send:
    assert door.control is not None
    headers = {"X-Labkit-Key": door.control.guard.key}

    def sent(method: str, path: str, body: Any = None, **more: str) -> tuple[int, Any]:
        how = {"json": body, "headers": {**headers, **more}, "timeout": 10.0}
        answer = requests.request(method, door.url + path, **how)
        return answer.status_code, answer.json()

    return sent


def test_the_clock_is_read_and_moved(vault: Vault, send: Send) -> None:
    before = vault.now()

    assert send("GET", "/control/clock") == (200, {"now_ns": before, "now": "2030-01-01T00:00:00Z"})
    assert send("POST", "/control/clock/advance", {"duration": "2h"})[1]["now"] == "2030-01-01T02:00:00Z"
    assert vault.now() == before + 7_200 * 10**9
    for wrong in ({}, {"duration": "soon"}, {"duration": -1}, {"duration": None}, {"duration": [1]}, {"for": "1s"}):
        assert send("POST", "/control/clock/advance", wrong)[0] == 400
    assert send("GET", "/page/") == (200, {"serves": "vault", "control": True})


def test_calls_are_listed_and_forgotten(vault: Vault, send: Send) -> None:
    vault.post("secret/data/app", {"data": {"user": "ada"}})
    for _ in range(3):
        vault.get("sys/health")

    (first, *_, last) = send("GET", "/control/calls")[1]["calls"]
    assert first == {
        "method": "POST",
        "path": "secret/data/app",
        "status": 200,
        "version": 1,
        "key": "app",
        "names": ["data"],
    }
    assert last["path"] == "sys/health"
    assert len(send("GET", "/control/calls?last=2")[1]["calls"]) == 2
    for wrong in ("0", "1001", "-1", "x", "", "1e2", "٣", "99999"):
        assert send("GET", f"/control/calls?last={wrong}")[0] == 400
    assert send("DELETE", "/control/calls") == (200, {})
    assert send("GET", "/control/calls") == (200, {"calls": []})


def test_failures_come_and_a_reset_begins_again(vault: Vault, door: ServedDoor, send: Send) -> None:
    vault.post("secret/data/app", {"data": {}})
    assert send("POST", "/control/fail-next", {"status": 503, "times": 2}) == (200, {})
    assert [requests.get(f"{door.url}/v1/sys/health", timeout=10).status_code for _ in range(3)] == [503, 503, 200]
    for wrong in ({}, {"status": 200}, {"status": "503"}, {"status": 503, "times": 0}, {"status": 503, "until": 1}):
        assert send("POST", "/control/fail-next", wrong)[0] == 400

    assert send("POST", "/control/reset") == (200, {})
    assert vault.get("secret/data/app").status == 404
    assert send("POST", "/control/reset", {"hard": True})[0] == 400


def test_failures_are_aimed_from_outside(vault: Vault, door: ServedDoor, send: Send) -> None:
    assert send("POST", "/control/fail-next", {"status": 503, "path": "sys/health", "method": "GET"}) == (200, {})
    assert send("POST", "/control/drop-next", {"when": "after", "path": "sys/leader", "times": 1}) == (200, {})
    assert send("POST", "/control/delay-next", {"duration": "10ms", "path": "sys/seal-status"}) == (200, {})

    paths = ("seal-status", "health", "health")
    assert [requests.get(f"{door.url}/v1/sys/{path}", timeout=10).status_code for path in paths] == [200, 503, 200]
    with pytest.raises(requests.ConnectionError):
        requests.get(f"{door.url}/v1/sys/leader", timeout=10)
    assert vault.aims == ()
    for act, wrong in (
        ("fail-next", {"status": 503, "path": 7}),
        ("fail-next", {"status": 503, "method": "FETCH"}),
        ("delay-next", {}),
        ("delay-next", {"duration": "soon"}),
        ("delay-next", {"duration": "1s", "when": "later"}),
        ("fail-next", {"status": 503, "errors": "no"}),
        ("fail-next", {"status": 503, "headers": {"a": 1}}),
        ("fail-next", {"status": 503, "body": {}}),
        ("answer-next", {"body": {}}),
        ("answer-next", {"status": 200, "body": []}),
        ("drop-next", {"when": "later"}),
        ("drop-next", {"times": "2"}),
    ):
        assert send("POST", f"/control/{act}", wrong)[0] == 400
    assert vault.aims == ()


def test_answers_are_asked_for_and_what_is_left_is_listed(vault: Vault, door: ServedDoor, send: Send) -> None:
    answer = {"status": 200, "body": {"data": {"user": "ada"}}, "path": "database/creds/app", "times": 2}
    assert send("POST", "/control/answer-next", answer) == (200, {})
    refused = {"status": 429, "errors": ["slowly"], "headers": {"Retry-After": "1"}, "method": "PUT"}
    assert send("POST", "/control/fail-next", refused) == (200, {})
    assert send("POST", "/control/delay-next", {"duration": "60s", "when": "after", "path": "none"}) == (200, {})
    assert requests.get(f"{door.url}/v1/database/creds/app", timeout=10).json() == {"data": {"user": "ada"}}
    slowly = requests.post(f"{door.url}/v1/sys/mounts/a", timeout=10)
    assert (slowly.status_code, slowly.json(), slowly.headers["Retry-After"]) == (429, {"errors": ["slowly"]}, "1")

    assert send("GET", "/control/aims")[1] == {
        "aims": [
            {
                "aim": "Aim(any method database/creds/app: answered 200, once)",
                "path": "database/creds/app",
                "method": None,
                "times": 1,
                "taken": 1,
            },
            {"aim": repr(vault.aims[1]), "path": "none", "method": None, "times": 1, "taken": 0},
        ]
    }


def test_a_reset_from_outside_ends_what_waits(vault: Vault, door: ServedDoor, send: Send) -> None:
    vault.delay_next("60s", path="secret/data/app")
    with ThreadPoolExecutor(1) as others:
        how: Any = {"json": {"data": {}}, "headers": {"X-Vault-Token": vault.root_token}, "timeout": 60}
        asked = others.submit(requests.post, f"{door.url}/v1/secret/data/app", **how)
        while vault.aims:
            time.sleep(0.005)
        assert send("POST", "/control/reset") == (200, {})
        assert isinstance(asked.exception(9), requests.ConnectionError)
    assert vault.get("secret/data/app").status == 404


def test_pages_of_others_and_names_of_others_are_refused(send: Send, door: ServedDoor) -> None:
    """A form or script of another site, and a name of another site that leads to this machine."""
    port = door.url.rpartition(":")[2]
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Host": f"evil.example:{port}"},
        {"X-Labkit-Key": "guessed"},
    ):
        status, body = send("POST", "/control/reset", **headers)
        assert (status, list(body)) == (403, ["errors"])
    simple = {"Content-Type": "text/plain", "Origin": "http://evil.example"}
    assert requests.post(f"{door.url}/control/reset", data="{}", headers=simple, timeout=10).status_code == 403
    preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    answer = requests.options(f"{door.url}/control/reset", headers=preflight, timeout=10)
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_a_door_has_no_control_unless_it_was_asked_for(vault: Vault) -> None:
    door = vault.serve()
    with door as url:
        assert door.control is None
        assert requests.get(f"{url}/control/clock", timeout=10).status_code == 404
    with pytest.raises(ValueError, match=r"a cluster is controlled through lab\.serve"):
        ServedDoor(Lab.pair()["paris"], settings=DoorSettings(control=True))


def test_another_vault_behind_the_door_is_the_one_that_is_controlled(door: ServedDoor, send: Send) -> None:
    other = Vault.dev(seed=8)
    door.lead_to(other)
    send("POST", "/control/clock/advance", {"duration": "1h"})

    assert other.now() == Vault.dev(seed=8).now() + 3_600 * 10**9
    assert repr(VaultControl(other, Worker("steps"))) == f"VaultControl({other!r})"


@pytest.mark.parametrize(("path", "body"), [("clock/advance", {"duration": "2h"}), ("reset", {})])
def test_health_is_answered_while_the_clock_is_moved_or_all_begins_again(
    vault: Vault, send: Send, door: ServedDoor, path: str, body: dict[str, str]
) -> None:
    with ThreadPoolExecutor(1) as others:
        with vault._lock:  # as if a key that rotates were being made
            acted = others.submit(send, "POST", f"/control/{path}", body)
            for _ in range(9):
                assert requests.get(f"{door.url}/v1/sys/health", timeout=10).status_code == 200
            assert not acted.done()
        assert acted.result()[0] == 200


def test_what_an_act_does_not_take_is_refused(vault: Vault, send: Send) -> None:
    for method, path in [act for act in VaultControl(vault, Worker("steps")).acts if "<" not in act[1]]:
        status, said = send(method, f"{path}?strange=1")
        assert (status, "'strange'" in said["errors"][0]) == (400, True), path


def test_as_many_calls_are_shown_as_are_asked_for_up_to_a_thousand() -> None:
    vault = Vault.dev(seed=7)
    for _ in range(103):
        vault.get("sys/health")

    def shown(**query: str) -> int:
        return len(newest(vault.calls, ControlRequest("calls", {}, query)))

    assert [shown(last=last) for last in ("1", "9", "10", "103", "999", "1000", "0007")] == [1, 9, 10, 103, 103, 103, 7]
    assert shown() == 100
    for wrong in ("0", "0000", "1001", "9999", "00001", "", "1.0", "\u0663"):
        with pytest.raises(ValueError, match="last: expected a whole number from 1 to 1000, got"):
            shown(last=wrong)


def test_a_failure_comes_once_unless_more_are_asked_for(vault: Vault) -> None:
    control = VaultControl(vault, Worker("steps"))
    fail = control.acts[("POST", "/control/fail-next")]

    assert done(fail(ControlRequest("", {"status": 429}, {}))) == {}
    assert [vault.get("sys/health").status for _ in range(2)] == [429, 200]
    for wrong in ({}, {"times": 2}, {"status": 0}):
        with pytest.raises(ValueError, match="status: expected"):
            done(fail(ControlRequest("", wrong, {})))
    assert vault.get("sys/health").status == 200
