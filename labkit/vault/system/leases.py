"""Leases: ``sys/leases``, and its old names ``sys/renew``, ``sys/revoke``, ``sys/revoke-prefix``, ``sys/revoke-force``.

1. The leases here are tokens; as on other servers of this API they are not renewed as leases, but as tokens.
2. What is revoked is gone with the answer: ``sync=false`` changes only its status.
3. Irrevocable is a lease whose record does not open: nothing but a repair of the store ends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.durations import format_instant
from labkit.service.errors import BadRequest, NotFound
from labkit.service.message import Reply
from labkit.service.routing import Route
from labkit.vault import leases, tokens
from labkit.vault.auth.lifetime import asked_seconds
from labkit.vault.auth.token.revocation import tidy
from labkit.vault.mounts import read_table
from labkit.vault.token_record import IDS, Token

if TYPE_CHECKING:
    from labkit.vault.context import Context

IRREVOCABLE = "irrevocable"
MAX_LISTED = 10_000


def look_up(ctx: Context, lease_id: str | None) -> dict[str, Any]:
    """Describe a lease."""
    token, digest = _lease(ctx, lease_id)
    return {
        "id": leases.id_of(token, digest),
        "path": token.path,
        "issue_time": format_instant(token.created_ns),
        "expire_time": format_instant(token.expires_ns),
        "last_renewal": format_instant(token.renewed_ns) if token.renewed_ns else None,
        "renewable": token.renewable,
        "ttl": tokens.remaining_s(token, ctx.now),
    }


def _lease(ctx: Context, lease_id: str | None) -> tuple[Token, str]:
    """Return the token of a lease and its hash; raise BadRequest where there is none."""
    if not lease_id:
        raise BadRequest("lease_id must be specified")
    found = leases.find(ctx, lease_id)
    if found is None:
        raise BadRequest("invalid lease")
    return found


def list_below(ctx: Context, prefix: str) -> dict[str, Any]:
    """List the leases and folders below a prefix."""
    names = leases.names_below(ctx, prefix)
    if not names:
        raise NotFound
    return {"keys": names}


def renew(ctx: Context, lease_id: str | None, increment: Any) -> None:
    """Refuse to renew a token as a lease (rule 1)."""
    asked_seconds(increment, "increment")
    token, _ = _lease(ctx, lease_id)
    if not token.renewable:
        raise BadRequest("lease is not renewable")
    raise BadRequest("tokens cannot be renewed through this endpoint")


def renew_named(ctx: Context, url_lease_id: str, lease_id: str | None, increment: Any) -> None:
    """Refuse to renew a token as a lease that the path names."""
    renew(ctx, lease_id or url_lease_id, increment)


def revoke(ctx: Context, lease_id: str | None, sync: bool | None) -> Reply | None:
    """Revoke a lease: the token and its descendants; one that does not exist is not an error."""
    if not lease_id:
        raise BadRequest("lease_id must be specified")
    found = leases.find(ctx, lease_id)
    if found is not None:
        tokens.revoke(ctx, found[1])
    return _done(sync)


def revoke_named(ctx: Context, url_lease_id: str, lease_id: str | None, sync: bool | None) -> Reply | None:
    """Revoke a lease that the path names."""
    return revoke(ctx, lease_id or url_lease_id, sync)


def revoke_prefix(ctx: Context, prefix: str, sync: bool | None) -> Reply | None:
    """Revoke all leases below a prefix, or the one with that id."""
    _revoke_below(ctx, prefix)
    return _done(sync)


def revoke_force(ctx: Context, prefix: str) -> None:
    """Revoke all leases below a prefix: no engine here could fail to, and be ignored."""
    _revoke_below(ctx, prefix)


def _revoke_below(ctx: Context, prefix: str) -> None:
    one = leases.find(ctx, prefix)
    digests = [one[1]] if one is not None else leases.digests_below(ctx, prefix)
    if digests:
        tokens.revoke(ctx, *digests)


def _done(sync: bool | None) -> Reply | None:
    return Reply(status=202) if sync is False else None


def count(ctx: Context, type: str | None) -> dict[str, Any]:  # noqa: A002 - the field's own name
    """Count leases by the accessor of the mount that issued them: all, or the irrevocable ones (rule 3)."""
    if _is_irrevocable(type):
        return _by_mount(ctx, {"auth/token/": len(_damaged(ctx))} if _damaged(ctx) else {})
    return _by_mount(ctx, leases.counts(ctx))


def _by_mount(ctx: Context, counts: dict[str, int]) -> dict[str, Any]:
    table = read_table(ctx.namespace_storage)
    by_accessor: dict[str, int] = {}
    for path, number in counts.items():
        mount = table.find(path)
        accessor = mount.accessor if mount is not None else ""
        by_accessor[accessor] = by_accessor.get(accessor, 0) + number
    return {"lease_count": sum(counts.values()), "counts": by_accessor}


def list_irrevocable(ctx: Context, type: str | None, limit: int | None) -> dict[str, Any]:  # noqa: A002 - the field's own name
    """List irrevocable leases, each with what hinders its end; what they were is not known."""
    if not _is_irrevocable(type):
        raise BadRequest(f"type: expected {IRREVOCABLE}; others are listed below sys/leases/lookup/")
    if limit is not None and limit < 1:
        raise BadRequest("limit must be at least 1")
    damaged = _damaged(ctx)
    shown = [{"lease_id": "", "error": f"the stored value {key} does not open"} for key in damaged]
    return {"lease_count": len(damaged), "leases": shown[: limit or MAX_LISTED]}


def _is_irrevocable(sent: str | None) -> bool:
    if sent and sent != IRREVOCABLE:
        raise BadRequest(f"type: expected {IRREVOCABLE}, or nothing to count all leases, not {sent!r}")
    return bool(sent)


def _damaged(ctx: Context) -> list[str]:
    """Return the keys of tokens that did not open when they were read; which namespace they are of is not known."""
    if ctx.namespace.path:
        return []
    return [key for key in sorted(ctx.core.damaged) if key.startswith(IDS)]


LEASE_ID = fields.text("lease_id", "id of the lease")
IN_PATH = fields.path("url_lease_id", "id of the lease, where the body has none")
PREFIX = fields.path("prefix", "path that issued the leases, or a folder of such paths")
INCREMENT = fields.anything("increment", "how long the lease is to last from now on")
SYNC = fields.flag("sync", "false answers 202, though all is done then too")
TYPE = fields.text("type", "irrevocable, or nothing for all", choices=(IRREVOCABLE,))

ROUTES = (
    Route("write", "leases/lookup", look_up, (LEASE_ID,)),
    Route("list", "leases/lookup/<prefix>", list_below, (fields.folder("prefix", "folder of lease ids"),), "sudo"),
    Route("write", "leases/renew", renew, (LEASE_ID, INCREMENT)),
    Route("write", "leases/renew/<url_lease_id>", renew_named, (IN_PATH, LEASE_ID, INCREMENT)),
    Route("write", "leases/revoke", revoke, (LEASE_ID, SYNC), "accepted"),
    Route("write", "leases/revoke/<url_lease_id>", revoke_named, (IN_PATH, LEASE_ID, SYNC), "accepted"),
    Route("write", "leases/revoke-prefix/<prefix>", revoke_prefix, (PREFIX, SYNC), "sudo", "accepted"),
    Route("write", "leases/revoke-force/<prefix>", revoke_force, (PREFIX,), "sudo"),
    Route("write", "leases/tidy", tidy, (), "accepted"),
    Route("read", "leases/count", count, (TYPE,)),
    Route("read", "leases", list_irrevocable, (TYPE, fields.integer("limit", "how many at most")), "sudo"),
    Route("write", "renew", renew, (LEASE_ID, INCREMENT)),
    Route("write", "renew/<url_lease_id>", renew_named, (IN_PATH, LEASE_ID, INCREMENT)),
    Route("write", "revoke", revoke, (LEASE_ID, SYNC), "accepted"),
    Route("write", "revoke/<url_lease_id>", revoke_named, (IN_PATH, LEASE_ID, SYNC), "accepted"),
    Route("write", "revoke-prefix/<prefix>", revoke_prefix, (PREFIX, SYNC), "sudo", "accepted"),
    Route("write", "revoke-force/<prefix>", revoke_force, (PREFIX,), "sudo"),
)
