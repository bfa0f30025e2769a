"""The same drill in several processes, under several hash seeds: the same trace, roots and stored bytes (R6)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from labkit import Lab

SECOND_NS = 1_000_000_000

DRILL = """
import hashlib, json
from labkit import Lab
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, triangle

every_ns = 100_000_000
work = tuple(
    WorkloadPlan(operation=name, every_ns=every_ns, from_ns=10 * every_ns, until_ns=300 * every_ns, keys=17)
    for name in ("put-secret", "encrypt", "get-secret")
)
shop = ClientPlan(name="shop", site="lisbon", use=("paris", "tokyo"), count=2, workload=work)
lab = Lab(triangle().with_clients(shop), seed=%d)
lab.replicate("paris", "tokyo")
lab.work_through("enable-secondary", cluster="lima", primary="paris")
lab.lose("paris", "lima", 5)
lab.run("5s").crash("paris-1")
lab.run("10s").partition("paris", "tokyo")
lab.run("2s").crash("paris")
lab["tokyo"].promote()
lab.work_through("repoint", cluster="lima", to="tokyo")
lab.heal()
lab.restart("paris")
lab["paris"].unseal()
lab.run("10s")
lab["paris"].demote()
lab.work_through("repoint", cluster="paris", to="tokyo")
lab["tokyo"].put("sys/audit/file", {"type": "file", "options": {"file_path": "/audit.log"}})
lab["tokyo"].post("transit/keys/orders/rotate")
lab.run("5s")
items = {name: store.state()["items"] for name, store in lab.parts.stores.items()}
stored = {name: sorted((k, v.hex()) for k, v in held.items()) for name, held in items.items()}
files = {name: repr(sorted(kept.state().items())) for name, kept in lab.parts.files.items()}
print(json.dumps({
    "trace": lab.trace.digest(),
    "events": len(lab.trace),
    "roots": {name: lab.queries.root(name) for name in lab.clusters},
    "stored": {name: hashlib.sha256(json.dumps(rows).encode()).hexdigest() for name, rows in stored.items()},
    "keys": {name: len(rows) for name, rows in stored.items()},
    "files": hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest(),
    "lost": lab.ledger.rpo().writes,
    "bytes": sum(event.size_bytes for event in lab.trace.select("message")),
}))
"""


def play(checkout: Path, hash_seed: str, seed: int = 7) -> dict[str, object]:
    """Play the drill in a process of its own and return what it ended with."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(checkout)}
    command = [sys.executable, "-W", "error", "-c", DRILL % seed]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def first(checkout):
    """What the drill ended with under hash seed 0."""
    return play(checkout, "0")


@pytest.mark.slow
def test_the_drill_is_worth_it(first):
    assert first["events"] > 3_000
    assert first["lost"] > 0
    assert min(first["keys"].values()) > 30
    assert len(set(first["roots"].values())) == 1, "all three hold the same at the end"
    assert all(len(root) == 40 for root in first["roots"].values())


@pytest.mark.parametrize("hash_seed", [pytest.param("1", marks=pytest.mark.slow), "random"])
@pytest.mark.slow
def test_another_process_and_another_hash_seed_end_with_the_same_bytes(first, checkout, hash_seed):
    assert play(checkout, hash_seed) == first


@pytest.mark.slow
def test_another_seed_ends_with_others(first, checkout):
    other = play(checkout, "0", seed=8)

    assert other["trace"] != first["trace"]
    assert other["roots"] != first["roots"]


def test_two_labs_in_one_process_never_meet(busy_blueprint):
    """Stepped by turns, each does what it does alone."""
    alone = Lab(busy_blueprint, seed=5)
    alone.run("4s")
    mine, other = Lab(busy_blueprint, seed=5), Lab(busy_blueprint, seed=6)
    while mine.now < 4 * SECOND_NS:
        mine.run("250ms")
        other.run("250ms")

    assert mine.trace.digest() == alone.trace.digest()
    assert mine.parts.stores["paris"].state() == alone.parts.stores["paris"].state()
    assert other.parts.stores["paris"].state() != alone.parts.stores["paris"].state()


def test_a_lab_is_the_same_however_it_is_stepped(busy_blueprint):
    whole, stepped = (Lab(busy_blueprint, seed=5) for _ in range(2))
    whole.run("3s")
    while stepped.parts.clock.pending()[0][0] <= 3 * SECOND_NS:
        stepped.step()

    assert stepped.trace.digest() == whole.trace.digest()


def test_looking_at_a_lab_draws_nothing(busy_blueprint):
    looked_at, left_alone = (Lab(busy_blueprint, seed=5) for _ in range(2))
    for _ in range(20):
        looked_at.run("100ms")
        looked_at.snapshot()
        repr(looked_at)
        looked_at.map()
        looked_at.timeline()
        looked_at.ledger.rpo()
        left_alone.run("100ms")

    assert looked_at.trace.digest() == left_alone.trace.digest()


def test_what_cannot_be_seeded_enters_neither_trace_nor_stores():
    def run():
        lab = Lab.pair(seed=7)
        paris = lab["paris"]
        paris.post("transit/keys/k", {"type": "rsa-2048"})
        made = [paris.post("transit/sign/k", {"input": "AAAA"}).data["signature"]]
        made.append(paris.post("transit/encrypt/k", {"plaintext": "AAAA"}).data["ciphertext"])
        assert paris.post("transit/verify/k", {"input": "AAAA", "signature": made[0]}).data == {"valid": True}
        stored = sorted(lab.parts.stores["paris"].state()["items"].items())
        return made, (lab.trace.digest(), stored, lab.network.delivered)

    first, second = run(), run()

    assert set(first[0]).isdisjoint(second[0])
    assert first[1] == second[1]
