"""Server thread: uvicorn on a thread of its own, in front of one ASGI application, on one port or several.

1. It listens on a loopback address unless another is given.
2. h11 reads the requests: it is strict about framing and knows the method LIST.
3. ``close`` takes no further request, finishes those under way, and ends the thread.
4. A process that is forked has neither its ports nor its connections (C18).
"""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit import real
from labkit.doors.asgi import MAX_HEADER_BYTES
from labkit.doors.bugs import Log
from labkit.doors.tls_files import TlsFiles
from labkit.service.limits import MAX_REQUEST_BYTES

if TYPE_CHECKING:
    import uvicorn

LOOPBACK = "127.0.0.1"
BACKLOG = 2_048
STOP_S = 10
BROWSER_REFUSAL = (
    "a Python in a browser can listen on no port: there are neither sockets nor threads; use the vault or the lab "
    "itself here, and serve it where labkit is installed"
)
KEEP_ALIVE_S = 300  # a client that asks again after a while finds its connection


class DoorSettings(NamedTuple):
    """How a door is reached: its address, its TLS files, and ``log``, which gets a line for each answer.

    ``control``: whether the control interface is there; ``opened`` is called when a page's address was opened;
    ``cloud_port``: where the door of the cloud beside it stands, 0 for a free port; ``host_names``: what it may be
    called beside the names of this machine; ``control_remote``: whether other machines may use the control interface.
    """

    host: str = LOOPBACK
    tls: TlsFiles | None = None
    log: Log | None = None
    max_request_bytes: int = MAX_REQUEST_BYTES
    control: bool = False
    opened: Callable[[], None] = lambda: None
    cloud_port: int = 0
    host_names: tuple[str, ...] = ()
    control_remote: bool = False


class NoServer(RuntimeError):
    """The server cannot be had: its libraries or TLS files are missing, or the address is taken."""


class ServerThread:
    """The sockets and the thread of one server; ``lifespan``: whether its start and end are of interest to the app."""

    def __init__(self, app: Any, settings: DoorSettings, *, lifespan: bool = False) -> None:
        self._app, self._host, self._tls, self._lifespan = app, settings.host, settings.tls, lifespan
        self._log = settings.log
        self._server: Any = None
        self._listeners: list[socket.socket] = []
        self._end_leaving: Callable[[], None] = lambda: None
        self._thread: threading.Thread | None = None

    def open(self, ports: Sequence[int]) -> list[tuple[int, str]]:
        """Listen, and return the port and the URL of each once requests are answered; raise NoServer."""
        if sys.platform == "emscripten":
            raise NoServer(BROWSER_REFUSAL)
        try:
            from labkit.doors.connections.loop_server import LoopServer
        except ImportError:
            raise NoServer("a server needs uvicorn and h11: pip install '.[serve]'") from None
        self._server = LoopServer(self._config(), BACKLOG, self._log)
        listeners = self._listeners = self._listen(ports)
        self._end_leaving = real.leave_sockets(self._descriptors)
        run = self._server.run
        self._thread = threading.Thread(target=run, args=(listeners,), name="labkit door", daemon=True)
        self._thread.start()
        while not self._server.started:
            if not self._thread.is_alive():
                self._end_leaving()
                _close_all(listeners)
                raise NoServer("the server ended before it answered")
            self._thread.join(0.002)
        return [self._named(*listener.getsockname()[:2]) for listener in listeners]

    def _config(self) -> uvicorn.Config:
        """Return uvicorn's settings, read already: what is wrong with them is known before anything is opened."""
        import uvicorn

        tls = self._tls
        config = uvicorn.Config(
            self._app,
            http="h11",
            timeout_keep_alive=KEEP_ALIVE_S,
            proxy_headers=False,  # who asks is the other end of the connection, whatever a header says
            ws="none",
            lifespan="on" if self._lifespan else "off",
            access_log=False,
            log_level="critical",
            server_header=False,
            h11_max_incomplete_event_size=MAX_HEADER_BYTES,
            timeout_graceful_shutdown=STOP_S,
            ssl_certfile=tls.certificate if tls else None,
            ssl_keyfile=tls.key if tls else None,
        )
        try:
            config.load()
        except OSError as error:
            files = f"{tls.certificate} and {tls.key}" if tls else "none"
            raise NoServer(f"expected a certificate and its key in PEM, got {files}: {error.strerror}") from None
        return config

    def _named(self, address: str, port: int) -> tuple[int, str]:
        return port, f"https://localhost:{port}" if self._tls else f"http://{address}:{port}"

    def _listen(self, ports: Sequence[int]) -> list[socket.socket]:
        listeners: list[socket.socket] = []
        for port in ports:
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # or asyncio is slower
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listeners.append(listener)
            try:
                listener.bind((self._host, port))
                listener.listen(BACKLOG)
            except OSError as error:
                _close_all(listeners)
                raise NoServer(f"cannot listen on {self._host}:{port}: {error.strerror}") from None
        return listeners

    def _descriptors(self) -> list[int]:
        """Return those of its sockets (rule 4)."""
        lines = [connection.transport.get_extra_info("socket") for connection in self._server.server_state.connections]
        numbers = [line.fileno() for line in (*self._listeners, *lines) if line is not None]
        return [number for number in numbers if number >= 0]

    def close(self) -> None:
        """Stop; requests under way are answered first."""
        if self._server is not None:
            self._server.stop()
            if self._thread is not None:
                self._thread.join()
            self._end_leaving()
            self._server = self._thread = None
            close = getattr(self._app, "close", None)
            if close is not None:
                close()


def _close_all(listeners: list[socket.socket]) -> None:
    for listener in listeners:
        listener.close()
