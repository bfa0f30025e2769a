"""Twenty drills, each a scenario and a seed, end with the digests and stored bytes that they always had.

A change of shape must not change a run.  A change of behaviour may: then ``python tests/lab/test_same_runs.py`` writes
``same_runs.json`` again, and the commit says why.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from labkit import Lab

CHECKOUT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).with_name("same_runs.json")
SCENARIOS = ("failover", "planned-failover", "split-brain", "standby", "refusals")
SEEDS = (7, 8, 21, 1_000_003)
EVERYDAY_SEED = 7
RUNS = [(name, seed) for name in SCENARIOS for seed in SEEDS]
CASES = [
    pytest.param(name, seed, id=f"{name}-{seed}", marks=[] if seed == EVERYDAY_SEED else pytest.mark.slow)
    for name, seed in RUNS
]


def play(name: str, seed: int) -> dict[str, str]:
    """Play a scenario to its end; return the digest of its trace, and one of every stored byte."""
    lab = Lab.load(CHECKOUT / "scenarios" / "first" / f"{name}.lab.yaml", seed).run()
    stored = hashlib.sha256()
    for cluster, store in sorted(lab.snapshot().state["stores"].items()):
        for key, value in sorted(store["items"].items()):
            stored.update(f"{cluster} {key} {value.hex()}\n".encode())
    return {"trace": lab.trace.digest(), "stored": stored.hexdigest()}


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_a_run_is_what_it_was(name, seed):
    assert play(name, seed) == json.loads(KEPT.read_text())[f"{name} {seed}"]


if __name__ == "__main__":
    KEPT.write_text(json.dumps({f"{name} {seed}": play(name, seed) for name, seed in RUNS}, indent=2) + "\n")
