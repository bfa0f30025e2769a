"""Host services: the eight things that a node, the operators' console and a client are handed; they know no lab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from labkit.seeded import SeededEntropy


class ResolvedNode(NamedTuple):
    """The node that a name leads to, its cluster, and whether it runs; the node is empty when there is none.

    ``passes_on``: the name is a load balancer's or the cloud's, which belong to no cluster.
    """

    node: str
    cluster: str
    running: bool
    passes_on: bool = False


class HostServices(NamedTuple):
    """What a host can do besides computing.

    - ``now()``: simulated time in nanoseconds
    - ``after(delay_ns, payload, spread_ppm=0)``: give the payload back after a delay, which a draw makes longer or
      shorter by up to ``spread_ppm`` millionths
    - ``send(source, target, what, message, size_bytes, aside=False)``: send a message to another host, behind the
      bytes that wait on the line, or aside of them
    - ``datagram(source, target, what, message, size_bytes)``: send one that may be lost, come twice, or be overtaken
    - ``resolve(address)``: which node or load balancer it names, None for any other; for the operators' console also,
      as ``active://paris``, which node of a cluster is the active one
    - ``entropy(incarnation, counter)``: this host's stream of bytes
    - ``emit(record)``: report what happened (``reports``); it takes effect at once
    - ``is_node(host)``: whether a host is a node: no client, no operator's host and no load balancer
    """

    now: Callable[[], int]
    after: Callable[..., None]
    send: Callable[..., None]
    datagram: Callable[..., None]
    resolve: Callable[[str], ResolvedNode | None]
    entropy: Callable[[int, int], SeededEntropy]
    emit: Callable[[Any], None]
    is_node: Callable[[str], bool]
