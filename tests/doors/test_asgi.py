"""The ASGI application: bodies are counted while they are read, what is cut short is not answered."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from labkit import Lab, Vault
from labkit.doors.asgi import App


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


def test_a_body_that_stops_coming_is_refused(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.doors.asgi.BODY_S", 0.05)
    pieces, sent = [{"type": "http.request", "body": b"{", "more_body": True}], []

    async def receive() -> Any:
        return pieces.pop() if pieces else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(App(vault)(scope("POST", "/v1/secret/data/app"), receive, send))
    assert sent[0]["status"] == 400
    assert b"no more of the body came within 0.05 s" in sent[1]["body"]


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
