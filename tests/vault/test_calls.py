"""The calls of a vault: what they say, what they never say, and how much of them is kept."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.service.call_names import MAX_NAME_CHARACTERS, MAX_NAMES
from labkit.service.message import respond
from labkit.service.silence import Dropped
from labkit.vault import calls
from labkit.vault.calls import Call, Calls


def last(service):
    return service.calls[-1]


def test_a_call_says_what_was_done_and_no_text_of_it_has_a_value(service):
    sent = {"data": {"password": "canary"}, "options": {"cas": 0}}
    service.post("/v1/secret/data/app", sent)
    assert last(service) == Call("POST", "secret/data/app", 200, 1, "app", ("data", "options", "options.cas"), sent)
    service.get("secret/data/app?version=1")
    assert last(service) == Call("GET", "secret/data/app", 200, 1, "app", ("version",))
    service.post("transit/keys/orders")
    assert last(service) == Call("POST", "transit/keys/orders", 200, 1, "orders")
    service.post("transit/keys/orders/rotate")
    service.post("transit/encrypt/orders", {"plaintext": "Y2FuYXJ5", "key_version": 2})
    assert last(service)[:6] == ("POST", "transit/encrypt/orders", 200, 2, "orders", ("plaintext", "key_version"))
    service.post("secret/data/app", {"data": {}, "options": {"cas": 7}})
    assert last(service)[:6] == ("POST", "secret/data/app", 400, None, "app", ("data", "options", "options.cas"))
    service.get("nowhere/a?token=canary")
    assert last(service) == Call("GET", "nowhere/a", 404, None, "", ("token",))
    service.fail_next(503)
    service.delete("secret/data/app?x=canary")
    assert last(service) == Call("DELETE", "secret/data/app", 503)

    assert "canary" not in repr(list(service.calls))
    assert "Y2FuYXJ5" not in repr(list(service.calls))
    assert repr(last(service)) == "Call(DELETE secret/data/app 503)"


def test_a_call_that_is_not_text_is_listed_too(service):
    service.request(7, ["secret"], {"a": object(), "\ud800": 1, 7: 2}, {7: 8})
    assert last(service) == Call("", "", 400, None, "", ("a",))
    service.request("x" * 100_000, "/v1/\ud800?token=canary", None, {})
    assert last(service) == Call("x" * 64, "\\ud800", 405)


def test_a_body_is_what_was_sent_whatever_becomes_of_it(service):
    sent: dict[str, Any] = {"data": {"tags": ["a"], "n": 1.5, "none": None}}
    service.post("secret/data/app", sent)
    sent["data"]["tags"].append("b")
    service.calls[0].body["data"].clear()
    service.fail_next(503)
    service.put("secret/data/app", {"data": {}})
    service.get("secret/data/app")

    assert [call.body for call in service.calls] == [
        {"data": {"tags": ["a"], "n": 1.5, "none": None}},
        {"data": {}},
        None,
    ]


def test_bodies_are_bounded_in_bytes_and_calls_are_kept_without_them(monkeypatch):
    monkeypatch.setattr(calls, "MAX_BODIES_BYTES", 100_000)
    kept = Calls()
    for number in range(100):
        kept.add("POST", str(number), {"n": number, "long": "x" * 9_000}, None, respond(200))
        assert kept._bodies_bytes == sum(map(len, kept._bodies.values())) <= 100_000
    kept.add("POST", "100", {"too long": "x" * calls.MAX_BODY_BYTES}, None, respond(200))

    assert [call.body["n"] for call in kept if call.body] == list(range(89, 100))
    assert (len(kept), kept[-1].names) == (101, ("too long",))
    kept.clear()
    assert (kept._bodies_bytes, kept._bodies) == (0, {})


def test_a_call_that_is_pushed_out_takes_its_body_with_it(monkeypatch):
    monkeypatch.setattr(calls, "MAX_CALLS", 10)
    kept = Calls()
    for number in range(30):
        kept.add("POST", str(number), {"n": number, "long": "x" * 1_000}, None, respond(200))

    assert [call.body["n"] for call in kept if call.body] == list(range(20, 30))
    assert len(kept._bodies) == 10
    assert kept._bodies_bytes == sum(map(len, kept._bodies.values()))


def test_calls_can_be_gone_through_indexed_and_sliced(service):
    for number in range(3):
        service.get(f"secret/data/{number}")

    assert len(service.calls) == 3
    assert [call.path[-1] for call in service.calls] == ["0", "1", "2"]
    assert [call.path[-1] for call in service.calls[1:]] == ["1", "2"]
    assert repr(service.calls) == "Calls(3: " + ", ".join(f"GET secret/data/{number} 404" for number in range(3)) + ")"
    assert service.calls == list(service.calls) != []
    service.drop_next()
    with pytest.raises(Dropped):
        service.get("secret/data/0")
    for number in range(1, 10):
        service.get(f"secret/data/{number}")
    assert repr(service.calls).startswith("Calls(13: …, GET secret/data/0 dropped, GET secret/data/1 404, ")
    service.calls.clear()
    assert service.calls == []
    assert (repr(service.calls), service.calls == "") == ("Calls(0)", False)


def test_a_listing_is_one_call_however_it_was_sent(service):
    for method, path in (
        ("LIST", "secret/metadata/a"),
        ("LIST", "secret/metadata/a/"),
        ("GET", "secret/metadata/a?list=true"),
        ("GET", "/v1/secret/metadata/a/?list=1"),
    ):
        service.request(method, path, None, {"x-vault-token": service.root_token})
    assert {(call.method, call.path) for call in service.calls} == {("LIST", "secret/metadata/a")}
    service.request("GET", "secret/metadata/a/?list=no", None, {"x-vault-token": service.root_token})
    service.get("secret/metadata/a?list=false")
    assert [call.method for call in service.calls[-2:]] == ["GET", "GET"]


def test_calls_are_bounded_in_number(service, monkeypatch):
    monkeypatch.setattr(calls, "MAX_CALLS", 10)
    kept = Calls()
    for number in range(30):
        kept.add("GET", str(number), None, None, respond(200))

    assert [call.path for call in kept] == [str(number) for number in range(20, 30)]


def test_long_calls_are_bounded_in_bytes(service, monkeypatch):
    monkeypatch.setattr(calls, "MAX_LONG_BYTES", 100_000)
    for number in range(100):
        service.get(f"secret/data/{number}" + "x" * 4_000)
        service.get(f"secret/data/{number}" + "y" * 4_000, token="")
        service.get(f"secret/data/{number}?" + "&".join(f"{name}=1" for name in range(1_000)))
        service.get("x" * 100_000)
        assert service.calls._long_bytes <= 100_000

    assert 3 < len(service.calls) < 60
    service.calls.clear()
    assert service.calls._long_bytes == 0


def test_many_short_names_and_long_namespaces_are_long_calls_too(service, monkeypatch):
    monkeypatch.setattr(calls, "MAX_LONG_BYTES", 100_000)
    for number in range(100):
        service.post("transit/encrypt/none", {chr(0x4E00 + place): 1 for place in range(number, number + 100)})
        assert len(last(service).names) == MAX_NAMES
        service.get("secret/data/a", headers={"X-Vault-Namespace": f"{number}" + "n" * 3_000}, token="")
        assert service.calls._long_bytes <= 100_000

    assert 3 < len(service.calls) < 60


def test_no_secret_is_taken_for_a_version(service):
    service.post("sys/mounts/kv1", {"type": "kv"})
    service.post("kv1/a", {"version": 4711})
    assert service.get("kv1/a").data == {"version": 4711}
    assert last(service).version is None
    token = service.post("sys/wrapping/wrap", {"version": 4711}, headers={"X-Vault-Wrap-TTL": "5m"}).wrap_info["token"]
    assert service.post("sys/wrapping/unwrap", {"token": token}).data == {"version": 4711}
    assert last(service).version is None


def test_many_long_names_are_cut(service):
    names = {f"{number}-" + "n" * 1_000: 1 for number in range(5_000)}
    service.post("secret/data/app", {"data": {}, "options": names, **names})

    assert len(last(service).names) == MAX_NAMES
    assert max(map(len, last(service).names)) == MAX_NAME_CHARACTERS


def test_what_is_sent_later_changes_no_call(service):
    body = {"data": {"a": 1}, "options": {"cas": 0}}
    service.post("secret/data/app", body)
    body["options"]["other"] = 1
    body["more"] = {}

    assert last(service).names == ("data", "options", "options.cas")
