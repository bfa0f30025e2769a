"""The ASGI application: bodies are counted while they are read, what is cut short is not answered."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest
import requests

from labkit import Lab, Vault
from labkit.doors.asgi import FAILED, LARGE_BYTES, SILENT, TOO_LONG, App, is_long, target_of
from labkit.doors.cloud_door import CloudApp
from labkit.doors.other_end import OtherEnd
from labkit.doors.server_thread import DoorSettings
from labkit.service.limits import MAX_UNJUDGED_BYTES
from labkit.service.message import respond
from labkit.vault import password_hashing


def scope(method: str, path: str, headers: dict[str, str] | None = None, query: str = "") -> dict[str, Any]:
    """What a server says of a request."""
    return {
        "type": "http",
        "method": method,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in (headers or {}).items()],
        "client": ("192.0.2.7", 1),
    }


def answered(app: App, asked: dict[str, Any], *pieces: bytes, cut: bool = False) -> tuple[int, dict[str, str], bytes]:
    """Send a request in pieces; return status, headers and body, and 0 for no answer."""
    messages: list[Any] = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    messages.append({"type": "http.disconnect"} if cut else {"type": "http.request", "body": b""})
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(asked, receive, send))
    if not sent:
        return 0, {}, b""
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, sent[1]["body"]


def test_a_body_comes_in_pieces(vault: Vault) -> None:
    token = {"x-vault-token": vault.root_token}
    status, headers, body = answered(
        App(vault), scope("POST", "/v1/secret/data/app", token), b'{"data": ', b'{"a": 1}', b"}"
    )

    assert (status, headers["content-type"], headers["content-length"]) == (200, "application/json", str(len(body)))
    assert vault.get("secret/data/app").data["data"] == {"a": 1}
    assert answered(App(vault), scope("DELETE", "/v1/secret/data/app", token))[::2] == (204, b"")


def test_what_is_cut_short_is_not_answered_and_changes_nothing(vault: Vault) -> None:
    asked = scope("POST", "/v1/secret/data/app", {"x-vault-token": vault.root_token})

    assert answered(App(vault), asked, b'{"data": {}}', cut=True)[0] == 0
    assert vault.get("secret/data/app").status == 404


@pytest.mark.parametrize("pieces", [[b"x" * 101], [b"x" * 60, b"x" * 60], [b"x" * 60] * 3])
def test_a_body_over_the_limit_is_413(vault: Vault, pieces: list[bytes]) -> None:
    asked = scope("POST", "/v1/secret/data/app", {"x-vault-token": vault.root_token})
    status, _, body = answered(App(vault, max_request_bytes=100), asked, *pieces)

    assert status == 413
    assert json.loads(body)["errors"][0].endswith("request body too large; the limit is 100 bytes")


@pytest.mark.parametrize("pieces", [1, 2])
def test_a_body_of_the_limit_is_read(vault: Vault, pieces: int) -> None:
    content = b'{"data": {"a": "' + b"x" * 81 + b'"}}'
    asked = scope("POST", "/v1/secret/data/app", {"x-vault-token": vault.root_token})
    status, _, _ = answered(
        App(vault, max_request_bytes=100), asked, *([content] if pieces == 1 else [content[:50], content[50:]])
    )

    assert (len(content), status) == (100, 200)
    assert vault.get("secret/data/app").data["data"] == {"a": "x" * 81}


def test_of_a_body_far_over_the_limit_the_rest_is_not_read(vault: Vault) -> None:
    app, read = App(vault, max_request_bytes=100), []

    async def receive() -> Any:
        read.append(100)
        return {"type": "http.request", "body": b"x" * 100, "more_body": True}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope("POST", "/v1/secret/data/app"), receive, send))
    assert (sent[0]["status"], sum(read)) == (413, 500)


def test_a_client_that_waits_is_refused_before_it_sends(vault: Vault) -> None:
    asked = scope("POST", "/v1/secret/data/app", {"expect": "100-continue", "content-length": "101"})

    async def receive() -> Any:
        raise AssertionError("something was read")

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(App(vault, max_request_bytes=100)(asked, receive, send))
    assert sent[0]["status"] == 413


def test_headers_over_the_limit_are_431(vault: Vault) -> None:
    status, _, body = answered(App(vault), scope("GET", "/v1/sys/health", {"x-a": "x" * 65_536}))

    assert (status, body) == (431, b'{"errors":["request headers of more than 65536 bytes"]}\n')
    assert len(vault.calls) == 0


def test_the_root_path_says_what_this_is(vault: Vault) -> None:
    status, headers, body = answered(App(vault), scope("GET", "/"))

    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"do not store real ones" in body


def test_the_service_sees_who_asks(vault: Vault) -> None:
    vault.post("sys/audit/file", {"type": "file", "options": {"file_path": "audit.log"}})
    answered(App(vault), scope("GET", "/v1/sys/mounts", {"x-vault-token": vault.root_token}))

    assert b'"remote_address":"192.0.2.7"' in (vault.files.read("audit.log") or b"").splitlines()[-1]


def test_a_line_of_the_log_says_no_secret(vault: Vault) -> None:
    lines: list[str] = []
    app = App(vault, log=lines.append)
    answered(app, scope("GET", "/v1/sys/wrapping/lookup", {"x-vault-token": "hvs.x"}, "token=hvs.secret"))

    assert lines == ["192.0.2.7 GET sys/wrapping/lookup 400"]


def test_a_silent_cluster_is_504(lab: Lab) -> None:
    lab.crash("paris")

    assert answered(App(lab["paris"]), scope("GET", "/v1/sys/mounts", {"x-vault-token": "t"}))[0] == 504


def test_only_http_is_spoken(vault: Vault) -> None:
    with pytest.raises(ValueError, match="not websocket"):
        answered(App(vault), {"type": "websocket"})


def test_health_is_answered_while_a_step_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    vault, begun, may_end = Vault.dev(), threading.Event(), threading.Event()
    usual = Vault.handle

    def handle(self: Vault, request: Any, *instant: int) -> Any:
        if "/keys/" in request.path:
            begun.set()
            assert may_end.wait(30)
        return usual(self, request, *instant)

    monkeypatch.setattr(Vault, "handle", handle)
    token = {"X-Vault-Token": vault.root_token}
    with vault.serve() as url, ThreadPoolExecutor(2) as others:
        made = others.submit(requests.post, f"{url}/v1/transit/keys/k", headers=token, json={}, timeout=30)
        assert begun.wait(10)
        waiting = others.submit(requests.get, f"{url}/v1/sys/mounts", headers=token, timeout=30)
        for path, member in (("health", "initialized"), ("seal-status", "sealed"), ("leader", "ha_enabled")):
            for extra in ({}, {"TE": "x"}):
                answer = requests.get(f"{url}/v1/sys/{path}", headers=extra, timeout=10)
                assert (answer.status_code, member in answer.json()) == (200, True)
        assert requests.head(f"{url}/v1/sys/health?activecode=299", timeout=10).status_code == 299
        assert requests.get(f"{url}/v1/sys/health?activecode=x", timeout=10).status_code == 400
        assert not waiting.done()
        may_end.set()
        assert made.result().status_code == 200
        assert waiting.result().status_code == 200


def test_others_are_answered_while_a_password_is_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    vault, begun, may_end = Vault.dev(seed=1), threading.Event(), threading.Event()
    vault.post("sys/auth/userpass", {"type": "userpass"})
    vault.post("auth/userpass/users/ada", {"password": "right"})
    usual = password_hashing.answer

    def answer(fetch: Any) -> Any:
        begun.set()
        assert may_end.wait(30)
        return usual(fetch)

    monkeypatch.setattr(password_hashing, "answer", answer)
    token, login = {"X-Vault-Token": vault.root_token}, "v1/auth/userpass/login/ada"
    with vault.serve() as url, ThreadPoolExecutor(1) as others:
        waiting = others.submit(requests.post, f"{url}/{login}", json={"password": "right"}, timeout=30)
        assert begun.wait(10)
        try:
            assert requests.get(f"{url}/v1/sys/mounts", headers=token, timeout=10).status_code == 200
            made = requests.post(f"{url}/v1/transit/keys/k", headers=token, json={}, timeout=10)
            assert made.status_code == 200
            assert not waiting.done()
        finally:
            may_end.set()
        assert waiting.result().status_code == 200


def test_another_thread_that_is_let_in_does_not_hold_up_the_loop() -> None:
    vault = Vault.dev()
    with vault.serve() as url, ThreadPoolExecutor(1) as others:
        with vault._lock:
            waiting = others.submit(requests.get, f"{url}/v1/sys/mounts", timeout=30)
            time.sleep(0.1)
            assert requests.get(f"{url}/v1/sys/health", timeout=10).status_code == 200
        assert waiting.result().status_code == 403


def test_health_is_answered_while_a_key_rotates_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    vault, begun, may_end = Vault.dev(), threading.Event(), threading.Event()
    vault.post("transit/keys/k", {"type": "rsa-2048", "auto_rotate_period": "1h"}).raise_for_status()
    usual = Vault.tick

    def tick(self: Vault) -> int:
        if self.next_due() == due_ns <= self.now():
            begun.set()
            assert may_end.wait(30)
        return usual(self)

    due_ns = vault.next_due() or 0
    monkeypatch.setattr(Vault, "tick", tick)
    token = {"X-Vault-Token": vault.root_token}
    with vault.serve() as url, ThreadPoolExecutor(1) as others:
        assert requests.get(f"{url}/v1/transit/keys/k", headers=token, timeout=10).json()["data"]["latest_version"] == 1
        vault.environment.now.shift_ns += 3_600_000_000_000  # type: ignore[attr-defined]  # that of a vault alone
        read = others.submit(requests.get, f"{url}/v1/transit/keys/k", headers=token, timeout=30)
        assert begun.wait(10)
        for path in ("health", "seal-status", "leader"):
            assert requests.get(f"{url}/v1/sys/{path}", timeout=10).status_code == 200
        may_end.set()
        assert read.result().json()["data"]["latest_version"] == 2


def test_the_first_request_of_a_new_vault_is_one_of_its_calls() -> None:
    vault = Vault.dev()
    app = App(vault)
    for _ in range(2):
        assert app.answer("GET", "/v1/sys/health", {}, b"", "") is not None
        assert [call.path for call in vault.calls] == ["sys/health"]
        vault.reset()


@pytest.mark.parametrize(
    ("method", "path", "size", "long"),
    [
        ("POST", "/v1/transit/keys/a", 2, True),
        ("POST", "/v1/ns/transit/keys/a/rotate", 0, True),
        ("POST", "/v1/auth/userpass/login/ada", 9, True),
        ("DELETE", "/v1/sys/mounts/secret", 0, True),
        ("GET", "/v1/transit/wrapping_key", 0, True),
        ("POST", "/v1/secret/data/app", 5_000, True),
        ("POST", "/v1/secret/data/app", 50, False),
        ("GET", "/v1/transit/keys/a", 0, False),
        ("LIST", "/v1/transit/keys/", 0, False),
        ("POST", "/v1/transit/encrypt/a", 99, False),
        ("POST", "/v1/secret/data/keysmith", 99, False),
    ],
)
def test_what_may_take_long_is_known_by_path_and_size(method: str, path: str, size: int, long: bool) -> None:
    assert is_long(method, path, b"x" * size) is long


def in_loop(app: App, target: str, method: str = "GET") -> int:
    """How large the answer is that is given in the loop; 0 for none."""
    given = app.answer(method, target, {"x-vault-token": cast(Vault, app._service).root_token}, b"", "")
    return 0 if given is None else len(given.content)


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_large_value_is_never_read_in_the_loop_and_nothing_else_waits(kind: str, tmp_path: Path) -> None:
    """Not the first time either: one of before the door, one of now, and one of a vault that was reset since."""
    vault = Vault.dev() if kind == "memory" else Vault.open(str(tmp_path / "lab.db"))
    vault.post("secret/data/old", {"data": {"a": "x" * LARGE_BYTES}}).raise_for_status()
    vault.post("secret/data/a/small", {"data": {"a": "x"}}).raise_for_status()
    if kind == "file":
        vault.close()
        vault = Vault.open(str(tmp_path / "lab.db"))
    app = App(vault)
    vault.post("secret/data/new", {"data": {"a": "x" * LARGE_BYTES}}).raise_for_status()

    for name in ("old", "new"):
        for said in (name, f"{name}?version=1", f"%{ord(name[0]):02x}{name[1:]}"):
            assert in_loop(app, f"/v1/secret/data/{said}") == 0, said
    assert in_loop(app, "/v1/sys/mounts") > 0
    assert in_loop(app, "/v1/secret/data/a/small") > 0
    vault.delete("secret/metadata/old")
    assert in_loop(app, "/v1/secret/data/old") > 0
    if kind == "memory":
        vault.reset()
        assert in_loop(app, "/v1/secret/data/new") > 0
        vault.post("secret/data/new", {"data": {"a": "x" * LARGE_BYTES}}).raise_for_status()
        assert in_loop(app, "/v1/secret/data/new") == 0
    app.close()
    vault.close()


@pytest.mark.slow
def test_what_had_a_large_answer_is_answered_beside_the_loop_and_nothing_else(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labkit.doors.asgi.LARGE_BYTES", 2_000)
    monkeypatch.setattr("labkit.doors.asgi.MAX_LARGE", 2)
    app, token = App(vault), {"x-vault-token": vault.root_token}
    for folder in "abc":
        for number in range(1_000):
            vault.post(f"secret/data/{folder}/{number}", {"data": {}})

    for folder in "abc":
        assert in_loop(app, f"/v1/secret/metadata/{folder}", "LIST") > 2_000
        assert in_loop(app, f"/v1/secret/metadata/{folder}?after=x", "LIST") == 0
        assert in_loop(app, "/v1/secret/config") > 0
    assert in_loop(app, "/v1/secret/metadata/a", "LIST") > 2_000, "only the last few are kept"
    assert in_loop(app, "/v1/secret/metadata/c", "LIST") == 0
    asyncio.run(app.answer_later("LIST", "/v1/secret/metadata/b", token, b"", OtherEnd()))
    assert in_loop(app, "/v1/secret/metadata/b", "LIST") == 0
    assert in_loop(app, "/v1/sys/health") > 0
    app.close()


def test_large_bodies_of_a_served_lab_are_judged_first() -> None:
    large = b'{"data": {"a": "' + b"x" * MAX_UNJUDGED_BYTES + b'"}}'
    lab = Lab.pair(seed=7)
    with lab.serve() as urls:
        for path, status in (("sys/unseal", 413), ("secret/data/app", 403)):
            assert requests.post(f"{urls['paris']}/v1/{path}", large, timeout=30).status_code == status
        token = {"X-Vault-Token": lab["paris"].root_token}
        answer = requests.post(f"{urls['paris']}/v1/secret/data/app", large, headers=token, timeout=60)
        assert answer.status_code == 200


@pytest.mark.parametrize("target", ["http://localhost/v1/sys/health", "HTTP://127.0.0.1:1/v1/sys/health"])
def test_a_target_in_absolute_form_is_taken(vault: Vault, target: str) -> None:
    asked = scope("GET", target)
    assert answered(App(vault), asked)[0] == 200
    assert answered(App(vault), {**asked, "http_version": "3.7"})[0] == 505
    assert answered(App(vault), scope("GET", "/v1/sys/health", {"host": "a b"}))[0] == 400


def test_a_line_of_the_log_is_written_of_what_a_server_read_whole_too(vault: Vault, lab: Lab) -> None:
    lines: list[str] = []
    app = App(vault, log=lines.append)
    quiet = App(vault)
    for each in (app, quiet):
        looked = each.answer("GET", "/v1/sys/health?x=1", {}, b"", "192.0.2.7")
        assert looked is not None
        assert looked.status == 200
    lab.crash("paris")
    silent = App(lab["paris"], log=lines.append).answer("GET", "/v1/sys/mounts", {"x-vault-token": "t"}, b"", "::1")
    assert silent is not None
    asked = scope("GET", "/v1/sys/health")
    del asked["client"]
    answered(app, asked)

    assert (silent.status, json.loads(silent.content)["errors"]) == (504, ["the cluster did not answer in time"])
    assert lines == [
        "192.0.2.7 GET sys/health 200",
        "::1 GET sys/mounts 504",
        "- GET sys/health 200",
    ]


def test_headers_of_the_limit_are_read(vault: Vault) -> None:
    name = "x-a"
    for over, status in ((0, 200), (1, 431)):
        asked = scope("GET", "/v1/sys/health", {name: "x" * (65_536 - len(name) + over)})
        assert answered(App(vault), asked)[0] == status


def test_what_has_no_body_is_not_refused_for_its_length(vault: Vault) -> None:
    app, token = App(vault, max_request_bytes=10), {"x-vault-token": vault.root_token}

    assert answered(app, scope("GET", "/v1/sys/mounts", token), b"x" * 11)[0] == 200
    assert answered(app, scope("PUT", "/v1/sys/mounts", token), b"x" * 11)[0] == 413
    assert answered(app, scope("PUT", "/v1/sys/mounts", {**token, "content-length": "11"}))[0] == 413
    waits = {**token, "content-length": "10", "expect": "100-continue"}
    assert answered(app, scope("PUT", "/v1/secret/data/x", waits), b"{}")[0] == 400, "it is read"


def test_what_ends_by_a_bug_is_answered_as_such_and_the_connection_with_it() -> None:
    assert (FAILED.status, FAILED.headers["Connection"]) == (500, "close")
    assert (TOO_LONG.status, SILENT.status) == (431, 504)


def test_another_service_answers_once_the_application_leads_to_it(vault: Vault) -> None:
    app = App(vault, max_request_bytes=10)
    other = Vault.dev(seed=8)
    app.lead_to(other)

    assert answered(app, scope("GET", "/v1/sys/mounts", {"x-vault-token": other.root_token}))[0] == 200
    assert answered(app, scope("PUT", "/v1/sys/mounts"), b"x" * 11)[0] == 413, "the limit stays"
    assert len(vault.calls) == 0


def test_a_target_is_path_and_query_as_they_were_sent(vault: Vault) -> None:
    assert target_of(scope("GET", "/v1/a%2Fb", query="b=%2F&c")) == ("/v1/a%2Fb", "/v1/a%2Fb?b=%2F&c")
    assert target_of(scope("GET", "/v1/a")) == ("/v1/a", "/v1/a")
    asked = scope("GET", "/v1/sys/health", query="standbyok=true&activecode=299")
    assert answered(App(vault), asked)[0] == 299


def test_a_client_that_waits_to_send_a_body_of_the_limit_is_read(vault: Vault) -> None:
    content = b'{"data": {"a": 1}}'
    token = {"x-vault-token": vault.root_token, "expect": "100-continue"}
    asked = scope("POST", "/v1/secret/data/app", {**token, "content-length": str(len(content))})

    assert answered(App(vault, max_request_bytes=len(content)), asked, content)[0] == 200
    assert answered(App(vault, max_request_bytes=len(content) - 1), asked, content)[0] == 413


def test_what_judges_no_origins_by_itself_takes_none() -> None:
    app = CloudApp(lambda *asked, **named: respond(204), DoorSettings())

    assert not app._has_cors(0)
