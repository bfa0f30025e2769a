"""The served door: uvicorn on a thread of its own, in front of a vault or a cluster of a lab.

    with ServedDoor(vault) as url:
        …

1. It listens on a loopback address unless another is given.
2. h11 reads the requests: it is strict about framing and knows the method LIST.
3. ``close`` takes no further request, finishes those under way, and ends the thread.
"""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import NamedTuple

from labkit.doors.asgi import MAX_HEADER_BYTES, App, Log
from labkit.doors.http_exchange import Service
from labkit.service.limits import MAX_REQUEST_BYTES

LOOPBACK = "127.0.0.1"
BACKLOG = 2_048
STOP_S = 10


class TlsFiles(NamedTuple):
    """The files of a TLS door, in PEM: certificate, key, and the authority that clients are to trust."""

    certificate: str
    key: str
    authority: str


class NoServer(RuntimeError):
    """The server cannot be had: its libraries are missing, or the address is taken."""


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
        self._host, self._port, self._tls = host, port, tls
        self.url = ""

    def __repr__(self) -> str:
        return f"ServedDoor({self.url or 'closed'})"

    def __enter__(self) -> str:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def open(self) -> str:
        """Listen, and return the URL once requests are answered; raise NoServer."""
        try:
            import uvicorn
        except ImportError:
            raise NoServer("a server needs uvicorn and h11: pip install '.[serve]'") from None
        listener = self._listen()
        tls = self._tls
        config = uvicorn.Config(
            self.app,
            http="h11",
            ws="none",
            lifespan="off",
            access_log=False,
            log_level="critical",
            server_header=False,
            h11_max_incomplete_event_size=MAX_HEADER_BYTES,
            timeout_graceful_shutdown=STOP_S,
            ssl_certfile=tls.certificate if tls else None,
            ssl_keyfile=tls.key if tls else None,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listener],), name="labkit door", daemon=True)
        self._thread.start()
        while not self._server.started:
            if not self._thread.is_alive():
                raise NoServer("the server ended before it answered")
            self._thread.join(0.002)
        address, port = listener.getsockname()[:2]
        self.url = f"https://localhost:{port}" if self._tls else f"http://{address}:{port}"
        return self.url

    def _listen(self) -> socket.socket:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # or asyncio delays answers
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self._host, self._port))
        except OSError as error:
            listener.close()
            raise NoServer(f"cannot listen on {self._host}:{self._port}: {error.strerror}") from None
        listener.listen(BACKLOG)
        return listener

    def close(self) -> None:
        """Stop; requests under way are answered first."""
        if self.url:
            self.url = ""
            self._server.should_exit = True
            self._thread.join()
