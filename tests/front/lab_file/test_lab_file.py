"""Lab file: three lines that anybody can read, and contents that are whole or refused."""

from __future__ import annotations

import hashlib
import tracemalloc
import zlib

import pytest

from labkit.front.lab_file import lab_file
from labkit.front.lab_file.encoding import names_of_fields, write
from labkit.front.lab_file.errors import LabFileError
from labkit.front.lab_file.lab_file import FORMAT, LabFile, packed, unpacked
from labkit.lab.snapshot import Snapshot


def wrapped(contents: bytes, size: int | None = None) -> bytes:
    """A file with any contents, its length and digest as they should be."""
    digest = hashlib.sha256(contents).hexdigest()
    third = f"{len(contents) if size is None else size} bytes unpacked, sha256 {digest}"
    return f"labkit lab, format {FORMAT}\nIt holds keys.\n{third}\n".encode() + zlib.compress(contents)


def about(**changes: object) -> bytes:
    """What stands before the lab."""
    return write({"written_by": "x", "left_out": (), "records": names_of_fields(), **changes})


def test_what_is_packed_is_unpacked(small_snapshot: Snapshot):
    given = LabFile(snapshot=small_snapshot, left_out=("mine",), written_by="labkit 0")

    assert unpacked(packed(given)) == given


def test_it_says_what_it_is_and_that_it_holds_keys(small_bytes: bytes):
    first, second, *_ = small_bytes.split(b"\n")

    assert first == b"labkit lab, format 1"
    assert b"keys, tokens and secrets" in second


def test_the_same_lab_gives_the_same_contents(small_snapshot: Snapshot, small_bytes: bytes):
    assert packed(LabFile(snapshot=small_snapshot, written_by="labkit")) == small_bytes


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "begins with 'labkit lab, format'"),
        (b"PK\x03\x04", "begins with 'labkit lab, format'"),
        (b"labkit lab, format 2\nx\n", "expected format 1, got 2; open it with the labkit that wrote it"),
        (b"labkit lab, format 1\n", "third line"),
        (b"labkit lab, format 1\nx", "third line"),
        (b"labkit lab, format 1\n" + b"x" * 300 + b"\n", "third line"),
        (b"labkit lab, format 1\nx\n-1 bytes unpacked\n", "third line"),
        (wrapped(b"abc", size=1 << 39), "at most 536,870,912 bytes"),
        (wrapped(b"abc", size=2), "expected 2 bytes"),
        (wrapped(b"abc", size=4), "expected 4 bytes"),
        (wrapped(b"abc")[:-1], "damaged"),
        (wrapped(b"abc") + b"x", "nothing behind"),
        (wrapped(b"abc").replace(b"sha256 ", b"sha256 0", 1), "third line"),
        (wrapped(write("text")), "before the lab"),
        (wrapped(about()[:-1]), "the end"),
        (wrapped(about()), "the end"),
        (wrapped(about() + write(7)), "expected one lab"),
        (wrapped(about(more=1)), "before the lab"),
        (wrapped(about(written_by=7)), "expected texts"),
        (wrapped(about(left_out=("a", 7))), "expected texts"),
        (wrapped(about(left_out=["a"])), "expected texts"),
        (wrapped(about(records={1: ("a",)}) + write(7)), "records: expected tags"),
    ],
)
def test_what_is_no_lab_is_refused(data: bytes, why: str):
    with pytest.raises(LabFileError, match=why):
        unpacked(data)


def test_a_file_of_another_format_says_which_version_opens_it(small_bytes: bytes):
    newer = small_bytes.replace(b"format 1", b"format 2", 1)
    with pytest.raises(LabFileError, match="expected format 1, got 2; open it with 'labkit', which wrote it"):
        unpacked(newer)
    for written_by in (7, None):
        contents = write({"written_by": written_by, "more": ()}) + write("another lab")
        with pytest.raises(LabFileError, match="got 2; open it with the labkit that wrote it"):
            unpacked(wrapped(contents).replace(b"format 1", b"format 2", 1))
    contents = write({"written_by": "labkit 2.0 \x1b[31m" + "x" * 5_000, "more": ()}) + write("another lab")
    with pytest.raises(LabFileError, match=r"open it with 'labkit 2\.0 ·\[31mx") as caught:
        unpacked(wrapped(contents).replace(b"format 1", b"format 2", 1))
    assert len(str(caught.value)) < 250


def test_another_digest_is_damage(small_bytes: bytes):
    place = small_bytes.index(b"sha256 ") + 7
    digit = b"0" if small_bytes[place : place + 1] != b"0" else b"1"

    with pytest.raises(LabFileError, match="another SHA-256"):
        unpacked(small_bytes[:place] + digit + small_bytes[place + 1 :])


def test_nothing_may_stand_behind_the_lab(small_bytes: bytes):
    contents = zlib.decompress(small_bytes.split(b"\n", 3)[3])

    assert unpacked(wrapped(contents))
    with pytest.raises(LabFileError, match="nothing behind it"):
        unpacked(wrapped(contents + b"\x00"))


def test_no_more_is_unpacked_than_is_said():
    data = wrapped(bytes(5_000_000), size=1_000)
    tracemalloc.start()
    try:
        with pytest.raises(LabFileError, match="expected 1,000 bytes"):
            unpacked(data)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_lab_that_is_too_large_is_not_written(small_snapshot: Snapshot, monkeypatch):
    monkeypatch.setattr(lab_file, "MAX_UNPACKED_BYTES", 5_000)

    with pytest.raises(LabFileError, match="at most 5,000"):
        packed(LabFile(snapshot=small_snapshot))
