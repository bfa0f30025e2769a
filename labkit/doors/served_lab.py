"""A served lab: a port for each cluster, on one thread.

    with lab.serve() as urls:
        urls["paris"], urls["tokyo"]

1. While it is served the lab's verbs can be called by any thread (``labkit.lab.wire.turns``); a watched rule is
   checked in the thread that lets time pass.
2. The cloud that the lab has, if it has one, stands on a port of its own: ``cloud_url``.
3. ``page`` is the address of a page that shows the lab, for whoever has it; its controls are there only when asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from labkit.doors.cloud_door import CloudDoor
from labkit.doors.control import Control
from labkit.doors.door import MAX_PORT
from labkit.doors.guard import Guard
from labkit.doors.host_names import HostNames
from labkit.doors.lab_app import LabApp
from labkit.doors.lab_control import LabControl, judged_speed
from labkit.doors.lab_driver import LabDriver
from labkit.doors.pages.lab_page import LabPage
from labkit.doors.pages.run_page import RunPage
from labkit.doors.server_thread import DoorSettings, NoServer, ServerThread
from labkit.lab.bench import Bench
from labkit.lab.time_passage import TimePassage
from labkit.service.arguments import whole_number
from labkit.service.message import Response

if TYPE_CHECKING:
    from labkit.views.player.player import Player


class ServedLab:
    """The doors of a lab: ``urls`` by cluster once it is entered or opened.

    ``again`` makes the door to a lab that is put there when a reset is asked for; only such a lab is taken back in time
    too, for it is nobody else's.  ``play`` gives the player of the lab, ``door_to`` the door of another.
    """

    def __init__(
        self,
        lab: Bench,
        passage: TimePassage,
        port: int = 0,
        *,
        speed: float = 0,
        settings: DoorSettings | None = None,
    ) -> None:
        settings = settings or DoorSettings()
        self.lab, self.driver = lab, LabDriver(lab.parts, passage, judged_speed(speed))
        self.app = LabApp(lab, self.driver, settings.max_request_bytes, settings.log)
        self.app.names = HostNames(settings.host_names)
        self._port = judged_port(port, len(lab.clusters))
        self._thread = ServerThread(self.app, settings, lifespan=True)
        self._cloud = CloudDoor(self._ask_cloud, settings.cloud_port, settings)
        self.again: Callable[[], ServedLab] | None = None
        self.door_to: Callable[[Any], ServedLab] | None = None
        self.play: Callable[[], Player] | None = None
        self._page = LabPage(self.app, settings.control)
        self._run = RunPage(self.app, lambda: self.play, self._why_not_back)
        acts = {**self._page.acts, **self._run.acts}
        if settings.control:
            acts |= LabControl(self.app, self._begin_again, self._go_back).acts
        self._opened = settings.opened
        self.control = Control(acts, Guard(self.app.names, settings.control_remote), self._page_opened)
        self.app.beside = self.control
        self.urls: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"ServedLab({', '.join(self.urls.values()) or 'closed'})"

    def __enter__(self) -> dict[str, str]:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def open(self) -> dict[str, str]:
        """Listen, and return the URL of each cluster once requests are answered; raise NoServer."""
        turns, clusters = self.lab.parts.turns, list(self.lab.clusters)
        turns.refuse_forked()
        if turns.shared:
            raise NoServer("this lab is served already; serve a branch of it, or close the other door first")
        ports = [self._port and self._port + number for number in range(len(clusters))]
        turns.shared = True
        self._keep_the_past()
        try:
            if self.lab.parts.clouds:
                self._cloud.open()
            opened = self._thread.open(ports)
        except BaseException:
            self._cloud.close()
            turns.shared = False
            raise
        self.app.ports = {port: cluster for (port, _), cluster in zip(opened, clusters, strict=True)}
        self.urls = {cluster: url for (_, url), cluster in zip(opened, clusters, strict=True)}
        self._page.urls = self.urls
        return self.urls

    @property
    def cloud_url(self) -> str:
        """The address of the lab's cloud, empty where it has none."""
        return self._cloud.url

    @property
    def page(self) -> str:
        """The address of the page, with a key that opens it once; another one each time."""
        return self.control.guard.page_address(next(iter(self.urls.values())))

    def lead_to(self, other: ServedLab) -> None:
        """Let another lab with the same clusters answer from now on, given as a door to it that is not open.

        What is under way gets no answer any more.
        """
        if [*other.lab.clusters] != [*self.lab.clusters]:
            raise ValueError(f"lead_to: expected a lab of {', '.join(self.lab.clusters)}")
        old, new = self.lab.parts.turns, other.lab.parts.turns
        with old, new:
            new.shared, old.shared = old.shared, False
            self._run.before = self.lab.trace
            self.lab, self.play = other.lab, other.play
            self.app.lead_to(other.lab)
            self.driver.lead_to(other.driver)
        self._keep_the_past()

    def close(self) -> None:
        """Stop; requests under way are answered first, however slowly time passed."""
        if self.urls:
            self.urls = {}
            self.driver.finish()
            self._thread.close()
            self._cloud.close()
            self.lab.parts.turns.shared = False

    def _page_opened(self) -> None:
        self.app.answers.wanted = True
        self.driver.begin()
        self._opened()

    def _ask_cloud(self, *asked: Any, **named: Any) -> Response:
        lab = self.lab
        with lab.parts.turns:
            return lab.cloud.request(*asked, **named)

    def _keep_the_past(self) -> None:
        """Keep what going back and playing need, in a lab that is nobody else's."""
        if self.again is not None and self.lab.trace.enabled:
            self.lab.keep_pictures()
            self.lab.keep_checkpoints()

    def _begin_again(self) -> None:
        if self.again is None:
            raise ValueError("this lab is another program's, which alone can begin it again")
        self.lead_to(self.again())

    def _why_not_back(self) -> str:
        if self.again is None or self.door_to is None:
            return "this lab is another program's, which alone can begin it again or take it back in time"
        return "" if self.lab.trace.enabled else "this lab keeps no trace, so it cannot be taken back in time"

    def _go_back(self, to: Any) -> None:
        why_not = self._why_not_back()
        if why_not or self.door_to is None:
            raise ValueError(why_not)
        self.lead_to(self.door_to(self.lab.at(to)))


def judged_port(port: int, count: int) -> int:
    """Return the first of a row of ports; raise ValueError where they cannot be had."""
    return whole_number("port", f"the first of {count} ports, or 0 for free ones", port, 0, MAX_PORT + 1 - count)
