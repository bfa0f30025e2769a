"""Row file: what a sweep has found so far, a chunk a line, each with its checksum; only ever appended to.

1. One process writes: the one that was asked to sweep; another is refused meanwhile.  A line is complete once its end
   is there.
2. A last line without its end is torn: its writer was stopped.  It is cut before anything follows, unless it does not
   even begin as a line does.  Any other line that is not as it was written is refused.
3. One seed of one experiment has one result.  Two that differ stop everything: something is not determined.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, Any, NamedTuple

from labkit.hunt.sweeping.chunks import PlayedChunk
from labkit.hunt.sweeping.experiments import digest_of
from labkit.hunt.sweeping.seed_rows import SeedRow
from labkit.hunt.sweeping.settings import Values
from labkit.scenario.documents.combination import Combination

CHECKSUM, CHUNK = "checksum", "chunk"
CODES = (0, 1, 3, 4)
"""The exit codes of a run."""

_START = b'{"checksum":"'
MAX_LINE = 1 << 23
"""Bytes of a line, at most."""


class UnusableRows(ValueError):
    """A file of rows that cannot be used; the text says where and why."""


class TwoResults(Exception):
    """One seed of one experiment with two results; the text names both."""


class Swept(NamedTuple):
    """One experiment in a file of rows: its title, its values, its digest."""

    title: str
    values: Values
    digest: str

    @property
    def combination(self) -> Combination:
        """Its values, which know how they are written."""
        return Combination(self.values)


class KeptRow(NamedTuple):
    """One row of a file, and on which line it is."""

    row: SeedRow
    line: int


class Rows:
    """The rows so far, by experiment and seed; ``torn`` is how many bytes at the end are half a line."""

    def __init__(self, name: str) -> None:
        self.name, self.torn = name, 0
        self.found: dict[Swept, dict[int, KeptRow]] = {}
        self._known: dict[str, Swept] = {}

    def add(self, swept: Swept, row: SeedRow, line: int) -> None:
        """Add a row; raise TwoResults where another is there."""
        swept = self._known.setdefault(swept.digest, swept)  # whose title may have changed meanwhile
        before = self.found.setdefault(swept, {}).setdefault(row.seed, KeptRow(row, line))
        if before.row != row:
            values = f" with {swept.combination.text}" if swept.values else ""
            raise TwoResults(
                f"{self.name}: seed {row.seed} of {swept.title}{values} has two results: "
                f"on line {before.line} {before.row.text}; on line {line} {row.text}.  "
                "The same file, values, seed and code give the same run, so one of them is wrong"
            )

    @property
    def seeds(self) -> frozenset[tuple[str, int]]:
        """Which seeds of which experiments are there."""
        return frozenset([(swept.digest, seed) for swept, rows in self.found.items() for seed in rows])

    @property
    def digest(self) -> str:
        """The digest of all rows, in whatever order they were played."""
        return digest_of(*sorted((swept.digest, seed, kept.row) for swept, seed, kept in self._all()))

    def _all(self) -> Iterator[tuple[Swept, int, KeptRow]]:
        return ((swept, seed, kept) for swept, rows in self.found.items() for seed, kept in rows.items())


def read_rows(name: str) -> Rows:
    """Read a file of rows; raise UnusableRows or TwoResults.  Half a line at the end is left out."""
    try:
        with open(name, "rb") as file:
            return _read(name, file)
    except (OSError, ValueError) as error:
        if isinstance(error, UnusableRows):
            raise
        raise UnusableRows(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


class RowWriter:
    """Appends chunks to a file that was read, after half a line at its end is cut; raises UnusableRows."""

    def __init__(self, file: IO[bytes], rows: Rows, lines: int) -> None:
        self.rows, self._file, self._lines = rows, file, lines

    def append(self, played: PlayedChunk) -> None:
        """Append a chunk; once this returns, it is in the file whatever becomes of this process."""
        experiment = played.chunk.experiment
        swept, line = Swept(experiment.title, experiment.values, experiment.digest), self._lines + 1
        for row in played.rows:
            self.rows.add(swept, row, line)
        with _unless_it_fails(self.rows.name):
            left = memoryview(line_of(played))
            while left:  # past the buffer, which closing would try to write once more
                left = left[os.write(self._file.fileno(), left) :]
            os.fsync(self._file.fileno())
        self._lines = line


@contextmanager
def appending(name: str) -> Iterator[RowWriter]:
    """Open a file of rows, or make it, read it and cut half a line at its end; raise UnusableRows or TwoResults."""
    with _unless_it_fails(name):
        file = open(name, "r+b" if os.path.exists(name) else "x+b")  # noqa: SIM115 - closed below
    with file:
        _lock(name, file)
        rows = _read(name, file)
        with _unless_it_fails(name):
            file.truncate(file.seek(-rows.torn, os.SEEK_END))
            rows.torn = 0
            file.seek(0)
            lines = sum(1 for _ in file)
            file.seek(0, os.SEEK_END)
        yield RowWriter(file, rows, lines)


@contextmanager
def _unless_it_fails(name: str) -> Iterator[None]:
    """Say of a file that cannot be written that it cannot."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise UnusableRows(f"{name}: cannot be written: {getattr(error, 'strerror', None) or error}") from None


def _lock(name: str, file: IO[bytes]) -> None:
    """Keep others from writing as long as a file is open, on systems that can."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ModuleNotFoundError:
        return
    try:
        flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        raise UnusableRows(f"{name}: another sweep writes to it; wait for its end, or name another file") from None
    except OSError:  # a file system without locks
        return


def line_of(played: PlayedChunk) -> bytes:
    """Return a chunk as a line, with its checksum."""
    experiment = played.chunk.experiment
    chunk = {
        "key": played.chunk.key,
        "title": experiment.title,
        "values": [list(pair) for pair in experiment.values],
        "experiment": experiment.digest,
        "rows": [row.data() for row in played.rows],
    }
    text = json.dumps({CHECKSUM: digest_of(chunk), CHUNK: chunk}, separators=(",", ":"))
    return text.encode() + b"\n"


def _read(name: str, file: IO[bytes]) -> Rows:
    rows = Rows(name)
    for number, line in enumerate(iter(partial(file.readline, MAX_LINE), b""), 1):
        if not line.endswith(b"\n") and _START.startswith(line[: len(_START)]):
            rows.torn = len(line)
            return rows
        chunk = _chunk(name, number, line)
        try:
            values = tuple([_value(*pair) for pair in chunk["values"]])
            swept = Swept(str(chunk["title"]), values, str(chunk["experiment"]))
            read = [_row(row) for row in chunk["rows"]]
        except (KeyError, TypeError, ValueError):
            raise UnusableRows(f"{name}:{number}: expected a chunk of rows, got something else") from None
        for row in read:
            rows.add(swept, row, number)
    return rows


def _value(place: str, value: Any) -> tuple[str, Any]:
    """Return a value that was swept over, with its place; TypeError for what is none."""
    if type(place) is not str or type(value) not in (str, int, float, bool):
        raise TypeError("a value of a sweep is a text, a number, true or false")
    return place, value


def _row(data: dict[str, Any]) -> SeedRow:
    """Return a row; ValueError or TypeError for what no sweep wrote."""
    row = SeedRow.of(data)
    if row.code not in CODES:
        raise ValueError(f"expected one of the exit codes {CODES}, got {row.code}")
    for name, value in row._asdict().items():
        if not _is_like(value, SeedRow._field_defaults.get(name, 0)):
            raise TypeError(f"expected another kind of value for {name}, got {value!r}")
    return row


def _is_like(value: Any, usual: Any) -> bool:
    """Whether a value of a row is of the kind of its usual one: texts, a text, a count, or a measure."""
    if isinstance(usual, tuple):
        return value is None or all(type(text) is str for text in value)  # rows of before have no unknown keys
    if isinstance(usual, str):
        return type(value) is str
    if isinstance(usual, int):
        return type(value) is int and value >= 0
    return (usual is None and value is None) or (type(value) in (int, float) and value >= 0)


def _chunk(name: str, number: int, line: bytes) -> dict[str, Any]:
    try:
        written = json.loads(line)
        chunk, checksum = written[CHUNK], written[CHECKSUM]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UnusableRows(f"{name}:{number}: expected a line that labkit sweep wrote, got {_start(line)}") from None
    if not isinstance(chunk, dict) or digest_of(chunk) != checksum:
        text = "its checksum says that it is not as it was written; take the line away, and sweep again"
        raise UnusableRows(f"{name}:{number}: {text}")
    return chunk


def _start(line: bytes) -> str:
    text = line.decode(errors="replace").strip()
    return repr(text[:40] + ("…" if len(text) > 40 else "")) if text else "an empty line"
