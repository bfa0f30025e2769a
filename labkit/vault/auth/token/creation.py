"""Creating tokens: ``auth/token/create``, ``create-orphan`` and ``create/<role>``.

1. A token is its creator's child unless it is an orphan; a child dies with its parent.
2. Its policies are some of the creator's; only root, or sudo on the path, may give others.
3. A role that says which policies its tokens may have takes the place of rule 2.
4. ``lifetime`` decides how long it lives; a root token without any limit has no end.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest
from labkit.service.message import Reply
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault import token_record, tokens
from labkit.vault.auth.lifetime import asked_seconds, grant_s, mount_limits
from labkit.vault.auth.token.roles import ROLE_NAME, TokenRole, find_role
from labkit.vault.auth.token_fields import cleaned
from labkit.vault.policies import SUDO
from labkit.vault.policies.store import not_assignable, unknown
from labkit.vault.token_record import Token

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.token_record import Caller

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9-]")


class TokenRequest(NamedTuple):
    """The fields of a request to create a token; ``lease`` is the old name of ``ttl``."""

    id: str | None
    policies: list[str] | None
    meta: dict[str, str] | None
    no_parent: bool | None
    no_default_policy: bool | None
    renewable: bool | None
    ttl: Any
    lease: Any
    explicit_max_ttl: Any
    period: Any
    num_uses: int | None
    display_name: str | None
    type: str | None
    entity_alias: str | None
    role_name: str = ""

    def __repr__(self) -> str:
        return "TokenRequest()"  # the id may be a token


FIELDS = (
    fields.text("id", "the token itself, made by the caller; needs sudo"),
    fields.text_list("policies", "policies of the token; those of the caller when left out"),
    fields.text_mapping("meta", "members shown by a lookup and in the audit log"),
    fields.flag("no_parent", "whether the token is an orphan; needs sudo"),
    fields.flag("no_default_policy", "whether the policy default is left out"),
    fields.flag("renewable", "whether the token may be renewed; true when left out"),
    fields.anything("ttl", "how long the token lives"),
    fields.anything("lease", "old name of ttl"),
    fields.anything("explicit_max_ttl", "longest life, whatever a renewal allows"),
    fields.anything("period", "what a renewal sets the token's life to; needs sudo"),
    fields.integer("num_uses", "how often the token may be used; 0 is without limit"),
    fields.text("display_name", "what the token is called in lookups and the audit log"),
    fields.text("type", "service or batch"),
    fields.text("entity_alias", "refused: labkit has no identity store"),
)


def create(ctx: Context, asked: TokenRequest) -> Reply:
    """Create a token; at ``create-orphan`` one without a parent."""
    return _create(ctx, asked, None)


def create_for_role(ctx: Context, asked: TokenRequest) -> Reply:
    """Create a token under a role's rules."""
    role = find_role(ctx.storage, asked.role_name)
    if role is None:
        raise BadRequest(f"unknown role {asked.role_name}")
    return _create(ctx, asked, role)


def _create(ctx: Context, asked: TokenRequest, role: TokenRole | None) -> Reply:
    caller = ctx.caller
    assert caller is not None
    own = caller.token
    if own.kind == "batch":
        raise BadRequest("batch tokens cannot create more tokens")
    if own.uses > 0:
        raise BadRequest("restricted use token cannot generate child tokens")
    if asked.entity_alias:
        raise BadRequest("'entity_alias' needs an identity store, which this service does not have; leave it out")
    sudo = caller.acl.root or caller.acl.allows(SUDO, ctx.policy_path)
    kind = _kind(asked, role)
    if asked.id:
        _check_text(ctx, asked.id, sudo)
    policies = _policies(ctx, asked, role, sudo)
    if "root" in policies:
        _check_root(caller, kind)
    orphan = _is_orphan(ctx, asked, role, sudo)
    ttl_s, explicit_max_ttl_s, period_s, renewable = _life(ctx, asked, role, policies, sudo)
    uses = (asked.num_uses or 0) if role is None else _uses(asked, role)
    if kind == "batch":
        _check_batch(explicit_max_ttl_s, uses)
    life = (ttl_s, explicit_max_ttl_s, 0 if kind == "batch" else period_s, renewable and kind == "service")
    path = ctx.path if role is None else _made_at(ctx, role)
    name = _shown_name(asked.display_name) if asked.display_name else "token"
    parent, blocks = "" if orphan else caller.digest, () if role is None else role.token_bound_cidrs
    meta = None if asked.meta is None else tuple(asked.meta.items())
    made = ("", policies, path, name, parent, kind, meta, uses, 0)
    token = Token(*made, *life, 0, 0, orphan, asked.role_name, blocks)  # by names it takes 1 % of a creation longer
    for missing in unknown(ctx, policies):
        ctx.warn(f'Policy "{missing}" does not exist')
    text, token = tokens.issue(ctx, token, asked.id or "")
    return Reply(auth=tokens.auth_block(text, token, token.ttl_s))


def _kind(asked: TokenRequest, role: TokenRole | None) -> str:
    """Choose the kind: a role's ``service`` or ``batch`` decides; its ``default-…`` is for requests that name none."""
    kind = asked.type or "service"
    if role is not None and role.token_type in ("service", "batch"):
        kind = role.token_type
    elif role is not None and role.token_type == "default-batch" and not asked.type:
        kind = "batch"
    if kind not in ("service", "batch"):
        raise BadRequest("invalid 'token_type' value")
    if asked.num_uses is not None and asked.num_uses < 0:
        raise BadRequest("number of uses cannot be negative")
    if kind == "batch":
        for field in ("explicit_max_ttl", "num_uses", "period"):
            value = getattr(asked, field)
            if value and (field == "num_uses" or asked_seconds(value, field)):
                raise BadRequest(f'batch tokens cannot have "{field}" set')
    return kind


def _check_batch(explicit_max_ttl_s: int, uses: int) -> None:
    """Raise BadRequest for a limit, also of a role, that a batch token cannot keep, as it is not stored."""
    for field, value in (("explicit_max_ttl", explicit_max_ttl_s), ("num_uses", uses)):
        if value:
            raise BadRequest(f'batch tokens cannot have "{field}" set')


def _check_text(ctx: Context, text: str, sudo: bool) -> None:
    if not sudo:
        raise BadRequest("root or sudo privileges required to specify token id")
    if ctx.namespace.path:
        raise BadRequest("token IDs can only be manually specified in the root namespace")
    if text.startswith(("hvs.", "hvb.", "s.")) or "." in text:
        raise BadRequest("custom token ID cannot have the 'hvs.' or 's.' prefix, nor the '.' character")
    if ctx.read(token_record.IDS + token_record.digest_of(text)) is not None:
        raise BadRequest("cannot create a token with a duplicate ID")


def _check_root(caller: Caller, kind: str) -> None:
    if not caller.token.is_root:
        raise BadRequest("root tokens may not be created without parent token being root")
    if kind == "batch":
        raise BadRequest("batch tokens cannot be root tokens")


def _own_policies(ctx: Context, caller: Caller) -> tuple[str, ...]:
    """Return the policies of a caller that the request's namespace has too; above it only ``root`` does."""
    own = caller.token.policies
    return own if caller.namespace.path == ctx.namespace.path or own == ("root",) else ("default",)


def _policies(ctx: Context, asked: TokenRequest, role: TokenRole | None, sudo: bool) -> tuple[str, ...]:
    """Decide on the token's policies (rules 2 and 3)."""
    assert ctx.caller is not None
    wanted = asked.policies
    if role is not None and role.limits_policies:
        chosen = _role_policies(asked, role, _own_policies(ctx, ctx.caller))
    elif wanted and sudo:
        chosen = cleaned(wanted, default=not asked.no_default_policy)
    else:
        chosen = own = _own_policies(ctx, ctx.caller)
        if wanted:
            chosen = cleaned(wanted)
            if not set(chosen) <= set(own):
                raise BadRequest("child policies must be subset of parent")
            if not asked.no_default_policy and "default" in own:
                chosen = cleaned(chosen, default=True)
    for name in chosen:
        if not_assignable(name):
            raise BadRequest(f'cannot assign policy "{name}"')
    return chosen


def _role_policies(asked: TokenRequest, role: TokenRole, own: tuple[str, ...]) -> tuple[str, ...]:
    default = not (
        asked.no_default_policy
        or role.token_no_default_policy
        or _listed("default", role.disallowed_policies, role.disallowed_policies_glob)
    )
    chosen = cleaned(asked.policies, default=default) if asked.policies else ()
    if role.allowed_policies or role.allowed_policies_glob:
        allowed = cleaned(role.allowed_policies, default=default)
        globs = cleaned(role.allowed_policies_glob)
        chosen = chosen or allowed
        if not all(_listed(name, allowed, globs) for name in chosen):
            raise BadRequest(
                f"token policies ({_quoted(chosen)}) must be subset of the role's allowed policies "
                f"({_quoted(allowed)}) or glob policies ({_quoted(globs)})"
            )
    chosen = chosen or cleaned(own, default=default)
    for name in chosen:
        if _listed(name, cleaned(role.disallowed_policies), cleaned(role.disallowed_policies_glob)):
            raise BadRequest(f'token policy "{name}" is disallowed by this role')
    return chosen


def _listed(name: str, exact: tuple[str, ...], globs: tuple[str, ...]) -> bool:
    return name in exact or any(fnmatchcase(name, re.sub(r"[?[]", "[\\g<0>]", glob)) for glob in globs)


def _quoted(names: tuple[str, ...]) -> str:
    return "[" + " ".join(f'"{name}"' for name in names) + "]"


def _is_orphan(ctx: Context, asked: TokenRequest, role: TokenRole | None, sudo: bool) -> bool:
    if role is not None and role.orphan:
        return True
    if asked.no_parent:
        if not sudo:
            raise BadRequest("root or sudo privileges required to create orphan token")
        return True
    return ctx.path.endswith("/create-orphan")


def _made_at(ctx: Context, role: TokenRole) -> str:
    return f"{ctx.path}/{role.path_suffix}" if role.path_suffix else ctx.path


def _shown_name(name: str) -> str:
    return _NOT_IN_A_NAME.sub("-", f"token-{name}").removesuffix("-")


def _uses(asked: TokenRequest, role: TokenRole) -> int:
    uses, bound = asked.num_uses or 0, role.token_num_uses
    return min(uses, bound) if uses and bound else uses or bound


def _life(
    ctx: Context, asked: TokenRequest, role: TokenRole | None, policies: tuple[str, ...], sudo: bool
) -> tuple[int, int, int, bool]:
    """Return life, explicit maximum and period in seconds, and whether the token can be renewed (rule 4)."""
    period_s = 0 if asked.period is None else asked_seconds(asked.period, "period")
    if period_s and not sudo:
        raise BadRequest("root or sudo privileges required to create periodic token")
    explicit_s = 0 if asked.explicit_max_ttl is None else asked_seconds(asked.explicit_max_ttl, "explicit_max_ttl")
    ttl_s = asked_seconds(asked.ttl or asked.lease, "ttl")
    renewable = asked.renewable is not False
    if role is not None:
        period_s = _lesser(ctx, "Period", period_s, role.token_period)
        explicit_s = _lesser(ctx, "Explicit max TTL", explicit_s, role.token_explicit_max_ttl)
        renewable = renewable and role.renewable
    if period_s or ttl_s or policies != ("root",):
        limits = mount_limits(ctx.mount, ttl_s, 0, explicit_s, period_s)
        ttl_s = grant_s(limits, 0, 0, ctx.warn)
    ttl_s = ttl_s or explicit_s
    if ttl_s:
        return ttl_s, explicit_s, period_s, renewable
    assert ctx.caller is not None
    if ctx.caller.token.expires_ns:
        raise BadRequest("expiring root tokens cannot create non-expiring root tokens")
    return 0, 0, 0, False


def _lesser(ctx: Context, what: str, asked_s: int, role_s: int) -> int:
    if asked_s and role_s:
        least_s = min(asked_s, role_s)
        both = f"{what} specified both during creation call and in role"
        ctx.warn(f"{both}; using the lesser value of {least_s} seconds")
        return least_s
    return asked_s or role_s


ROUTES = (
    Route("write", "create", create, Form(TokenRequest, FIELDS)),
    Route("write", "create-orphan", create, Form(TokenRequest, FIELDS)),
    Route("write", "create/<role_name>", create_for_role, Form(TokenRequest, (*FIELDS, ROLE_NAME))),
)
