"""Login tokens: what every auth method gives to whoever it let in, by the token fields of a role.

1. A token of a login is an orphan, named after its mount, and its alias where the method says so; outside the root
   namespace after that too.  It belongs to the entity of the alias.
2. Its kind is the role's, else the mount's; a batch token keeps no limit of uses and has no period.
3. Policies are those of the role, in lower case; no login makes a root token.
4. What the mount says is read when the token is issued: a login that waited gets what the mount is tuned to by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest
from labkit.service.message import Reply
from labkit.vault import tokens
from labkit.vault.auth.identity.aliases import entity_of
from labkit.vault.auth.lifetime import grant_s, mount_limits
from labkit.vault.auth.token_fields import DEFAULT_TYPE, TokenFields, cleaned
from labkit.vault.mounts import read_table
from labkit.vault.token_record import Token

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.mounts import Mount


def issue(
    ctx: Context, alias: str, role_name: str, given: TokenFields, metadata: dict[str, str], name: str = ""
) -> Reply:
    """Issue a token of the request's mount for an alias under a role; ``name`` is the end of its display name."""
    policies = cleaned(given.token_policies, default=not given.token_no_default_policy)
    if "root" in policies:
        raise BadRequest("auth methods cannot create root tokens")
    mount = _present_mount(ctx)
    limits = mount_limits(
        mount,
        ttl_s=given.token_ttl,
        max_ttl_s=given.token_max_ttl,
        explicit_max_ttl_s=given.token_explicit_max_ttl,
        period_s=given.token_period,
    )
    kind = _kind(mount.token_type, given)
    stored = kind == "service"
    assert ctx.resolved is not None
    above = ctx.resolved.namespace.path
    place = f"{above}{mount.path}" if above else mount.path.removeprefix("auth/")
    token = Token(
        "",
        policies,
        ctx.path,
        f"{place}{name}".rstrip("/").replace("/", "-"),
        kind=kind,
        meta=tuple(metadata.items()),
        uses=given.token_num_uses if stored else 0,
        ttl_s=grant_s(limits, 0, 0, ctx.warn),
        explicit_max_ttl_s=given.token_explicit_max_ttl,
        period_s=given.token_period if stored else 0,
        renewable=stored,
        orphan=True,
        role=role_name,
        bound_cidrs=given.token_bound_cidrs,
        max_ttl_s=given.token_max_ttl,
        entity_id=entity_of(ctx, alias),
    )
    text, token = tokens.issue(ctx, token)
    return Reply(auth=tokens.auth_block(text, token, token.ttl_s))


def _present_mount(ctx: Context) -> Mount:
    """Return the mount of a login as its table has it now: the one that its route was found with may be of before."""
    if not ctx.is_taped:
        return ctx.mount
    present = read_table(ctx.namespace_storage).find(ctx.path)
    assert present is not None, "a request that fetched goes on only while its mount is there"
    return present


def _kind(mount_type: str, given: TokenFields) -> str:
    """Return the kind of a token (rule 2): a mount that is tuned to one kind forces it."""
    if mount_type in ("service", "batch"):
        return mount_type
    if given.token_type != DEFAULT_TYPE:
        return given.token_type
    return "batch" if mount_type == "default-batch" else "service"
