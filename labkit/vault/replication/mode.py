"""A cluster's part in disaster-recovery replication: disabled, primary or secondary; and its status bodies.

1. ``TRANSITIONS`` is the whole table (spec, DR cluster mode).  A call in the wrong mode changes nothing, and
   its refusal names the mode and what to do (decision D11).
2. A cluster id names a replication set.  Enabling makes or joins one, disabling leaves it; demotion and
   promotion keep it.
3. Demotion keeps all data, so they are complete; the upstream is unknown until a token names it, and
   addresses are not enough: the certificate was issued by another authority.
4. ``position`` counts only entries of the present upstream.  A token may name another upstream, so it
   resets the position; new addresses of the same upstream keep it.
5. ``generation_counter`` grows with each promotion and is never reset.
6. Times in a status are text, and so are numbers of milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from labkit.service.record import NamedTuple
from labkit.vault.replication import MODE_KEY as MODE_KEY
from labkit.vault.storage.records import decode_record, encode_record

TRANSITIONS: dict[str, dict[str, str]] = {
    "disabled": {
        "enable_primary": "primary",
        "enable_secondary": "secondary",
    },
    "primary": {
        "demote": "secondary",
        "disable_primary": "disabled",
    },
    "secondary": {
        "promote": "primary",
        "disable_secondary": "disabled",
        "update_primary": "secondary",
    },
}
"""{mode: {event: mode}}."""

WAYS_OUT = {
    "disabled": "enable it first, with POST sys/replication/dr/primary/enable or secondary/enable",
    "primary": "demote it with POST sys/replication/dr/primary/demote, or disable it with primary/disable",
    "secondary": "promote it with POST sys/replication/dr/secondary/promote, or use secondary/disable",
}

NEVER_CHECKED = -62_135_596_800
"""The year 1 in seconds since 1970, as a status gives the time of a check that was never made."""

ADDRESSES_AFTER_DEMOTION = (
    "update_primary_addrs cannot be used on a newly demoted cluster; supply a secondary activation token"
)


class WrongMode(ValueError):
    """A call that the cluster's replication mode does not allow."""


class Mode(NamedTuple):
    """The stored record: mode, replication set, upstream, how far its data go, and the results of checks."""

    mode: str = "disabled"
    cluster_id: str = ""
    primary_cluster_addr: str = ""  # a primary: as configured; a secondary: the first address it was given
    secondary_id: str = ""
    upstream_api_addr: str = ""
    upstream_cluster_addrs: tuple[str, ...] = ()
    newly_demoted: bool = False
    complete: bool = False
    position: int | None = None
    last_remote_wal: int = 0
    corrupted: bool = False
    last_check_s: int = NEVER_CHECKED
    last_reindex_s: int = 0
    generation_counter: int = 0

    def to_bytes(self) -> bytes:
        """Return the record as JSON."""
        return encode_record(self._asdict())

    @classmethod
    def from_bytes(cls, stored: bytes | None) -> Mode:
        """Return the record of stored JSON; a cluster that stored none never replicated."""
        if stored is None:
            return cls()
        values = decode_record(stored)
        return cls(**{**values, "upstream_cluster_addrs": tuple(values["upstream_cluster_addrs"])})

    @property
    def has_upstream(self) -> bool:
        """Whether there is an upstream to connect to."""
        return self.mode == "secondary" and bool(self.upstream_cluster_addrs)


def advance(mode: Mode, event: str, **fields: Any) -> Mode:
    """Return the record after an event of the table, with ``fields`` set; raise WrongMode when it cannot be.

    Fields of enable_primary: cluster_id, primary_cluster_addr; of enable_secondary: cluster_id, secondary_id
    and the upstream's addresses; of promote: primary_cluster_addr.  For update_primary see ``by_token``,
    ``by_addresses`` and ``forgetting``.
    """
    following = TRANSITIONS[mode.mode].get(event)
    if following is None:
        raise WrongMode(_wrong(mode.mode, event.replace("_", " ")))
    record = Mode(generation_counter=mode.generation_counter)
    if event in ("demote", "promote", "update_primary"):
        record = mode
    if event == "demote":
        record = _without_upstream(record)._replace(primary_cluster_addr="", newly_demoted=True, complete=True)
    elif event == "promote":
        record = _without_upstream(record)._replace(
            primary_cluster_addr="", newly_demoted=False, generation_counter=mode.generation_counter + 1
        )
    return record._replace(mode=following, **fields)


def require(mode: Mode, wanted: str, verb: str) -> None:
    """Raise WrongMode unless the cluster is in a mode; ``verb``: what was asked, such as "issue tokens"."""
    if mode.mode != wanted:
        raise WrongMode(_wrong(mode.mode, verb, f"only a {_named(wanted)} can"))


def by_token(mode: Mode, **fields: Any) -> Mode:
    """Return a secondary's record after a token: cluster_id, secondary_id and the upstream's addresses."""
    return advance(mode, "update_primary", newly_demoted=False, position=None, last_remote_wal=0, **fields)


def by_addresses(mode: Mode, addresses: tuple[str, ...]) -> Mode:
    """Return a secondary's record after its primary moved; raise ValueError when newly demoted (D2)."""
    moved = advance(mode, "update_primary", upstream_cluster_addrs=addresses)
    if mode.newly_demoted:
        raise ValueError(ADDRESSES_AFTER_DEMOTION)
    return moved


def forgetting(mode: Mode) -> Mode:
    """Return a secondary's record after a blank token: it has no upstream."""
    return _without_upstream(advance(mode, "update_primary"))._replace(primary_cluster_addr="")


# ---- status -----------------------------------------------------------------------------------------------


class PeerStatus(NamedTuple):
    """The other end of a link as the last heartbeat showed it; ``last_heartbeat``: RFC 3339, empty: never."""

    node_id: str = ""
    api_address: str = ""
    cluster_address: str = ""
    connected: bool = False
    last_heartbeat: str = ""
    last_heartbeat_duration_ms: int = 0
    clock_skew_ms: int = 0
    canary_age_ms: int = 0


class ReindexProgress(NamedTuple):
    """A reindex under way."""

    stage: str
    progress: int = 0
    total: int = 0


class TreeStatus(NamedTuple):
    """What a status shows of the Merkle tree: its composite root in hex, and the reindex under way, if any.

    ``damaged_values`` is how many values did not open when a primary was reindexed last.
    """

    merkle_root: str
    reindex: ReindexProgress | None = None
    damaged_values: int = 0


class UpstreamStatus(NamedTuple):
    """A secondary's end of replication: its states, and what it knows of the primary."""

    state: str
    connection_state: str = ""
    known_primary_cluster_addrs: tuple[str, ...] = ()
    last_start: str = ""
    primaries: tuple[PeerStatus, ...] = ()
    sync_total_keys: int = 0
    sync_progress: int = 0
    connection_error: str = ""  # why it is not connected
    comparisons: int = 0  # since it streamed last; from the second on the one before was in vain


def status_disabled() -> dict[str, Any]:
    """Return the status of a cluster that does not replicate."""
    return {"mode": "disabled"}


def status_primary(
    mode: Mode, known_secondaries: Iterable[str], secondaries: Iterable[PeerStatus], last_wal: int, tree: TreeStatus
) -> dict[str, Any]:
    """Return the status of a primary; the WAL holds only what DR ships, so both positions are equal."""
    return {
        "mode": "primary",
        "state": "running",
        "cluster_id": mode.cluster_id,
        "primary_cluster_addr": mode.primary_cluster_addr,
        "known_secondaries": list(known_secondaries),
        "secondaries": [{"node_id": peer.node_id, **_peer(peer)} for peer in secondaries],
        "last_wal": last_wal,
        "last_dr_wal": last_wal,
        **_tree(mode, tree),
    }


def status_secondary(mode: Mode, link: UpstreamStatus, tree: TreeStatus) -> dict[str, Any]:
    """Return the status of a secondary; without an upstream it has no connection state."""
    body: dict[str, Any] = {"mode": "secondary", "state": link.state}
    if mode.has_upstream:
        body["connection_state"] = link.connection_state
        if link.connection_error:
            body["connection_error"] = link.connection_error
    body |= {
        "cluster_id": mode.cluster_id,
        "secondary_id": mode.secondary_id,
        "primary_cluster_addr": mode.primary_cluster_addr,
        "known_primary_cluster_addrs": list(link.known_primary_cluster_addrs),
        "last_remote_wal": mode.last_remote_wal,
        "last_start": link.last_start,
        "primaries": [_peer(peer) for peer in link.primaries],
        **_tree(mode, tree),
    }
    if link.state == "merkle-sync":
        body["merkle_sync_progress"] = {
            "sync_total_keys": link.sync_total_keys,
            "sync_progress": link.sync_progress,
        }
    if link.comparisons > 1:
        body["merkle_comparisons"] = link.comparisons
    return body


def _tree(mode: Mode, tree: TreeStatus) -> dict[str, Any]:
    body: dict[str, Any] = {
        "merkle_root": tree.merkle_root,
        "corrupted_merkle_tree": mode.corrupted,
        "last_corruption_check_epoch": str(mode.last_check_s),
        "last_reindex_epoch": str(mode.last_reindex_s),
        "ssct_generation_counter": mode.generation_counter,
    }
    if tree.damaged_values:
        body["reindex_damaged_values"] = tree.damaged_values
    if tree.reindex is not None:
        body["reindex_in_progress"] = True
        body["reindex_stage"] = tree.reindex.stage
        body["reindex_building_progress"] = tree.reindex.progress
        body["reindex_building_total"] = tree.reindex.total
    return body


def _peer(peer: PeerStatus) -> dict[str, Any]:
    body = {
        "api_address": peer.api_address,
        "cluster_address": peer.cluster_address,
        "connection_status": "connected" if peer.connected else "disconnected",
    }
    if peer.last_heartbeat:
        body["last_heartbeat"] = peer.last_heartbeat
        body["last_heartbeat_duration_ms"] = str(peer.last_heartbeat_duration_ms)
        body["clock_skew_ms"] = str(peer.clock_skew_ms)
        body["replication_primary_canary_age_ms"] = str(peer.canary_age_ms)
    return body


def _without_upstream(mode: Mode) -> Mode:
    return mode._replace(
        secondary_id="", upstream_api_addr="", upstream_cluster_addrs=(), position=None, last_remote_wal=0
    )


def _named(mode: str) -> str:
    return "cluster that does not replicate" if mode == "disabled" else f"DR {mode}"


def _wrong(mode: str, verb: str, because: str = "") -> str:
    present = "DR replication is disabled on this cluster" if mode == "disabled" else f"this cluster is a DR {mode}"
    return "; ".join(filter(None, (f"cannot {verb}: {present}", because, WAYS_OUT[mode])))
