"""Exercise stall: a stalled leader is replaced after its lease, and a late commit is refused."""

from __future__ import annotations

import pytest

from labkit.lessons.judging import judge
from labkit.lessons.two_primaries.stall import LATE, STALL, look, stall_short, start


def test_another_node_leads_after_the_lease_and_the_late_commit_steps_down():
    lab = start()
    stall_short(lab)
    seen = look(lab)

    assert 2.0 < (seen.taken_over_ns - seen.paused_ns) / 1e9 < 3.5
    assert seen.refused_ns == seen.resumed_ns
    assert seen.versions == 1
    assert seen.slept_s > 4.9


def test_nothing_was_done_at_the_start():
    seen = look(start())

    assert (seen.paused, seen.versions, seen.taken_over_ns) == ((), 0, -1)


def test_a_request_without_a_token_is_known_from_none():
    lab = start()
    lab.pause("paris-1")
    with pytest.raises(TimeoutError):
        lab["paris"].request("POST", LATE, {"data": {}}, node="paris-1", timeout="1s")
    lab.run("4s")
    lab.resume("paris-1")
    seen = look(lab)
    refused = next(one for one in STALL.conditions if one.name == "refused")

    assert (seen.handed, seen.refused_ns) == (1, -1)
    assert "as one without a valid token" in refused.says(seen)
    assert "nothing to commit" in refused.says(look(start()))


def test_where_the_refusal_shows_is_said():
    lab = start()
    stall_short(lab)

    assert len(lab.trace.select("observed", node="paris-1", what="stepped down")) == 1
    assert 'what="stepped down"' in judge(STALL, (lab,)).seen


def test_an_order_that_is_deleted_is_not_stored():
    lab = start()
    stall_short(lab)
    lab["paris"].delete(LATE)

    assert judge(STALL, (lab,)).seen == "orders/late was stored, and is deleted"
