"""Roles of the cloud auth method: ``role/<name>`` and the list of them.

1. A role is written field by field: what is not sent stays as it was, an empty list ends a bound.
2. A role without any bound is refused (decision A1).  Entries are literal: ``*`` is one like any other (A2).
3. Names are the same in any case.
4. A renewal consults the role as it is then: its times hold, and none without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest, NotFound
from labkit.service.folding import folded
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.auth import token_fields
from labkit.vault.auth.cloud.role_record import BOUNDS, ROLES, CloudRole, find_role, store_role
from labkit.vault.auth.lifetime import TtlLimits, mount_limits, no_role
from labkit.vault.auth.token_fields import DEFAULT_TYPE, OLD_NAMES, TokenFields, role_limits

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.mounts import Mount
    from labkit.vault.storage.storage_view import StorageView
    from labkit.vault.token_record import Token

UNBOUND = "must have at least one bound constraint when creating/updating a role"


class CloudRoleRequest(NamedTuple):
    """The settings of a role that a request changes, None leaves one as it is; the last five are old names."""

    name: str
    bound_service_principal_ids: list[str] | None
    bound_group_ids: list[str] | None
    bound_locations: list[str] | None
    bound_subscription_ids: list[str] | None
    bound_resource_groups: list[str] | None
    bound_scale_sets: list[str] | None
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
    ttl: int | None
    max_ttl: int | None
    period: int | None
    num_uses: int | None


NAME = fields.name("name", "name of the role")

BOUND_FIELDS = (
    fields.comma_list("bound_service_principal_ids", "service principals that may log in"),
    fields.comma_list("bound_group_ids", "groups whose members may log in"),
    fields.comma_list("bound_locations", "locations whose machines may log in"),
    fields.comma_list("bound_subscription_ids", "subscriptions whose machines may log in"),
    fields.comma_list("bound_resource_groups", "resource groups whose machines may log in"),
    fields.comma_list("bound_scale_sets", "scale sets whose machines may log in"),
)


def write_role(ctx: Context, asked: CloudRoleRequest) -> None:
    """Create a role, or change what is sent of it."""
    sent = {name: _plain(value) for name, value in asked._asdict().items() if value is not None}
    name = sent.pop("name")
    role = find_role(ctx.storage, name) or CloudRole()
    old_names = token_fields.settle_old_names(sent, OLD_NAMES, role.old_names)
    bounds = {bound: sent.pop(bound) for bound in CloudRole._fields[:BOUNDS] if bound in sent}
    if "token_type" in sent:
        sent["token_type"] = sent["token_type"] or DEFAULT_TYPE
    role = role._replace(**bounds, token_fields=role.token_fields._replace(**sent), old_names=old_names)
    if not role.is_bound:
        raise BadRequest(UNBOUND)
    token_fields.check(role.token_fields, mount_limits(ctx.mount), ctx.warn)
    store_role(ctx.storage, name, role)


def _plain(value: Any) -> Any:
    """Return a list as a tuple without its empty entries."""
    return tuple([item for item in value if item]) if isinstance(value, list) else value


def read_role(ctx: Context, name: str) -> dict[str, Any]:
    """Read a role."""
    role = find_role(ctx.storage, name)
    if role is None:
        raise NotFound
    shown: dict[str, Any] = dict(zip(CloudRole._fields[:BOUNDS], role[:BOUNDS], strict=True))
    shown |= zip(TokenFields._fields, role.token_fields, strict=True)
    shown |= {old: shown[OLD_NAMES[old]] for old in role.old_names}
    return {field: list(value) if isinstance(value, tuple) else value for field, value in shown.items()}


def delete_role(ctx: Context, name: str) -> None:
    """Delete a role; its tokens stay, but can no longer be renewed."""
    ctx.storage.delete(ROLES + folded(name))


def list_roles(ctx: Context) -> dict[str, Any]:
    """List the names of the roles."""
    names = ctx.storage.list(ROLES)
    if not names:
        raise NotFound
    return {"keys": names}


def renewal_limits(storage: StorageView, mount: Mount, token: Token) -> TtlLimits:
    """Return what limits the next life of a token of a role; raise BadRequest when that was deleted."""
    role = find_role(storage, token.role)
    if role is None:
        raise no_role(token.role)
    return role_limits(mount, role.token_fields)


ROLE_FIELDS = (NAME, *BOUND_FIELDS, *token_fields.FIELDS, *token_fields.OLD_FIELDS)

ROUTES = (
    Route("list", "role/", list_roles),
    Route("read", "role/<name>", read_role, (NAME,)),
    Route("write", "role/<name>", write_role, Form(CloudRoleRequest, ROLE_FIELDS)),
    Route("delete", "role/<name>", delete_role, (NAME,)),
)
