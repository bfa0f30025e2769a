"""The door for requests: sessions work as over a socket, and none is opened."""

from __future__ import annotations

import io
import socket
from typing import Any

import pytest
import requests

from labkit import Lab, Vault
from labkit.doors.requests import Adapter


@pytest.fixture(autouse=True)
def no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def session(service: Any) -> requests.Session:
    """A session with the root token, all of whose URLs below http://labkit are answered by the service."""
    made = requests.Session()
    made.mount("http://labkit", Adapter(service))
    made.headers["X-Vault-Token"] = service.root_token
    return made


def test_a_session_reads_what_it_wrote(service: Any) -> None:
    client = session(service)

    written = client.post("http://labkit/v1/secret/data/app", json={"data": {"user": "ada"}}, timeout=10)
    read = client.get("http://labkit/v1/secret/data/app", params={"version": 1}, timeout=(3, 10))

    assert written.json()["data"]["version"] == 1
    assert (read.status_code, read.ok, read.encoding) == (200, True, "utf-8")
    assert read.json()["data"]["data"] == {"user": "ada"}
    assert read.headers["content-type"] == "application/json"
    assert read.url == "http://labkit/v1/secret/data/app?version=1"
    assert read.request.method == "GET"
    assert client.request("LIST", "http://labkit/v1/secret/metadata/").json()["data"] == {"keys": ["app"]}
    patched = client.patch(
        "http://labkit/v1/secret/data/app",
        json={"data": {"tag": 1}},
        headers={"Content-Type": "application/merge-patch+json"},
    )
    assert patched.json()["data"]["version"] == 2
    gone = client.delete("http://labkit/v1/secret/data/app")
    assert (gone.status_code, gone.content) == (204, b"")


def test_a_refusal_is_an_answer(service: Any) -> None:
    answer = session(service).get("http://labkit/v1/secret/data/none")

    assert (answer.status_code, answer.json()) == (404, {"errors": []})
    with pytest.raises(requests.HTTPError, match="404"):
        answer.raise_for_status()


def test_an_answer_is_raw_and_has_a_reason_as_over_a_socket(vault: Vault) -> None:
    answer = session(vault).get("http://labkit/v1/sys/health", stream=True)

    assert (answer.reason, answer.raw.status, answer.raw.headers["Content-Type"]) == ("OK", 200, "application/json")
    assert answer.raw.read().startswith(b"{")
    assert session(vault).get("http://labkit/v1/secret/data/none").reason == "Not Found"


@pytest.mark.parametrize(
    "body",
    [
        '{"data": {"a": "ü"}}',
        '{"data": {"a": "ü"}}'.encode(),
        io.BytesIO('{"data": {"a": "ü"}}'.encode()),
        iter([b'{"data": {"a": ', '"ü"}}'.encode()]),
    ],
    ids=["text", "bytes", "file", "pieces"],
)
def test_a_body_comes_in_any_form_that_sessions_take(vault: Vault, body: Any) -> None:
    assert session(vault).post("http://labkit/v1/secret/data/app", data=body).status_code == 200
    assert vault.get("secret/data/app").data["data"] == {"a": "ü"}


def test_a_head_has_no_body(vault: Vault) -> None:
    answer = session(vault).head("http://labkit/v1/sys/health")

    assert (answer.status_code, answer.content) == (200, b"")


def test_a_silent_cluster_is_a_timeout_of_simulated_time(lab: Lab) -> None:
    client = session(lab["paris"])
    lab.crash("paris")
    before = lab.now

    with pytest.raises(requests.exceptions.ReadTimeout):
        client.get("http://labkit/v1/secret/data/app", timeout=2)

    assert lab.now - before == 2_000_000_000


def test_another_host_is_none_of_its_business(vault: Vault) -> None:
    with pytest.raises(AssertionError, match="a socket was opened"):
        session(vault).get("http://127.0.0.1:1/v1/sys/health")


def test_a_body_over_the_limit_is_413(vault: Vault) -> None:
    client = requests.Session()
    client.mount("http://labkit", Adapter(vault, max_request_bytes=50))

    assert client.post("http://labkit/v1/secret/data/app", json={"data": {"a": "x" * 60}}).status_code == 413
