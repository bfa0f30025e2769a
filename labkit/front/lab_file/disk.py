"""Disk: lab files are written whole or not at all, and read within bounds.

1. A file is written beside its place with mode 0600, and then put there: whoever reads it meets the old or the new one.
2. Opening runs nothing.  A lab is built of what was read; what it would save has to be the same, so that nothing in a
   file is dropped or taken for something else.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Protocol, TypeVar

from labkit.front.lab_file.encoding import is_kept
from labkit.front.lab_file.errors import LabFileError
from labkit.front.lab_file.lab_file import MAX_FILE_BYTES, LabFile, packed, unpacked
from labkit.front.lab_file.state_shape import has_same_names
from labkit.lab.snapshot import Snapshot
from labkit.service.arguments import shown, wrong


class _Saved(Protocol):
    def snapshot(self) -> Snapshot: ...


_Lab = TypeVar("_Lab", bound=_Saved)


def write_file(path: str | Path, snapshot: Snapshot, left_out: tuple[str, ...]) -> None:
    """Write a lab file; OSError, which names it, where the disk or its rights do not allow it."""
    target = _judged(path)
    data = packed(LabFile(snapshot=snapshot, left_out=left_out, written_by=f"labkit {_version()}"))
    try:
        _put(target, data)
    except OSError as error:  # it names the file beside it, or none
        raise OSError(error.errno, error.strerror, str(target)) from error


def _put(target: Path, data: bytes) -> None:
    """Put a file in its place once all of it is on the disk."""
    handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
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
    if not isinstance(path, str | Path) or not str(path):
        raise wrong("path", "the path of a file", path)
    if "\0" in str(path):
        raise ValueError(f"path: expected the path of a file, got {shown(str(path))}")
    return Path(path)
