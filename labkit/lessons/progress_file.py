"""Progress file: what a reader predicted and did, in a small file beside the notebooks, without any clock time.

1. It is written whole, beside the old one first, so that it is never found half written.
2. Two kernels may write at once: each reads what is there, adds its own record and writes, while the other waits.
3. One that cannot be read is kept under another name, and begun again; where nothing can be written, what is new is
   remembered until the kernel ends, or until it can be written.  Both are said, and stop nothing.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    from fcntl import LOCK_EX, flock
except ImportError:  # a system without it, or a browser: there the last of two that write at once wins
    flock = None  # type: ignore[assignment]  # there is none

NAME = ".labkit-lessons.json"
UNREADABLE = ".labkit-lessons.unreadable.json"
SEEN, WITH_HELP, ALONE, AGAIN = "seen", "with help", "alone", "again later"

Records = dict[str, dict[str, Any]]

_unwritten: dict[Path, Records] = {}


class ProgressFile:
    """The records of one folder by key, such as ``06/check/fence``; ``trouble`` says what went wrong with the file."""

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / NAME
        self.trouble = ""

    def __repr__(self) -> str:
        return f"ProgressFile({self.path})"

    def read(self) -> Records:
        """Return all records."""
        return {**self._written(), **_unwritten.get(self.path.absolute(), {})}

    def get(self, key: str) -> dict[str, Any]:
        """Return one record, empty where there is none."""
        return dict(self.read().get(key, {}))

    def put(self, key: str, record: dict[str, Any]) -> None:
        """Write one record."""
        with self._one_at_a_time():
            self._write({**self.read(), key: record}, {key: record})

    def write(self, records: Records) -> None:
        """Write all records, in place of those there were."""
        with self._one_at_a_time():
            self._write(records, records)

    def _written(self) -> Records:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            if isinstance(found, dict) and all(isinstance(row, dict) for row in found.values()):
                return found
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError):
            pass
        self._put_aside()
        return {}

    def _write(self, records: Records, new: Records) -> None:
        place = self.path.absolute()
        try:
            _write_whole(self.path, json.dumps(records, indent=1, sort_keys=True) + "\n")
        except OSError as error:
            _unwritten[place] = {**_unwritten.get(place, {}), **new}
            self.trouble = f"{self.path} cannot be written ({error.strerror}): this is remembered until the kernel ends"
        else:
            if _unwritten.pop(place, None) is not None:
                self.trouble = ""

    @contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        """Let other kernels wait that write in this folder, where the system can; a lock ends with its kernel."""
        folder = _locked(self.path.parent)
        try:
            yield
        finally:
            if folder >= 0:
                os.close(folder)

    def _put_aside(self) -> None:
        try:
            self.path.replace(self.path.with_name(UNREADABLE))
            self.trouble = f"{self.path} could not be read: it is now called {UNREADABLE}, and a new one is begun"
        except OSError as error:
            self.trouble = f"{self.path} cannot be read ({error.strerror})"


def _locked(folder: Path) -> int:
    """Return a handle of a folder that no other kernel has locked; -1 of one that cannot be locked."""
    if flock is None:
        return -1
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return -1
    with suppress(OSError):  # a disk without locks
        flock(handle, LOCK_EX)
    return handle


def _write_whole(path: Path, text: str) -> None:
    """Write a file beside its place, and put it there."""
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f"{path.stem}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
