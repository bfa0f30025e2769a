"""What became of entries that a survivor never had is what the old primary's index holds under their keys."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.measures.replaced_entries import ReplacedEntries, replaced_entries
from labkit.lab.measures.tree_record import leaves_of


def said(lab: Lab) -> list[ReplacedEntries]:
    assert lab._pictures is not None
    return replaced_entries(lab._pictures, lab.ledger.promotions, lab.ledger.histories.commits)


@pytest.fixture(scope="module")
def parted() -> Lab:
    """Paris goes on alone for a while, and tokyo is promoted: four entries are paris's own, one of them made later."""
    lab = Lab.pair(seed=7)
    lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    lab["paris"].post("secret/data/shared", {"data": {"n": 0}})
    lab.run("1s")
    lab.partition("paris", "tokyo")
    for name in ("shared", "only-paris", "taken-back"):
        lab["paris"].post(f"secret/data/{name}", {"data": {"n": 1}})
    lab["tokyo"].promote(force=True)
    lab["tokyo"].post("secret/data/shared", {"data": {"n": 2}})
    lab["paris"].post("secret/data/late", {"data": {"n": 3}})
    return lab.run("1s")


def keys_of_paris(lab: Lab) -> dict[str, Any]:
    (taken,) = lab.ledger.promotions
    commits = [*lab.ledger.histories.commits]
    own = [number for number in range(len(commits)) if number in taken.missing or taken.next_commit <= number]
    return {key: leaf for number in own for key, leaf in commits[number].changes if commits[number].history == 0}


def test_nothing_is_said_before_the_old_primary_streams_again(parted: Lab) -> None:
    assert said(parted) == []


def test_every_key_is_overwritten_or_deleted_once_it_streams_again(parted: Lab) -> None:
    lab = parted.branch("again")
    keys = keys_of_paris(lab)
    held = leaves_of(lab.queries, "paris")
    assert {key: held.get(key) for key in keys} == keys
    lab["paris"].demote()
    lab.heal("paris", "tokyo")
    lab["paris"].repoint("tokyo")
    lab.run("5s")
    held = leaves_of(lab.queries, "paris")
    streams = lab.trace.select("mode", cluster="paris", mode="secondary", state="stream-wals")
    (one,) = said(lab)

    assert (one.cluster, one.upstream, one.at_ns) == ("paris", "tokyo", streams[0].at_ns)
    assert one.entries == 4
    assert one.deleted == sum(key not in held for key in keys) > 0
    assert one.overwritten == sum(key in held and held[key] != leaf for key, leaf in keys.items()) > 0
    assert one.kept == 0
    assert one.overwritten + one.deleted == len(keys)


def test_a_promotion_that_missed_nothing_has_nothing_to_say() -> None:
    lab = Lab.pair(seed=7)
    lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"n": 0}})
    lab.run("1s")
    lab.failover("paris", "tokyo")
    lab.run("5s")

    assert lab.ledger.promotions
    assert said(lab) == []
