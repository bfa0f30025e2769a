"""Position: how far a secondary's contents are, stored beside them, and outdated by any change of the mode record."""

from __future__ import annotations

import pytest

from labkit.vault.context import own_work
from labkit.vault.replication import applied_position
from labkit.vault.replication.applied_position import ADDRESSES, POSITION, AppliedPosition
from labkit.vault.replication.mode import MODE_KEY
from labkit.vault.storage import StoreError
from labkit.vault.storage.memory import MemoryStorage


@pytest.fixture
def core(together):
    """The inside of the secondary's active node."""
    return together.lab.parts.nodes["tokyo-1"].vault.core


def test_it_is_the_entry_that_was_applied_last(together, core):
    together["paris"].post("secret/data/app", {"data": {}})
    together.lab.run("1s")

    assert applied_position.read(own_work(core)) == AppliedPosition(
        True, together.lab.queries.last_entry("paris"), together.lab.queries.last_entry("paris")
    )
    assert core.replica.sync.position == applied_position.read(own_work(core)).position


def test_contents_and_position_are_written_together(together, core):
    """At no instant does one speak of an entry that the other does not hold."""
    together["paris"].post("secret/data/app", {"data": {}})
    entry = together.lab.queries.last_entry("paris")
    before = together.lab.queries.contents("tokyo")
    together.lab.run(until=lambda lab: lab.queries.contents("tokyo") != before)

    assert applied_position.read(own_work(core)).position == entry


def test_it_survives_the_active_node(together):
    together["paris"].post("secret/data/app", {"data": {}})
    together.lab.run("1s").crash("tokyo-1")
    together.lab.run("6s")
    taken_over = together.lab.parts.nodes["tokyo-2"].vault.core

    assert applied_position.read(own_work(taken_over)).position == together.lab.queries.last_entry("paris")


def test_a_secondary_that_never_had_a_state_of_its_primary_has_no_position(apart):
    apart.post("paris", "primary/enable")
    apart.lab.slow("paris", "tokyo", latency="2s")
    apart.post("tokyo", "secondary/enable", {"token": apart.activation("tokyo")})

    assert applied_position.read(own_work(apart.lab.parts.nodes["tokyo-1"].vault.core)) == AppliedPosition(
        False, None, 0
    )


def test_another_mode_record_outdates_it_and_the_record_itself_holds(together, core):
    old = applied_position.read(own_work(core))
    mode = core.replica.mode
    core.commit({MODE_KEY: core.keys.encrypt(MODE_KEY, mode._replace(corrupted=True).to_bytes(), core.entropy)})

    assert old.position is not None
    assert applied_position.read(own_work(core)) == AppliedPosition(mode.complete, mode.position, mode.last_remote_wal)


def test_writes_bring_back_what_they_were_given(core):
    for place in (AppliedPosition(), AppliedPosition(True, 7, 5), AppliedPosition(False, None, 3)):
        core.commit(applied_position.write(core, place))
        assert applied_position.read(own_work(core)) == place


def test_both_records_are_this_clusters_own_and_the_addresses_are_encrypted(together, core):
    assert applied_position.remember_addresses(core, ("https://paris-2:8201",), 1)
    for key in (POSITION, ADDRESSES):
        assert key not in together.stored("paris")
        assert b"https" not in together.stored("tokyo")[key]


def test_a_position_with_any_one_byte_altered_or_of_another_length_is_damaged(core):
    stored = core.storage.get(POSITION)
    damaged = [stored[:place] + bytes([stored[place] ^ 1]) + stored[place + 1 :] for place in range(len(stored))]
    for altered in (*damaged, b"", stored[:-1], stored + b"\0", bytes(len(stored) - 1)):
        core.storage.apply({POSITION: altered}, core.leadership.term)
        assert applied_position.read(own_work(core)) == AppliedPosition()

    assert list(core.damaged) == [POSITION]


def test_the_addresses_that_served_last_come_first(together, core):
    assert applied_position.addresses(own_work(core))[0] == "https://paris-1:8201"
    assert set(applied_position.addresses(own_work(core))) == {f"https://paris-{number}:8201" for number in (1, 2, 3)}
    core.commit(applied_position.write_addresses(core, ("https://paris-3:8201", "https://paris-2:8201"), 9))

    assert applied_position.term(own_work(core)) == 9
    assert applied_position.addresses(own_work(core)) == (
        "https://paris-3:8201",
        "https://paris-2:8201",
        "https://paris-1:8201",
    )


def test_without_an_upstream_there_are_none(together, core):
    token = together.operation_token()
    together.open_post("tokyo", "secondary/update-primary", {"dr_operation_token": token, "token": ""})

    assert applied_position.addresses(own_work(core)) == ()
    assert applied_position.addresses(own_work(together.lab.parts.nodes["paris-1"].vault.core)) == ()


def test_forgetting_the_primary_keeps_that_the_contents_are_complete(together, core):
    token = together.operation_token()
    together.open_post("tokyo", "secondary/update-primary", {"dr_operation_token": token, "token": ""})

    assert applied_position.read(own_work(core)) == AppliedPosition(True, None, 0)


def test_new_addresses_of_the_same_primary_keep_the_position(together, core):
    before = applied_position.read(own_work(core))
    token = together.operation_token()
    body = {"dr_operation_token": token, "update_primary_addrs": ["https://paris-1:8201"]}
    assert together.open_post("tokyo", "secondary/update-primary", body).status == 204

    assert applied_position.read(own_work(core)) == before
    assert before.position is not None


def test_a_token_forgets_the_position_because_it_may_name_another_primary(together, core):
    token = together.operation_token()
    body = {"dr_operation_token": token, "token": together.activation("again")}
    together.open_post("tokyo", "secondary/update-primary", body).raise_for_status()

    assert applied_position.read(own_work(core)) == AppliedPosition(True, None, 0)


# ---- what cannot be stored, or does not open


@pytest.fixture
def seen(core):
    """What the secondary's node reports from now on: kinds, and what each says."""
    reported = []
    core.observe = lambda kind, **fields: reported.append((kind, fields))
    return reported


CHANGES = (("logical/x/a", b"1"), ("logical/x/b", None))
REACHED = AppliedPosition(True, 7, 7)


def test_contents_and_position_are_applied_in_one_commit(core, seen):
    assert applied_position.apply(core, CHANGES, REACHED)
    assert (core.storage.get("logical/x/a"), applied_position.read(own_work(core)), seen) == (b"1", REACHED, [])


def test_a_node_that_was_overtaken_steps_down_while_it_applies(core, seen):
    before = core.storage.get(POSITION)
    core.storage.claim(core.leadership.term + 1)
    assert not applied_position.apply(core, CHANGES, REACHED)
    assert not core.leadership.active
    assert not applied_position.remember_addresses(core, ("https://a:8201",), 3)
    assert [kind for kind, _ in seen] == ["stepped down", "stepped down"]
    assert (core.storage.get("logical/x/a"), core.storage.get(POSITION)) == (None, before)


def test_what_the_store_cannot_write_and_what_is_never_shipped_is_reported(core, seen, monkeypatch):
    assert not applied_position.apply(core, (("node/lease", b"x"),), REACHED)

    def full(self, writes, term):
        raise StoreError("lab.db has no space left")

    monkeypatch.setattr(MemoryStorage, "apply", full)
    assert not applied_position.apply(core, CHANGES, REACHED)
    assert not applied_position.remember_addresses(core, ("https://a:8201",), 3)
    assert [kind for kind, _ in seen] == ["stream not applied", "stream not applied", "addresses not stored"]
    assert "node/lease" in seen[0][1]["reason"]


def test_a_damaged_position_is_none_and_damaged_addresses_are_those_of_the_mode(core, seen):
    assert applied_position.remember_addresses(core, ("https://b:8201",), 3)
    for key in (POSITION, ADDRESSES):
        stored = core.storage.get(key)
        core.storage.apply({key: stored[:-1] + bytes([stored[-1] ^ 1])}, core.leadership.term)

    for _ in range(2):
        assert applied_position.read(own_work(core)) == AppliedPosition()
        assert applied_position.addresses(own_work(core)) == core.replica.mode.upstream_cluster_addrs
    assert seen == [("stored value damaged", {"key": POSITION}), ("stored value damaged", {"key": ADDRESSES})]


def test_a_position_that_nothing_is_known_of() -> None:
    assert AppliedPosition() == (False, None, 0)
