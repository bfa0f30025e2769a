"""A door: it is open between two calls, or in a ``with``, and nowhere else."""

from __future__ import annotations

import threading

import pytest
import requests

from labkit.doors.asgi import App
from labkit.doors.door import Door
from labkit.doors.server_thread import NoServer
from tests.doors.connections.echoed_connection import Echo


@pytest.mark.slow
def test_a_door_is_opened_and_closed_and_opened_again() -> None:
    door = Door(App(Echo()))
    assert repr(door) == "Door(closed)"
    for _ in range(2):
        with door as url:
            assert repr(door) == f"Door({url})"
            assert requests.get(f"{url}/v1/a", timeout=10).json()["asked"][:2] == ["GET", "/v1/a"]
        assert (repr(door), door.url) == ("Door(closed)", "")
        door.close()
        with pytest.raises(requests.ConnectionError):
            requests.get(f"{url}/v1/a", timeout=10)


def test_an_open_door_is_not_opened_twice() -> None:
    """The first port would stay open for good."""
    threads = threading.active_count()
    door = Door(App(Echo()))
    url = door.open()
    with pytest.raises(NoServer, match=f"open already, at {url}; close it first"):
        door.open()
    assert requests.get(f"{url}/v1/a", timeout=10).status_code == 200
    door.close()
    assert threading.active_count() == threads


@pytest.mark.parametrize("port", [-1, 65_536, "8200", None, True])
def test_what_is_no_port_is_refused_before_anything_is_opened(port: object) -> None:
    with pytest.raises(ValueError, match="port: expected a port up to 65535, or 0 for a free one, got "):
        Door(App(Echo()), port)  # type: ignore[arg-type]  # what a caller may hand in
