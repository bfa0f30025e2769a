"""A run that is cut at any event and resumed is the uncut run, to the last byte of every store."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import Lab


def drill(lab: Lab) -> None:
    """Begin what the cuts fall into: replication is enabled, later the primary crashes and the secondary takes over."""
    lab.parts.console.start("replicate", primary="paris", secondary="tokyo")


def finish(lab: Lab, from_event: int, events: int, cut_at: set[int]) -> Lab:
    """Take ``events`` steps in all, save and restore at the cuts, and let the faults fall at fixed events."""
    for number in range(from_event, events):
        if number == 700:
            lab.crash("paris")
        if number == 900:
            lab.parts.console.start("promote", cluster="tokyo")
        if number in cut_at:
            lab = Lab.restore(lab.snapshot())
        if not lab.step():
            break
    return lab


EVENTS = 1_400


def evidence(lab: Lab) -> tuple[str, list[str], str]:
    """What must be equal: the trace, the composite roots, and every stored byte (as a digest)."""
    roots = [lab.queries.root(name) for name in lab.clusters]
    stored = {name: sorted(store.state()["items"].items()) for name, store in lab.parts.stores.items()}
    return lab.trace.digest(), roots, hashlib.sha256(repr(stored).encode()).hexdigest()


@pytest.fixture(scope="module")
def uncut(begun):
    """The evidence of the run that nobody cut."""
    return evidence(finish(Lab.restore(begun), 0, EVENTS, set()))


@pytest.fixture(scope="module")
def begun(busy_blueprint):
    """A lab at its very start, the drill just begun."""
    lab = Lab(busy_blueprint, seed=11)
    drill(lab)
    return lab.snapshot()


@settings(max_examples=12, deadline=None)
@given(cuts=st.sets(st.integers(0, EVENTS - 1), min_size=1, max_size=4))
def test_a_run_cut_anywhere_and_resumed_is_the_uncut_run(begun, uncut, cuts):
    """Also with requests suspended and messages in flight."""
    assert evidence(finish(Lab.restore(begun), 0, EVENTS, cuts)) == uncut
