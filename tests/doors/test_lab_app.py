"""The application of a lab: which cluster a port leads to, which node answers, what is no request of the API."""

from __future__ import annotations

import asyncio
from typing import Any

from labkit import Lab
from labkit.doors.lab_app import LabApp
from labkit.doors.lab_driver import LabDriver
from labkit.doors.other_end import OtherEnd


def asked(lab: Lab, *requests: tuple[str, str, bytes]) -> list[tuple[int, bytes]]:
    """Status and body of the answers to method, path and body, one after the other, on a port that is paris's."""
    log: list[str] = []
    driver = LabDriver(lab.parts, lab._passage)
    app = LabApp(lab, driver, 1_000, log.append)
    app.ports = {8200: "paris"}

    async def one(method: str, path: str, content: bytes) -> tuple[int, bytes]:
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": content}

        async def send(message: Any) -> None:
            sent.append(message)

        token = (b"x-vault-token", lab["paris"].root_token.encode())
        scope = {"type": "http", "method": method, "raw_path": path.encode(), "query_string": b"", "headers": [token]}
        await app({**scope, "server": ("127.0.0.1", 8200)}, receive, send)
        return sent[0]["status"], sent[1]["body"]

    async def alive() -> list[tuple[int, bytes]]:
        events: asyncio.Queue[Any] = asyncio.Queue()
        said: list[str] = []

        async def send(message: Any) -> None:
            said.append(message["type"])

        life = asyncio.create_task(app({"type": "lifespan"}, events.get, send))
        await events.put({"type": "lifespan.startup"})
        answers = [await one(*request) for request in requests]
        await events.put({"type": "lifespan.shutdown"})
        await life
        assert said == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
        return answers

    answers = asyncio.run(alive())
    assert [line.rpartition(" ")[2] for line in log] == [str(status) for status, _ in answers]
    return answers


def test_only_the_api_and_the_root_path_are_answered(lab: Lab) -> None:
    page, nothing, long, health = asked(
        lab,
        ("GET", "/", b""),
        ("GET", "/sys/health", b""),
        ("POST", "/v1/secret/data/app", b"x" * 1_001),
        ("GET", "/v1/sys/health", b""),
    )

    assert page[0] == 200
    assert page[1].startswith(b"<!doctype html>")
    assert nothing == (404, b'{"errors":[]}\n')
    assert (long[0], health[0]) == (413, 200)


def test_a_node_speaks_for_a_cluster_without_an_active_one(lab: Lab) -> None:
    for node in lab["paris"].nodes:
        lab["paris"].put("sys/seal", node=node)
        lab.run("10s")

    sealed, secret = asked(lab, ("GET", "/v1/sys/seal-status", b""), ("GET", "/v1/secret/data/app", b""))

    assert b'"sealed":true' in sealed[1]
    assert secret == (504, b'{"errors":["the cluster did not answer in time"]}\n')
    lab.crash("paris")
    assert asked(lab, ("GET", "/v1/sys/seal-status", b""))[0][0] == 504


def test_a_plain_request_is_answered_recorded_and_logged_as_any_other(lab: Lab) -> None:
    log: list[str] = []
    driver = LabDriver(lab.parts, lab._passage)
    app = LabApp(lab, driver, 1_000, log.append)
    app.ports = {8200: "paris"}
    named, other = {"x-vault-token": lab["paris"].root_token}, OtherEnd("192.0.2.7", 8200)

    async def ask() -> list[int]:
        driver.start()
        written = [
            await app.answer_later(method, target, named, content, other)
            for method, target, content in [
                ("POST", "/v1/secret/data/app?x=secret", b'{"data": {"a": 1}}'),
                ("GET", "/v1/secret/data/app", b""),
                ("POST", "/v1/secret/data/app", b"x" * 1_001),
            ]
        ]
        app.failures["paris"].append(503)
        written.append(await app.answer_later("GET", "/v1/sys/health", named, b"", other))
        lab.crash("paris")
        written.append(await app.answer_later("GET", "/v1/secret/data/app", named, b"", other))
        await driver.stop()
        return [answer.status for answer in written]

    statuses = asyncio.run(ask())
    assert statuses == [200, 200, 413, 503, 504]
    assert [line.rpartition(" ")[2] for line in log] == [str(status) for status in statuses]
    assert log[0] == "paris: 192.0.2.7 POST secret/data/app 200"
    assert [call.status for call in app.calls["paris"]] == [200, 200, 413, 503, 0]
