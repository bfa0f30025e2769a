"""The managed keys: as stored, found by name or id."""

from __future__ import annotations

from typing import Any

from labkit.service.message import Request
from labkit.vault import managed_keys
from labkit.vault.context import Context
from labkit.vault.managed_keys import ManagedKey
from labkit.vault.mounts import MANAGED_KEYS

FIRST = ManagedKey("a", "pkcs11", "id-1", "label", "CKM_AES_GCM", 256, ("encrypt",), True, (("library", "softhsm"),))
SECOND = ManagedKey("b", "awskms", "id-2", "label", "CKM_ECDSA", 384, ("sign", "verify"), False)


def test_they_are_found_by_name_or_id(service: Any) -> None:
    storage = Context(service.core, Request("GET", ""), 0).full_storage
    assert managed_keys.read_managed_keys(storage) == ()

    managed_keys.write_managed_keys(storage, (SECOND, FIRST))

    assert managed_keys.read_managed_keys(storage) == (FIRST, SECOND)
    named = {
        pair: managed_keys.find(storage, *pair) for pair in (("a", ""), ("", "id-2"), ("a", "id-1"), ("a", "id-2"))
    }
    assert list(named.values()) == [FIRST, SECOND, FIRST, None]
    assert FIRST.mechanism.iv_bytes == 12


def test_the_record_stays_once_there_was_one(service: Any) -> None:
    """A key that names a managed key which is gone is still known to be external."""
    storage = Context(service.core, Request("GET", ""), 0).full_storage
    managed_keys.write_managed_keys(storage, ())

    assert storage.get(MANAGED_KEYS) is not None
    assert managed_keys.read_managed_keys(storage) == ()
