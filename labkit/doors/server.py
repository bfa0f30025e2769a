"""The served door: a vault, or a cluster of a lab, behind a port.

with ServedDoor(vault) as url:
    …
"""

from __future__ import annotations

from types import TracebackType

from labkit.doors.asgi import App
from labkit.doors.control import Control
from labkit.doors.http_exchange import Service
from labkit.doors.server_thread import DoorSettings, ServerThread
from labkit.doors.vault_control import Controlled, VaultControl


class ServedDoor:
    """A door on a socket: ``url`` once it is entered or opened; ``control``, where it has one, holds its keys."""

    def __init__(self, service: Service, port: int = 0, settings: DoorSettings | None = None) -> None:
        settings = settings or DoorSettings()
        self.app = App(service, settings.max_request_bytes, settings.log)
        self._port, self._thread = port, ServerThread(self.app, settings)
        self.control: Control | None = None
        self._controlled: VaultControl | None = None
        if settings.control:
            if not isinstance(service, Controlled):
                raise ValueError("control: expected a vault; a cluster is controlled through lab.serve(control=True)")
            self._controlled = VaultControl(service)
            self.control = self.app.beside = Control(self._controlled.acts, settings.opened)
        self.url = ""

    def __repr__(self) -> str:
        return f"ServedDoor({self.url or 'closed'})"

    def __enter__(self) -> str:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def lead_to(self, service: Service) -> None:
        """Let another vault or cluster answer from now on."""
        self.app.lead_to(service)
        if self._controlled is not None and isinstance(service, Controlled):
            self._controlled.vault = service

    def open(self) -> str:
        """Listen, and return the URL once requests are answered; raise NoServer."""
        ((_, self.url),) = self._thread.open([self._port])
        return self.url

    def close(self) -> None:
        """Stop; requests under way are answered first."""
        self.url = ""
        self._thread.close()
