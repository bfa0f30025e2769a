"""Progress file: what a reader predicted and did, in a small file beside the notebooks, without any clock time.

1. It is written whole, beside the old one first, so that it is never found half written.
2. Two kernels may write at once: each reads what is there, adds its own record and writes, while the other waits.
3. One that cannot be read is kept under another name, and begun again.
4. Where it cannot be written, a spare file in the reader's home is, until it can be; where that cannot be written
   either, whoever holds the progress file holds what is new.  All of this is said, and stops nothing.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

try:
    from fcntl import LOCK_EX, flock
except ImportError:  # a system without it, or a browser: there the last of two that write at once wins
    flock = None  # type: ignore[assignment]  # there is none

NAME = ".labkit-lessons.json"
UNREADABLE = ".labkit-lessons.unreadable.json"
SPARES = ".labkit-lessons"
SEEN, WITH_HELP, ALONE, AGAIN = "seen", "with help", "alone", "again later"

Records = dict[str, dict[str, Any]]


class ProgressFile:
    """The records of one folder by key, such as ``06/check/fence``; ``trouble`` says what went wrong with the file."""

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / NAME
        self.spare = _spare_of(self.path)
        self.trouble = ""
        self._unwritten: Records = {}

    def __repr__(self) -> str:
        return f"ProgressFile({self.path})"

    def read(self) -> Records:
        """Return all records."""
        return {**self._written(self.path), **self._not_here()}

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

    def copy_to(self, path: Path) -> None:
        """Write all records to another file."""
        _write_whole(path, self.read())

    def _not_here(self) -> Records:
        """Return the records that could not be written where they belong."""
        return {**(self._written(self.spare) if self.spare else {}), **self._unwritten}

    def _written(self, path: Path) -> Records:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(found, dict) and all(isinstance(row, dict) for row in found.values()):
                return found
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, ValueError, RecursionError):
            pass
        self._put_aside(path)
        return {}

    def _write(self, records: Records, new: Records) -> None:
        elsewhere = self._not_here()
        try:
            _write_whole(self.path, records)
        except OSError as error:
            trouble = f"{self.path} cannot be written ({error.strerror})"
            self.trouble = f"{trouble}: {self._write_elsewhere({**elsewhere, **new})}"
            return
        if elsewhere:
            self.trouble, self._unwritten = "", {}
            if self.spare:
                with suppress(OSError):
                    self.spare.unlink()

    def _write_elsewhere(self, records: Records) -> str:
        """Keep what cannot be written where it belongs, and say where it is instead."""
        try:
            if self.spare:
                self.spare.parent.mkdir(exist_ok=True)
                _write_whole(self.spare, records)
                self._unwritten = {}
                return f"{self.spare} is written instead"
        except OSError:
            pass
        self._unwritten = records
        return "this is remembered until the lesson is opened again"

    @contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        """Let other kernels wait that write in this folder, where the system can; a lock ends with its kernel."""
        folder = _locked(self.path.parent)
        try:
            yield
        finally:
            if folder >= 0:
                os.close(folder)

    def _put_aside(self, path: Path) -> None:
        try:
            path.replace(path.with_name(UNREADABLE))
            self.trouble = f"{path} could not be read: it is now called {UNREADABLE}, and a new one is begun"
        except OSError as error:
            self.trouble = f"{path} cannot be read ({error.strerror})"


def _spare_of(path: Path) -> Path | None:
    """Return where the records of a folder are written when it takes none; None for a reader without a home."""
    try:
        folder = Path.home() / SPARES
    except RuntimeError:
        return None
    return folder / f"{blake2b(str(path.absolute()).encode(), digest_size=8).hexdigest()}.json"


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


def _write_whole(path: Path, records: Records) -> None:
    """Write a file beside its place, and put it there."""
    text = json.dumps(records, indent=1, sort_keys=True) + "\n"
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f"{path.stem}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
