"""Reports: the status bodies of both sides, and the Merkle check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.durations import MILLISECOND_NS, SECOND_NS, format_instant
from labkit.service.errors import BadRequest
from labkit.vault.core import API_PORT, CLUSTER_PORT
from labkit.vault.replica import DEAD_NS
from labkit.vault.replication import reindex
from labkit.vault.replication.mode import (
    Mode,
    PeerStatus,
    TreeStatus,
    UpstreamStatus,
    status_disabled,
    status_primary,
    status_secondary,
)
from labkit.vault.replication.state import State, canary_age_ms
from labkit.vault.replication.tree.tree_nodes import is_corrupted
from labkit.vault.replication.trust import activation
from labkit.vault.storage.barrier import decode_numbers
from labkit.vault.storage.records import encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context

CHECK = "node/check"


def status(ctx: Context) -> dict[str, Any]:
    """Return the status of this cluster, as this node knows it."""
    mode = ctx.mode
    if mode.mode == "disabled":
        return status_disabled()
    checked = ctx.full_storage.get(CHECK)
    if checked is not None:
        corrupted, at_s = decode_numbers(CHECK, checked, (bool, int))
        mode = mode._replace(corrupted=bool(corrupted), last_check_s=at_s)
    tree = ctx.core.replica.journal.tree
    mode = mode._replace(last_reindex_s=reindex.last_s(ctx))
    damaged_values = reindex.damaged_values(ctx) if mode.mode == "primary" else 0
    tree_status = TreeStatus(tree.root() if tree is not None else "", reindex.progress(ctx), damaged_values)
    if mode.mode == "primary":
        known = activation.secondary_ids(ctx)
        secondaries = [_secondary(ctx, secondary_id) for secondary_id in known]
        return status_primary(mode, known, secondaries, ctx.core.replica.journal.last, tree_status)
    sync: State = ctx.core.replica.sync or State()
    return status_secondary(mode._replace(last_remote_wal=sync.last_remote_wal), _link(ctx, mode, sync), tree_status)


def _secondary(ctx: Context, secondary_id: str) -> PeerStatus:
    beat = ctx.core.replica.secondaries.get(secondary_id)
    if beat is None:
        return PeerStatus(node_id=secondary_id)
    return PeerStatus(
        node_id=secondary_id,
        api_address=f"http://{beat.address}:{API_PORT}",
        cluster_address=f"https://{beat.address}:{CLUSTER_PORT}",
        connected=ctx.core.steady() - beat.steady_ns < DEAD_NS,
        last_heartbeat=format_instant(beat.wall_ns),
        last_heartbeat_duration_ms=beat.duration_ms,
        clock_skew_ms=beat.skew_ms,
        canary_age_ms=beat.canary_ms,
    )


def _link(ctx: Context, mode: Mode, sync: State) -> UpstreamStatus:
    beat = sync.heartbeat
    primary = PeerStatus(
        api_address=beat.api_addr,
        cluster_address=beat.cluster_addr,
        connected=sync.connection_state == "ready",
        last_heartbeat="" if beat.last_wall_ns is None else format_instant(beat.last_wall_ns),
        last_heartbeat_duration_ms=beat.duration_ns // MILLISECOND_NS,
        clock_skew_ms=beat.clock_skew_ns // MILLISECOND_NS,
        canary_age_ms=canary_age_ms(sync, ctx.now),
    )
    return UpstreamStatus(
        state=sync.state,
        connection_state=sync.connection_state,
        connection_error=sync.last_error,
        known_primary_cluster_addrs=tuple(sorted(sync.addresses)),
        last_start="" if sync.last_start_ns is None else format_instant(sync.last_start_ns),
        primaries=(primary,) if mode.has_upstream else (),
        sync_total_keys=len(sync.work.fetch),
        sync_progress=sync.work.progress,
        comparisons=sync.loops,
    )


def merkle_check(ctx: Context) -> dict[str, Any]:
    """Compare the tree in memory with a newly computed one, node by node; store the result for the status."""
    core = ctx.core
    tree = core.replica.journal.tree
    if tree is None:
        raise BadRequest("this node has no Merkle tree: it is not the active node of a replicating cluster")
    report = tree.check(format_instant(ctx.now))
    ctx.full_storage.put(CHECK, encode_record([is_corrupted(report), ctx.now // SECOND_NS]))
    return {"merkle_corruption_report": report}
