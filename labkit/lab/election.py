"""Election: the lease in a cluster's shared store, which says which node is the active one, and until when.

The holder renews it each second.  A node that finds it run out takes it under the next term; a commit carries the term,
so a leader that was overtaken cannot write (R4).
"""

from __future__ import annotations

from typing import NamedTuple

from labkit.service.durations import SECOND_NS
from labkit.vault.storage import Storage
from labkit.vault.storage.records import decode_record, encode_record

RENEW_NS = SECOND_NS
LEASE_NS = 3 * SECOND_NS

KEY = "node/lease"

RENEWED, TAKEN, HELD = "renewed", "taken", "held"


class Lease(NamedTuple):
    """Who leads, under which term, and until when (lab time)."""

    holder: str
    term: int
    until_ns: int


class Candidacy(NamedTuple):
    """What came of looking at the lease: this node renewed it, took it, or found it held."""

    result: str
    lease: Lease


def stand(store: Storage, node: str, term: int, now_ns: int) -> Candidacy:
    """Renew the lease that a node holds under its term (0 when it does not lead), take it, or find it held."""
    lease = read_lease(store)
    if lease is not None and (lease.holder, lease.term) == (node, term):
        result, lease = RENEWED, lease._replace(until_ns=now_ns + LEASE_NS)
    elif lease is None or lease.until_ns <= now_ns:
        result, lease = TAKEN, Lease(node, 1 if lease is None else lease.term + 1, now_ns + LEASE_NS)
    else:
        return Candidacy(HELD, lease)
    write_lease(store, lease)
    return Candidacy(result, lease)


def read_lease(store: Storage) -> Lease | None:
    """Return the stored lease; None when no node ever held one."""
    stored = store.get(KEY)
    return None if stored is None else Lease(*decode_record(stored))


def write_lease(store: Storage, lease: Lease) -> None:
    """Store a lease and make its term the newest one; raise StaleTerm when a newer leader was faster."""
    store.claim(lease.term)
    store.apply({KEY: encode_record(list(lease))}, lease.term)
