"""One setting of a role at a path of its own, such as ``role/<role_name>/token-ttl``: read, written, set back.

1. A write needs the setting, but for lists of addresses, where none changes nothing.  The role is judged as a whole.
2. A deletion sets it back to what a new role has; of a role that is not there it changes nothing.
3. ``bound-cidr-list`` is the old name of ``secret-id-bound-cidrs``: it is written there, and shows and deletes nothing.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest, NotFound, one_error
from labkit.service.fields import Field
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.auth import token_fields
from labkit.vault.auth.addresses import bound_addresses
from labkit.vault.auth.approle import roles
from labkit.vault.auth.approle.role_record import AppRole, check_blocks, find_role, store_role
from labkit.vault.auth.approle.roles import ROLE_NAME
from labkit.vault.auth.lifetime import mount_limits
from labkit.vault.auth.token_fields import TokenFields, as_list, as_tuple, cleaned, settle_old_names

if TYPE_CHECKING:
    from labkit.vault.context import Context

NO_ROLE = one_error("unsupported path")
"""What a write of a role that is not there is answered with."""

DEPRECATED = (
    'The "bound_cidr_list" field is deprecated and will be removed. Please use "secret_id_bound_cidrs" instead.'
)

LISTS_OF_ADDRESSES = ("secret_id_bound_cidrs", "token_bound_cidrs")
MISSING = {"token_period": "period"}
"""{setting: what a write without it says is missing}, where that is not its name."""

NEW = AppRole("", "")


class RoleSetting(NamedTuple):
    """A setting with a path of its own: its field, and the one of its old name."""

    path: str
    field: Field
    old: Field | None = None


SETTINGS = (
    RoleSetting("policies", token_fields.POLICIES, token_fields.OLD_POLICIES),
    RoleSetting("secret-id-bound-cidrs", roles.SECRET_ID_BOUND_CIDRS),
    RoleSetting("token-bound-cidrs", token_fields.BOUND_CIDRS),
    RoleSetting("bind-secret-id", roles.BIND_SECRET_ID),
    RoleSetting("secret-id-num-uses", roles.SECRET_ID_NUM_USES),
    RoleSetting("secret-id-ttl", roles.SECRET_ID_TTL),
    RoleSetting("period", token_fields.PERIOD, token_fields.OLD_PERIOD),
    RoleSetting("token-num-uses", token_fields.NUM_USES),
    RoleSetting("token-ttl", token_fields.TTL),
    RoleSetting("token-max-ttl", token_fields.MAX_TTL),
)


def _routes(setting: RoleSetting) -> tuple[Route, ...]:
    """Make the endpoints of a setting."""
    name, old = setting.field.name, setting.old

    def read(ctx: Context, role_name: str) -> dict[str, Any]:
        role = _present(ctx, role_name)
        value = as_list(_value(role, name))
        shown = {name: None if value == [] and name in LISTS_OF_ADDRESSES else value}
        return shown | ({old.name: value} if old and old.name in role.old_names and value else {})

    def write(ctx: Context, asked: Any) -> None:
        _write(ctx, setting, {key: as_tuple(value) for key, value in asked._asdict().items() if value is not None})

    def delete(ctx: Context, role_name: str) -> None:
        role = find_role(ctx.storage, role_name)
        if role is not None:
            sent = {name: _value(NEW, name)}
            old_names = settle_old_names(sent, roles.OLD_NAMES, role.old_names)
            store_role(ctx.storage, role_name, _with(role, name, sent[name])._replace(old_names=old_names))

    read.__doc__ = f"Read a role's {name}."
    write.__doc__ = f"Change a role's {name}."
    delete.__doc__ = f"Set a role's {name} back to what a new role has."
    sent_fields = (ROLE_NAME, setting.field, *((old,) if old else ()))
    request: Any = namedtuple("RoleSettingRequest", [field.name for field in sent_fields])  # type: ignore[misc]  # its names are the setting's
    pattern = f"role/<role_name>/{setting.path}"
    return (
        Route("read", pattern, read, (ROLE_NAME,)),
        Route("write", pattern, write, Form(request, sent_fields)),
        Route("delete", pattern, delete, (ROLE_NAME,)),
    )


def _write(ctx: Context, setting: RoleSetting, sent: dict[str, Any]) -> None:
    role_name, name = sent.pop("role_name"), setting.field.name
    role = find_role(ctx.storage, role_name)
    if role is None:
        raise NotFound(NO_ROLE)
    if name == "token_period":
        _check_period(ctx, sent)
    old_names = settle_old_names(sent, roles.OLD_NAMES, role.old_names)
    if name not in sent:
        if name in LISTS_OF_ADDRESSES:
            return
        raise BadRequest(f"missing {MISSING.get(name, name)}")
    changed = _with(role, name, _judged(role, name, sent[name]))._replace(old_names=old_names)
    token_fields.check_members(changed.token_fields)
    store_role(ctx.storage, role_name, changed)
    if name == "token_max_ttl" and sent[name] > mount_limits(ctx.mount).mount_max_s:
        ctx.warn(roles.TRUNCATED)


def _judged(role: AppRole, name: str, value: Any) -> Any:
    """Return a setting as it is kept; raise BadRequest for one that cannot be."""
    given = role.token_fields
    if name == "token_policies":
        return cleaned(value)
    if name == "secret_id_bound_cidrs":
        if not value:
            raise BadRequest("missing bound_cidr_list")
        check_blocks(value)
    if name == "token_bound_cidrs":
        try:
            return bound_addresses(value)
        except BadRequest as refused:
            raise BadRequest(f"failed to parse token_bound_cidrs: {refused.errors[0]}") from None
    if name == "secret_id_num_uses" and value < 0:
        raise BadRequest("secret_id_num_uses cannot be negative")
    if name == "token_ttl" and value > given.token_max_ttl > 0:
        raise BadRequest("token_ttl should not be greater than token_max_ttl")
    if name == "token_max_ttl" and given.token_ttl > value > 0:
        raise BadRequest("token_max_ttl should be greater than or equal to token_ttl")
    return value


def _check_period(ctx: Context, sent: dict[str, Any]) -> None:
    """Raise BadRequest for a period that is longer than a token of the mount may live; the text has the old name's."""
    longest_s = mount_limits(ctx.mount).mount_max_s
    if max(sent.get("token_period", 0), sent.get("period", 0)) > longest_s:
        raise roles.too_long(sent.get("period", 0), longest_s)


def _present(ctx: Context, role_name: str) -> AppRole:
    role = find_role(ctx.storage, role_name)
    if role is None:
        raise NotFound
    return role


def _value(role: AppRole, name: str) -> Any:
    return getattr(role.token_fields if name in TokenFields._fields else role, name)


def _with(role: AppRole, name: str, value: Any) -> AppRole:
    if name in TokenFields._fields:
        return role._replace(token_fields=role.token_fields._replace(**{name: value}))
    return role._replace(**{name: value})


def read_local(ctx: Context, role_name: str) -> dict[str, Any]:
    """Read whether a role's secret ids stay in this cluster and its disaster-recovery secondaries."""
    return {"local_secret_ids": _present(ctx, role_name).local_secret_ids}


def read_old_list(ctx: Context, role_name: str) -> dict[str, Any]:
    """Answer that the old name shows nothing, and which one to use instead."""
    _present(ctx, role_name)
    ctx.warn(DEPRECATED)
    return {"bound_cidr_list": None}


def write_old_list(ctx: Context, role_name: str, bound_cidr_list: list[str] | None) -> None:
    """Change a role's secret_id_bound_cidrs by its old name."""
    sent = {} if bound_cidr_list is None else {"secret_id_bound_cidrs": tuple(bound_cidr_list)}
    _write(ctx, ADDRESSES, {"role_name": role_name, **sent})


def delete_old_list(ctx: Context, role_name: str) -> None:
    """Change nothing: the old name holds nothing to set back."""


ADDRESSES = next(setting for setting in SETTINGS if setting.field is roles.SECRET_ID_BOUND_CIDRS)

ROUTES = (
    *(route for setting in SETTINGS for route in _routes(setting)),
    Route("read", "role/<role_name>/local-secret-ids", read_local, (ROLE_NAME,)),
    Route("read", "role/<role_name>/bound-cidr-list", read_old_list, (ROLE_NAME,)),
    Route("write", "role/<role_name>/bound-cidr-list", write_old_list, (ROLE_NAME, roles.BOUND_CIDR_LIST)),
    Route("delete", "role/<role_name>/bound-cidr-list", delete_old_list, (ROLE_NAME,)),
)
