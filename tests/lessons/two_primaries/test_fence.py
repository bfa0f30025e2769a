"""Exercise fence: what its hints and sentences claim."""

from __future__ import annotations

from labkit.lessons.judging import judge
from labkit.lessons.said import RIGHT
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


def test_a_write_from_beside_a_fenced_cluster_is_the_readers_own_and_counts():
    lab = start()
    lab.isolate("paris")
    lab["tokyo"].promote()
    assert look(lab.branch("asked")).two_said == ""
    lab["paris"].post("secret/data/x", {"data": {}})

    at_s = lab.ledger.writes[-1].at_ns / 1e9

    assert look(lab).two_said == f"paris took a write of yours at {at_s:.2f} s, when tokyo was a primary"


def test_a_write_between_two_planned_moves_is_no_second_primary():
    lab = start()
    lab.heal()
    lab.run("5s")
    lab.failover("paris", "tokyo")
    lab.failover("tokyo", "paris")
    lab["paris"].post("secret/data/x", {"data": {}})
    lab.run("5s")
    lab.failover("paris", "tokyo")

    assert judge(FENCE, (lab,)).outcome == RIGHT


def test_the_node_that_took_over_from_a_sealed_one_is_named():
    lab = start()
    lab["paris"].seal()
    lab["tokyo"].promote()

    assert judge(FENCE, (lab,)).seen == (
        "asked for a write now and a minute later, paris answers 200 and 200: paris-2 leads it now, since what stops "
        "paris-1 stops that node only"
    )
