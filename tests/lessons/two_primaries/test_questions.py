"""Both predictions of lesson 06: what is measured, what is missing before, and what the replies claim."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lessons.two_primaries.questions import OWN, OWN_WRITE, TWO


@pytest.fixture(scope="module")
def split() -> Lab:
    lab = Lab.pair(seed=6)
    lab.replicate("paris", "tokyo")
    lab["paris"].post("secret/data/orders/1", {"data": {"item": "rope"}})
    lab.run("5s")
    lab.partition("paris", "tokyo")
    lab["tokyo"].promote()
    return lab.run("10s")


def test_both_take_writes_behind_the_line(split):
    digest = split.trace.digest()

    assert TWO.needs(split) == ""
    assert TWO.measure(split) == 2
    assert "paris and tokyo answered a write with 200" in TWO.why(split)
    assert "Since 6.5 s the rule `one primary` is broken" in TWO.why(split)
    assert split.trace.digest() == digest
    assert "Player" in repr(TWO.draw(split))


def test_a_cluster_elects_its_leader_among_its_own_three_nodes(split):
    """What the reply to 1 says."""
    assert len(split["paris"].nodes) == 3
    assert [event.node for event in split.trace.select("leader", cluster="paris")] == ["paris-1"]


def test_what_is_missing_before_it_can_be_counted():
    lab = Lab.pair(seed=6)
    assert "no line is cut" in TWO.needs(lab)
    lab.replicate("paris", "tokyo")
    lab.partition("paris", "tokyo")
    assert "not promoted yet" in TWO.needs(lab)
    lab["tokyo"].promote()
    assert "Let 10 seconds pass" in TWO.needs(lab)


def test_what_paris_took_by_itself_is_held_by_no_cluster_in_the_end(split):
    healed = split.branch("healed")
    assert "does not follow" in OWN_WRITE.needs(healed)
    assert healed["paris"].post(OWN, {"data": {"item": "wire"}}).status == 200
    assert OWN_WRITE.measure(healed) == 1
    healed.heal()
    healed["paris"].demote()
    healed.run("1s")
    healed["paris"].repoint("tokyo")
    healed.run("10s")

    assert OWN_WRITE.needs(healed) == ""
    assert OWN_WRITE.measure(healed) == 0
    assert "counts 1 acknowledged write lost" in OWN_WRITE.why(healed)
    assert healed["paris"].root == healed["tokyo"].root
