"""Kinds: every fault has one, each draws what the loader takes, and half of what aims at a timeout outlasts it."""

from __future__ import annotations

import pytest

from labkit.hunt.draws import Draws
from labkit.hunt.kinds import (
    CLOUD,
    CONNECTION_NS,
    KINDS,
    LEASE_NS,
    NOT_DRAWN,
    OPTIONAL,
    SUPPRESSOR,
    Kind,
    Names,
    kinds_of,
)
from labkit.lab.fault_table import FAULTS
from labkit.lab.plan.blueprint import pair
from labkit.scenario.acts import names_of, read_act

NAMES = Names(
    clusters=("paris", "tokyo"),
    nodes={"paris": ("paris-1", "paris-2"), "tokyo": ("tokyo-1",)},
    sites={"paris": "paris", "tokyo": "tokyo"},
    pairs=(("paris", "tokyo"), ("lisbon", "paris")),
)
FAULT_KINDS = kinds_of(OPTIONAL)


def test_every_fault_and_what_undoes_it_has_a_kind():
    assert {fault.verb for fault in FAULTS} - {kind.verb for kind in KINDS} == NOT_DRAWN


def test_what_undoes_a_fault_is_a_suppressor():
    undoing = {kind.undo for kind in FAULT_KINDS} - {""}

    assert undoing == {kind.verb for kind in kinds_of(SUPPRESSOR)}


@pytest.mark.parametrize("kind", FAULT_KINDS, ids=lambda kind: kind.name)
def test_each_kind_draws_arguments_that_its_verb_takes(kind: Kind):
    assert kind.draw is not None
    for seed in range(20):
        read_act(kind.verb, kind.draw(Draws("x", seed), NAMES), names_of(pair()))


@pytest.mark.parametrize("kind", [kind for kind in FAULT_KINDS if kind.aims_at_ns], ids=lambda kind: kind.name)
def test_half_of_what_aims_at_a_timeout_is_in_force_for_longer(kind: Kind):
    times = [kind.time_in_force_ns(Draws("x", seed)) for seed in range(300)]

    assert kind.aims_at_ns in (CONNECTION_NS, LEASE_NS)
    assert 110 < sum(time_ns > kind.aims_at_ns for time_ns in times) < 190
    assert min(times) >= kind.least_ns


def test_kinds_of_the_cloud_are_drawn_where_there_is_one():
    without = kinds_of(OPTIONAL, (CLOUD,))

    assert {kind for kind in FAULT_KINDS if CLOUD in kind.needs} == set(FAULT_KINDS) - set(without)
    assert len(FAULT_KINDS) > len(without)
