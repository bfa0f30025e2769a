"""Exercise logins: what the cloud's absence ends, and what it does not."""

from __future__ import annotations

import pytest

from labkit.lessons.judging import judge
from labkit.lessons.safe_order.logins import ACCESSORS, BOUND, LOGINS, look, renew_there, start
from labkit.lessons.said import RIGHT


def test_a_machine_that_holds_a_token_needs_no_cloud():
    lab = start()
    lab.failover("paris", "tokyo")
    found = [
        lab["tokyo"].post("auth/token/renew-accessor", {"accessor": accessor, "increment": "30m"}).status
        for accessor in lab["tokyo"].list(ACCESSORS).data["keys"]
    ]
    assert sorted(found) == [200, 200, 400]  # the root token has no end and is not renewed

    with pytest.raises(TimeoutError):
        lab.cloud.vm("web-1").login(lab["tokyo"], role="web")


def test_kept_keys_let_machines_in_at_paris_only():
    lab = start()
    assert lab.cloud.vm("web-1").login(lab["paris"], role="web").status == 200
    assert lab.cloud.vm("web-1").login(lab["tokyo"], role="web").status == 400


def test_a_token_lives_two_minutes_unless_it_is_renewed():
    assert (BOUND["token_ttl"], BOUND["token_max_ttl"]) == ("2m", "2h")  # as the lesson says
    lab = start()
    lab.failover("paris", "tokyo")

    seen = look(lab)
    assert seen[:4] == ("primary", 0, False, 0)
    assert (seen.status, seen.opened) == (200, ())


def test_a_login_tried_in_vain_before_the_cloud_is_back_spoils_nothing():
    lab = start()
    renew_there(lab)
    lab.run("11m")
    with pytest.raises(TimeoutError):
        lab.cloud.vm("web-1").login(lab["tokyo"], role="web")

    assert judge(LOGINS, (lab,)).outcome == RIGHT


@pytest.mark.parametrize(("after", "condition"), [("9m", "the outage"), ("10m", "")])
def test_a_reader_brings_the_cloud_back_when_its_time_has_come(after, condition):
    """What the comment in the notebook says."""
    lab = start()
    renew_there(lab)
    lab.run(after)
    lab.cloud_recover()
    lab.run("5m")

    assert judge(LOGINS, (lab,)).condition == condition
    assert lab.cloud.vm("web-1").login(lab["tokyo"], role="web").ok


def test_a_machine_of_another_group_in_the_same_subscription_stays_outside():
    lab = start()
    subscription = lab.cloud.vm("web-1").subscription_id
    bound = {**BOUND, "bound_resource_groups": [], "bound_subscription_ids": [subscription]}
    lab["paris"].post("auth/cloud/role/web", bound)
    renew_there(lab)

    assert look(lab).opened == (("job-1", "web"),)
