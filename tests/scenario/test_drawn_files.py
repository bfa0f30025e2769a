"""Drawn files: one digest each, when run, run again, in another process, under another hash seed, cut and resumed.

python tests/scenario/test_drawn_files.py [files] [first seed]
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Lab
from labkit.front.lab import lab_of
from labkit.scenario.scenario import Scenario
from labkit.scenario.verbs import VERBS
from labkit.scenario.verdict import Verdict, judge
from tests.drawn_files import scenario_of

EVERYDAY, FILES, TORTURE = 6, 60, 300
SEEDS = [seed if seed < EVERYDAY else pytest.param(seed, marks=pytest.mark.slow) for seed in range(FILES)]

PLAY = "import json; from tests.scenario.test_drawn_files import digests; print(json.dumps(digests({first}, {count})))"


def played(scenario: Scenario) -> Lab:
    return lab_of(scenario).run()


def verdict_of(lab: Lab) -> Verdict:
    assert lab.scenario is not None
    return judge(lab.scenario, lab.queries, lab.ledger, lab.invariants)


def digests(first: int, count: int) -> list[str]:
    """The digests of some files."""
    return [played(scenario_of(seed)).trace.digest() for seed in range(first, first + count)]


def digests_elsewhere(first: int, count: int, hash_seed: str) -> list[str]:
    """The digests of some files, played in a process of their own."""
    checkout = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(checkout)}
    command = [sys.executable, "-c", PLAY.format(first=first, count=count)]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def stopped(scenario: Scenario, seed: int, *, saved: bool) -> Lab:
    """Play a file that is stopped three times between two events, and perhaps goes on from what was saved there."""
    random = Random(f"cuts {seed}")
    lab = lab_of(scenario)
    for at_ns in sorted(random.randrange(scenario.end_ns or 0) for _ in range(3)):
        lab.run(f"{at_ns - lab.now}ns")
        if saved:
            lab = Lab.restore(pickle.loads(pickle.dumps(lab.snapshot())))
    return lab.run()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.slow
def test_a_file_has_one_digest_and_one_verdict(seed: int) -> None:
    scenario = scenario_of(seed)
    first, again = played(scenario), played(scenario_of(seed))
    whole, cut = stopped(scenario, seed, saved=False), stopped(scenario, seed, saved=True)

    assert {lab.trace.digest() for lab in (again, whole, cut)} == {first.trace.digest()}
    assert verdict_of(again) == verdict_of(first)
    assert verdict_of(cut) == verdict_of(whole), "a stop is an occasion to judge; what is saved there changes nothing"
    assert verdict_of(cut).word == verdict_of(first).word


@pytest.mark.parametrize(
    ("hash_seed", "count"), [("1", EVERYDAY), pytest.param("random", FILES, marks=pytest.mark.slow)]
)
@pytest.mark.slow
def test_another_process_with_another_hash_seed_has_the_same_digests(hash_seed: str, count: int) -> None:
    assert digests_elsewhere(0, count, hash_seed) == digests(0, count)


@pytest.mark.slow
def test_drawn_files_are_worth_playing() -> None:
    labs = [played(scenario_of(seed)) for seed in range(FILES)]
    found: Counter[tuple[str, bool]] = Counter()
    begun = written = 0
    for lab in labs:
        assert lab.scenario is not None
        steps = lab.scenario.scenario.timeline
        found.update((steps[result.number - 1].verb, result.ok) for result in lab.scenario.results)
        begun, written = begun + len(lab.scenario.results), written + len(steps)

    assert begun > 0.9 * written
    assert sum(count for (_, done), count in found.items() if done) > 0.6 * begun
    assert {verb for verb, _ in found} >= {name for name, verb in VERBS.items() if verb.kind == "fault"} - OF_THE_CLOUD
    assert len({lab.trace.digest() for lab in labs}) == FILES


OF_THE_CLOUD = {"cloud-outage", "cloud-recover", "cloud-slow", "cloud-restore", "roll-keys", "stray-write"}


def main(arguments: list[str]) -> int:
    """Play many files in all these ways; print those with more than one digest."""
    count, first = [*map(int, arguments), *(TORTURE, 0)[len(arguments) :]]
    failed, elsewhere = 0, digests_elsewhere(first, count, "3")
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
