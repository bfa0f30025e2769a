"""Fetching: what a node's vault asks of other hosts, carried out over the network, one message per fetch.

1. A fetch is not sent before its time, and is silence when it is not answered in time after that.
2. A fetch that may be shared, and equals one under way, is not sent: its request waits for the answer to that one.
3. Who waits is resumed in the order in which they came to wait.
4. A password is hashed at once and here: no time passes, and nothing is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from labkit.lab.nodes.wall_clock import WallClock
from labkit.lab.wire.addresses import addressed
from labkit.lab.wire.host_services import HostServices
from labkit.lab.wire.messages import (
    HEADER_BYTES,
    ApiRequest,
    BootstrapRequest,
    Correlation,
    FetchStart,
    FetchTimeout,
    size_of,
)
from labkit.service.message import Fetch, Response, Suspended
from labkit.vault import password_hashing
from labkit.vault.replication.serving_secondaries import size_bytes as message_bytes


class Fetcher(Protocol):
    """A node, as far as it fetches; ``fetches`` is {number: (request that waits, host that is asked)}.

    ``joined`` is {number: further requests that wait for the same answer}.
    """

    name: str
    incarnation: int
    serial: int
    clock: WallClock
    services: HostServices
    fetches: dict[int, tuple[int, str]]
    joined: dict[int, tuple[int, ...]]

    @property
    def suspended(self) -> Mapping[int, Any]:
        """The requests that wait, by number, each with who asked for it."""


def begin(node: Fetcher, request_number: int, fetch: Fetch) -> None:
    """Carry out the fetch of a request that waits: now, at its time, or with the one that is under way."""
    same = _under_way(node, fetch) if fetch.shared else 0
    if same:
        node.joined[same] = (*node.joined.get(same, ()), request_number)
        return
    node.serial += 1
    target = node.services.resolve(fetch.address)
    node.fetches[node.serial] = (request_number, "" if target is None else target.node)
    delay_ns = node.clock.lab_ns(fetch.not_before_ns) - node.services.now() if fetch.not_before_ns else 0
    if delay_ns > 0:
        node.services.after(delay_ns, FetchStart(node.incarnation, node.serial))
    else:
        _send(node, node.serial, fetch)


def hashed(resume: Callable[[Suspended, Response], Response | Suspended], outcome: Response | Suspended) -> Any:
    """Return what becomes of a request once every password was hashed that it waits for (rule 4)."""
    while isinstance(outcome, Suspended) and outcome.fetch.channel == password_hashing.CHANNEL:
        outcome = resume(outcome, password_hashing.answer(outcome.fetch))
    return outcome


def start(node: Fetcher, number: int) -> None:
    """Send a fetch whose time has come."""
    if number in node.fetches:
        _send(node, number, _fetch_of(node, number))


def waiting_for(node: Fetcher, number: int) -> tuple[int, ...]:
    """End a fetch; return the requests that wait for its answer, none when it is over already."""
    if number not in node.fetches:
        return ()
    request_number, _ = node.fetches.pop(number)
    return (request_number, *node.joined.pop(number, ()))


def _under_way(node: Fetcher, fetch: Fetch) -> int:
    """Return the number of an equal fetch, 0 where none is under way."""
    return next((number for number in node.fetches if _fetch_of(node, number) == fetch), 0)


def _fetch_of(node: Fetcher, number: int) -> Fetch:
    fetch: Fetch = node.suspended[node.fetches[number][0]][0].fetch
    return fetch


def _send(node: Fetcher, number: int, fetch: Fetch) -> None:
    target = node.services.resolve(fetch.address)
    node.services.after(fetch.timeout_ns, FetchTimeout(node.incarnation, number))
    if target is None or target.node == node.name:
        return
    if fetch.channel == "cluster":
        body = fetch.request.body or {}
        size_bytes = HEADER_BYTES + message_bytes(body)
        asked = BootstrapRequest(number, fetch.request.path, body)
        node.services.send(node.name, target.node, "bootstrap_request", asked, size_bytes, aside=True)
    else:
        request = ApiRequest(Correlation(node.name, number), addressed(fetch))
        node.services.send(node.name, target.node, "request", request, size_of(fetch.request.body), aside=True)
