"""The wall clock counts integer nanoseconds of the epoch; entropy has the asked size and never repeats."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from labkit import real


def test_now_is_the_epoch_in_integer_nanoseconds() -> None:
    before = time.time_ns()
    reading = real.now()
    after = time.time_ns()

    assert type(reading) is int
    assert before <= reading <= after


@pytest.mark.parametrize("size_bytes", [0, 1, 12, 32, 4096])
def test_entropy_has_the_asked_size(size_bytes: int) -> None:
    drawn = real.entropy(size_bytes)

    assert type(drawn) is bytes
    assert len(drawn) == size_bytes


@pytest.mark.parametrize("size_bytes", [12, 16, 48, 56])
def test_entropy_never_repeats(size_bytes: int) -> None:
    assert len({real.entropy(size_bytes) for _ in range(1000)}) == 1000


def test_what_is_made_of_many_draws_is_given_once_each() -> None:
    draws: list[bytes] = []

    def make(drawn: bytes) -> list[int]:
        draws.append(drawn)
        return [100 * len(draws) + number for number in range(3)]

    draw = real.many_at_once(make, 48)
    given = [draw() for _ in range(7)]

    assert len(set(given)) == 7
    assert [len(drawn) for drawn in draws] == [48] * 3


FORKED = """
import os
from labkit import Vault, real

vault = Vault.dev()
numbers = real.many_at_once(lambda drawn: [drawn[place : place + 8] for place in range(0, 64, 8)], 64)

def drawn():
    ids = [vault.get("sys/health").body and vault.get("secret/config").body["request_id"] for _ in range(9)]
    return [*ids, *[real.entropy(size).hex() for size in real.POOLED_BYTES for _ in range(99)], numbers().hex()]

before = drawn()
read, write = os.pipe()
if os.fork() == 0:
    vault = Vault.dev()
    os.write(write, " ".join(drawn()).encode())
    os._exit(0)
os.close(write)
here, there = drawn(), os.fdopen(read).read().split()
assert len(here) == len(there) == len(before)
print(len({*before, *here, *there}) - 3 * len(before))
"""


def test_a_forked_process_draws_nothing_that_its_parent_draws() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=False, timeout=60)

    assert (done.stdout.strip(), done.stderr) == ("0", "")


WATCHED = """
import os
from labkit import real

said = []
first = real.fork_watch()
read, write = os.pipe()
if os.fork() == 0:
    second = real.fork_watch()
    if os.fork() == 0:
        os.write(write, f"{first()} {second()} {real.fork_watch()()}".encode())
        os._exit(0)
    os.wait()
    os.write(write, f" {first()} {second()}".encode())
    os._exit(0)
os.wait()
print(os.read(read, 99).decode(), first())
"""


def test_a_forked_process_knows_what_is_not_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, check=False, timeout=60)

    assert (done.stdout.strip(), done.stderr) == ("True True False True False False", "")


LEFT = """
import os, socket
from labkit import real

kept, left, ended = socket.socketpair(), socket.socketpair(), socket.socketpair()
real.leave_sockets(lambda: [left[0].fileno()])
real.leave_sockets(lambda: [ended[0].fileno()])()
read, write = os.pipe()
child = os.fork()
if child == 0:
    os.read(read, 1)
    os._exit(0)
for here, there in (kept, left, ended):
    here.close()
    there.settimeout(0.2)
    try:
        print(there.recv(1), end=" ")
    except TimeoutError:
        print("open", end=" ")
os.write(write, b"x")
os.waitpid(child, 0)
"""


@pytest.mark.slow
def test_what_a_forked_process_has_no_use_for_is_not_kept_open_by_it() -> None:
    done = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, check=False, timeout=60)

    assert (done.stdout.strip(), done.stderr) == ("open b'' open", "")


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        real.entropy(-1)
