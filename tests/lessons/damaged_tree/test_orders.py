"""Pairs with six orders: what is read of them, and what a Merkle check is taken to say."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lessons.damaged_tree.orders import (
    ORDERS,
    DamagedPlace,
    is_sound,
    pair_with_orders,
    places_of,
    report_of,
    unreadable,
)


@pytest.fixture(scope="module")
def kept():
    return pair_with_orders(seed=7).snapshot()


@pytest.fixture
def lab(kept) -> Lab:
    return Lab.restore(kept)


def test_a_sound_pair_opens_everything_and_reports_nothing(lab):
    digest = lab.trace.digest()
    assert unreadable(lab) == {"paris": [], "tokyo": []}
    assert lab.trace.digest() == digest
    assert all(is_sound(lab[name]) for name in ("paris", "tokyo"))


@pytest.mark.parametrize(
    ("layer", "sound", "places"),
    [
        ("root", False, set()),
        ("subtree", False, set()),
        ("page", False, {DamagedPlace("tokyo", "replicated", 77, None)}),
        ("subpage", False, {DamagedPlace("tokyo", "replicated", 77, 55)}),
        ("storage", True, set()),
    ],
)
def test_a_check_names_every_layer_but_the_store(layer, sound, places, lab):
    lab.corrupt("tokyo", layer=layer)

    assert is_sound(lab["tokyo"]) == sound
    assert places_of(lab["tokyo"]) == places
    assert is_sound(lab["paris"])


def test_a_rotten_value_does_not_open_where_it_rots(lab):
    lab.corrupt("tokyo", layer="storage")
    (path,) = unreadable(lab)["tokyo"]

    assert path in ORDERS
    assert unreadable(lab)["paris"] == []


def test_a_cluster_that_takes_no_requests_opens_nothing(lab):
    lab.crash("paris")
    assert unreadable(lab)["paris"] == list(ORDERS)


def test_what_left_replication_keeps_no_index(lab):
    lab["tokyo"].disable()
    assert report_of(lab["tokyo"]) == {}
    assert is_sound(lab["tokyo"])
