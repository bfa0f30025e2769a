"""Election: the lease in a cluster's shared store, which says which node is the active one, and until when.

The holder renews it each second.  A node that finds it run out takes it under the next term; a commit carries the term,
so a leader that was overtaken cannot write (R4); it follows from then on.

A node that steps down gives its lease up, and takes none for a while.

A lease that cannot be read (R25) is written again by the node that leads.  Where none does, it counts from then on as
held by nobody until its time is over, and is taken under the next term that the store accepts.
"""

from __future__ import annotations

from functools import lru_cache

from labkit.service.durations import MILLISECOND_NS, SECOND_NS
from labkit.service.record import NamedTuple
from labkit.vault.storage import StaleTerm, Storage
from labkit.vault.storage.records import decode_record, encode_record

RENEW_NS = SECOND_NS
LEASE_NS = 3 * SECOND_NS
RAISED_APART_NS, RESTARTED_APART_NS = 100 * MILLISECOND_NS, 10 * MILLISECOND_NS
"""How far apart the nodes of a cluster look at the lease for the first time: of a new one, and of a restarted one."""
ABSTENTION_NS = 10 * SECOND_NS
"""For how long a node that stepped down does not take the lease, so that another one does."""

KEY = "node/lease"
MAX_TERM = 1 << 62

MAX_LEASES = 256
"""How many stored leases are kept decoded: of so many clusters, each is decoded once instead of by each node."""

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


def stand(store: Storage, node: str, term: int, now_ns: int, candidate: bool = True) -> Candidacy:
    """Renew the lease that a node holds under its term (0 when it does not lead), take it, or find it held.

    Without being a ``candidate`` it takes none: a lease that is over counts as held by nobody.
    """
    try:
        lease = read_lease(store)
    except ValueError:
        lease = _in_place_of_damaged(store, node, term, now_ns)
    if lease is not None and (lease.holder, lease.term) == (node, term):
        result, lease = RENEWED, lease._replace(until_ns=now_ns + LEASE_NS)
    elif lease is None or lease.until_ns <= now_ns:
        if not candidate:
            return Candidacy(HELD, Lease("", lease.term if lease is not None else 0, now_ns))
        result, lease = TAKEN, Lease(node, _next_term(store, lease), now_ns + LEASE_NS)
    else:
        return Candidacy(HELD, lease)
    try:
        write_lease(store, lease)
    except StaleTerm:  # a newer leader was faster; who it is shows when the lease is looked at again
        return Candidacy(HELD, Lease("", 0, now_ns))
    return Candidacy(result, lease)


def is_held(store: Storage, followed: tuple[str, int], now_ns: int) -> bool:
    """Whether the lease is still that of a holder under a term: a look at it by another node changes nothing then."""
    stored = store.get(KEY)
    try:
        return stored is not None and (lease := _decoded(stored))[:2] == followed and lease.until_ns > now_ns
    except ValueError:
        return False


def resign(store: Storage, node: str, term: int, now_ns: int) -> None:
    """Give up the lease that a node holds under its term: whoever looks at it next takes it."""
    try:
        lease = read_lease(store)
        if lease is not None and (lease.holder, lease.term) == (node, term):
            write_lease(store, Lease("", term, now_ns))
    except (StaleTerm, ValueError):
        return  # a newer leader holds it, or it cannot be read: there is nothing to give up


def read_lease(store: Storage) -> Lease | None:
    """Return the stored lease; None when no node ever held one; raise ValueError for a damaged one."""
    stored = store.get(KEY)
    return None if stored is None else _decoded(stored)


def write_lease(store: Storage, lease: Lease) -> None:
    """Store a lease and make its term the newest one; raise StaleTerm when a newer leader was faster."""
    store.claim(lease.term)
    store.apply({KEY: encode_record(list(lease))}, lease.term)


@lru_cache(MAX_LEASES)
def _decoded(stored: bytes) -> Lease:
    """Return a stored lease; all nodes of a cluster look at the same one, each second."""
    lease = decode_record(stored)
    if type(lease) is not list or [type(part) for part in lease] != [str, int, int]:
        raise ValueError(f"{KEY} holds no lease")
    return Lease(*lease)


def _in_place_of_damaged(store: Storage, node: str, term: int, now_ns: int) -> Lease:
    """Return the lease of the node that leads, or store and return one that nobody holds."""
    if term:
        return Lease(node, term, now_ns)
    unheld = Lease("", 0, now_ns + LEASE_NS)
    store.apply({KEY: encode_record(list(unheld))}, MAX_TERM)
    return unheld


def _next_term(store: Storage, lease: Lease | None) -> int:
    """Return the term after the newest that was claimed: the lease's, unless that was damaged or is over."""
    newest = 0 if lease is None else lease.term
    while True:
        try:
            store.claim(newest)
        except StaleTerm as stale:
            newest = stale.newest
        else:
            return newest + 1
