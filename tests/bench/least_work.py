"""Least work: what a row of the goals cannot do without, in counts: of a request by its kind, of a lab by its parts.

    python tests/bench/least_work.py

1. Counted are calls of labkit's own functions, as tests do (``tests/counting.py``): the same on each machine.
2. What every request does is what the requests here have in common: of each function as many calls as the one makes
   that calls it least.  The rest is what a kind of request adds: fields that are judged, engine, storage.
3. Encodings are texts in base64 and stored records, written or read; ciphers are encryptions, decryptions, signatures
   and keyed or plain hashes of tokens, as the primitives are called; puts are keys written or deleted.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Lab
from labkit.vault.storage.memory import MemoryStorage
from tests.bench.lab_rows import fail_over, filled, star, under_load
from tests.bench.part_names import OF_A_LAB, OF_A_REQUEST, part_of
from tests.counting import PACKAGE, is_own
from tests.house import test_work

REQUESTS = (
    *("KV write", "KV read", "token create", "token lookup"),
    *("transit encrypt", "transit encrypt, audited", "login"),
)
ENCODINGS = frozenset(
    (
        *("encode_record", "decode_record", "to_json", "to_base64", "from_base64"),
        *("to_base64url", "from_base64url", "read_object"),
    )
)
CIPHERS = frozenset(("encrypt", "decrypt", "verify", "sign", "finalize", "sha256", "openssl_sha256"))
JOINED_BEFORE = (2, 10)
"""How many clusters of a star have joined when a join is counted: two numbers show what one more adds."""

Called = tuple[str, str]
"""A function of labkit: its file and name."""


class Counted(NamedTuple):
    """What some work calls: labkit's functions with how often, encodings and ciphers."""

    calls: Counter[Called]
    encodings: int
    ciphers: int

    def of_parts(self, parts: dict[str, tuple[str, ...]]) -> Counter[str]:
        """Return how many calls belong to each part."""
        found: Counter[str] = Counter()
        for (file, _), count in self.calls.items():
            found[part_of(file, parts)] += count
        return found


def counted(work: Callable[[], object]) -> Counted:
    """Count what some work calls."""
    calls: Counter[Called] = Counter()
    ciphers = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal ciphers
        code = frame.f_code
        if event == "call" and is_own(code):
            calls[code.co_filename[len(PACKAGE) :], code.co_name] += 1
        elif event == "c_call" and argument.__name__ in CIPHERS:
            ciphers += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    encodings = sum(count for (_, name), count in calls.items() if name in ENCODINGS)
    return Counted(calls, encodings, ciphers)


def puts(ask: Callable[[], object]) -> int:
    """Return how many keys a request writes or deletes."""
    found: list[int] = []
    apply = MemoryStorage.apply

    def counting(store: MemoryStorage, writes: Any, *rest: Any) -> None:
        found.append(len(writes))
        apply(store, writes, *rest)

    with patch.object(MemoryStorage, "apply", counting):
        ask()
    return sum(found)


def in_common(rows: list[Counter[Called]]) -> Counter[Called]:
    """Return what all of several works call: of each function as often as the one that calls it least."""
    common = rows[0]
    for row in rows[1:]:
        common = common & row
    return common


def request_table() -> str:
    """Return the counts of requests, each after others of its kind, as a table."""
    found, written = {}, {}
    for name in REQUESTS:
        ask = test_work.prepared(name)
        for _ in range(2):
            ask()
        found[name], written[name] = counted(ask), puts(ask)
    common = in_common([row.calls for row in found.values()])
    added = [*OF_A_REQUEST]
    lines = [
        f"| request | calls | of every request | {' | '.join(added)} | encodings | ciphers | puts |",
        f"| --- |{' --: |' * (len(added) + 5)}",
    ]
    for name, row in found.items():
        parts = row._replace(calls=row.calls - common).of_parts(OF_A_REQUEST)
        numbers = (row.calls.total(), common.total(), *[parts[part] for part in added])
        cells = (*numbers, row.encodings, row.ciphers, written[name])
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def joins() -> dict[int, Counted]:
    """Return what a join of a star takes, by how many clusters have joined before."""
    lab = Lab(star(JOINED_BEFORE[-1] + 2), trace=False)
    found = {}
    for number in range(1, len(lab.clusters)):
        join = partial(lab.replicate, "c0", f"c{number}")
        if number - 1 in JOINED_BEFORE:
            found[number - 1] = counted(join)
        else:
            join()
    return found


def of_writes() -> Counter[str]:
    """Return the calls of a write to three busy clusters, with all that follows from it, by part, rounded."""
    lab = under_load()
    before = len(lab.ledger.writes)
    found = counted(lambda: lab.run("10s")).of_parts(OF_A_LAB)
    writes = len(lab.ledger.writes) - before
    return Counter({part: round(count / writes) for part, count in found.items()})


def of_idle_seconds() -> Counter[str]:
    """Return the calls of a second of a pair that has nothing to do, by part, rounded."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.run("1m")
    found = counted(lambda: lab.run("60s")).of_parts(OF_A_LAB)
    return Counter({part: round(count / 60) for part, count in found.items()})


def lab_table() -> str:
    """Return the counts of what the goals measure in labs as a table; of joins, with few and with more before them."""
    fail_over()
    lab = filled(1_000)
    lab.branch("before")
    (few, first), (many, last) = joins().items()
    rows = {
        "write that two clusters follow": of_writes(),
        "second of an idle pair": of_idle_seconds(),
        "failover of 60 s": counted(fail_over).of_parts(OF_A_LAB),
        f"join, {few} before it": first.of_parts(OF_A_LAB),
        f"join, {many} before it": last.of_parts(OF_A_LAB),
        "branch": counted(lambda: lab.branch("again")).of_parts(OF_A_LAB),
    }
    parts = [*OF_A_LAB]
    lines = [f"| work | calls | {' | '.join(parts)} |", f"| --- |{' --: |' * (len(parts) + 1)}"]
    for name, row in rows.items():
        cells = [row.total(), *[row[part] for part in parts]]
        lines.append(f"| {name} | {' | '.join(f'{cell:,}' for cell in cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Print both tables."""
    print(request_table(), lab_table(), sep="\n\n")


if __name__ == "__main__":
    main()
