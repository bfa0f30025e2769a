"""Aimed failures: which requests they meet, what happens to these, and what cannot be asked for."""

from __future__ import annotations

import http.client
import re
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx
import hvac
import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from urllib3 import Timeout

from labkit import Vault
from labkit.doors.httpx import Transport
from labkit.doors.hvac import Adapter
from labkit.doors.requests import Adapter as SessionAdapter
from labkit.front.aimed_failures import path_pattern
from labkit.service.message import Request
from labkit.service.silence import Dropped, Silence
from labkit.vault.calls import Call

USUAL = [200, 200, 404, 200]
SECOND_NS = 1_000_000_000


@pytest.fixture
def vault() -> Vault:
    vault = Vault.dev(seed=7)
    vault.post("secret/data/app", {"data": {"user": "ada"}})
    vault.calls.clear()
    return vault


@pytest.mark.parametrize(
    ("path", "method", "statuses"),
    [
        ("*", None, [503, 503, 503, 503]),
        ("secret/data/*", None, [503, 503, 503, 200]),
        ("secret/data/*", "GET", [503, 200, 503, 200]),
        ("/v1/secret/data/app", "POST", [200, 503, 200, 200]),
        ("*app", "GET", [503, 200, 200, 200]),
        ("secret/data/a", None, [200, 200, 404, 200]),
        ("sys/health", "GET", [200, 200, 404, 503]),
        ("secret*none", None, [200, 200, 503, 200]),
    ],
)
def test_only_what_is_aimed_at_fails(vault: Vault, path: str, method: str | None, statuses: list[int]) -> None:
    vault.fail_next(503, 4, path=path, method=method)
    got = [
        vault.get("secret/data/app").status,
        vault.post("secret/data/app", {"data": {}}).status,
        vault.get("/v1/secret//data/none?version=1").status,
        vault.request("GET", "/v1/sys/health").status,
    ]

    assert got == [status if status == 503 else other for status, other in zip(statuses, USUAL, strict=True)]
    left = 4 - statuses.count(503)
    assert [aim.times for aim in vault.aims] == [left] * (left > 0)
    assert [call.status for call in vault.calls] == got


@pytest.mark.parametrize("path", ["secret/metadata/a", "/v1/secret/metadata/a/"])
def test_a_listing_is_one_method_however_it_is_sent(vault: Vault, path: str) -> None:
    for sent in (("LIST", "secret/metadata/a"), ("LIST", "secret/metadata/a/"), ("GET", "secret/metadata/a?list=true")):
        vault.fail_next(503, path=path, method="LIST")
        vault.fail_next(429, path=path, method="GET")
        assert vault.request(*sent).status == 503
        assert (vault.calls[-1].method, vault.calls[-1].path) == ("LIST", "secret/metadata/a")
        assert vault.request("GET", "secret/metadata/a?list=false").status == 429


def test_post_and_put_are_one_method(vault: Vault) -> None:
    for aimed, sent in (("POST", "PUT"), ("PUT", "POST"), ("PUT", "PUT")):
        vault.fail_next(503, method=aimed)
        assert vault.request(sent, "secret/data/app", {"data": {}}).status == 503
    vault.fail_next(503, method="PATCH")
    assert vault.put("secret/data/app", {"data": {}}).ok


def test_a_failure_says_what_was_asked_for(vault: Vault) -> None:
    vault.fail_next(400, errors=["check-and-set parameter did not match the current version"])
    vault.fail_next(429, headers={"Retry-After": "7"})

    assert vault.get("sys/health").errors == ["check-and-set parameter did not match the current version"]
    answer = vault.get("sys/health")
    assert (answer.errors, answer.headers["Retry-After"]) == (["failure asked for with fail_next"], "7")
    assert "Retry-After" not in vault.get("sys/health").headers


def test_an_answer_stands_for_what_there_is_no_engine_for(vault: Vault) -> None:
    body = {"data": {"username": "ada", "roles": ["a"]}, "lease_duration": 3600}
    vault.answer_next(200, body, 2, path="database/creds/app", headers={"X-Mine": "1"})
    vault.answer_next(204, path="database/rotate-root/app", method="POST")
    body["data"] = {}
    first, second = vault.get("database/creds/app"), vault.get("database/creds/app")
    first.data["roles"].append("b")

    assert (second.status, second.data) == (200, {"username": "ada", "roles": ["a"]})
    assert (second.headers["X-Mine"], second.headers["Content-Type"]) == ("1", "application/json")
    rotated = vault.post("database/rotate-root/app")
    assert (rotated.status, rotated.body) == (204, None)
    assert vault.get("database/creds/app").status == 404
    assert [call.status for call in vault.calls] == [200, 200, 204, 404]


def test_a_pattern_has_one_sign_and_a_namespace(vault: Vault) -> None:
    vault.post("sys/namespaces/team")
    vault.fail_next(503, path="team/sys/mounts")
    vault.fail_next(418, path="a.c[1]")

    assert vault.get("sys/mounts").ok
    assert vault.get("abc1").status == 404
    assert vault.get("sys/mounts", namespace="team").status == 503
    assert vault.get("a.c%5B1%5D").status == 418
    assert vault.aims == ()


def test_the_oldest_that_matches_is_taken_one_a_request(vault: Vault) -> None:
    vault.fail_next(503, path="secret/*")
    vault.fail_next(429)
    vault.delay_next("2s")
    before = vault.now()

    assert [vault.get("secret/data/app").status for _ in range(4)] == [503, 429, 200, 200]
    assert vault.now() == before + 2 * SECOND_NS


def test_a_delay_moves_the_clock_and_what_falls_due_meanwhile_is_done(vault: Vault) -> None:
    token = vault.post("auth/token/create", {"ttl": "1m"}).auth["client_token"]
    vault.delay_next("2m", path="auth/token/lookup-self")

    assert vault.get("auth/token/lookup-self", token=token).status == 403


@pytest.mark.parametrize(("when", "version"), [("before", 1), ("after", 2)])
def test_what_is_dropped_has_happened_or_not(vault: Vault, when: str, version: int) -> None:
    vault.drop_next(when=when, path="secret/data/app", method="POST")
    with pytest.raises(Dropped, match="POST secret/data/app: the connection ended without an answer") as caught:
        vault.request("POST", "secret/data/app?x=1", {"data": {"user": "bob"}}, {"X-Vault-Token": vault.root_token})

    assert isinstance(caught.value, Silence)
    assert vault.get("secret/data/app").data["metadata"]["version"] == version
    assert [(call.method, call.path, call.status) for call in vault.calls] == [
        ("POST", "secret/data/app", 200 if when == "after" else 0),
        ("GET", "secret/data/app", 200),
    ]


@pytest.mark.parametrize(("when", "version"), [("before", 1), ("after", 2)])
def test_a_delay_beyond_the_timeout_is_silence_at_the_timeout(vault: Vault, when: str, version: int) -> None:
    vault.delay_next("2h", 2, when=when, path="secret/data/app")
    began = vault.now()
    with pytest.raises(Silence, match=r"^POST secret/data/app: no answer within 1\.5s, as it was delayed by 2h0m0s$"):
        vault.post("secret/data/app", {"data": {"user": "bob"}}, timeout=1.5)

    assert vault.now() - began == 1_500_000_000
    assert [call.status == 0 for call in vault.calls] == [when == "before"]
    answer = vault.get("secret/data/app", timeout="2h")  # as long as it takes
    assert answer.data["metadata"]["version"] == version
    assert vault.now() - began == 7_201_500_000_000


@pytest.mark.parametrize(("when", "status"), [("before", 403), ("after", 200)])
def test_a_delay_comes_before_or_after_the_request_is_carried_out(vault: Vault, when: str, status: int) -> None:
    token = vault.post("auth/token/create", {"ttl": "1m"}).auth["client_token"]
    vault.delay_next("2m", when=when)

    assert vault.get("auth/token/lookup-self", token=token).status == status


CLIENTS: dict[str, tuple[type[Exception], Callable[[Vault], Any]]] = {
    "hvac": (
        requests.ReadTimeout,
        lambda vault: hvac.Client(token=vault.root_token, adapter=Adapter(vault), timeout=1).write_data(
            "secret/data/app", data={"data": {}}
        ),
    ),
    "hvac, the longer way": (
        requests.ReadTimeout,
        lambda vault: hvac.Client(adapter=Adapter(vault), timeout=1).session.post(
            "http://labkit/v1/secret/data/app", data='{"data": {}}', headers=sent(vault)["headers"], timeout=1
        ),
    ),
    "requests": (
        requests.ReadTimeout,
        lambda vault: session(vault).post("http://labkit/v1/secret/data/app", json={"data": {}}, timeout=(9, 1)),
    ),
    "requests, by a timeout of urllib3": (
        requests.ReadTimeout,
        lambda vault: session(vault).post(
            "http://labkit/v1/secret/data/app",
            json={"data": {}},
            timeout=Timeout(connect=9, read=1),  # type: ignore[arg-type]  # requests takes it
        ),
    ),
    "httpx": (
        httpx.ReadTimeout,
        lambda vault: httpx.Client(transport=Transport(vault), timeout=1, headers=sent(vault)["headers"]).post(
            "http://labkit/v1/secret/data/app", json={"data": {}}
        ),
    ),
}


@pytest.mark.parametrize(("error", "write"), CLIENTS.values(), ids=CLIENTS)
@pytest.mark.parametrize(("when", "version"), [("before", 1), ("after", 2)])
def test_each_library_has_its_own_timeout(
    vault: Vault, error: type[Exception], write: Callable[[Vault], Any], when: str, version: int
) -> None:
    began = vault.now()
    vault.delay_next("1s", when=when, path="sys/*")
    vault.delay_next("1001ms", when=when, method="POST")
    vault.get("sys/health", timeout=1)
    with pytest.raises(error, match=r"no answer within 1s, as it was delayed by 1\.001s"):
        write(vault)

    assert vault.now() - began == 2 * SECOND_NS
    assert vault.get("secret/data/app").data["metadata"]["version"] == version


def session(vault: Vault) -> requests.Session:
    made = requests.Session()
    made.mount("http://labkit", SessionAdapter(vault))
    made.headers["X-Vault-Token"] = vault.root_token
    return made


def test_others_act_between_a_programs_requests(vault: Vault) -> None:
    def add_one() -> Any:
        found = vault.get("secret/data/app").data["metadata"]["version"]
        return vault.post("secret/data/app", {"data": {}, "options": {"cas": found}})

    vault.before_next(lambda: vault.post("secret/data/app", {"data": {}}), 2, path="secret/data/app", method="POST")
    assert add_one().errors == ["check-and-set parameter did not match the current version"]
    assert [aim.times for aim in vault.aims] == [1]  # what the other writer asked took none
    assert vault.post("secret/data/app", {"data": {}}).data["version"] == 4
    assert (vault.aims, add_one().ok) == ((), True)


def test_what_a_call_raises_is_raised_and_later_requests_take_aims_again(vault: Vault) -> None:
    vault.before_next({}.popitem)
    with pytest.raises(KeyError):
        vault.get("sys/health")
    vault.fail_next(503)

    assert vault.get("sys/health").status == 503
    assert len(vault.calls) == 1


def test_whoever_sets_no_timeout_waits_for_any_delay(vault: Vault) -> None:
    for timeout in (None, (9, None), Timeout()):
        vault.delay_next("10h")
        assert session(vault).get("http://labkit/v1/sys/health", timeout=timeout).status_code == 200  # type: ignore[arg-type]  # requests takes it


def test_a_call_that_resets_the_vault_leaves_the_request_unanswered(vault: Vault) -> None:
    vault.before_next(vault.reset)
    with pytest.raises(Dropped, match="GET sys/health: nobody waited for the answer any more"):
        vault.get("sys/health")


def test_threads_share_an_aim_to_its_last_request(vault: Vault) -> None:
    vault.fail_next(503, 400)
    statuses: list[int] = []

    def ask() -> None:
        statuses.extend([vault.request("GET", "sys/health").status for _ in range(200)])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (statuses.count(503), statuses.count(200), vault.aims) == (400, 400, ())


def test_a_dropped_request_is_met_by_one_aim_only(vault: Vault) -> None:
    vault.drop_next(2, when="after")
    for left in (1, 0):
        with pytest.raises(Dropped):
            vault.get("sys/health")
        assert [aim.times for aim in vault.aims] == [left] * (left > 0)
    assert vault.get("sys/health").ok


def test_each_library_has_its_own_error(vault: Vault) -> None:
    session = requests.Session()
    session.mount("http://labkit", SessionAdapter(vault))
    vault.drop_next(3)

    with pytest.raises(requests.ConnectionError, match="GET"):
        session.get("http://labkit/v1/sys/health")
    with pytest.raises(requests.ConnectionError, match="without an answer"):
        hvac.Client(adapter=Adapter(vault)).sys.read_health_status()
    with pytest.raises(httpx.RemoteProtocolError), httpx.Client(transport=Transport(vault)) as client:
        client.get("http://labkit/v1/sys/health")
    assert session.get("http://labkit/v1/sys/health").status_code == 200


Ask = Callable[[str, Vault], requests.Response]


def sent(vault: Vault) -> dict[str, Any]:
    return {"headers": {"X-Vault-Token": vault.root_token}, "timeout": 9}


ASKED: dict[str, Ask] = {
    "plain": lambda url, vault: requests.get(f"{url}/v1/secret/data/app", **sent(vault)),
    "head": lambda url, vault: requests.head(f"{url}/v1/secret/data/app", **sent(vault)),
    "chunked": lambda url, vault: requests.post(
        f"{url}/v1/secret/data/app", iter([b'{"data":', b"{}}"]), **sent(vault)
    ),
    "large": lambda url, vault: requests.post(
        f"{url}/v1/secret/data/app", json={"data": {"a": "x" * 100_000}}, **sent(vault)
    ),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.slow
def test_a_door_ends_the_connection(vault: Vault, ask: Ask, when: str) -> None:
    with vault.serve() as url:
        vault.drop_next(2, when=when)
        for _ in range(2):
            with pytest.raises(requests.ConnectionError, match="without response"):
                ask(url, vault)
        assert [call.status == 0 for call in vault.calls] == [when == "before"] * 2
        assert ask(url, vault).status_code < 300


def test_a_connection_that_is_dropped_takes_what_was_sent_behind_with_it(vault: Vault) -> None:
    with vault.serve() as url:
        vault.drop_next()
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=9)
        connection.connect()
        assert connection.sock is not None
        connection.sock.sendall(b"GET /v1/sys/health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2)

        try:
            assert connection.sock.recv(1_000) == b""
        except ConnectionResetError:
            pass  # the same, where the system had more to hand on
        finally:
            connection.close()


@pytest.mark.slow
def test_at_a_door_others_act_in_a_thread_of_their_own(vault: Vault) -> None:
    """What they ask of the door itself is answered, and aimed at as well."""
    with vault.serve() as url:
        statuses: list[int] = []

        def act() -> None:
            vault.post("secret/data/app", {"data": {"n": len(statuses)}})
            statuses.append(requests.get(f"{url}/v1/sys/health", timeout=9).status_code)

        vault.before_next(act, path="secret/data/app")
        vault.fail_next(429, path="sys/health")
        answer = requests.get(f"{url}/v1/secret/data/app", **sent(vault))

    assert (answer.json()["data"]["data"], statuses) == ({"n": 0}, [429])


@pytest.mark.slow
def test_what_a_call_raises_behind_a_door_is_kept_for_the_test(vault: Vault) -> None:
    """The client gets an answer that is no bug of labkit; the request is not carried out."""
    failed = AssertionError("canary")

    def check() -> None:
        raise failed

    with vault.serve() as url:
        vault.before_next(check, path="secret/data/app")
        answer = requests.get(f"{url}/v1/secret/data/app", **sent(vault))

    assert (answer.status_code, answer.json()) == (
        500,
        {"errors": ["the call asked for with before_next raised AssertionError"]},
    )
    assert vault.unfired == (failed,)
    assert vault.calls == [Call("GET", "secret/data/app", 500)]
    vault.before_next(check)
    with pytest.raises(AssertionError, match="canary"):
        vault.get("secret/data/app")
    assert vault.unfired == (failed,)
    vault.reset()
    assert not vault.unfired


GIVING_UP: dict[str, Ask] = {
    "plain": lambda url, vault: requests.post(
        f"{url}/v1/secret/data/app", json={"data": {}}, **{**sent(vault), "timeout": 0.1}
    ),
    "chunked": lambda url, vault: requests.post(
        f"{url}/v1/secret/data/app", iter([b'{"data":', b"{}}"]), **{**sent(vault), "timeout": 0.1}
    ),
}


@pytest.mark.parametrize("ask", GIVING_UP.values(), ids=GIVING_UP)
@pytest.mark.parametrize(("when", "version"), [("before", 1), ("after", 2)])
@pytest.mark.slow
def test_whose_client_gives_up_is_carried_out_or_not_as_in_process(
    vault: Vault, ask: Ask, when: str, version: int
) -> None:
    with vault.serve() as url:
        vault.delay_next("0.3s", when=when, path="secret/data/app")
        with pytest.raises(requests.ReadTimeout):
            ask(url, vault)
        time.sleep(0.6)

        assert [call.status == 0 for call in vault.calls] == [when == "before"]
        assert vault.get("secret/data/app").data["metadata"]["version"] == version


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.slow
def test_a_reset_ends_what_waits(vault: Vault, when: str) -> None:
    with vault.serve() as url:
        vault.delay_next("60s", when=when, path="secret/data/app")
        failed: list[Exception] = []

        def write() -> None:
            try:
                requests.post(f"{url}/v1/secret/data/app", json={"data": {}}, **{**sent(vault), "timeout": 60})
            except requests.ConnectionError as error:
                failed.append(error)

        waiting = threading.Thread(target=write)
        waiting.start()
        while vault.aims or len(vault.calls) < (when == "after"):
            time.sleep(0.005)
        vault.reset()
        waiting.join(9)

        assert (len(failed), len(vault.calls)) == (1, 0)
        assert vault.get("secret/data/app").status == 404


def test_a_request_whose_turn_comes_after_a_reset_is_not_carried_out(vault: Vault) -> None:
    vault.fail_next(503)
    aim = vault.take_aim("POST", "secret/data/app", {})
    assert aim is not None
    vault.reset()

    assert vault.meet(aim, Request("POST", "secret/data/app", {"X-Vault-Token": vault.root_token})).status == 0
    assert len(vault.calls) == 0


@pytest.mark.slow
def test_another_vault_behind_a_door_ends_what_waits_for_the_one_before(vault: Vault) -> None:
    door = vault.serve()
    with door as url:
        vault.delay_next("60s")
        ended: list[Exception] = []

        def ask() -> None:
            try:
                requests.get(f"{url}/v1/sys/health", timeout=60)
            except requests.ConnectionError as error:
                ended.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        while vault.aims:
            time.sleep(0.005)
        time.sleep(0.05)
        door.lead_to(Vault.dev(seed=8))
        asking.join(9)
        assert len(ended) == 1


@pytest.mark.slow
def test_a_door_waits_beside_the_others(vault: Vault) -> None:
    answered: list[str] = []

    def ask(url: str, path: str) -> None:
        assert requests.get(f"{url}/v1/sys/{path}", timeout=9).status_code == 200
        answered.append(path)

    with vault.serve() as url:
        before = vault.now()
        vault.delay_next("0.4s", path="sys/health")
        slow = threading.Thread(target=ask, args=(url, "health"))
        slow.start()
        while vault.aims:
            time.sleep(0.005)
        ask(url, "leader")
        slow.join()

    assert answered == ["leader", "health"]
    assert vault.now() == before  # its clock is moved in process only


def test_a_door_fails_as_the_vault_does(vault: Vault) -> None:
    with vault.serve() as url:
        vault.fail_next(429, path="sys/health")
        got = [requests.get(f"{url}/v1/sys/{path}", timeout=9) for path in ("leader", "health", "health")]

    assert [answer.status_code for answer in got] == [200, 429, 200]
    assert got[1].json() == {"errors": ["failure asked for with fail_next"]}


def test_the_root_namespace_by_its_name_is_none(vault: Vault) -> None:
    vault.fail_next(503, path="secret/data/app")
    with vault.expect(["GET secret/data/app 503", "GET secret/data/app 200"]):
        for _ in range(2):
            vault.get("secret/data/app", namespace="root")


@pytest.mark.parametrize("path", ["secret/data/%C3%A4", "secret/data/a%3Fb", "/v1/secret//data/x/"])
def test_a_call_that_took_an_aim_is_shown_as_any_other(vault: Vault, path: str) -> None:
    vault.get(path)
    vault.fail_next(404)
    vault.get(path)

    assert [call.path for call in vault.calls[-2:]] == [vault.calls[-1].path] * 2


@given(
    st.lists(st.sampled_from(["a", "ab", "*", "**", "b"]), min_size=1, max_size=6).map("".join),
    st.text("ab", max_size=9),
)
def test_a_star_stands_for_any_text(pattern: str, path: str) -> None:
    slow = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)

    assert (path_pattern(pattern).fullmatch(path) is None) == (slow.fullmatch(path) is None)


def test_many_stars_take_no_time(vault: Vault) -> None:
    """By going back over all ways this one would take as long as the universe."""
    vault.fail_next(503, path="*a" * 30 + "b")

    assert vault.get("secret/data/" + "a" * 4_000).status == 404
