"""The served door: a vault, or a cluster of a lab, behind a port.

with ServedDoor(vault) as url:
    …
"""

from __future__ import annotations

from types import TracebackType

from labkit.doors.asgi import App, Log
from labkit.doors.http_exchange import Service
from labkit.doors.server_thread import LOOPBACK, DoorSettings, NoServer, ServerThread, TlsFiles
from labkit.service.limits import MAX_REQUEST_BYTES

__all__ = ["LOOPBACK", "NoServer", "ServedDoor", "TlsFiles"]


class ServedDoor:
    """A door on a socket: ``url`` once it is entered or opened."""

    def __init__(
        self,
        service: Service,
        port: int = 0,
        *,
        host: str = LOOPBACK,
        max_request_bytes: int = MAX_REQUEST_BYTES,
        tls: TlsFiles | None = None,
        log: Log | None = None,
    ) -> None:
        self.app = App(service, max_request_bytes, log)
        self._port, self._thread = port, ServerThread(self.app, DoorSettings(host, tls))
        self.url = ""

    def __repr__(self) -> str:
        return f"ServedDoor({self.url or 'closed'})"

    def __enter__(self) -> str:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def open(self) -> str:
        """Listen, and return the URL once requests are answered; raise NoServer."""
        ((_, self.url),) = self._thread.open([self._port])
        return self.url

    def close(self) -> None:
        """Stop; requests under way are answered first."""
        self.url = ""
        self._thread.close()
