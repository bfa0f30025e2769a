"""Lease: the record in the shared store that says which node of a cluster is the active one, and until when."""

from __future__ import annotations

from typing import NamedTuple

from labkit.vault.storage import Storage
from labkit.vault.storage.records import decode_record, encode_record

SECOND_NS = 1_000_000_000
RENEW_NS = SECOND_NS
LEASE_NS = 3 * SECOND_NS

KEY = "node/lease"


class Lease(NamedTuple):
    """Who leads, under which term, and until when (lab time)."""

    holder: str
    term: int
    until_ns: int


def read_lease(store: Storage) -> Lease | None:
    """Return the stored lease; None when nobody ever held one."""
    stored = store.get(KEY)
    return None if stored is None else Lease(*decode_record(stored))


def write_lease(store: Storage, lease: Lease) -> None:
    """Store a lease and make its term the newest one; raise StaleTerm when a newer leader was faster."""
    store.claim(lease.term)
    store.apply({KEY: encode_record(list(lease))}, lease.term)
