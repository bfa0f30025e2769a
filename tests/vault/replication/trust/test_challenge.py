"""Challenges: made for one host, by one authority, for a minute; and signed as one id."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.keymaking import issue_client_certificate, make_authority
from labkit.vault.replication.trust.challenge import (
    LIFETIME_NS,
    Challenge,
    Parties,
    check_age,
    check_origin,
    check_proof,
    make,
    prove,
)
from tests.examples import examples

NOW_NS = 1_750_000_000 * 1_000_000_000
PARTIES = Parties("set", "tokyo-1")


def counted(first):
    """Entropy that is never the same twice."""
    drawn = iter(range(first, first + 200))
    return lambda count: bytes([next(drawn)]) * count


AUTHORITY = make_authority("labkit DR", counted(1), NOW_NS, 3600)
HOLDER = issue_client_certificate(AUTHORITY, "tokyo", counted(50), NOW_NS, 3600)
MADE = make(AUTHORITY.private, PARTIES, NOW_NS)


def test_it_is_recognised_by_who_made_it_and_by_whom_it_is_for():
    check_origin(MADE, PARTIES, AUTHORITY.certificate)


@pytest.mark.parametrize("parties", [Parties("set", "tokyo-2"), Parties("other", "tokyo-1"), Parties("", "")])
def test_it_holds_for_one_set_and_one_host(parties):
    with pytest.raises(ValueError, match="not made by this authority for this host"):
        check_origin(MADE, parties, AUTHORITY.certificate)


def test_another_authority_did_not_make_it():
    other = make_authority("labkit DR", counted(150), NOW_NS, 3600)

    with pytest.raises(ValueError, match="not made by this authority"):
        check_origin(MADE, PARTIES, other.certificate)


@settings(max_examples=examples(30), deadline=None)
@given(st.text(max_size=40), st.binary(max_size=70))
def test_nothing_else_counts_as_one(text, seal):
    with pytest.raises(ValueError, match="not made by this authority"):
        check_origin(Challenge(text, seal), PARTIES, AUTHORITY.certificate)


def test_each_instant_has_one_of_its_own():
    assert make(AUTHORITY.private, PARTIES, NOW_NS + 1) != MADE
    assert make(AUTHORITY.private, PARTIES, NOW_NS) == MADE, "nothing is drawn for one, and nothing kept"


def test_it_counts_for_a_minute():
    for age_ns in (0, LIFETIME_NS - 1):
        check_age(MADE, NOW_NS + age_ns)
    for age_ns in (-1, LIFETIME_NS):
        with pytest.raises(ValueError, match="each counts for a minute"):
            check_age(MADE, NOW_NS + age_ns)


def test_a_proof_is_of_one_id_for_one_challenge():
    proof = prove(HOLDER.private, "tokyo", MADE)
    check_proof(HOLDER.certificate, "tokyo", MADE, proof)

    for secondary_id, challenge in (("lima", MADE), ("tokyo", MADE._replace(text="5"))):
        with pytest.raises(ValueError, match="the signature was not made over this data"):
            check_proof(HOLDER.certificate, secondary_id, challenge, proof)
