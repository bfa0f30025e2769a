"""Exercise fence: what its hints and sentences claim."""

from __future__ import annotations

from labkit.lessons.two_primaries.fence import FENCE, LATER, look, start


def test_one_sealed_leader_is_replaced_within_the_minute():
    lab = start()
    lab["paris"].seal()
    assert lab["paris"].active != "paris-1"
    lab.run(LATER)
    assert lab["paris"].active in ("paris-2", "paris-3")


def test_a_disabled_cluster_takes_writes():
    lab = start()
    lab["paris"].disable()

    assert look(lab).answers["paris"] == ("200", "200")


def test_what_was_seen_is_of_the_readers_lab():
    lab = start()
    lab["tokyo"].promote()
    never_two = next(one for one in FENCE.conditions if one.name == "never two")

    assert never_two.says(look(lab)) == "both took writes from 6.49 s on"
