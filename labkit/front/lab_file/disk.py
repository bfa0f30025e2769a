"""Disk: lab files are written whole or not at all, and read within bounds.

1. A file is written beside its place with mode 0600, and then put there: whoever reads it meets the old or the new one.
   A link stays, and the file that it leads to is replaced; a device, a pipe or a socket is refused.
2. Opening runs nothing.  A lab is built of what was read; what it would save has to be the same, so that nothing in a
   file is dropped or taken for something else.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Protocol, TypeVar

from labkit.front.lab_file.encoding import is_kept
from labkit.front.lab_file.errors import LabFileError, LabTooLarge
from labkit.front.lab_file.lab_file import MAX_FILE_BYTES, LabFile, packed, unpacked
from labkit.front.lab_file.state_shape import has_same_names
from labkit.lab.snapshot import Snapshot
from labkit.service.arguments import MAX_SHOWN_CHARACTERS, shown, wrong


class _Saved(Protocol):
    def snapshot(self) -> Snapshot: ...


_Lab = TypeVar("_Lab", bound=_Saved)


def write_file(path: str | Path, snapshot: Snapshot, left_out: tuple[str, ...]) -> None:
    """Write a lab file; OSError, which names it, where the disk or its rights do not allow it."""
    asked = _judged(path)
    target = Path(os.path.realpath(asked))
    judge_place(asked)
    try:
        data = packed(LabFile(snapshot=snapshot, left_out=left_out, written_by=f"labkit {_version()}"))
    except LabTooLarge as error:
        remedy = "save earlier, or make the lab with trace=False, which keeps much less"
        raise LabTooLarge(f"{asked}: {error}; {remedy}") from None
    except LabFileError as error:
        raise LabFileError(f"{asked}: {error}") from None
    try:
        _put(target, data)
    except OSError as error:  # it names the file beside it, or none
        raise OSError(error.errno, error.strerror, str(asked)) from error


def judge_place(path: str | Path) -> None:
    """Return if a lab can be written there: to a file, or where nothing is yet; LabFileError or OSError names it."""
    asked = _judged(path)
    mode = _mode_of(asked)
    if mode is not None and stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(asked))
    if mode is None and not Path(os.path.realpath(asked)).parent.is_dir():
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), str(asked))


def _mode_of(path: Path) -> int | None:
    """Return the mode of a file or a directory, None where nothing is; LabFileError for anything else."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise LabFileError(f"{path}: expected a file, got a device, a pipe or a socket; name a file")
    return mode


def _put(target: Path, data: bytes) -> None:
    """Put a file in its place once all of it is on the disk."""
    handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:MAX_SHOWN_CHARACTERS]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise


def read_file(path: str | Path) -> LabFile:
    """Return what a lab file holds; LabFileError names the file and says why it holds no lab."""
    source = _judged(path)
    _mode_of(source)  # a pipe that nobody writes to would never open
    with source.open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    try:
        if len(data) > MAX_FILE_BYTES:
            raise LabFileError(f"expected a file of at most {MAX_FILE_BYTES:,} bytes")
        return unpacked(data)
    except LabFileError as error:
        raise LabFileError(f"{source}: {error}") from None


def open_file(path: str | Path, restore: Callable[[Snapshot], _Lab]) -> tuple[_Lab, LabFile]:
    """Return the lab of a file, built by ``restore``, and what else the file holds."""
    found = read_file(path)
    try:
        lab = restore(found.snapshot)
        again = lab.snapshot()
        is_same = is_kept(found.snapshot, again) and has_same_names(found.snapshot.state, again.state)
    except Exception as error:  # whatever a file may hold that no lab writes
        raise LabFileError(f"{path}: no lab can be built of it: {type(error).__name__}: {error!s:.200}") from None
    if not is_same:
        raise LabFileError(f"{path}: the lab that was built of it is another than it holds")
    return lab, found


def _version() -> str:
    try:
        return version("labkit-secrets")
    except PackageNotFoundError:
        return "that is not installed"


def _judged(path: object) -> Path:
    """Return the path of a file, with the home directory for a tilde that it begins with; ValueError for no path."""
    if not isinstance(path, str | Path) or not str(path):
        raise wrong("path", "the path of a file", path)
    if "\0" in str(path) or str(path).endswith(_SEPARATORS):
        raise ValueError(f"path: expected the path of a file, got {shown(str(path))}")
    return Path(os.path.expanduser(path) if str(path).startswith(_HOME) else path)


_SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))
_HOME = tuple([f"~{separator}" for separator in _SEPARATORS])
