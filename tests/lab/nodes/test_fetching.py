"""Fetching: a fetch waits for its time, and requests that need the same wait for one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from labkit.lab.nodes import fetching
from labkit.lab.nodes.wall_clock import WallClock
from labkit.lab.wire.messages import FetchStart, FetchTimeout
from labkit.service.message import Fetch, Request

SECOND_NS = 1_000_000_000
START_NS = 1_893_456_000 * SECOND_NS
FETCH = Fetch("https://oslo:8200", Request("GET", "/x"))


class FakeNode:
    """A node whose messages and timers are kept; its lab has run for ten seconds."""

    def __init__(self) -> None:
        self.name, self.incarnation, self.serial = "paris-1", 1, 0
        self.sent: list[str] = []
        self.timers: list[tuple[int, Any]] = []
        self.fetches: dict[int, tuple[int, str]] = {}
        self.joined: dict[int, tuple[int, ...]] = {}
        self.suspended: dict[int, Any] = {}
        services: Any = SimpleNamespace(
            now=lambda: 10 * SECOND_NS,
            after=lambda delay_ns, timer: self.timers.append((delay_ns, timer)),
            resolve=lambda address: SimpleNamespace(node="oslo") if "oslo" in address else None,
            send=lambda *message, aside: self.sent.append(message[1]),
        )
        self.services = services
        self.clock = WallClock(lambda: 10 * SECOND_NS, START_NS, 0, 0)

    def begin(self, number: int, fetch: Fetch) -> None:
        """Let a request wait for a fetch."""
        self.suspended[number] = (SimpleNamespace(fetch=fetch), None)
        fetching.begin(self, number, fetch)


def test_a_fetch_is_sent_at_once_and_waits_for_so_long() -> None:
    node = FakeNode()
    node.begin(7, FETCH)

    assert (node.sent, node.fetches) == (["oslo"], {1: (7, "oslo")})
    assert node.timers == [(FETCH.timeout_ns, FetchTimeout(1, 1))]


def test_one_that_has_a_time_waits_for_it_and_then_for_its_answer() -> None:
    node = FakeNode()
    node.begin(7, FETCH._replace(not_before_ns=START_NS + 13 * SECOND_NS))
    assert (node.sent, node.timers) == ([], [(3 * SECOND_NS, FetchStart(1, 1))])
    fetching.start(node, 1)
    assert (node.sent, node.timers[1:]) == (["oslo"], [(FETCH.timeout_ns, FetchTimeout(1, 1))])
    fetching.start(node, 9)
    assert node.sent == ["oslo"]

    node.begin(8, FETCH._replace(not_before_ns=START_NS + 10 * SECOND_NS))
    assert node.sent == ["oslo"] * 2


def test_requests_that_share_a_fetch_wait_for_one_and_go_on_in_their_order() -> None:
    node, shared = FakeNode(), FETCH._replace(shared=True)
    for number in (5, 3, 9):
        node.begin(number, shared)
    node.begin(4, shared._replace(request=Request("GET", "/y")))
    node.begin(6, FETCH)
    node.begin(8, FETCH)

    assert node.sent == ["oslo"] * 4
    assert fetching.waiting_for(node, 1) == (5, 3, 9)
    assert fetching.waiting_for(node, 1) == ()
    assert node.joined == {}
    node.begin(2, shared)
    assert len(node.sent) == 5


def test_an_address_that_leads_nowhere_is_silence_after_its_time() -> None:
    node = FakeNode()
    node.begin(7, Fetch("https://nowhere", Request("GET", "/x")))

    assert (node.sent, node.fetches, len(node.timers)) == ([], {1: (7, "")}, 1)
