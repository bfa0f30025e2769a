"""Copies: the shipped lessons or scenarios, copied to a folder of the reader's choice; nothing is overwritten."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


class CannotCopy(Exception):
    """Files that cannot be copied; the text says why.  Nothing was written."""


def copy_files(source: Path, files: Iterable[Path], target: Path) -> tuple[Path, ...]:
    """Copy files below a source folder to the same place below a target; return those written, raise CannotCopy.

    The target is made where its parent exists.  A file that is there with the same contents is left as it is.
    """
    try:
        written = tuple([path for path in files if _is_new(path, target / path.relative_to(source))])
        if not target.parent.is_dir():
            raise CannotCopy(f"{target}: expected a folder {target.parent}, got none; make it first, or choose another")
        target.mkdir(exist_ok=True)
        for path in written:
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CannotCopy(f"{target}: cannot be written: {reason}") from None
    return written


def _is_new(path: Path, copy: Path) -> bool:
    if not copy.exists() and not copy.is_symlink():
        return True
    if copy.is_file() and copy.read_bytes() == path.read_bytes():
        return False
    raise CannotCopy(f"{copy}: exists already and is another; move it away, or choose another folder")


def report_copies(written: tuple[Path, ...], count: int, what: str, folder: str) -> str:
    """Say how many files were copied, and how many were there already."""
    left = count - len(written)
    there = f"; {left} {'was' if left == 1 else 'were'} there already" if left else ""
    return f"copied {len(written)} {what}{'' if len(written) == 1 else 's'} to {folder}{there}"
