"""Real files of audit devices: below their folder only, mode 0600, reopened; sockets and syslog."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from labkit import Vault
from labkit.doors.real_files import RealFiles


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "audit" / "sub").mkdir(parents=True)
    return tmp_path / "audit"


@pytest.fixture
def files(folder: Path) -> Iterator[RealFiles]:
    found = RealFiles(str(folder), str(folder.parent / "log"))
    yield found
    found.close()


@pytest.fixture
def listening() -> Iterator[Callable[..., socket.socket]]:
    """Open sockets of somebody who collects lines; they are closed at the end."""
    opened: list[socket.socket] = []

    def listen(kind: socket.SocketKind, address: object = ("127.0.0.1", 0)) -> socket.socket:
        end = socket.socket(socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX, kind)
        opened.append(end)
        end.settimeout(10)
        end.bind(address)  # type: ignore[arg-type]  # of the form that its family has
        if kind == socket.SOCK_STREAM:
            end.listen()
        return end

    yield listen
    for end in opened:
        end.close()


def test_lines_are_appended_to_files_below_the_folder(files: RealFiles, folder: Path) -> None:
    (folder / "old.log").write_text("before\n")
    (folder / "old.log").chmod(0o644)
    for path in ("old.log", "sub/new.log", str(folder / "whole.log"), "old.log"):
        files.append(path, b"line")

    assert (folder / "old.log").read_text() == "before\nline\nline\n"
    assert (folder / "sub/new.log").read_text() == "line\n"
    assert (folder / "whole.log").read_text() == "line\n"
    for name in ("old.log", "sub/new.log", "whole.log"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    assert repr(files) == f"RealFiles({folder})"


def test_nothing_is_written_elsewhere(files: RealFiles, folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (folder / "link").symlink_to(outside)
    (folder / "file").symlink_to(outside / "file")
    os.mkfifo(folder / "pipe")
    wrong = ["../x", "/etc/x", str(outside / "x"), "link/x", "file", "file/x", "sub", "sub/..", ".", "", "pipe"]
    wrong += ["a\0b", "x" * 300, "sub/../../outside/x", "tcp://127.0.0.1:99999", "tcp://nowhere", "udp://127.0.0.1:x"]
    wrong += ["unix://" + "x" * 300, "unix:///none", "ftp://127.0.0.1:1", "syslog://NDELAY/x", "tcp://127.0.0.1:1"]
    written = []
    for path in wrong:
        with contextlib.suppress(OSError):
            files.append(path, b"line")
            written.append(path)

    assert written == []
    assert list(outside.iterdir()) == []
    assert sorted(path.name for path in folder.parent.iterdir()) == ["audit", "outside"]


def test_folders_on_the_way_are_made_below_the_folder_only(files: RealFiles, folder: Path) -> None:
    (folder / "link").symlink_to(folder.parent / "elsewhere")
    files.append("one/two/new.log", b"line")
    for path in ("link/one/x", "../beside/x", "one/two/new.log/x"):
        with pytest.raises(OSError, match=r"expected a file below|exists|Not a directory"):
            files.append(path, b"line")

    assert (folder / "one/two/new.log").read_text() == "line\n"
    assert [stat.S_IMODE((folder / name).stat().st_mode) for name in ("one", "one/two")] == [0o700, 0o700]
    assert sorted(path.name for path in folder.parent.iterdir()) == ["audit"]


def test_a_moved_file_stays_as_it_is_once_files_are_reopened(files: RealFiles, folder: Path) -> None:
    files.append("audit.log", b"one")
    (folder / "audit.log").rename(folder / "audit.1")
    files.append("audit.log", b"two")
    files.reopen()
    files.append("audit.log", b"three")

    assert (folder / "audit.1").read_text() == "one\ntwo\n"
    assert (folder / "audit.log").read_text() == "three\n"


def test_what_is_blocked_fails_as_in_memory(files: RealFiles, folder: Path) -> None:
    files.block("audit.log", "no space left on device")
    with pytest.raises(OSError, match="no space left"):
        files.append("audit.log", b"line")
    files.unblock("audit.log")
    files.append("audit.log", b"line")
    files.write("/etc/ca.pem", b"kept in memory")

    assert files.read("/etc/ca.pem") == b"kept in memory"
    assert not (folder / "etc").exists()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match="expected a folder for audit files"):
        RealFiles(str(tmp_path / "none"))


def test_streams_are_kept_open_and_opened_again(
    files: RealFiles, listening: Callable[..., socket.socket], tmp_path: Path
) -> None:
    end = listening(socket.SOCK_STREAM)
    name = f"tcp://127.0.0.1:{end.getsockname()[1]}"
    files.append(name, b"one")
    files.append(name, b"two")
    first, _ = end.accept()
    assert first.recv(8, socket.MSG_WAITALL) == b"one\ntwo\n"
    first.close()
    files.append(name, b"three")
    second, _ = end.accept()
    assert second.recv(100) == b"three\n"
    second.close()

    path = str(tmp_path / "s")
    unix = listening(socket.SOCK_STREAM, path)
    files.append(f"unix://{path}", b"four")
    third, _ = unix.accept()
    assert third.recv(100) == b"four\n"
    third.close()


def test_datagrams_and_syslog_carry_a_line_each(
    files: RealFiles, listening: Callable[..., socket.socket], folder: Path
) -> None:
    end = listening(socket.SOCK_DGRAM)
    files.append(f"udp://127.0.0.1:{end.getsockname()[1]}", b"one")
    assert end.recv(100) == b"one\n"

    log = listening(socket.SOCK_DGRAM, str(folder.parent / "log"))
    files.append("syslog://LOCAL0/labkit", b"two")
    files.append("syslog://AUTH/vault", b"three")
    assert [log.recv(100), log.recv(100)] == [b"<134>labkit: two", b"<38>vault: three"]


def test_a_vault_writes_its_records_there_and_refuses_what_it_cannot_record(files: RealFiles, folder: Path) -> None:
    vault = Vault.dev(seed=7)
    vault.use_files(files)
    assert vault.post("sys/audit/file", {"type": "file", "options": {"file_path": "/etc/audit.log"}}).status == 400
    assert vault.post("sys/audit/file", {"type": "file", "options": {"file_path": "audit.log"}}).status == 204
    vault.get("sys/mounts")
    last = json.loads((folder / "audit.log").read_text().splitlines()[-1])
    assert (last["type"], last["request"]["path"]) == ("response", "sys/mounts")
    files.block("audit.log")
    assert vault.get("sys/mounts").status == 500

    files.unblock("audit.log")
    vault.reset()
    vault.post("sys/audit/file", {"type": "file", "options": {"file_path": "again.log"}})
    vault.get("sys/mounts")
    assert (folder / "again.log").exists()


def test_a_pipe_is_no_file_and_is_let_go(files: RealFiles, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    reader = os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(PermissionError, match="pipe: expected a regular file"):
            files.append("pipe", b"line")
        assert os.read(reader, 1) == b"", "nobody writes to it: it was closed again"
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:100000", "udp://127.0.0.1:100000", "tcp://:1", "ftp://127.0.0.1:1"]
)
def test_what_is_no_address_is_said(files: RealFiles, address: str) -> None:
    with pytest.raises(OSError, match=f"{address}: expected an address such as 127.0.0.1:9090"):
        files.append(address, b"line")


def test_a_line_that_was_cut_short_is_gone_before_the_next(
    files: RealFiles, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.append("a.log", b"first")
    usual = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, line: usual(descriptor, line[:3]))
    for _ in range(2):
        with pytest.raises(OSError, match="a line was cut short"):
            files.append("a.log", b"second")
    monkeypatch.undo()
    files.append("a.log", b"third")
    assert (folder / "a.log").read_bytes() == b"first\nthird\n"


def test_after_a_file_that_ends_within_a_line_a_new_one_begins(files: RealFiles, folder: Path) -> None:
    (folder / "a.log").write_bytes(b"first\nsec")
    files.append("a.log", b"third")
    files.append("a.log", b"fourth")

    assert (folder / "a.log").read_bytes() == b"first\nsec\nthird\nfourth\n"


def test_who_takes_no_more_lines_fails_after_some_patience(
    files: RealFiles, listening: Callable[..., socket.socket], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labkit.doors.real_files.PATIENCE_S", 0.05)
    name = f"unix://{tmp_path / 's'}"
    listening(socket.SOCK_STREAM, str(tmp_path / "s"))
    files.append(name, b"one")
    with pytest.raises(OSError, match="timed out"):
        files.append(name, b"x" * 4_000_000)
    assert name not in files._sockets


def test_streams_wait_for_two_seconds_and_no_longer(
    files: RealFiles, listening: Callable[..., socket.socket], tmp_path: Path
) -> None:
    end, unix = listening(socket.SOCK_STREAM), listening(socket.SOCK_STREAM, str(tmp_path / "s"))
    datagrams = listening(socket.SOCK_DGRAM)
    names = [f"tcp://127.0.0.1:{end.getsockname()[1]}", f"unix://{tmp_path / 's'}"]
    names.append(f"udp://127.0.0.1:{datagrams.getsockname()[1]}")
    for _ in range(2):  # the second line goes through the connection that is open
        for name in names:
            files.append(name, b"line")
        assert {files._sockets[name].gettimeout() for name in names} == {2}
    assert unix.fileno() >= 0


def test_what_does_not_answer_is_said_as_the_system_says_it(files: RealFiles, folder: Path) -> None:
    for name, said in (
        ("unix:///none", "No such file"),
        (f"unix://{folder}", "Connection refused"),
        ("syslog://AUTH/x", "No such file"),
        ("syslog://none/x", "expected a facility such as AUTH or LOCAL0, got 'none'"),
    ):
        with pytest.raises(OSError, match=said):
            files.append(name, b"line")
    assert files._sockets == {}


def test_what_was_open_is_closed_and_opened_again(files: RealFiles, folder: Path) -> None:
    files.append("a.log", b"one")
    (descriptor,) = files._descriptors.values()
    files.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
    files.append("a.log", b"two")

    assert (folder / "a.log").read_text() == "one\ntwo\n"
    assert len(files._descriptors) == 1


def test_a_file_is_opened_again_once(files: RealFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    usual = RealFiles.close

    def close(self: RealFiles) -> None:
        closed.append("closed")
        usual(self)

    monkeypatch.setattr(RealFiles, "close", close)
    for _ in range(2):
        files.append("a.log", b"one")
        files.reopen()
        files.reopen()
    for _ in range(3):
        files.append("a.log", b"two")

    assert len(closed) == 2
