"""Disk: files are written whole, and opened as the lab that was saved or not at all."""

from __future__ import annotations

import errno
import io
import os
import socket
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.front.lab_file import bounds, disk, lab_file
from labkit.front.lab_file.disk import open_file, read_file, write_file
from labkit.front.lab_file.errors import LabFileError, LabTooLarge
from labkit.lab.snapshot import Snapshot


def test_what_is_written_is_read(small_snapshot: Snapshot, path: Path):
    write_file(path, small_snapshot, ("mine",))

    found = read_file(str(path))
    assert (found.snapshot, found.left_out) == (small_snapshot, ("mine",))
    assert found.written_by.startswith("labkit ")


def test_only_its_owner_may_read_a_file(small_snapshot: Snapshot, path: Path):
    write_file(path, small_snapshot, ())

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_put_in_its_place_leaves_nothing(small_snapshot: Snapshot, path: Path, monkeypatch):
    path.write_bytes(b"before")

    def fail(*_: Any) -> None:
        raise OSError(5, "no")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no"):
        write_file(path, small_snapshot, ())
    assert path.read_bytes() == b"before"
    assert os.listdir(path.parent) == [path.name]


class FullDisk(io.BytesIO):
    """A file on a disk that has no room left."""

    def write(self, data: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_the_file_as_it_was(small_snapshot: Snapshot, path: Path, monkeypatch):
    path.write_bytes(b"before")

    def full(handle: int, mode: str) -> Any:
        os.close(handle)
        return FullDisk()

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*/x\.lab'"):
        write_file(path, small_snapshot, ())
    assert path.read_bytes() == b"before"
    assert os.listdir(path.parent) == [path.name]


def test_what_cannot_be_written_is_named(small_snapshot: Snapshot, path: Path):
    for target in (path.parent / "none" / "x.lab", path.parent):
        with pytest.raises(OSError, match=f"directory: '{target}'$"):
            write_file(target, small_snapshot, ())
    assert not os.listdir(path.parent)


def test_a_lab_that_no_file_can_hold_is_refused_with_the_file_and_what_to_do(
    small_snapshot: Snapshot, path: Path, monkeypatch
):
    strange = replace(small_snapshot, state={**small_snapshot.state, "console": {"value": 1j}})
    with pytest.raises(LabFileError, match=r"x\.lab: the lab holds a value that cannot be saved"):
        write_file(path, strange, ())
    for module, bound in ((bounds, "MAX_ITEMS"), (lab_file, "MAX_UNPACKED_BYTES")):
        with monkeypatch.context() as patch:
            patch.setattr(module, bound, 50)
            with pytest.raises(LabTooLarge, match=r"x\.lab: .* or make the lab with trace="):
                write_file(path, small_snapshot, ())
    assert not path.exists()


def test_a_file_is_named_with_what_is_wrong_with_it(path: Path, monkeypatch):
    path.write_bytes(b"none")
    with pytest.raises(LabFileError, match=r"x\.lab: expected a saved lab"):
        read_file(path)
    monkeypatch.setattr(disk, "MAX_FILE_BYTES", 3)
    with pytest.raises(LabFileError, match="at most 3 bytes"):
        read_file(path)


def make_pipe(path: Path) -> None:
    """Make a named pipe that nobody writes to or reads from."""
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    """Make a socket that nobody listens at."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


@pytest.mark.parametrize("make", [make_pipe, make_socket])
def test_what_is_no_file_is_refused_and_stays(make: Callable[[Path], None], small_snapshot: Snapshot, path: Path):
    make(path)
    link = path.parent / "link.lab"
    link.symlink_to(path.name)
    for place in (path, link):
        with pytest.raises(LabFileError, match=f"{place}: expected a file, got a device, a pipe or a socket"):
            write_file(place, small_snapshot, ())
        with pytest.raises(LabFileError, match=f"{place}: expected a file, got a device, a pipe or a socket"):
            read_file(place)
    assert path.exists()
    assert not path.is_file()
    assert link.is_symlink()
    assert len(os.listdir(path.parent)) == 2


def test_a_link_stays_and_what_it_leads_to_is_written(small_snapshot: Snapshot, path: Path):
    folder = path.parent / "folder"
    folder.mkdir()
    path.symlink_to(Path("folder") / "there.lab")  # not there yet
    for snapshot in (small_snapshot, replace(small_snapshot, seed=8)):
        write_file(path, snapshot, ())

        assert path.is_symlink()
        assert read_file(folder / "there.lab").snapshot == snapshot
    assert os.listdir(folder) == ["there.lab"]


def test_a_link_to_itself_is_named(small_snapshot: Snapshot, path: Path):
    path.symlink_to(path.name)  # to itself
    with pytest.raises(OSError, match=str(path)):
        write_file(path, small_snapshot, ())
    assert path.is_symlink()


def test_a_name_may_be_as_long_as_the_disk_allows(small_snapshot: Snapshot, path: Path):
    for name in ("x" * 251 + ".lab", "é" * 125 + ".lab"):
        write_file(path.parent / name, small_snapshot, ())
        assert read_file(path.parent / name).snapshot == small_snapshot
    with pytest.raises(OSError, match=r"name too long: .*x{256}'$"):
        write_file(path.parent / ("x" * 256), small_snapshot, ())


def test_a_tilde_is_the_home_directory(small_snapshot: Snapshot, path: Path, monkeypatch):
    monkeypatch.setenv("HOME", str(path.parent))
    write_file("~/x.lab", small_snapshot, ())

    assert path.is_file()
    assert read_file("~/x.lab").snapshot == small_snapshot


@pytest.mark.parametrize("wrong", [None, 7, b"x", "", [], "a\0b", "none/"])
def test_a_path_is_text_or_a_path(wrong: Any, small_snapshot: Snapshot):
    with pytest.raises(ValueError, match="path: expected the path of a file"):
        read_file(wrong)
    with pytest.raises(ValueError, match="path: expected the path of a file"):
        write_file(wrong, small_snapshot, ())


@pytest.mark.parametrize(
    "changes",
    [
        {"hosts": ("strange",)},
        {"stores": {}},
        {"clock": (1, ())},
        {"clock": (0, ((5, ("deliver", "nowhere", None)),))},
        {"nodes": {}},
        {"ledger": {"strange": 1}},
        {"scenario": {}},
    ],
)
def test_a_state_of_another_shape_is_refused(changes: dict[str, Any], small_snapshot: Snapshot, path: Path):
    write_file(path, replace(small_snapshot, state={**small_snapshot.state, **changes}), ())

    with pytest.raises(LabFileError, match=r"no lab can be built|is another than it holds|expected the nodes of"):
        open_file(path, Lab.restore)


@pytest.mark.parametrize("field", ["at_ns", "seed"])
def test_a_number_that_does_not_fit_is_refused(field: str, small_snapshot: Snapshot, path: Path):
    changes: dict[str, Any] = {field: -1}
    write_file(path, replace(small_snapshot, **changes), ())

    with pytest.raises(LabFileError, match=r"no lab can be built|is another than it holds"):
        open_file(path, Lab.restore)
