"""The ledger: what clients were answered, and which of it was a write."""

from __future__ import annotations

from labkit.lab.ledger import Ledger, Write


def test_a_commit_that_is_answered_is_a_write():
    ledger = Ledger()
    ledger.commit("c/1/1", "paris", 2, 7)

    assert ledger.acknowledge(5, "c", "secret/data/x", "c/1/1")
    assert ledger.writes == [Write(5, "c", "secret/data/x", "paris", 2, 7)]
    assert ledger.committed == {}


def test_a_commit_without_an_answer_is_no_write():
    ledger = Ledger()
    ledger.commit("c/1/1", "paris", 0, 1)
    ledger.note_unknown()

    assert (ledger.writes, ledger.unknown) == ([], 1)


def test_an_answer_without_a_commit_is_a_read():
    ledger = Ledger()

    assert ledger.acknowledge(1, "c", "secret/data/x", "c/1/1") is False
    assert (ledger.answered, ledger.writes) == (1, [])


def test_calls_to_the_system_do_not_count_as_writes():
    ledger = Ledger()
    ledger.commit("c/1/1", "paris", 0, 1)

    assert not ledger.acknowledge(1, "c", "sys/policy/x", "c/1/1")
    assert ledger.writes == []


def test_its_state_is_plain_and_brings_it_back():
    ledger = Ledger()
    ledger.commit("c/1/1", "paris", 0, 1)
    ledger.acknowledge(5, "c", "secret/data/x", "c/1/1")
    ledger.commit("c/2/1", "paris", 0, 2)
    ledger.note_refused()
    ledger.note_unknown()
    ledger.note_unknown()
    again = Ledger(ledger.state())

    assert (again.answered, again.refused, again.unknown) == (1, 1, 2)
    assert again.state() == ledger.state()
    assert again.acknowledge(6, "c", "secret/data/x", "c/2/1")
    assert repr(again) == "Ledger(2 writes acknowledged, 2 unknown)"
