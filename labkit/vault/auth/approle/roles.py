"""Roles of AppRole: ``role/<role_name>`` and the list of them.

1. A role is written field by field: what is not sent stays as it was.  Where secret ids are stored is chosen once.
2. A role has at least one constraint: a secret id, or addresses.
3. A deleted role's secret ids go with it; its tokens stay, but can no longer be renewed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.durations import SECOND_NS, format_duration
from labkit.service.errors import BadRequest, NotFound, one_error
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.auth import token_fields
from labkit.vault.auth.addresses import bound_addresses
from labkit.vault.auth.approle import role_record, secret_id_record
from labkit.vault.auth.approle.role_record import ROLES, AppRole, find_role, store_role
from labkit.vault.auth.lifetime import mount_limits
from labkit.vault.auth.token_fields import DEFAULT_TYPE, TokenFields, as_list, as_tuple

if TYPE_CHECKING:
    from labkit.vault.context import Context

OLD_NAMES = {"policies": "token_policies", "period": "token_period"}

OF_CREATION = "local_secret_ids can only be modified during role creation"
PLAIN_TYPES = {"default-service": "service", "default-batch": "batch"}
TRUNCATED = (
    "token_max_ttl is greater than the backend mount's maximum TTL value; issued tokens' max TTL value will be "
    "truncated"
)


class AppRoleRequest(NamedTuple):
    """The settings of a role that a request changes, None leaves one as it is; the last two are old names."""

    role_name: str
    role_id: str | None
    bind_secret_id: bool | None
    local_secret_ids: bool | None
    secret_id_bound_cidrs: list[str] | None
    bound_cidr_list: list[str] | None
    secret_id_num_uses: int | None
    secret_id_ttl: int | None
    token_ttl: int | None
    token_max_ttl: int | None
    token_policies: list[str] | None
    token_bound_cidrs: list[str] | None
    token_explicit_max_ttl: int | None
    token_no_default_policy: bool | None
    token_num_uses: int | None
    token_period: int | None
    token_type: str | None
    policies: list[str] | None
    period: int | None


def write_role(ctx: Context, asked: AppRoleRequest) -> None:
    """Create a role, or change what is sent of it."""
    sent = {name: as_tuple(value) for name, value in asked._asdict().items() if value is not None}
    name = sent.pop("role_name")
    known = find_role(ctx.storage, name)
    role = known or role_record.new_role(ctx)
    chosen_type = sent.get("token_type")
    if chosen_type in PLAIN_TYPES:
        sent["token_type"] = PLAIN_TYPES[chosen_type]
    if known is not None and asked.local_secret_ids is not None:
        raise BadRequest(OF_CREATION)
    if asked.role_id == "":
        raise BadRequest("invalid role_id supplied, or failed to generate a role_id")
    sent.setdefault("secret_id_bound_cidrs", sent.pop("bound_cidr_list", role.secret_id_bound_cidrs))
    _check_period(ctx, asked.period)
    role = _changed(role, sent)
    _check(role)
    store_role(ctx.storage, name, role)
    if chosen_type in PLAIN_TYPES:
        ctx.warn(f"{chosen_type} has no useful meaning; adjusting to {PLAIN_TYPES[chosen_type]}")
    if role.token_fields.token_max_ttl > mount_limits(ctx.mount).mount_max_s:
        ctx.warn(TRUNCATED)


def _changed(role: AppRole, sent: dict[str, Any]) -> AppRole:
    """Return a role with the members that were sent."""
    old_names = token_fields.settle_old_names(sent, OLD_NAMES, role.old_names)
    given = {name: sent.pop(name) for name in TokenFields._fields if name in sent}
    if "token_type" in given:
        given["token_type"] = given["token_type"] or DEFAULT_TYPE
    if "token_bound_cidrs" in given:
        given["token_bound_cidrs"] = bound_addresses(given["token_bound_cidrs"])
    return role._replace(**sent, token_fields=role.token_fields._replace(**given), old_names=old_names)


def _check(role: AppRole) -> None:
    token_fields.check_members(role.token_fields)
    if role.secret_id_num_uses < 0:
        raise BadRequest("secret_id_num_uses cannot be negative")
    try:
        role_record.check_blocks(role.secret_id_bound_cidrs)
    except BadRequest as refused:
        raise BadRequest(one_error(*refused.errors)) from None


def _check_period(ctx: Context, period_s: int | None) -> None:
    """Raise BadRequest for a period, by its old name, that is longer than a token of the mount may live."""
    longest_s = mount_limits(ctx.mount).mount_max_s
    if period_s is not None and period_s > longest_s:
        raise too_long(period_s, longest_s)


def too_long(period_s: int, longest_s: int) -> BadRequest:
    """Return the refusal of a period that is longer than a token of the mount may live."""
    period, longest = format_duration(period_s * SECOND_NS), format_duration(longest_s * SECOND_NS)
    return BadRequest(f'period of "{period}" is greater than the backend\'s maximum lease TTL of "{longest}"')


def read_role(ctx: Context, role_name: str) -> dict[str, Any]:
    """Read a role, without its role id."""
    role = find_role(ctx.storage, role_name)
    if role is None:
        raise NotFound
    own = ("bind_secret_id", "local_secret_ids", "secret_id_num_uses", "secret_id_ttl")
    shown: dict[str, Any] = {name: getattr(role, name) for name in own}
    shown["secret_id_bound_cidrs"] = as_list(role.secret_id_bound_cidrs) or None
    return shown | token_fields.shown_members(role.token_fields, role.old_names, OLD_NAMES)


def delete_role(ctx: Context, role_name: str) -> None:
    """Delete a role with its secret ids; its tokens stay, but can no longer be renewed."""
    role = find_role(ctx.storage, role_name)
    if role is not None:
        secret_id_record.delete_all(secret_id_record.place_of(ctx, role_name, role))
        role_record.delete_role(ctx.storage, role_name, role)


def list_roles(ctx: Context) -> dict[str, Any]:
    """List the names of the roles."""
    names = ctx.storage.list(ROLES)
    if not names:
        raise NotFound
    return {"keys": names}


def exists(ctx: Context, role_name: str) -> bool:
    """Whether a write changes a role that is there."""
    return find_role(ctx.storage, role_name) is not None


ROLE_NAME = fields.name("role_name", "name of the role")
ROLE_ID = fields.text("role_id", "what a program names the role by when it logs in; drawn unless given")

BIND_SECRET_ID = fields.flag("bind_secret_id", "whether a login needs a secret id; true unless given")
SECRET_ID_BOUND_CIDRS = fields.comma_list("secret_id_bound_cidrs", "blocks of addresses that logins come from")
BOUND_CIDR_LIST = fields.comma_list("bound_cidr_list", "deprecated name of secret_id_bound_cidrs")
SECRET_ID_NUM_USES = fields.integer("secret_id_num_uses", "how often a secret id may log in; 0 is without limit")
SECRET_ID_TTL = fields.duration("secret_id_ttl", "how long a secret id is valid; 0 is without end")

FIELDS = (
    ROLE_NAME,
    ROLE_ID,
    BIND_SECRET_ID,
    fields.flag("local_secret_ids", "whether secret ids stay in this cluster and its disaster-recovery secondaries"),
    SECRET_ID_BOUND_CIDRS,
    BOUND_CIDR_LIST,
    SECRET_ID_NUM_USES,
    SECRET_ID_TTL,
    *token_fields.FIELDS,
    token_fields.OLD_POLICIES,
    token_fields.OLD_PERIOD,
)

ROUTES = (
    Route("list", "role/", list_roles),
    Route("read", "role/<role_name>", read_role, (ROLE_NAME,)),
    Route("write", "role/<role_name>", write_role, Form(AppRoleRequest, FIELDS), exists=exists),
    Route("delete", "role/<role_name>", delete_role, (ROLE_NAME,)),
)
