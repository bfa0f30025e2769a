"""Core: the order of a commit, what falls due, and caches that hold no state."""

from __future__ import annotations

import pytest

from labkit.real import entropy
from labkit.vault.core import Leadership, NamesOnly, Settings
from labkit.vault.replication import MODE_KEY
from labkit.vault.replication.mode import Mode, advance
from labkit.vault.seal_keys import SealKeys
from labkit.vault.storage import StaleTerm
from labkit.vault.storage.barrier import new_keyring
from labkit.vault.storage.storage_view import CachedRecords

PRIMARY = advance(Mode(), "enable_primary", cluster_id="set")


def other_keys():
    """The keys of another replication set, open."""
    return SealKeys.opened(entropy(32), new_keyring(entropy, 0))


def test_names_are_shown_and_no_text_of_them() -> None:
    held = NamesOnly({"B": "canary-91c2", "A": ""})

    assert repr(held) == str(held) == "NamesOnly(A, B)"
    assert held["B"] == "canary-91c2"


def test_a_node_shows_its_name_and_whether_it_is_sealed(service):
    assert repr(service.core) == "Core(node-1, unsealed)"
    service.put("sys/seal")
    assert repr(service.core) == "Core(node-1, sealed)"


def test_a_commit_takes_keys_then_mode_then_journal(service):
    """The mode that a joining step writes is encrypted under the new keys: it opens once they hold."""
    core, joined = service.core, other_keys()
    core.caches.routes["old"] = None
    writes = {MODE_KEY: joined.encrypt(MODE_KEY, PRIMARY.to_bytes(), entropy)}
    core.commit(writes, joined)

    assert core.keys.root_key == joined.root_key
    assert core.caches.routes == {}
    assert core.replica.mode == PRIMARY
    assert core.replica.journal.on


def test_a_refused_commit_changes_nothing(service):
    core, joined = service.core, other_keys()
    core.storage.claim(9)
    core.caches.routes["kept"] = None
    before = (core.keys.state(), core.commits)
    with pytest.raises(StaleTerm):
        core.commit({MODE_KEY: joined.encrypt(MODE_KEY, PRIMARY.to_bytes(), entropy)}, joined)

    assert (core.keys.state(), core.commits) == before
    assert "kept" in core.caches.routes
    assert not core.replica.journal.on
    assert core.replica.mode == Mode()


def test_what_falls_due_comes_earlier_but_never_later(service):
    core = service.core
    core.note_due("a", 5)
    assert core.due_times is None  # not derived yet: all of it will be found then
    assert service.next_due() is None
    for when_ns, due_ns in ((9, 9), (7, 7), (8, 7)):
        core.note_due(f"token/id/{when_ns}", when_ns)
        core.storage.apply({f"token/id/{when_ns}": b""}, 0)
        assert service.next_due() == due_ns


def test_what_falls_due_first_is_looked_up_again_only_where_it_may_differ(service):
    core = service.core
    assert service.next_due() is None
    for when_ns in (7, 9):
        core.storage.apply({f"token/id/{when_ns}": b""}, 0)
        core.note_due(f"token/id/{when_ns}", when_ns)
    assert service.next_due() == 7
    core.note_due("token/id/9", 8)
    assert core.next_due_ns == 7
    core.note_due("token/id/7", 12)
    assert core.next_due_ns is None
    assert service.next_due() == 8


def test_damage_is_reported_once_by_key(service):
    core, seen = service.core, []
    core.observe = lambda kind, **fields: seen.append((kind, fields))
    for key in ("a", "b", "a"):
        core.note_damage(key)

    assert seen == [("stored value damaged", {"key": "a"}), ("stored value damaged", {"key": "b"})]


def test_a_node_that_steps_down_leads_no_more_and_keeps_no_journal(service):
    service.post("sys/replication/dr/primary/enable")
    core, seen = service.core, []
    assert core.replica.journal.on
    core.observe = lambda kind, **fields: seen.append(kind)
    core.step_down()

    assert (core.leadership.active, core.leadership.leader, core.replica.journal.on) == (False, "", False)
    assert seen == ["stepped down"]


def test_a_new_leadership_begins_without_streams(service):
    core = service.core
    core.commit({MODE_KEY: core.keys.encrypt(MODE_KEY, PRIMARY.to_bytes(), entropy)})
    core.replica.sync, core.replica.secondaries = object(), {"a": 1}
    core.set_leadership(Leadership(active=False))

    assert (core.replica.sync, core.replica.secondaries, core.replica.journal.on) == (None, {}, False)
    core.set_leadership(Leadership(active=True, term=1))
    assert core.replica.journal.on


def test_cached_records_are_bounded(monkeypatch):
    monkeypatch.setattr("labkit.vault.storage.storage_view.MAX_CACHED_RECORDS", 3)
    records = CachedRecords()
    for number in range(4):
        records.keep(str(number), b"", number)

    assert dict(records) == {"3": (b"", 3)}


def test_a_record_is_derived_once_while_the_stored_bytes_are_the_same_object():
    records, made = CachedRecords(), []

    def make(value):
        made.append(value)
        if value == b"bad":
            raise ValueError("no text")
        return value.decode()

    first, equal = bytes([65, 66]), bytes(bytearray([65, 66]))
    assert first is not equal
    assert [records.derive("a", stored, make) for stored in (first, first, equal, equal)] == ["AB"] * 4
    assert made == [b"AB", b"AB"]
    with pytest.raises(ValueError, match="no text"):
        records.derive("a", b"bad", make)
    assert dict(records) == {"a": (equal, "AB")}


def test_what_is_derived_is_decrypted_first_where_keys_are_given():
    class Keys:
        def decrypt(self, key, stored):
            return key.encode() + stored

    assert CachedRecords().derive("a", b"b", bytes.decode, Keys()) == "ab"


def test_clearing_the_caches_keeps_the_objects_that_steps_hold(service):
    records = service.core.caches.records
    records.keep("a", b"", 1)
    service.core.caches.clear()

    assert service.core.caches.records is records
    assert not records


def test_a_commit_returns_the_number_of_its_entry(service):
    service.post("sys/replication/dr/primary/enable")
    core = service.core
    first, second = (core.commit({"kv/a": core.keys.encrypt("kv/a", b"1", entropy)}) for _ in range(2))

    assert second == first + 1 == core.replica.journal.last
    commits = core.commits
    core.commit({"kv/a": None})
    assert core.commits == commits + 1
    commits = core.commits
    assert core.commit({}) is None
    assert core.commits == commits


def test_a_commit_is_reported_with_its_entry_and_whether_it_joined_a_set(service):
    service.post("sys/replication/dr/primary/enable")
    core, seen = service.core, []
    core.on_commit = lambda number, writes, joined: seen.append((number, dict(writes), joined))
    core.commit({"node/a": b"1"})
    number = core.commit({"kv/a": b"2"})
    joined = other_keys()
    core.commit({"node/b": b"3"}, joined)

    assert seen == [(None, {"node/a": b"1"}, False), (number, {"kv/a": b"2"}, False), (None, {"node/b": b"3"}, True)]
    assert core.keys.root_key == joined.root_key


def test_a_node_that_steps_down_says_why(service, observed):
    service.set_leadership(Leadership(term=4, leader="http://two:8200", leader_cluster="https://two:8201"))
    service.core.step_down()

    assert service.core.leadership == Leadership(active=False, term=4)
    assert observed == [("stepped down", {"reason": "a newer leader holds the lease"})]


def test_what_is_not_chosen_of_a_node():
    assert Settings() == (
        "1.16.3+ent",
        "enterprise",
        "labkit",
        "node-1",
        "http://127.0.0.1:8200",
        "https://127.0.0.1:8201",
        (),
        (),
        "inmem",
        33_554_432,
        False,
        16_384,
        4_294_967_296,
        False,
        {},
        60,
        300,
    )
    assert Leadership() == (True, 0, 0, "", "")
