"""Random requests and events: a cluster that remembers answers like one that forgets everything before each request.

    python tests/caches/test_random_requests.py [requests] [seed] [processes]

What is sent is a function of the seed, so that a difference can be met again: it is shown with what came before it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit.front.vault import Vault
from labkit.service.message import Request, Response
from labkit.vault.core import Settings
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.storage.sqlite import SqliteStorage
from tests.caches import events
from tests.caches.twins import CACHES, STATE, Twins
from tests.caches.usual_requests import prepare

EVERYDAY, MORE = 4, 13
STEPS, MORE_STEPS = 100, 400


def play(seed: int, steps: int = MORE_STEPS) -> int:
    """Play a seed; return how many requests that were."""
    dice = Random(f"caches {seed}")
    settings = Settings(edition="community" if seed % 8 == 7 else "enterprise")
    forgets = (STATE, CACHES)[seed % 2]
    with TemporaryDirectory() as folder:
        files = (f"{folder}/{number}.db" for number in range(2))
        stores = (lambda: SqliteStorage(next(files))) if seed % 5 == 4 else MemoryStorage
        twins = Twins(seed, forgets, settings, stores).begin()
        prepare(twins)
        events.play(twins, dice, steps)
        twins.close()
    return twins.requests


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.slow) if seed >= EVERYDAY else seed for seed in range(MORE)]
)
def test_what_is_remembered_does_not_show(seed: int) -> None:
    play(seed, STEPS if seed < EVERYDAY else MORE_STEPS)


def test_an_answer_that_is_remembered_too_long_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: a refusal is remembered for a path and a token, whatever happens meanwhile."""
    handle = Vault.handle

    def remembering(vault: Vault, request: Request, *instant: int) -> Any:
        key = str((request.method, request.path, sorted(request.headers.items())))
        records: dict[str, Any] = vault.core.caches.records
        if key not in records:
            answer = handle(vault, request, *instant)
            if not isinstance(answer, Response) or answer.status != 403:
                return answer
            records[key] = (b"", answer)
        return records[key][1]

    monkeypatch.setattr(Vault, "handle", remembering)
    found = [wrong for _, wrong in map(tried, range(EVERYDAY)) if wrong]
    assert found
    assert " differ after" in found[0], found[0]


def tried(seed: int) -> tuple[int, str]:
    """Play a seed; return how many requests that were, and what differs."""
    try:
        return play(seed), ""
    except AssertionError as error:
        return 0, f"seed {seed}: {error}"


def main(arguments: list[str]) -> int:
    """Play seeds in several processes until so many requests were sent; print what differs."""
    from multiprocessing import Pool

    count, seed, processes = [*map(int, arguments), *(100_000, 0, 2)[len(arguments) :]]
    sent = differences = 0
    with Pool(processes) as pool:
        for requests, wrong in pool.imap_unordered(tried, range(seed, seed + count // MORE_STEPS)):
            sent += requests
            if wrong:
                differences += 1
                print(wrong, flush=True)
    print(f"{sent} requests: {differences} seeds in which memory shows")
    return differences > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
