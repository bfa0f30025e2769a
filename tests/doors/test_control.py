"""The control: who is answered, and what is no request of it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from labkit.doors.control import Control, ControlRequest
from labkit.doors.guard import Guard
from labkit.doors.host_names import HostNames
from labkit.service.message import Unreadable


async def shown(asking: ControlRequest) -> dict[str, Any]:
    asking.only("a", "b")
    return {"name": asking.name, **asking.fields, **asking.query}


@pytest.fixture
def control() -> Control:
    places = (("GET", "/control/x"), ("POST", "/control/x"), ("POST", "/control/named/<name>"), ("GET", "/page/"))
    return Control(dict.fromkeys(places, shown), Guard(HostNames()))


def ask(control: Control, method: str, path: str, content: Any = b"", **headers: str) -> tuple[int, Any]:
    """Status and body of an answer to somebody who has the key."""
    path, _, query = path.partition("?")
    scope = {"method": method, "raw_path": path.encode(), "query_string": query.encode()}
    scope |= {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}
    whole = {"host": "localhost:80", "x-labkit-key": control.guard.key, **headers}
    answer = asyncio.run(control.answer(scope, [*whole.items()], content))
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.status, json.loads(answer.content)


def test_an_act_gets_name_members_and_query(control: Control) -> None:
    assert ask(control, "GET", "/control/x?a=1") == (200, {"name": "x", "a": "1"})
    assert ask(control, "POST", "/control/x", b'{"b": 2}') == (200, {"name": "x", "b": 2})
    assert ask(control, "POST", "/control/named/it") == (200, {"name": "it"})
    assert repr(ControlRequest("it", {"token": "hvs.x"}, {})) == "ControlRequest(it)"


@pytest.mark.parametrize(
    ("method", "path", "content", "status", "said"),
    [
        ("POST", "/control/x", b"{", 400, "Expecting property name"),
        ("POST", "/control/x", b"[1]", 400, "the body is not an object"),
        ("POST", "/control/x", b"\xff", 400, "not UTF-8"),
        ("POST", "/control/x", b"[" * 100_000, 400, "nested too deeply"),
        ("POST", "/control/x", b'{"a": NaN}', 400, "NaN is not a JSON number"),
        ("POST", "/control/x", b"a=1", 400, "Expecting value"),
        ("POST", "/control/x", Unreadable("too large", 413), 413, "too large"),
        ("POST", "/control/x", b'{"c": 1}', 400, "expected only a, b here, got 'c'"),
        ("GET", "/control/x?c=1", b"", 400, "expected only a, b here, got 'c'"),
        ("PUT", "/control/x", b"", 405, "expected GET or POST, got PUT"),
        ("OPTIONS", "/control/x", b"", 405, "expected GET or POST"),
        ("GET", "/control/named/it", b"", 405, "expected POST"),
        ("GET", "/control/", b"", 404, "there is nothing at this path; there are: /control/named/<name>, /control/x"),
        ("GET", "/control/x/y/z", b"", 404, "there is nothing"),
        ("GET", "/page/other", b"", 404, "there is nothing"),
        ("GET", "/control/../v1/sys/health", b"", 404, "there is nothing"),
        ("GET", "/page/session", b"", 405, "expected POST"),
    ],
)
def test_what_is_no_request_of_it_is_refused(
    control: Control, method: str, path: str, content: Any, status: int, said: str
) -> None:
    found, body = ask(control, method, path, content)

    assert found == status
    assert said in body["errors"][0]


def test_without_the_key_nothing_is_said(control: Control) -> None:
    for path in ("/control/x", "/control/none", "/page/", "/control/named/it"):
        assert ask(control, "POST", path, b"{", **{"x-labkit-key": "no"})[0] == 403


def test_a_page_is_opened_once_with_the_key_of_its_address() -> None:
    opened: list[str] = []
    control = Control({("GET", "/page/x"): shown}, Guard(HostNames()), lambda: opened.append("page"))
    page_key = control.guard.page_address("").partition("=")[2]
    body = json.dumps({"key": page_key}).encode()
    without = {"x-labkit-key": ""}

    assert ask(control, "POST", "/page/session", body, origin="http://evil.example", **without)[0] == 403
    assert ask(control, "POST", "/page/session", body, **without) == (200, {"key": control.guard.key})
    assert ask(control, "POST", "/page/session", body, **without)[0] == 403
    assert ask(control, "POST", "/page/session", b"", **without)[0] == 403
    assert opened == ["page"]
    assert repr(control) == "Control(1 acts)"
