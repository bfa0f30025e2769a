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

    assert never_two.says(look(lab)) == "both took writes at 6.49 s"


def test_who_sleeps_wakes_and_who_is_cut_off_is_reached_by_no_client():
    asleep, alone = start(), start()
    for node in asleep["paris"].nodes:
        asleep.pause(node)
    alone.isolate("paris")

    assert look(asleep).answers["paris"] == ("silence", "200")
    assert look(alone).answers["paris"] == ("silence", "silence")
    assert alone["paris"].post("secret/data/x", {"data": {}}).ok, "its operator only"
