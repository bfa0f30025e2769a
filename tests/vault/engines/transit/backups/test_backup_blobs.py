"""Backup blobs, written: what was written is read back as the same key."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from labkit.vault.engines.transit.backups.backup_blobs import write_blob
from labkit.vault.engines.transit.backups.backup_reading import keyring_of, open_blob
from labkit.vault.engines.transit.keyring import Keyring, KeyVersion

KEYS = st.binary(min_size=32, max_size=32)
TIMES = st.integers(1, 4_000_000_000_000_000_000)


@given(st.lists(st.tuples(KEYS, KEYS, TIMES), min_size=1, max_size=4), st.data())
def test_a_key_comes_back(rows: list[tuple[bytes, bytes, int]], data: Any) -> None:
    trimmed = data.draw(st.integers(0, 3))
    latest = max(trimmed, 1) + len(rows) - 1
    minimum = data.draw(st.integers(max(trimmed, 1), latest))
    keyring = Keyring(
        data.draw(st.sampled_from(("aes256-gcm96", "chacha20-poly1305"))),
        tuple(KeyVersion(*row) for row in rows),
        min_decryption_version=minimum,
        min_available_version=trimmed,
        min_encryption_version=minimum if trimmed else 0,
        exportable=data.draw(st.booleans()),
        auto_rotate_period_s=data.draw(st.sampled_from((0, 3_600))),
        imported=data.draw(st.booleans()),
        backup_ns=5,
        backup_version=1,
    )

    read = keyring_of(open_blob(write_blob("k", keyring)), "k", bytes, 0, fips=False)

    assert read == keyring


def test_a_list_from_the_first_version_on_begins_with_an_empty_entry(keyring_of: Callable[..., Keyring]) -> None:
    blob = json.loads(base64.b64decode(write_blob("k", keyring_of("aes128-gcm96", bytes(16)))))

    assert [entry["key"] for entry in blob["archived_keys"]["keys"]] == [None, "AAAAAAAAAAAAAAAAAAAAAA=="]
    assert blob["policy"]["name"] == "k"
    assert "key_size" not in blob["policy"]
