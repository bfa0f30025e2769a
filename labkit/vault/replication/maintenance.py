"""Endpoints that check and repair a cluster's Merkle index and its connections, of a secondary and of a primary.

A secondary's forms need its operation token, a primary's are for tokens of its own, with sudo.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest
from labkit.service.routing import Route
from labkit.vault.replication import reindex, reports
from labkit.vault.replication.endpoints import (
    DR,
    PRIMARY,
    SECONDARY,
    TOKEN,
    require_mode,
    store_mode,
    with_position,
)
from labkit.vault.replication.tree.rebuild import ReindexOptions
from labkit.vault.replication.trust import operation_token

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.replication.mode import Mode

DIFF = fields.flag("diff", "compare the index key by key, which takes longer, and report the keys that differ", False)
FORCE = fields.flag("force", "store every page of the new index, whatever is kept of the old one", False)
SKIP_FLUSH = fields.flag("skip_flush", "store the new index a second later; a crash before that begins again", False)


def check_secondary(ctx: Context, dr_operation_token: str) -> dict[str, Any]:
    """Compare every node of a secondary's Merkle tree with a newly computed tree."""
    _require(ctx, "secondary", "check the secondary's Merkle tree", "replication/merkle-check")
    operation_token.check(ctx, dr_operation_token)
    return reports.merkle_check(ctx)


def check_primary(ctx: Context) -> dict[str, Any]:
    """Compare every node of a primary's Merkle tree with a newly computed tree."""
    _require(ctx, "primary", "check the primary's Merkle tree", DR + "secondary/merkle-check")
    return reports.merkle_check(ctx)


def reindex_secondary(ctx: Context, dr_operation_token: str, diff: bool, force: bool, skip_flush: bool) -> None:
    """Make a secondary's Merkle index again from what its store holds, in the background."""
    _require(ctx, "secondary", "reindex the secondary", "replication/reindex")
    operation_token.check(ctx, dr_operation_token)
    _reindex(ctx, ReindexOptions(diff, force, skip_flush))


def reindex_primary(ctx: Context, diff: bool, force: bool, skip_flush: bool) -> None:
    """Make a primary's Merkle index again from what its store holds, in the background."""
    _require(ctx, "primary", "reindex the primary", DR + "secondary/reindex")
    _reindex(ctx, ReindexOptions(diff, force, skip_flush))


def recover_secondary(ctx: Context, dr_operation_token: str) -> None:
    """Begin this secondary's replication again from what it holds: a connection, a guard, what is missing."""
    mode = _require(ctx, "secondary", "recover the secondary", "replication/recover")
    operation_token.check(ctx, dr_operation_token)
    store_mode(ctx, with_position(ctx, mode))
    ctx.warn("Replication begins again from what this secondary holds; its status shows how far it is.")


def recover_primary(ctx: Context) -> None:
    """End the connections of all secondaries, so that each of them begins again from what it holds."""
    _require(ctx, "primary", "recover the primary", DR + "secondary/recover")
    ctx.after_commit = ctx.core.replica.reconnect
    ctx.warn("The secondaries are disconnected; each connects again, from what it holds.")


def _require(ctx: Context, wanted: str, verb: str, other: str) -> Mode:
    """Return the mode record when the cluster is what is wanted; else BadRequest, which names the form for what it is.

    A promotion or demotion would be the other way out: nobody needs it for a check or a repair.
    """
    found = ctx.mode.mode
    if found not in (wanted, "disabled"):
        raise BadRequest(f"cannot {verb}: this cluster is a DR {found}; its form is POST sys/{other}")
    return require_mode(ctx, wanted, verb)


def _reindex(ctx: Context, options: ReindexOptions) -> None:
    reindex.start(ctx, options)
    ctx.warn("The reindex runs in the background and can take long; the replication status shows how far it is.")


OPTIONS = (DIFF, FORCE, SKIP_FLUSH)

ROUTES = (
    Route("write", DR + "secondary/merkle-check", check_secondary, (TOKEN,), *SECONDARY),
    Route("write", "replication/merkle-check", check_primary, (), *PRIMARY, "sudo"),
    Route("write", DR + "secondary/reindex", reindex_secondary, (TOKEN, *OPTIONS), *SECONDARY),
    Route("write", "replication/reindex", reindex_primary, OPTIONS, *PRIMARY, "sudo"),
    Route("write", DR + "secondary/recover", recover_secondary, (TOKEN,), *SECONDARY),
    Route("write", "replication/recover", recover_primary, (), *PRIMARY, "sudo"),
)
