"""The guard: who is let in, and how a page's key is spent."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.doors.guard import MAX_PAGE_KEYS, Guard
from labkit.doors.host_names import FOREIGN, HostNames

SCOPE = {"client": ("127.0.0.1", 50_000), "server": ("127.0.0.1", 8200), "scheme": "http"}


@pytest.fixture
def guard() -> Guard:
    return Guard(HostNames())


def test_this_machine_with_the_key_and_a_name_of_the_door_is_let_in(guard: Guard) -> None:
    for client in ("127.0.0.1", "127.0.0.9", "::1"):
        for host in ("127.0.0.1:8200", "localhost:8201", "LOCALHOST:8200", "[::1]:8200", "127.0.0.1", ""):
            scope = {**SCOPE, "client": (client, 1)}
            assert guard.refusal(scope, {"host": host, "x-labkit-key": guard.key}) == ""
    origin = {"host": "localhost:8200", "origin": "http://localhost:8200", "x-labkit-key": guard.key}
    assert guard.refusal(SCOPE, origin) == ""
    assert guard.refusal(SCOPE, {**origin, "origin": "https://localhost:8201"}) == ""
    assert guard.refusal(SCOPE, {"host": "localhost:8200"}, with_key=False) == ""


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"client": ("192.0.2.7", 1)}, {}, "for this machine only"),
    ({"client": ("1270.0.0.1", 1)}, {}, "for this machine only"),
    ({"client": None}, {}, "for this machine only"),
    ({}, {"host": "evil.example:8200"}, FOREIGN),
    ({}, {"host": "127.0.0.1.evil.example:8200"}, FOREIGN),
    ({}, {"host": "localhost."}, FOREIGN),
    ({}, {"origin": "http://evil.example"}, FOREIGN),
    ({}, {"origin": "ftp://localhost:8200"}, FOREIGN),
    ({}, {"origin": "null"}, FOREIGN),
    ({}, {"origin": ""}, FOREIGN),
    ({}, {"x-labkit-key": ""}, "expected the key"),
    ({}, {"x-labkit-key": "0" * 40}, "expected the key"),
    ({}, {"x-labkit-key": "\xe4"}, "expected the key"),
]


def test_whoever_else_comes_is_refused_with_what_is_wrong(guard: Guard) -> None:
    for scope, headers, why in REFUSED:
        whole = {"host": "127.0.0.1:8200", "x-labkit-key": guard.key, **headers}
        assert why in guard.refusal({**SCOPE, **scope}, whole), (scope, headers)
    assert "expected the key" in guard.refusal(SCOPE, {"host": "localhost:8200"})


def test_other_machines_are_let_in_where_that_was_asked_for_with_the_key_and_under_a_name() -> None:
    guard = Guard(HostNames(["drill.example"]), remote=True)
    scope = {**SCOPE, "client": ("192.0.2.7", 1)}
    headers = {"host": "Drill.example:8200", "x-labkit-key": guard.key}

    assert guard.refusal(scope, headers) == ""
    assert "expected the key" in guard.refusal(scope, {**headers, "x-labkit-key": "x"})
    assert guard.refusal(scope, {**headers, "host": "192.0.2.1:8200"}) == FOREIGN


def test_a_page_key_is_exchanged_once(guard: Guard) -> None:
    address = guard.page_address("http://127.0.0.1:8200")
    page_key = address.removeprefix("http://127.0.0.1:8200/#key=")

    assert page_key != guard.key
    assert [guard.exchange(page_key), guard.exchange(page_key)] == [guard.key, None]
    for never in (guard.key, "", None, 5, ["x"]):
        assert guard.exchange(never) is None


def test_only_the_newest_page_keys_open_anything(guard: Guard) -> None:
    keys = [guard.page_address("").partition("=")[2] for _ in range(MAX_PAGE_KEYS + 1)]

    assert [guard.exchange(keys[0]), guard.exchange(keys[1])] == [None, guard.key]


def test_each_door_has_a_key_of_its_own_and_shows_none(guard: Guard) -> None:
    assert Guard(HostNames()).key != guard.key
    assert len(guard.key) == 40
    assert repr(guard) == "Guard()"


def test_sixteen_addresses_of_a_page_may_wait_to_be_opened(guard: Guard) -> None:
    keys = [guard.page_address("http://a").removeprefix("http://a/#key=") for _ in range(16)]

    assert {len(key) for key in keys} == {40}
    assert len({*keys, guard.key}) == 17
    guard.page_address("http://a")
    assert [guard.exchange(key) for key in keys] == [None, *[guard.key] * 15]
