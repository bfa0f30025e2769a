"""Succession: a promotion is planned where the upstream was demoted for it, and no other took its place."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.invariants.rules import NO_LOSS
from labkit.lab.records.succession import Succession


@pytest.fixture
def cut_off(trio: Lab) -> Lab:
    """Three clusters, of which lima has not got what was written last."""
    trio.isolate("lima")
    trio["paris"].post("secret/data/a", {"data": {}}).raise_for_status()
    trio.run("2s")
    return trio


def test_what_a_second_successor_lacks_is_not_held_against_the_first_failover(cut_off: Lab):
    cut_off["paris"].demote()
    cut_off.run("2s")
    cut_off["tokyo"].promote()
    cut_off.crash("tokyo")
    cut_off.heal("lima")
    again = Lab.restore(cut_off.snapshot())
    for lab in (cut_off, again):
        lab["lima"].promote(force=True)
        assert [taken.planned for taken in lab.ledger.promotions] == [True, False]
        assert len(lab.ledger.lost(lab.ledger.promotions[-1])) == 1
        assert NO_LOSS not in lab.invariants.broken


def test_one_that_comes_back_and_is_demoted_beside_its_successor_was_not_demoted_for_another(cut_off: Lab):
    cut_off.isolate("paris")
    cut_off.crash("paris")
    cut_off["tokyo"].promote()
    cut_off.restart("paris")
    cut_off.run("1s")
    cut_off.unseal("paris")
    cut_off["paris"].demote()
    cut_off.crash("tokyo")
    cut_off["lima"].promote(force=True)

    assert [taken.planned for taken in cut_off.ledger.promotions] == [False, False]
    assert NO_LOSS not in cut_off.invariants.broken


def test_there_and_back_each_is_planned(calm: Lab):
    calm.failover("paris", "tokyo")
    calm.failover("tokyo", "paris")

    assert [taken.planned for taken in calm.ledger.promotions] == [True, True]


def test_one_that_left_its_set_and_was_demoted_in_another_was_not_demoted_for_its_follower(calm: Lab):
    calm.partition("paris", "tokyo")
    calm["paris"].post("secret/data/a", {"data": {}}).raise_for_status()
    calm["paris"].disable()
    calm["paris"].enable_primary()
    calm["paris"].demote()
    calm["tokyo"].promote(force=True)

    assert [taken.planned for taken in calm.ledger.promotions] == [False]
    assert calm.ledger.rpo().writes == 1
    assert NO_LOSS not in calm.invariants.broken


def test_only_those_of_its_set_are_succeeded_and_who_is_promoted_or_demoted_again_is_not():
    modes = {name: ("secondary", "", of_set) for name, of_set in (("a", "x"), ("b", "x"), ("c", "y"), ("d", "x"))}
    upstreams = {"a": "", "b": "a", "c": "", "d": ""}
    kept = Succession(modes, upstreams, ())
    assert [kept.is_planned(name, "x") for name in ("a", "b", "c", "nobody", "")] == [True, False, False, False, False]
    assert kept.is_planned("c", "y")
    kept.promote("b", "x")
    assert not kept.is_planned("a", "x")
    assert not kept.is_planned("d", "x")
    kept.promote("a", "x")
    assert [kept.is_planned(name, "x") for name in ("a", "d")] == [True, False]
    kept.demote("d")
    assert kept.is_planned("d", "x"), "nobody is primary of its set"
    modes["a"] = ("primary", "", "x")
    kept.demote("d")
    assert not Succession(modes, upstreams, kept.succeeded).is_planned("d", "x")
