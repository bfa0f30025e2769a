"""Drawn files: one digest each, when run, in another process under another hash seed, stopped, and saved and resumed.

python tests/scenario/test_drawn_files.py [files] [first seed]
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Lab
from labkit.front.lab import lab_of
from labkit.scenario.scenario import Scenario
from labkit.scenario.verbs import VERBS
from labkit.scenario.verdict import Verdict, judge
from tests.drawn_files import scenario_of

FILES, TORTURE = 60, 300
AT_ONCE = 20
"""How many files a process plays that was started for them."""

PLAY = "import json; from tests.scenario.test_drawn_files import runs; print(json.dumps(runs({first}, {count})))"

# The digest of a run; of each row of its verdict the key, what was measured and its status; of each step that was
# begun its verb and whether it was done; and how many steps are written.
Run = list[Any]


def played(scenario: Scenario) -> Lab:
    return lab_of(scenario).run()


def verdict_of(lab: Lab) -> Verdict:
    assert lab.scenario is not None
    return judge(lab.scenario, lab.queries, lab.ledger, lab.invariants)


def run_of(lab: Lab) -> Run:
    """What a run was, as it is written in JSON."""
    assert lab.scenario is not None
    steps = lab.scenario.scenario.timeline
    rows = [[row.key, row.measured, row.status] for row in verdict_of(lab).rows]
    begun = [[steps[result.number - 1].verb, result.ok] for result in lab.scenario.results]
    return [lab.trace.digest(), rows, begun, len(steps)]


def runs(first: int, count: int) -> list[Run]:
    """What the runs of some files were."""
    return [run_of(played(scenario_of(seed))) for seed in range(first, first + count)]


@cache
def runs_elsewhere(first: int, count: int, hash_seed: str) -> list[Run]:
    """What the runs of some files were, played in a process of their own."""
    checkout = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(checkout)}
    command = [sys.executable, "-c", PLAY.format(first=first, count=count)]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def run_elsewhere(seed: int) -> Run:
    """What the run of a file was in another process; nobody knows its hash seed, but of the first."""
    first = seed // AT_ONCE * AT_ONCE
    return runs_elsewhere(first, AT_ONCE, "random" if first else "1")[seed - first]


def stopped(scenario: Scenario, seed: int, *, saved: bool) -> Lab:
    """Play a file that is stopped three times between two events, and perhaps goes on from what was saved there."""
    random = Random(f"cuts {seed}")
    lab = lab_of(scenario)
    for at_ns in sorted(random.randrange(scenario.end_ns or 0) for _ in range(3)):
        lab.run(f"{at_ns - lab.now}ns")
        if saved:
            lab = Lab.restore(pickle.loads(pickle.dumps(lab.snapshot())))
    return lab.run()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FILES))
def test_a_file_has_one_digest_and_one_verdict(seed: int) -> None:
    scenario = scenario_of(seed)
    first = played(scenario)
    whole, cut = stopped(scenario, seed, saved=False), stopped(scenario, seed, saved=True)

    assert run_of(first) == run_elsewhere(seed)
    assert {lab.trace.digest() for lab in (whole, cut)} == {first.trace.digest()}
    assert verdict_of(cut) == verdict_of(whole), "a stop is an occasion to judge; what is saved there changes nothing"
    assert verdict_of(cut).word == verdict_of(first).word


@pytest.mark.slow
def test_drawn_files_are_worth_playing() -> None:
    found: Counter[tuple[str, bool]] = Counter()
    all_begun = all_written = 0
    digests = set()
    for seed in range(FILES):
        digest, _, begun, written = run_elsewhere(seed)
        found.update((verb, done) for verb, done in begun)
        all_begun, all_written = all_begun + len(begun), all_written + written
        digests.add(digest)

    assert all_begun > 0.9 * all_written
    assert sum(count for (_, done), count in found.items() if done) > 0.6 * all_begun
    assert {verb for verb, _ in found} >= {name for name, verb in VERBS.items() if verb.kind == "fault"} - OF_THE_CLOUD
    assert len(digests) == FILES


OF_THE_CLOUD = {"cloud-outage", "cloud-recover", "cloud-slow", "cloud-restore", "roll-keys", "stray-write"}


def main(arguments: list[str]) -> int:
    """Play many files in all these ways; print those with more than one digest."""
    count, first = [*map(int, arguments), *(TORTURE, 0)[len(arguments) :]]
    failed, elsewhere = 0, [digest for digest, *_ in runs_elsewhere(first, count, "3")]
    for seed in range(first, first + count):
        scenario = scenario_of(seed)
        labs = [played(scenario), played(scenario), stopped(scenario, seed, saved=True)]
        if {elsewhere[seed - first], *(lab.trace.digest() for lab in labs)} != {elsewhere[seed - first]}:
            failed += 1
            print(f"seed {seed}: more than one digest", flush=True)
    print(f"{count} files, {failed} with more than one digest")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
