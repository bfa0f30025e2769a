"""Damage in a tree is noticed: at rest within a heartbeat where it shows in the roots, otherwise once it has spread."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab


def put(lab: Lab, name: str) -> None:
    assert lab["paris"].post(f"secret/data/{name}", {"data": {"value": lab.now}}).ok


def since(lab: Lab, at_ns: int) -> list[str]:
    return [event.what for event in lab.trace.select("observed") if event.at_ns >= at_ns]


def loops(lab: Lab) -> list[Any]:
    return list(lab.trace.select("observed", what="merkle_loop"))


def hot_key(lab: Lab) -> str:
    """A key that each write of one secret changes."""
    put(lab, "hot")
    before = lab.queries.contents("paris")
    put(lab, "hot")
    after = lab.queries.contents("paris")
    return next(key for key in before if after[key] != before[key])


@pytest.mark.parametrize("cluster", ["paris", "tokyo"])
@pytest.mark.parametrize("layer", ["root", "subtree"])
def test_a_damaged_root_is_noticed_within_a_few_heartbeats_of_rest(calm, cluster, layer):
    calm.run("3s")
    assert "roots_differ" not in since(calm, 0)
    calm.corrupt(cluster, layer=layer)
    at_ns = calm.now
    calm.run("4s")

    assert since(calm, at_ns).count("roots_differ") == 1
    assert len(loops(calm)) == 1
    assert "reindex" in dict(loops(calm)[0].fields)["advice"]
    assert loops(calm)[0].node == calm["tokyo"].active
    calm.run("3m")
    assert since(calm, at_ns).count("roots_differ") == len(loops(calm)) == 1
    assert calm["tokyo"].status()["state"] == "stream-wals"


@pytest.mark.parametrize("cluster", ["paris", "tokyo"])
@pytest.mark.parametrize("layer", ["page", "subpage"])
def test_damage_below_is_noticed_once_a_write_has_spread_it(calm, cluster, layer):
    key = hot_key(calm)
    calm.run("3s")
    calm.corrupt(cluster, layer=layer, key=key)
    calm.run("5s")
    assert loops(calm) == []
    put(calm, "hot" if layer == "subpage" else "elsewhere")
    calm.run("6s")

    noticed = calm["paris"].root != calm["tokyo"].root
    assert noticed or layer == "page", "a page heals at its next fold"
    assert len(loops(calm)) == noticed
    assert calm.queries.contents("tokyo") == calm.queries.contents("paris")


def test_once_the_roots_were_equal_again_it_is_reported_again(calm):
    for times in (1, 2, 3):
        calm.corrupt("tokyo", layer="root")
        calm.run("5s")
        assert len(loops(calm)) == times
        put(calm, "app")
        calm.run("3s")
        assert calm["paris"].root == calm["tokyo"].root, "a root heals at its next fold"


@pytest.mark.slow
def test_without_damage_nothing_is_compared(lab):
    at_ns = lab.now
    lab.run("90s")

    assert {"roots_differ", "merkle_loop", "missing_guard"}.isdisjoint(since(lab, at_ns))


@pytest.mark.parametrize("milliseconds", [200, 700, 1_000, 1_100, 1_200, 1_300, 1_400, 1_600, 2_000])
def test_a_comparison_for_the_roots_that_is_cut_or_saved_comes_to_its_end(calm, milliseconds):
    calm.corrupt("paris", layer="subtree")
    calm.run(f"{milliseconds}ms")
    again = Lab.restore(calm.snapshot())
    for lab in (calm, again):
        lab.cut("paris", "tokyo")
        lab.run("300ms").heal()
        lab.run("40s")

    assert len(loops(again)) == 1
    assert again.trace.digest() == calm.trace.digest()
