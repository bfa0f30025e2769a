"""A door: one application behind one port, opened and closed.

with Door(app) as url:
    …
"""

from __future__ import annotations

from types import TracebackType

from labkit import real
from labkit.doors.asgi import HttpApp
from labkit.doors.server_thread import DoorSettings, NoServer, ServerThread
from labkit.service.arguments import whole_number
from labkit.service.errors import Forked

MAX_PORT = 65_535


class Door:
    """A door on a socket: ``url`` once it is entered or opened."""

    def __init__(self, app: HttpApp, port: int = 0, settings: DoorSettings | None = None) -> None:
        self._port = whole_number("port", f"a port up to {MAX_PORT}, or 0 for a free one", port, 0, MAX_PORT)
        self._thread = ServerThread(app, settings or DoorSettings())
        self._is_forked = real.fork_watch()
        self.url = ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url or 'closed'})"

    def __enter__(self) -> str:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def open(self) -> str:
        """Listen, and return the URL once requests are answered; raise NoServer, or Forked in a child process."""
        if self._is_forked():
            raise Forked("this door was made")
        if self.url:
            raise NoServer(f"this door is open already, at {self.url}; close it first, or make another one")
        ((_, self.url),) = self._thread.open([self._port])
        return self.url

    def close(self) -> None:
        """Stop; requests under way are answered first."""
        self.url = ""
        self._thread.close()
