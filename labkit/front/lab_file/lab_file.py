"""Lab file: what a saved lab looks like on disk: three lines of text, then its contents as compressed CBOR.

1. The first line has the format's number, the second says what the file holds, the third how many bytes there are
   unpacked and their SHA-256.  A digest finds damage; it proves nothing about who wrote the file.
2. Nothing is unpacked beyond what the third line says, and no more than ``MAX_UNPACKED_BYTES``.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from dataclasses import dataclass

from labkit.front.lab_file.encoding import judge_contents, known_names, names_of_fields, read, write
from labkit.front.lab_file.errors import LabFileError, LabTooLarge
from labkit.front.lab_file.part_shapes import judge_parts
from labkit.front.lab_file.state_shape import judge_plans, judge_state, judge_uses
from labkit.lab.snapshot import Snapshot
from labkit.service.arguments import shown

FORMAT = 1
MAX_FILE_BYTES = 256 << 20
MAX_UNPACKED_BYTES = 512 << 20
WARNING = b"It holds keys, tokens and secrets of its clusters: whoever has this file has them."

_FIRST_LINE = re.compile(rb"labkit lab, format (\d{1,6})\n")
_THIRD_LINE = re.compile(rb"(\d{1,12}) bytes unpacked, sha256 ([0-9a-f]{64})\n")
_NO_LAB = "expected a saved lab, which begins with 'labkit lab, format'"


@dataclass(frozen=True, kw_only=True)
class LabFile:
    """What a file holds: a lab at an instant, the rules that were left out as they are functions, and who wrote it."""

    snapshot: Snapshot
    left_out: tuple[str, ...] = ()
    written_by: str = ""


def packed(lab_file: LabFile) -> bytes:
    """Return the bytes of a file; LabFileError for a lab that holds what no file can."""
    judge_uses(lab_file.snapshot.blueprint)
    about = {"written_by": lab_file.written_by, "left_out": lab_file.left_out, "records": names_of_fields()}
    contents = write(about) + write(lab_file.snapshot)
    if len(contents) > MAX_UNPACKED_BYTES:
        raise LabTooLarge(f"the lab needs {len(contents):,} bytes; a file holds at most {MAX_UNPACKED_BYTES:,}")
    judge_contents(contents)
    digest = hashlib.sha256(contents).hexdigest()
    lines = f"labkit lab, format {FORMAT}\n{WARNING.decode()}\n{len(contents)} bytes unpacked, sha256 {digest}\n"
    return lines.encode() + zlib.compress(contents)


def unpacked(data: bytes) -> LabFile:
    """Return what the bytes of a file hold; LabFileError says why they hold no lab."""
    first = _FIRST_LINE.match(data)
    if first is None:
        raise LabFileError(_NO_LAB)
    if int(first[1]) != FORMAT:
        raise LabFileError(f"expected format {FORMAT}, got {int(first[1])}; open it with {_writer(data, first.end())}")
    contents = _contents(data, first.end())
    about, end = read(contents, 0, {})
    if type(about) is not dict or set(about) != {"written_by", "left_out", "records"}:
        raise LabFileError("expected written_by, left_out and records before the lab")
    written_by, left_out = about["written_by"], about["left_out"]
    if type(written_by) is not str or type(left_out) is not tuple or not all(type(name) is str for name in left_out):
        raise LabFileError("expected texts for written_by and left_out")
    snapshot, end = read(contents, end, known_names(about["records"]))
    if type(snapshot) is not Snapshot or end != len(contents):
        raise LabFileError("expected one lab, and nothing behind it")
    judge_state(snapshot.state)
    judge_parts(snapshot.state)
    judge_plans(snapshot.blueprint, snapshot.state)
    judge_uses(snapshot.blueprint)
    return LabFile(snapshot=snapshot, left_out=left_out, written_by=written_by)


def _writer(data: bytes, start: int) -> str:
    """Say which labkit wrote a file of another format, if it says so where a file of this one does."""
    try:
        about, _ = read(_contents(data, start), 0, {})
    except LabFileError:
        about = None
    written_by = about.get("written_by") if type(about) is dict else None
    return f"{shown(written_by)}, which wrote it" if type(written_by) is str else "the labkit that wrote it"


def _contents(data: bytes, start: int) -> bytes:
    """Return the unpacked contents behind the first line, once their length and digest are as the third says."""
    second_ends = data.find(b"\n", start, start + 200) + 1
    third = _THIRD_LINE.match(data, second_ends)
    if not second_ends or third is None:
        raise LabFileError("expected the length and the SHA-256 of its contents in the third line")
    size = int(third[1])
    if size > MAX_UNPACKED_BYTES:
        raise LabFileError(f"expected at most {MAX_UNPACKED_BYTES:,} bytes unpacked, got {size:,}")
    contents = _unpack(data[third.end() :], size)
    if hashlib.sha256(contents).hexdigest().encode() != third[2]:
        raise LabFileError("it is damaged: its contents have another SHA-256 than its third line says")
    return contents


def _unpack(data: bytes, size: int) -> bytes:
    unpacking = zlib.decompressobj()
    try:
        contents = unpacking.decompress(data, size + 1)
    except zlib.error as error:
        raise LabFileError(f"it is damaged: its contents cannot be unpacked ({error})") from None
    if len(contents) != size or not unpacking.eof or unpacking.unused_data:
        raise LabFileError(f"it is damaged: expected {size:,} bytes of contents and nothing behind them")
    return contents
