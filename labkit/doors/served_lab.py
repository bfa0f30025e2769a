"""A served lab: a port for each cluster, on one thread.

    with lab.serve() as urls:
        urls["paris"], urls["tokyo"]

While it is served the lab's verbs can be called by any thread (``labkit.lab.turns``).
"""

from __future__ import annotations

from types import TracebackType

from labkit.doors.lab_app import LabApp
from labkit.doors.lab_driver import LabDriver
from labkit.doors.server_thread import DoorSettings, NoServer, ServerThread
from labkit.lab.queries import Queries
from labkit.lab.time_passage import TimePassage
from labkit.service.arguments import whole_number, wrong

MAX_SPEED = 1_000_000
MAX_PORT = 65_535


class ServedLab:
    """The doors of a lab: ``urls`` by cluster once it is entered or opened."""

    def __init__(
        self,
        queries: Queries,
        passage: TimePassage,
        port: int = 0,
        *,
        speed: float = 0,
        settings: DoorSettings | None = None,
    ) -> None:
        settings = settings or DoorSettings()
        self.queries, self.driver = queries, LabDriver(queries.parts, passage, judged_speed(speed))
        self.app = LabApp(queries, self.driver, settings.max_request_bytes, settings.log)
        self._port = judged_port(port, len(_clusters(queries)))
        self._thread = ServerThread(self.app, settings, lifespan=True)
        self.urls: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"ServedLab({', '.join(self.urls.values()) or 'closed'})"

    def __enter__(self) -> dict[str, str]:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def open(self) -> dict[str, str]:
        """Listen, and return the URL of each cluster once requests are answered; raise NoServer."""
        turns, clusters = self.queries.parts.turns, _clusters(self.queries)
        if turns.shared:
            raise NoServer("this lab is served already; serve a branch of it, or close the other door first")
        ports = [self._port and self._port + number for number in range(len(clusters))]
        turns.shared = True
        try:
            opened = self._thread.open(ports)
        except BaseException:
            turns.shared = False
            raise
        self.app.ports = {port: cluster for (port, _), cluster in zip(opened, clusters, strict=True)}
        self.urls = {cluster: url for (_, url), cluster in zip(opened, clusters, strict=True)}
        return self.urls

    def lead_to(self, other: ServedLab) -> None:
        """Let another lab with the same clusters answer from now on, given as a door to it that is not open.

        What is under way gets no answer any more.
        """
        if self.urls and [*self.app.ports.values()] != _clusters(other.queries):
            raise ValueError(f"lead_to: expected a lab of {', '.join(self.urls)}")
        old, new = self.queries.parts.turns, other.queries.parts.turns
        with old, new:
            new.shared, old.shared = old.shared, False
            self.queries = self.app.queries = other.queries
            self.driver.lead_to(other.driver)

    def close(self) -> None:
        """Stop; requests under way are answered first, however slowly time passed."""
        if self.urls:
            self.urls = {}
            self.driver.speed = 0
            self._thread.close()
            self.queries.parts.turns.shared = False


def _clusters(queries: Queries) -> list[str]:
    return [plan.name for plan in queries.blueprint.clusters]


def judged_port(port: int, count: int) -> int:
    """Return the first of so many ports; raise ValueError where they cannot be had."""
    return whole_number("port", f"the first of {count} ports, or 0 for free ones", port, 0, MAX_PORT + 1 - count)


def judged_speed(speed: float) -> float:
    """Return a speed that can be had; raise ValueError for another."""
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not 0 <= speed <= MAX_SPEED:
        raise wrong("speed", f"simulated seconds in a second, a number from 0 to {MAX_SPEED}", speed)
    return speed
