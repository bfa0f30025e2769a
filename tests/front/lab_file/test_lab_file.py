"""Lab file: three lines that anybody can read, and contents that are whole or refused."""

from __future__ import annotations

import hashlib
import tracemalloc
import zlib
from pathlib import Path

import pytest

from labkit import Lab
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


class Name(str):
    """A text of a class of its own, as numpy's are."""


def play_under_derived_names(lab: Lab) -> None:
    """Do with names of another class what keeps a name in the lab."""
    paris, tokyo = Name("paris"), Name("tokyo")
    lab.watch(Name("few behind"), {"lag": {"at most": 200}})
    lab.work_through(Name("replicate"), primary=paris, secondary=tokyo)
    lab.failover(paris, tokyo)
    lab[tokyo].request(Name("POST"), Name("secret/data/app"), {"data": {}}, node=Name("tokyo-1"))
    lab.corrupt(paris, layer=Name("page"))
    lab.pause(Name("paris-1"))
    lab.skew(Name("paris-2"), by=Name("90s"))
    lab.stray_write(tokyo)
    lab.crash_in_commit(tokyo, moment=Name("between"))
    lab.impersonate(tokyo)
    lab.cloud_outage(Name("token"))
    lab.partition(paris, tokyo)
    lab.flap(paris, Name("lisbon"), Name("2s"), Name("2s"))
    lab[paris].files.write(Name("/etc/ca.pem"), b"")


def test_names_of_a_class_that_is_derived_from_text_are_kept_as_text():
    lab = Lab.pair(seed=7)
    play_under_derived_names(lab)

    found = unpacked(packed(LabFile(snapshot=lab.snapshot()))).snapshot
    assert found == lab.snapshot()
    assert Lab.restore(found).run("1s").trace.digest() == lab.run("1s").trace.digest()


def test_a_lab_whose_cloud_came_after_an_impostor_is_opened(tmp_path: Path):
    lab = Lab.pair(seed=7)
    lab.impersonate("paris-1")
    lab.cloud.throttle("token", per_second=5, burst=5)
    lab.cloud.fail_next("keys", 503)
    lab.save(tmp_path / "x.lab")

    assert Lab.open(tmp_path / "x.lab").snapshot() == lab.snapshot()


def test_a_lab_that_was_asked_what_no_file_can_hold_is_saved(tmp_path: Path):
    lab = Lab.pair(seed=7)
    assert lab["paris"].get("secret/data/\ud800").status == 400
    assert lab["paris"].request("\ud800", "secret/data/x").status == 405
    with pytest.raises(ValueError, match="name: expected a name for the rule, of characters that UTF-8 has"):
        lab.watch("\ud800", {"lag": {"at most": 200}})
    lab.run("1h")
    lab.save(tmp_path / "x.lab")

    asked = [(row.path, row.method) for row in lab.ledger.failed_asks]
    assert asked == [("secret/data/\\ud800", "GET"), ("secret/data/x", "\\ud800")]
    assert [*Lab.open(tmp_path / "x.lab").ledger.failed_asks] == [*lab.ledger.failed_asks]
