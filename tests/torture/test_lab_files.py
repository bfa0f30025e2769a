"""Lab files: random labs saved on their way and opened in another process, and files with anything changed in them.

    python tests/torture/test_lab_files.py [mutations] [runs] [first seed]

1. A lab that is opened ends as the one that was saved: each in a process of its own, their traces have one digest.
2. A file in which bytes or values were changed is opened or refused by name; nothing else is raised.  Where bytes of
   the contents were changed, length and digest are made to fit again, so that what reads them is reached.
3. Reading needs no more memory than its bounds say, whatever is in the file.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import cbor2
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Lab
from labkit.front.lab_file.disk import open_file
from labkit.front.lab_file.errors import LabFileError
from labkit.lab.plan.blueprint import pair
from tests.torture.test_random_labs import USUAL, World, attempt, blueprint

SAVED_AFTER, ACTIONS = 12, 16
ODD: tuple[Any, ...] = (None, True, 0, -1, 1 << 70, 1.5, "", "x", b"", b"x" * 40, (), {}, ((),), {"a": None}, {1: 2})
MAX_RESIDENT_MB = 400


def world_of(seed: int) -> World:
    """A random lab without damage and forged messages, after some of what its seed says."""
    world = World(seed, cuts=False)
    if world.random.random() < 0.8:
        world.lab.replicate("paris", "tokyo")
    play(world, SAVED_AFTER)
    return world


def play(world: World, actions: int) -> None:
    """Go on as the draws say; waits end between two events, so that messages are under way."""
    for _ in range(actions):
        attempt(world, world.any(*USUAL))
        world.lab.run(world.duration())


def ended(lab: Lab, seed: int) -> str:
    """The digest of a lab's trace after more of what befalls labs, drawn from a seed."""
    world = World(seed, cuts=False)
    world.random, world.lab = Random(seed), lab
    play(world, ACTIONS)
    return lab.trace.digest()


def opened_elsewhere(path: Path, seed: int) -> str:
    """The digest with which the lab of a file ends in a process of its own."""
    command = [sys.executable, __file__, "--end", str(path), str(seed)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def tried(seed: int, folder: Path) -> str:
    """Save a random lab, end it here and elsewhere; return what is wrong."""
    path, lab = folder / "run.lab", world_of(seed).lab
    lab.save(path)
    if opened_elsewhere(path, seed) != ended(lab, seed):
        return f"seed {seed}: the lab that was opened ends otherwise"
    return ""


# ---- files with anything changed in them


def altered_bytes(data: bytes, random: Random) -> bytes:
    """Some bytes changed, left out, repeated or put in."""
    for _ in range(random.choice((1, 1, 2, 5))):
        place, length = random.randrange(len(data) + 1), random.choice((1, 1, 1, 4, 50))
        new = random.choice((random.randbytes(length), b"", data[place : place + 2 * length]))
        data = data[:place] + new + data[place + random.choice((0, length)) :]
    return data


def altered_value(value: Any, random: Random, depth: int = 0) -> Any:
    """A decoded value with one part replaced, deep inside or as a whole."""
    if depth and random.random() < 0.08:
        return random.choice((*ODD, value))
    if isinstance(value, cbor2.CBORTag):
        tag = value.tag if random.random() < 0.97 else value.tag + random.randrange(-5, 6)
        return cbor2.CBORTag(tag, altered_value(value.value, random, depth + 1))
    if isinstance(value, Mapping) and value:
        name = random.choice([*value])
        kept = {key: part for key, part in value.items() if key != name or random.random() < 0.95}
        return {**kept, name: altered_value(value[name], random, depth + 1)} if name in kept else kept
    if isinstance(value, tuple | list) and value:
        place = random.randrange(len(value))
        middle = (altered_value(value[place], random, depth + 1),) * random.choice((1, 1, 1, 1, 0, 2))
        return (*value[:place], *middle, *value[place + 1 :])
    return random.choice(ODD)


def refitted(data: bytes, contents: bytes) -> bytes:
    """The file with other contents, their length and digest as they should be."""
    first, second, *_ = data.split(b"\n")
    third = f"{len(contents)} bytes unpacked, sha256 {hashlib.sha256(contents).hexdigest()}"
    return b"\n".join([first, second, third.encode(), zlib.compress(contents, 1)])


def mutated(data: bytes, random: Random) -> bytes:
    """A file with something changed: in the file, in its contents, or in the values that they encode."""
    contents = zlib.decompress(data.split(b"\n", 3)[3])
    kind = random.randrange(8)
    if kind == 0:
        return altered_bytes(data, random)
    if kind <= 2:
        return refitted(data, altered_bytes(contents, random))
    about = cbor2.loads(contents)
    start = len(cbor2.dumps(about))
    lab = cbor2.loads(contents[start:], max_depth=1_000)
    if kind == 3:
        return refitted(data, cbor2.dumps(altered_value(about, random)) + contents[start:])
    return refitted(data, contents[:start] + cbor2.dumps(altered_value(lab, random)))


def fuzzed(data: bytes, seeds: range, path: Path) -> tuple[int, int]:
    """Open mutated files; return how many were opened and how many refused.  Anything else is raised."""
    opened = 0
    for seed in seeds:
        path.write_bytes(mutated(data, Random(seed)))
        try:
            lab, _ = open_file(path, Lab.restore)
        except Exception as error:
            if not isinstance(error, LabFileError) or not str(error).startswith(str(path)):
                raise AssertionError(f"mutation {seed}: {type(error).__name__}: {error}") from error
        else:
            opened += bool(lab.now)
    return opened, len(seeds) - opened


def sample(folder: Path) -> bytes:
    """The file of a pair with clients, under way."""
    lab = Lab(blueprint(Random(6)), 6) if folder.name == "clients" else Lab(pair(), 7)
    lab.replicate("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"user": "ada", "many": [1, [2]]}})
    lab.run("1234567us")
    lab.save(folder / "sample.lab")
    return (folder / "sample.lab").read_bytes()


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 300), marks=pytest.mark.slow)], ids=str)
def test_a_file_with_anything_changed_is_opened_or_refused_by_name(seeds: range, tmp_path: Path):
    opened, refused = fuzzed(sample(tmp_path), seeds, tmp_path / "mutated.lab")

    assert refused > len(seeds) // 2
    assert opened < len(seeds) // 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3])
def test_a_lab_that_is_opened_in_another_process_ends_as_the_one_that_was_saved(seed: int, tmp_path: Path):
    assert tried(seed, tmp_path) == ""


def resident_mb() -> int:
    """The most memory that this process had at once."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(arguments: list[str]) -> int:
    """Try runs and mutations; print what is not as it should be."""
    if arguments[:1] == ["--end"]:
        print(ended(Lab.open(arguments[1]), int(arguments[2])))
        return 0
    mutations, runs, first = [*map(int, arguments), *(100_000, 50, 0)[len(arguments) :]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wrong = [text for seed in range(first, first + runs) if (text := tried(seed, folder))]
        print(*wrong, f"{runs} labs were opened elsewhere, {len(wrong)} ended otherwise", sep="\n", flush=True)
        opened, refused = fuzzed(sample(folder), range(first, first + mutations), folder / "mutated.lab")
    print(f"{mutations} files were changed: {opened} opened, {refused} refused; {resident_mb()} MB at most", flush=True)
    return bool(wrong) or resident_mb() > MAX_RESIDENT_MB


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
