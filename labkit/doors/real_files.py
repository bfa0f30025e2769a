"""Real files: where the audit devices of a served vault write when a folder was given for it.

1. A file is below that folder, whatever its path says, and no link leads out of it.  It is made with mode 0600,
   missing folders on the way to it with 0700, and only appended to; ``reopen`` lets a moved one stay as it is and
   begins another.  A line that was cut short, as on a full disk, is taken away before the next one is written, and a
   line that another process left without its end is ended.
2. ``tcp://``, ``udp://`` and ``unix://`` are real sockets, kept open, and ``syslog://`` is this machine's.  What cannot
   be written in time is an OSError: that device has failed (decision C10).
3. Everything else that the vault keeps as files stays in memory.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from labkit.vault.files import Files

PATIENCE_S = 2
MODE = 0o600
FOLDER_MODE = 0o700
FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
SYSLOG_SOCKET = "/dev/log"
INFORMATION = 6  # the severity of every line
FACILITIES = {
    name: number
    for number, name in enumerate(
        ("KERN", "USER", "MAIL", "DAEMON", "AUTH", "SYSLOG", "LPR", "NEWS", "UUCP", "CRON", "AUTHPRIV", "FTP")
    )
}
FACILITIES |= {f"LOCAL{number}": 16 + number for number in range(8)}


class RealFiles(Files):
    """Files whose appended lines leave the process; for one thread at a time, whoever calls ``reopen``."""

    __slots__ = ("_cut", "_descriptors", "_folder", "_sockets", "_stale", "_syslog")

    def __init__(self, folder: str, syslog_socket: str = SYSLOG_SOCKET) -> None:
        super().__init__()
        self._folder = Path(os.path.realpath(folder))
        if not self._folder.is_dir():
            raise NotADirectoryError(f"{folder}: expected a folder for audit files; make it first")
        self._syslog = syslog_socket
        self._descriptors: dict[str, int] = {}
        self._cut: dict[str, int] = {}  # the size that a file has without the line that was cut short
        self._sockets: dict[str, socket.socket] = {}
        self._stale = False

    def __repr__(self) -> str:
        return f"RealFiles({self._folder})"

    def append(self, path: str, line: bytes) -> None:
        """Write a line to a file, a socket or syslog; raise OSError where that cannot be done."""
        if path in self.blocked:
            raise OSError(self.blocked[path])
        if self._stale:
            self._stale = False
            self._cut = {}  # the next files may be others
            self.close()
        kind, mark, rest = path.partition("://")
        try:
            if not mark:
                self._to_file(path, line + b"\n")
            elif kind == "syslog":
                self._send(path, _syslog_line(rest, line), self._open_syslog)
            else:
                self._send(path, line + b"\n", lambda: _open_socket(kind, rest))
        except (ValueError, OverflowError) as error:  # a name or number that the system does not take
            raise OSError(f"{path!r}: {error}") from None

    def reopen(self) -> None:
        """Let the next line of each file open it again."""
        self._stale = True

    def close(self) -> None:
        """Close everything that is open."""
        for descriptor in self._descriptors.values():
            os.close(descriptor)
        for line in self._sockets.values():
            line.close()
        self._descriptors, self._sockets = {}, {}

    def _to_file(self, path: str, line: bytes) -> None:
        descriptor = self._descriptors.get(path)
        if descriptor is None:
            descriptor = self._descriptors[path] = self._open(path)
        if path in self._cut:
            os.ftruncate(descriptor, self._cut[path])
            del self._cut[path]
        written = os.write(descriptor, line)
        if written != len(line):
            self._cut[path] = os.fstat(descriptor).st_size - written
            raise OSError(f"{path}: a line was cut short: no space left on device")

    def _open(self, path: str) -> int:
        place = self._folder / path
        parent = Path(os.path.realpath(place.parent))
        if not (parent == self._folder or parent.is_relative_to(self._folder)):
            raise PermissionError(f"{path}: expected a file below {self._folder}")
        for missing in reversed([folder for folder in (parent, *parent.parents) if not folder.exists()]):
            missing.mkdir(FOLDER_MODE, exist_ok=True)
        descriptor = os.open(parent / place.name, FLAGS, MODE)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise PermissionError(f"{path}: expected a regular file")
        os.fchmod(descriptor, MODE)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n" and path not in self._cut:
            os.write(descriptor, b"\n")
        return descriptor

    def _send(self, name: str, content: bytes, opened: Callable[[], socket.socket]) -> None:
        """Send a line; a connection that has ended since the last one is opened again, once."""
        known = self._sockets.pop(name, None)
        if known is not None and _is_open(known):
            with suppress(OSError):
                known.sendall(content)
                self._sockets[name] = known
                return
        if known is not None:
            known.close()
        end = opened()
        try:
            end.sendall(content)
        except OSError:
            end.close()
            raise
        self._sockets[name] = end

    def _open_syslog(self) -> socket.socket:
        return _connected(socket.AF_UNIX, socket.SOCK_DGRAM, self._syslog)


def _is_open(end: socket.socket) -> bool:
    """Whether the other side has not closed a stream, as far as can be known."""
    if end.type != socket.SOCK_STREAM:
        return True
    end.setblocking(False)
    try:
        return end.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        end.settimeout(PATIENCE_S)


def _open_socket(kind: str, address: str) -> socket.socket:
    if kind == "unix":
        return _connected(socket.AF_UNIX, socket.SOCK_STREAM, address)
    host, _, port = address.rpartition(":")
    if not (kind in ("tcp", "udp") and host and port.isascii() and port.isdigit() and len(port) < 6):
        raise OSError(f"{kind}://{address}: expected an address such as 127.0.0.1:9090")
    if kind == "tcp":
        return socket.create_connection((host.strip("[]"), int(port)), PATIENCE_S)
    found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)
    return _connected(found[0][0], socket.SOCK_DGRAM, found[0][4])


def _connected(family: int, kind: int, address: object) -> socket.socket:
    end = socket.socket(family, kind)
    end.settimeout(PATIENCE_S)
    try:
        end.connect(address)  # type: ignore[arg-type]  # of the form that the family has
    except BaseException:
        end.close()
        raise
    return end


def _syslog_line(rest: str, line: bytes) -> bytes:
    name, _, tag = rest.partition("/")
    facility = FACILITIES.get(name.upper())
    if facility is None:
        raise OSError(f"syslog: expected a facility such as AUTH or LOCAL0, got {name!r}")
    return b"<%d>%s: %s" % (facility * 8 + INFORMATION, tag.encode(), line)
