"""Exercise clean_up: what each cluster took alone, and how a list is compared with it."""

from __future__ import annotations

import pytest

from labkit.lessons.judging import judge
from labkit.lessons.said import NOT_YET, RIGHT
from labkit.lessons.two_primaries.clean_up import CLEAN_UP, keep_tokyo, look, start, taken_alone


def test_each_cluster_took_versions_alone_and_one_number_names_two_of_them():
    lab = start()

    assert taken_alone(lab, "paris", "tokyo") == [("orders/2", 2), ("orders/4", 1)]
    assert taken_alone(lab, "tokyo", "paris") == [("orders/2", 2), ("orders/3", 2), ("orders/5", 1)]


def test_after_the_repair_the_list_can_no_longer_be_made():
    lab = start()
    keep_tokyo(lab)
    lab.run("10s")
    lab["tokyo"].list("secret/metadata/orders")
    lab["paris"].disable()

    assert taken_alone(lab, "paris", "tokyo") == []


@pytest.mark.parametrize(
    ("listed", "is_named"),
    [
        ([("orders/2", 2)], True),
        ({("orders/2", 2)}, True),
        ([["orders/2", 2]], True),
        (["orders/2"], False),
        ([("orders/2", "2")], False),
        ("orders/2", False),
        (..., False),
        (3, False),
    ],
)
def test_an_entry_is_a_path_and_a_number(listed, is_named):
    assert look(start(), listed).is_named is is_named


def test_what_is_missing_is_counted():
    said = look(start(), [("orders/2", 2), ("x", 1)]).difference

    assert said == "the list lacks 2 of 3 versions, and has 1 too many"


def judged(act, listed):
    lab = start()
    act(lab)
    keep_tokyo(lab)
    return judge(CLEAN_UP, (lab, listed)).outcome


def test_what_the_loser_was_given_later_is_given_up_too():
    def order(lab):
        lab["paris"].post("secret/data/orders/9", {"data": {"n": 1}})

    assert judged(order, [("orders/2", 2), ("orders/4", 1), ("orders/9", 1)]) == RIGHT
    assert judged(order, [("orders/2", 2), ("orders/4", 1)]) == NOT_YET


def test_what_the_winner_was_given_too_may_be_listed_or_not():
    def copied(lab):
        lab["tokyo"].post("secret/data/orders/4", {"data": lab["paris"].get("secret/data/orders/4").data["data"]})

    assert judged(copied, [("orders/2", 2), ("orders/4", 1)]) == RIGHT
    assert judged(copied, [("orders/2", 2)]) == RIGHT
    assert judged(copied, [("orders/2", 2), ("orders/3", 2)]) == NOT_YET


def test_whose_history_went_on_is_seen_after_another_move():
    lab = start()
    keep_tokyo(lab)
    lab.run("10s")
    lab.failover("tokyo", "paris")

    assert judge(CLEAN_UP, (lab, [("orders/2", 2), ("orders/4", 1)])).outcome == RIGHT


@pytest.mark.parametrize("before", ["secret/data/", "/secret/metadata/", "data/", ""])
def test_a_path_is_known_as_requests_spell_it(before):
    assert judged(lambda lab: None, [(f"{before}orders/2", 2), (f"{before}orders/4", 1)]) == RIGHT
