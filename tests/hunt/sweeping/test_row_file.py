"""Row file: lines are as they were written or refused, half a line is cut, and no seed has two results."""

from __future__ import annotations

import json
import resource
import signal
from pathlib import Path

import pytest

from labkit.hunt.sweeping.chunks import Chunk, PlayedChunk
from labkit.hunt.sweeping.experiments import Experiment
from labkit.hunt.sweeping.row_file import TwoResults, UnusableRows, appending, line_of, read_rows
from labkit.hunt.sweeping.seed_rows import SeedRow

ONE = Experiment("Über", (("lab.x", 1),), "{}", "abc")
OTHER = Experiment("Über", (("lab.x", 2),), "{}", "def")


def played(experiment: Experiment, *seeds: int, lost: int = 0) -> PlayedChunk:
    """A chunk of so many seeds, as somebody played it."""
    rows = tuple([SeedRow(seed, 0, ("a", "b"), lost, 0.1, None, digest=f"{seed}") for seed in seeds])
    return PlayedChunk(Chunk(experiment, seeds), "somebody", rows[0], rows)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with two chunks."""
    found = tmp_path / "rows.jsonl"
    with appending(str(found)) as writer:
        writer.append(played(ONE, 0, 1))
        writer.append(played(OTHER, 0))
    return found


def test_what_is_appended_is_read(path: Path):
    rows = read_rows(str(path))

    assert rows.seeds == {("abc", 0), ("abc", 1), ("def", 0)}
    assert [(swept.combination.text, [kept.row for kept in found.values()]) for swept, found in rows.found.items()] == [
        ("lab.x: 1", [*played(ONE, 0, 1).rows]),
        ("lab.x: 2", [*played(OTHER, 0).rows]),
    ]
    assert (rows.torn, path.read_text().count("\n")) == (0, 2)


def test_a_digest_of_the_rows_is_the_same_in_any_order(path: Path, tmp_path: Path):
    other = tmp_path / "other.jsonl"
    other.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    before = read_rows(str(path)).digest

    assert read_rows(str(other)).digest == before
    other.write_bytes(other.read_bytes() + line_of(played(ONE, 2)))
    assert read_rows(str(other)).digest != before


@pytest.mark.parametrize("kept", [1, 13, 60, -1])
def test_half_a_line_is_left_out_and_cut_before_anything_follows(path: Path, kept: int):
    line = line_of(played(ONE, 2))
    whole = path.read_bytes()
    path.write_bytes(whole + line[:kept])

    assert read_rows(str(path)).torn == len(line[:kept])
    assert path.read_bytes() == whole + line[:kept], "reading changes nothing"
    with appending(str(path)) as writer:
        assert writer.rows.torn == 0, "nothing is left out any more"
        writer.append(played(OTHER, 2))
    assert path.read_bytes() == whole + line_of(played(OTHER, 2))
    assert read_rows(str(path)).seeds == {("abc", 0), ("abc", 1), ("def", 0), ("def", 2)}


def test_the_same_again_is_no_harm_and_another_result_is_named(path: Path):
    path.write_bytes(path.read_bytes() + line_of(played(ONE, 1)))
    assert len(read_rows(str(path)).seeds) == 3

    path.write_bytes(path.read_bytes() + line_of(played(ONE, 1, lost=5)))
    with pytest.raises(TwoResults) as found:
        read_rows(str(path))
    assert str(found.value).startswith(
        f"{path}: seed 1 of Über with lab.x: 1 has two results: on line 1 exit code 0, 0 "
    )
    assert "on line 4 exit code 0, 5 lost, digest 1." in str(found.value)


def test_another_result_is_not_appended(path: Path):
    before = path.read_bytes()
    with appending(str(path)) as writer, pytest.raises(TwoResults):
        writer.append(played(OTHER._replace(title="renamed"), 0, lost=1))

    assert path.read_bytes() == before


def spoilt(text: str) -> str:
    return text.replace('"lost":0', '"lost":1', 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (spoilt, ":1: its checksum says that it is not as it was written"),
        (lambda text: "\n" + text, ":1: expected a line that labkit sweep wrote, got an empty line"),
        (lambda text: text + "{}\n", ":3: expected a line that labkit sweep wrote, got '{}'"),
        (lambda text: text + "scenario: mine", ":3: expected a line that labkit sweep wrote, got 'scenario: mine'"),
        (lambda text: text + '{"checksum":"1","chunk":[]}\n', ":3: its checksum says"),
        (lambda text: text + "[" * 10_000 + "\n", ":3: expected a line that labkit sweep wrote"),
        (lambda text: text + other_line(rows=[{"seed": 1}]), ":3: expected a chunk of rows, got something else"),
        (lambda text: text + other_line(values=3), ":3: expected a chunk of rows, got something else"),
        (lambda text: text + other_line(values=[["a", [1, 2]]]), ":3: expected a chunk of rows, got something else"),
        (lambda text: text + other_line(values=[["a", {}]]), ":3: expected a chunk of rows, got something else"),
        (lambda text: text + other_row(code=2), ":3: expected a chunk of rows, got something else"),
        (lambda text: text + other_row(code=7), ":3: expected a chunk of rows, got something else"),
        (lambda text: text + other_row(seed=-1), ":3: expected a chunk of rows, got something else"),
        (lambda text: text + other_row(lost="many"), ":3: expected a chunk of rows, got something else"),
        (lambda text: text + other_row(lost=True), ":3: expected a chunk of rows, got something else"),
        (lambda text: text + other_row(wrong=[1]), ":3: expected a chunk of rows, got something else"),
        (lambda text: text + other_row(rto_s="soon"), ":3: expected a chunk of rows, got something else"),
        (lambda text: text + other_row(rpo_s=float("nan")), ":3: expected a chunk of rows, got something else"),
        (lambda text: text + other_row(error=None), ":3: expected a chunk of rows, got something else"),
    ],
)
def test_a_line_that_is_not_as_it_was_written_is_refused_and_stays(path: Path, change, said: str):
    path.write_text(change(path.read_text()))
    before = path.read_bytes()

    with pytest.raises(UnusableRows) as refused:
        read_rows(str(path))
    assert f"{path}{said}" in str(refused.value)
    with pytest.raises(UnusableRows), appending(str(path)):
        pass
    assert path.read_bytes() == before


def other_row(**changes: object) -> str:
    """A line whose checksum is right, with something else in its row."""
    return other_line(rows=[{**SeedRow(7, 0).data(), **changes}])


def other_line(**changes: object) -> str:
    """A line whose checksum is right, with something else in it."""
    from labkit.hunt.sweeping.experiments import digest_of

    chunk = {**json.loads(line_of(played(ONE, 7)))["chunk"], **changes}
    return json.dumps({"checksum": digest_of(chunk), "chunk": chunk}) + "\n"


@pytest.mark.parametrize("room", [0, 100])
def test_where_no_room_is_left_that_is_said_and_the_sweep_goes_on_later(path: Path, room: int):
    whole = path.read_bytes()
    used = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + room, used[1]))
    try:
        with pytest.raises(UnusableRows, match="cannot be written: File too large"), appending(str(path)) as writer:
            writer.append(played(ONE, 2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, used)
        signal.signal(signal.SIGXFSZ, ignored)

    assert read_rows(str(path)).torn == room
    with appending(str(path)) as writer:
        writer.append(played(ONE, 2))
    assert path.read_bytes() == whole + line_of(played(ONE, 2))


def test_only_one_writes_to_a_file(path: Path):
    with appending(str(path)), pytest.raises(UnusableRows, match="another sweep writes to it"), appending(str(path)):
        pass
    with appending(str(path)) as writer:
        assert len(writer.rows.seeds) == 3


def test_a_line_without_an_end_is_not_read_on_and_on():
    with pytest.raises(UnusableRows, match="/dev/zero:1: expected a line that labkit sweep wrote"):
        read_rows("/dev/zero")
    with pytest.raises(UnusableRows, match="/dev/null: cannot be written"), appending("/dev/null"):
        pass


def test_a_place_that_cannot_be_used(tmp_path: Path):
    for name, said in ((tmp_path, "Is a directory"), (tmp_path / "no" / "x", "No such file"), ("\0", "null")):
        with pytest.raises(UnusableRows, match=said):
            read_rows(str(name))
        with pytest.raises(UnusableRows, match=said), appending(str(name)):
            pass
