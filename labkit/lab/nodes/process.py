"""Process: what stands between a node and all that arrives for it: a pause holds that, and each request takes its time.

1. A paused process does nothing: its timers, the renewal of its lease and its messages wait.  Its host is still up.
   When it is resumed it takes the messages that wait, then the timers that ran out, each in order.  It acts on what it
   believed until then: only by them does it learn what happened meanwhile.
2. Where a request takes time, one is worked on and the others wait in a queue; it is answered when its time is over.
   Only requests of the API take time: replication, heartbeats, answers and timers pass.
3. A crash takes away what waits.
4. A process that neither waits nor works is not asked: its node is what the clock's items go to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from labkit.lab.wire.messages import ApiRequest, ForwardedRequest, ServiceTimer

AfterDelay = Callable[[int, ServiceTimer], None]


class Addressee(Protocol):
    """What the clock's items for a host are handed to."""

    def receive(self, source: str, message: Any) -> None:
        """Take a message that arrived."""

    def on_timer(self, timer: Any) -> None:
        """A timer came back."""


class Working(Addressee, Protocol):
    """A node, as far as its process asks it."""

    name: str
    incarnation: int


class Process:
    """The process of one node; ``held`` and ``late`` are the messages and timers of a pause, ``queue`` the requests."""

    __slots__ = ("_after", "_node", "held", "late", "max_queued", "paused", "queue", "service_ns")

    def __init__(self, node: Working, service_ns: int, after: AfterDelay, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self._node, self._after, self.service_ns = node, after, service_ns
        self.paused: bool = state.get("paused", False)
        self.held: list[tuple[str, Any]] = list(state.get("held", ()))
        self.late: list[Any] = list(state.get("late", ()))
        self.queue: deque[tuple[str, Any]] = deque(state.get("queue", ()))
        self.max_queued: int = state.get("max_queued", 0)

    def __repr__(self) -> str:
        return f"Process({self._node.name}{', paused' if self.paused else ''}, {len(self.queue)} requests)"

    @property
    def host(self) -> Addressee:
        """What the clock's items are to go to: the node itself while nothing waits for it."""
        return self if self.paused or self.service_ns else self._node

    def receive(self, source: str, message: Any) -> None:
        """Take a message that arrived: hold it, put it into the queue, or hand it over."""
        if self.paused:
            self.held.append((source, message))
        elif self.service_ns and type(message) in (ApiRequest, ForwardedRequest):
            self.queue.append((source, message))
            self.max_queued = max(self.max_queued, len(self.queue))
            if len(self.queue) == 1:
                self._begin()
        else:
            self._node.receive(source, message)

    def on_timer(self, timer: Any) -> None:
        """A timer came back: hold it, end the work on a request, or hand it over."""
        if self.paused:
            self.late.append(timer)
        elif type(timer) is not ServiceTimer:
            self._node.on_timer(timer)
        elif timer.incarnation == self._node.incarnation:
            served = self.queue.popleft()
            if self.queue:
                self._begin()
            self._node.receive(*served)

    def pause(self) -> bool:
        """Stop; return whether it ran until now."""
        ran, self.paused = not self.paused, True
        return ran

    def resume(self) -> bool:
        """Go on with what waits; return whether it was paused."""
        if not self.paused:
            return False
        self.paused = False
        held, late, self.held, self.late = self.held, self.late, [], []
        for source, message in held:
            self.receive(source, message)
        for timer in late:
            self.on_timer(timer)
        return True

    def crash(self) -> None:
        """Forget what waits; a process that is started again is not paused."""
        self.paused, self.held, self.late = False, [], []
        self.queue.clear()

    def state(self) -> dict[str, Any]:
        """Return what waits as plain values; nothing for a process to which nothing happened."""
        if not (self.paused or self.queue or self.max_queued):
            return {}
        return {
            "paused": self.paused,
            "held": tuple(self.held),
            "late": tuple(self.late),
            "queue": tuple(self.queue),
            "max_queued": self.max_queued,
        }

    def _begin(self) -> None:
        self._after(self.service_ns, ServiceTimer(self._node.incarnation))
