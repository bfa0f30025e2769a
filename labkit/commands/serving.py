"""Serving: what serving a vault and serving a lab have in common: signals, the wait for the end."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from labkit.commands.exit_codes import AS_EXPECTED, STOPPED

if TYPE_CHECKING:
    from labkit.doors.server_thread import DoorSettings
    from labkit.doors.tls_files import TlsFiles


def log(line: str) -> None:
    """Write a line for whoever watches the server; what programs read is on the other stream."""
    print(line, file=sys.stderr, flush=True)


def settings_of(given: argparse.Namespace, tls: TlsFiles | None, opened: Callable[[], None]) -> DoorSettings:
    """Return how the doors are reached."""
    from labkit.doors.server_thread import LOOPBACK, DoorSettings
    from labkit.service.limits import MAX_REQUEST_BYTES

    host = "0.0.0.0" if given.allow_remote else LOOPBACK  # asked for by name
    size_bytes = given.max_request_size or MAX_REQUEST_BYTES
    names = tuple(given.host_name or ())
    return DoorSettings(
        host, tls, log, size_bytes, given.control, opened, given.cloud_port or 0, names, given.control_remote
    )


class ServerStop(threading.Event):
    """Set once the process is asked to stop; ``exit_code`` is what it then ends with."""

    exit_code = AS_EXPECTED

    def interrupt(self) -> None:
        """Stop by Ctrl-C."""
        self.exit_code = STOPPED
        self.set()


@contextmanager
def until_stopped(reopen: Callable[[], None] | None = None) -> Iterator[ServerStop]:
    """Let signals ask the process to stop, and SIGHUP to open its files again where it has any."""
    stop = ServerStop()
    asked: dict[int, Callable[[], None]] = {signal.SIGINT: stop.interrupt, signal.SIGTERM: stop.set}
    if reopen is not None and hasattr(signal, "SIGHUP"):
        asked[signal.SIGHUP] = reopen
    before = {number: signal.signal(number, lambda number, _: asked[number]()) for number in asked}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def wait(stop: threading.Event) -> None:
    """Wait until the process is asked to stop."""
    while not stop.wait(3_600):
        pass
