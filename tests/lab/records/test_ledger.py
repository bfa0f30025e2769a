"""The ledger: what clients were answered, and which of it was a write."""

from __future__ import annotations

import pytest

from labkit.lab.records.ledger import CommittedWrite, Ledger, Write
from labkit.lab.wire.messages import Correlation

FIRST, SECOND = Correlation("c", 1, 1), Correlation("c", 1, 2)
COMMITTED = CommittedWrite("paris", 2, 7, "POST", 3, ("data",))


def test_a_commit_that_is_answered_is_a_write_with_what_a_check_needs():
    ledger = Ledger()
    ledger.commit(FIRST, COMMITTED)

    assert ledger.end(5, "c", "secret/data/x", "answered", FIRST)
    assert ledger.writes == [Write(5, "c", "secret/data/x", COMMITTED)]
    assert ledger.waiting == 0


@pytest.mark.parametrize("outcome", ["refused", "unknown"])
def test_a_commit_without_an_answer_is_no_write_and_is_not_remembered(outcome):
    ledger = Ledger()
    ledger.commit(FIRST, COMMITTED)
    assert ledger.waiting == 1

    assert not ledger.end(5, "c", "secret/data/x", outcome, SECOND)
    assert (list(ledger.writes), ledger.waiting) == ([], 0)
    assert [(row.at_ns, row.outcome) for row in ledger.operations] == [(5, outcome)]


def test_an_answer_without_a_commit_is_a_read():
    ledger = Ledger()

    assert ledger.end(1, "c", "secret/data/x", "answered", FIRST) is False
    assert (ledger.answered, ledger.refused, ledger.unknown, list(ledger.writes)) == (1, 0, 0, [])


def test_calls_to_the_system_do_not_count_as_writes():
    ledger = Ledger()
    ledger.commit(FIRST, COMMITTED)

    assert not ledger.end(1, "c", "sys/policy/x", "answered", FIRST)
    assert (list(ledger.writes), ledger.waiting) == ([], 0)


def test_of_two_attempts_the_one_that_was_answered_counts():
    ledger = Ledger()
    ledger.commit(FIRST, COMMITTED)
    ledger.commit(SECOND, COMMITTED._replace(commit=8))
    ledger.end(5, "c", "secret/data/x", "answered", SECOND)

    assert [write.committed.commit for write in ledger.writes] == [8]


def test_an_answer_to_a_retry_that_wrote_nothing_acknowledges_what_the_first_try_wrote():
    ledger = Ledger()
    ledger.commit(FIRST, COMMITTED)
    ledger.end(5, "c", "transit/keys/x", "answered", SECOND)

    assert [write.committed.commit for write in ledger.writes] == [7]


def test_its_state_is_plain_and_brings_it_back():
    ledger = Ledger()
    ledger.commit(FIRST, COMMITTED)
    ledger.end(5, "c", "secret/data/x", "answered", FIRST)
    for outcome in ("refused", "unknown", "unknown"):
        ledger.end(6, "c", "secret/data/x", outcome, Correlation("c", 9))
    other = Correlation("c", 2, 1)
    ledger.commit(other, COMMITTED)
    again = Ledger(ledger.state())

    assert (again.answered, again.refused, again.in_doubt, again.unknown) == (1, 1, 2, 2)
    assert again.state() == ledger.state()
    assert again.end(6, "c", "secret/data/x", "answered", other)
    assert repr(again) == "Ledger(2 writes acknowledged, 2 in doubt)"
    assert (len(list(ledger.writes)), ledger.waiting) == (1, 1)


def test_how_a_failed_ask_was_asked_is_kept_and_files_of_earlier_versions_do_not_say_it():
    ledger = Ledger()
    ledger.failed_asks.append((5, "paris-operator", "sys/x", "refused", 400, "no", "paris-1", "POST"))

    assert Ledger(ledger.state()).failed_asks[0].method == "POST"
    earlier = Ledger({"failed_asks": (((5, "paris-operator", "sys/x", "refused", 400, "no", "paris-1"),),)})
    assert earlier.failed_asks[0].method == ""
