"""The lease: one record in the shared store; its term only grows, and whoever is behind it cannot write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.lab.nodes.election import (
    HELD,
    KEY,
    LEASE_NS,
    RENEW_NS,
    RENEWED,
    TAKEN,
    Candidacy,
    Lease,
    read_lease,
    resign,
    stand,
    write_lease,
)
from labkit.vault.replication.tree.merkle import classify
from labkit.vault.storage import StaleTerm
from labkit.vault.storage.memory import MemoryStorage


def test_nobody_holds_a_lease_that_was_never_written():
    assert read_lease(MemoryStorage()) is None


def test_what_was_written_is_read():
    store = MemoryStorage()
    write_lease(store, Lease("paris-1", 1, 3_000_000_000))

    assert read_lease(store) == Lease("paris-1", 1, 3_000_000_000)


def test_it_lasts_longer_than_two_renewals():
    assert LEASE_NS > 2 * RENEW_NS


def test_the_first_to_stand_leads_renews_and_is_followed_until_its_lease_has_run_out():
    store = MemoryStorage()
    taken, renewed = Lease("paris-1", 1, 10 + LEASE_NS), Lease("paris-1", 1, 20 + LEASE_NS)

    assert stand(store, "paris-1", 0, 10) == Candidacy(TAKEN, taken)
    assert stand(store, "paris-1", 1, 20) == Candidacy(RENEWED, renewed)
    assert stand(store, "paris-2", 0, 20 + LEASE_NS - 1) == Candidacy(HELD, renewed)
    assert stand(store, "paris-2", 0, 20 + LEASE_NS) == Candidacy(TAKEN, Lease("paris-2", 2, 20 + 2 * LEASE_NS))
    assert read_lease(store) == Lease("paris-2", 2, 20 + 2 * LEASE_NS)


def test_who_is_no_candidate_takes_no_lease_and_follows_whoever_does():
    store = MemoryStorage()
    assert stand(store, "paris-1", 0, 10, candidate=False) == Candidacy(HELD, Lease("", 0, 10))
    stand(store, "paris-2", 0, 20)
    held = Lease("paris-2", 1, 20 + LEASE_NS)

    assert stand(store, "paris-1", 0, 30, candidate=False) == Candidacy(HELD, held)
    assert stand(store, "paris-1", 0, 20 + LEASE_NS, candidate=False) == Candidacy(HELD, Lease("", 1, 20 + LEASE_NS))
    assert read_lease(store) == held
    assert stand(store, "paris-2", 1, 20 + LEASE_NS, candidate=False).result == RENEWED, "it has what it has"


def test_a_lease_that_is_given_up_is_taken_by_whoever_looks_next_under_the_next_term():
    store = MemoryStorage()
    stand(store, "paris-1", 0, 10)
    resign(store, "paris-1", 1, 20)

    assert stand(store, "paris-1", 0, 20, candidate=False) == Candidacy(HELD, Lease("", 1, 20))
    assert stand(store, "paris-2", 0, 20) == Candidacy(TAKEN, Lease("paris-2", 2, 20 + LEASE_NS))
    with pytest.raises(StaleTerm):
        write_lease(store, Lease("paris-1", 1, 99))


def test_only_who_holds_a_lease_gives_it_up():
    store = MemoryStorage()
    resign(store, "paris-1", 1, 10)
    assert read_lease(store) is None
    stand(store, "paris-2", 0, 20)
    held = read_lease(store)
    for node, term in (("paris-1", 1), ("paris-2", 0), ("paris-2", 2)):
        resign(store, node, term, 30)
    assert read_lease(store) == held

    store.claim(7)
    resign(store, "paris-2", 1, 30)
    assert read_lease(store) == held, "a newer leader is about to write its own"
    store.apply({KEY: b"junk"}, 7)
    resign(store, "paris-2", 1, 30)
    assert store.get(KEY) == b"junk"


def test_a_node_that_lost_its_memory_does_not_renew_what_it_held():
    store = MemoryStorage()
    stand(store, "paris-1", 0, 10)

    assert stand(store, "paris-1", 0, 20).result == HELD


def test_who_is_overtaken_can_neither_renew_nor_write():
    store = MemoryStorage({"logical/a": b"old"})
    write_lease(store, Lease("paris-1", 1, 3))
    write_lease(store, Lease("paris-2", 2, 6))
    before = store.state()

    with pytest.raises(StaleTerm, match="term 1 is over: a newer leader claimed term 2"):
        write_lease(store, Lease("paris-1", 1, 9))
    with pytest.raises(StaleTerm):
        store.apply({"logical/a": b"new"}, 1)
    assert store.state() == before


def test_who_finds_a_newer_leader_while_it_stands_follows_nobody_yet(monkeypatch):
    def overtaken(store, writes, term, leaves=None):
        raise StaleTerm(term, term + 1)

    monkeypatch.setattr(MemoryStorage, "apply", overtaken)

    assert stand(MemoryStorage(), "paris-2", 0, 9) == Candidacy(HELD, Lease("", 0, 9))


def test_it_is_in_no_tree():
    assert classify(KEY) == 0


@given(claims=st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(1, 9)), max_size=20))
def test_the_stored_term_never_goes_back(claims):
    store, highest = MemoryStorage(), 0
    for holder, term in claims:
        try:
            write_lease(store, Lease(holder, term, 0))
        except StaleTerm:
            assert term < highest
        else:
            highest = term
        kept = read_lease(store)
        assert (kept.term if kept else 0) == highest


# ---- a lease that cannot be read, a term that is over (R25)

DAMAGED = [b"", b"[", b"\xff", b"7", b'["paris-1",1]', b'["paris-1","1",3]', b'{"a":1}']


@pytest.mark.parametrize("stored", DAMAGED)
def test_a_damaged_lease_is_written_again_by_the_node_that_leads(stored):
    store = MemoryStorage()
    stand(store, "paris-1", 0, 10)
    store.apply({KEY: stored}, 1)

    assert stand(store, "paris-1", 1, 20) == Candidacy(RENEWED, Lease("paris-1", 1, 20 + LEASE_NS))
    assert read_lease(store) == Lease("paris-1", 1, 20 + LEASE_NS)


@pytest.mark.parametrize("stored", DAMAGED)
def test_a_damaged_lease_that_nobody_renews_is_taken_when_its_time_is_over(stored):
    store = MemoryStorage()
    for term in range(5):
        stand(store, "paris-1", 0, 10 + term * LEASE_NS)
    store.apply({KEY: stored}, 5)
    began_ns = 10 + 4 * LEASE_NS

    assert stand(store, "paris-2", 0, began_ns) == Candidacy(HELD, Lease("", 0, began_ns + LEASE_NS))
    assert stand(store, "paris-2", 0, began_ns + LEASE_NS - 1).result == HELD
    taken = stand(store, "paris-2", 0, began_ns + LEASE_NS)
    assert taken == Candidacy(TAKEN, Lease("paris-2", 6, began_ns + 2 * LEASE_NS)), "the next term that is not over"


def test_a_leader_whose_term_is_over_follows():
    store = MemoryStorage()
    stand(store, "paris-1", 0, 10)
    store.claim(9)

    assert stand(store, "paris-1", 1, 20).result == HELD
    assert stand(store, "paris-1", 0, 10 + LEASE_NS).lease.term == 10


def test_however_many_terms_are_over_the_next_one_is_found_at_once() -> None:
    store = MemoryStorage()
    stand(store, "paris-1", 0, 10)
    store.claim(1 << 40)

    assert stand(store, "paris-1", 0, 10 + LEASE_NS).lease.term == (1 << 40) + 1


def test_a_stored_lease_is_read_once_and_a_damaged_one_each_time() -> None:
    store = MemoryStorage()
    write_lease(store, Lease("paris-1", 3, 5))
    assert read_lease(store) is read_lease(store)
    for _ in range(2):
        store.apply({KEY: b"[1]"}, 3)
        with pytest.raises(ValueError, match="node/lease holds no lease"):
            read_lease(store)
