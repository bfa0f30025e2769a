"""The doors for httpx: clients of both kinds work as over a socket."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from labkit import Lab, Vault
from labkit.doors.httpx import AsyncTransport, Transport


def settings(service: Any) -> dict[str, Any]:
    """What clients of both kinds are made with."""
    return {"base_url": "http://labkit", "headers": {"X-Vault-Token": service.root_token}}


def test_a_client_reads_what_it_wrote(service: Any) -> None:
    with httpx.Client(transport=Transport(service), **settings(service)) as client:
        written = client.post("/v1/secret/data/app", json={"data": {"user": "ada"}})
        read = client.get("/v1/secret/data/app", params={"version": 1})

        assert written.json()["data"]["version"] == 1
        assert (read.status_code, read.headers["content-type"]) == (200, "application/json")
        assert read.json()["data"]["data"] == {"user": "ada"}
        head = client.head("/v1/secret/data/app")
        assert (head.status_code, head.content) == (200, b"")
        assert client.request("LIST", "/v1/secret/metadata/").json()["data"] == {"keys": ["app"]}
        assert client.get("/v1/secret/data/none").json() == {"errors": []}
        assert client.delete("/v1/secret/data/app").content == b""


def test_an_asynchronous_client_does_too(service: Any) -> None:
    async def talk() -> list[Any]:
        async with httpx.AsyncClient(transport=AsyncTransport(service), **settings(service)) as client:
            writes = [client.post(f"/v1/secret/data/app-{n}", json={"data": {"n": n}}) for n in range(5)]
            assert [answer.status_code for answer in await asyncio.gather(*writes)] == [200] * 5
            reads = [client.get(f"/v1/secret/data/app-{n}") for n in range(5)]
            return [answer.json()["data"]["data"] for answer in await asyncio.gather(*reads)]

    assert asyncio.run(talk()) == [{"n": n} for n in range(5)]


def test_a_path_and_a_header_come_as_they_were_sent(vault: Vault) -> None:
    with httpx.Client(transport=Transport(vault), **settings(vault)) as client:
        assert client.post("/v1/secret/data/a%20b/ü?x=1", json={"data": {"a": 1}}).status_code == 200
        assert vault.get("secret/data/a b/ü").data["data"] == {"a": 1}
        assert client.get("/v1/sys/mounts", headers=[(b"X-Vault-Token", "näh".encode("latin-1"))]).status_code == 403


def test_a_silent_cluster_is_a_timeout_of_simulated_time(lab: Lab) -> None:
    client = httpx.Client(transport=Transport(lab["paris"]), timeout=2, **settings(lab["paris"]))
    lab.crash("paris")
    before = lab.now

    with pytest.raises(httpx.ReadTimeout):
        client.get("/v1/secret/data/app")

    assert lab.now - before == 2_000_000_000


def test_a_body_over_the_limit_is_413(vault: Vault) -> None:
    client = httpx.Client(transport=Transport(vault, max_request_bytes=50), **settings(vault))

    assert client.post("/v1/secret/data/app", json={"data": {"a": "x" * 60}}).status_code == 413
