"""Backup entries: one version, written and read."""

from __future__ import annotations

from labkit.vault.engines.transit.algorithms import KEY_TYPES
from labkit.vault.engines.transit.backups.backup_entries import NO_ENTRY, read_entry, written_entry
from labkit.vault.engines.transit.backups.backup_members import Members
from labkit.vault.engines.transit.keyring import KeyVersion

CREATED_NS = 1_704_164_645_678_901_234


def test_a_version_comes_back() -> None:
    aes, mac = KEY_TYPES["aes256-gcm96"], KEY_TYPES["hmac"]
    for key_type, entry in (
        (aes, KeyVersion(b"k" * 32, b"h" * 32, CREATED_NS, 3)),
        (mac, KeyVersion(b"k" * 50, b"k" * 50, CREATED_NS)),
    ):
        written = written_entry(key_type, entry)
        assert written.keys() == NO_ENTRY.keys()
        assert (written["time"], written["creation_time"]) == ("2024-01-02T03:04:05.678901234Z", 1_704_164_645)
        assert read_entry(key_type, Members(written, "")) == entry


def test_an_hmac_key_is_the_key_whatever_stands_beside_it() -> None:
    written = written_entry(KEY_TYPES["hmac"], KeyVersion(b"k" * 32, b"h" * 32, CREATED_NS))

    assert read_entry(KEY_TYPES["hmac"], Members(written, "")).hmac_key == b"k" * 32


def test_seconds_stand_in_for_an_instant_that_is_none() -> None:
    written = written_entry(KEY_TYPES["aes256-gcm96"], KeyVersion(b"k" * 32, b"h" * 32, CREATED_NS))
    old = Members(written | {"time": NO_ENTRY["time"]}, "")

    assert read_entry(KEY_TYPES["aes256-gcm96"], old).created_ns == 1_704_164_645_000_000_000


def test_a_chain_is_written_where_there_is_one() -> None:
    key_type = KEY_TYPES["ed25519"]
    pair = key_type.pair
    assert pair is not None
    key, public = pair.make(type("Source", (), {"entropy": staticmethod(bytes)})())
    entry = KeyVersion(key, b"h" * 32, CREATED_NS, public=public, chain=(b"leaf", b"root"))

    written = written_entry(key_type, entry)

    assert written["certificate_chain"] == ["bGVhZg==", "cm9vdA=="]
    assert read_entry(key_type, Members(written, "")) == entry
