"""Since when something keeps a cluster from serving or shipping."""

from __future__ import annotations

from labkit.lab.records.outages import CUT, DOWN, FENCED, LEFT, REVOKED, Outages


def test_the_earliest_cause_that_lasts_is_the_fault():
    outages = Outages()
    outages.seen([(CUT, "paris", "tokyo")], 1)
    outages.seen([(CUT, "paris", "tokyo"), (DOWN, "paris")], 2)
    assert outages.fault_ns("paris", "tokyo", "x") == 1
    outages.seen([(DOWN, "paris"), (FENCED, "paris")], 3)
    assert outages.fault_ns("paris", "tokyo", "x") == 2, "the cut was healed, and fencing what is down changes nothing"
    outages.seen([(FENCED, "paris")], 4)
    assert outages.fault_ns("paris", "tokyo", "x") == 3
    outages.seen([], 5)
    assert outages.fault_ns("paris", "tokyo", "x") is None


def test_only_what_concerns_the_primary_or_its_line_to_the_survivor_counts():
    outages = Outages()
    outages.seen([(DOWN, "tokyo"), (FENCED, "tokyo"), (CUT, "lima", "paris")], 1)
    outages.leave("tokyo", "x", 1)

    assert outages.fault_ns("paris", "tokyo", "x") is None
    assert outages.fault_ns("paris", "lima", "x") == 1
    assert outages.fault_ns("lima", "paris", "x") == 1, "a line has two ends"


def test_a_cluster_that_is_promoted_again_has_its_fault_when_no_client_reached_it():
    outages = Outages()
    outages.seen([(FENCED, "paris"), (CUT, "paris", "tokyo")], 2)
    outages.leave("paris", "x", 3)

    assert outages.fault_ns("paris", "paris", "x") == 2
    outages.seen([(CUT, "paris", "tokyo")], 4)
    assert outages.fault_ns("paris", "paris", "x") == 3, "it needs no line to itself"


def test_a_demotion_lasts_whatever_else_is_seen_until_the_cluster_leads_that_set_again():
    outages = Outages()
    outages.leave("paris", "x", 3)
    outages.leave("paris", "x", 4)
    outages.seen([(DOWN, "paris")], 5)
    outages.lead("paris", "y")

    assert outages.state() == {(LEFT, "paris", "x"): 3, (DOWN, "paris"): 5}
    assert outages.fault_ns("paris", "paris", "x") == 3, "its own promotion: that it was down then is over"
    outages.lead("paris", "x")
    assert Outages(outages.state()).since == {(DOWN, "paris"): 5}
    assert repr(outages) == "Outages(1 causes)"


def test_a_revocation_ends_the_shipping_to_one_secondary_until_that_one_follows_again():
    outages = Outages()
    outages.revoke("paris", "tokyo", 3)
    outages.revoke("paris", "tokyo", 4)
    outages.seen([(DOWN, "paris")], 5)

    assert outages.state() == {(DOWN, "paris"): 5, (REVOKED, "paris", "tokyo"): 3}
    assert outages.fault_ns("paris", "tokyo", "x") == 3
    assert outages.fault_ns("paris", "lima", "x") == 5
    assert outages.fault_ns("tokyo", "paris", "x") is None
    outages.follow("paris", "tokyo")
    assert outages.fault_ns("paris", "tokyo", "x") == 5
