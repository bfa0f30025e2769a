"""Token roles: named sets of rules under which ``auth/token/create/<role>`` makes tokens.

A role is written field by field: what is not sent stays as it was.  The fields ``period``, ``explicit_max_ttl`` and
``bound_cidrs`` are the old names of the ``token_…`` ones; a role that was written with them shows both.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest, NotFound
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.auth.token_fields import (
    BOUND_CIDRS,
    EXPLICIT_MAX_TTL,
    NO_DEFAULT_POLICY,
    NUM_USES,
    PERIOD,
    check_blocks,
    settle_old_names,
)
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.storage.storage_view import StorageView

ROLES = "roles/"
TYPES = ("default", "default-batch", "default-service", "batch", "service")

_SUFFIX = re.compile(r"\w[\w.-]+\w", re.ASCII)
_SHOWN_SUFFIX = r"\w[\w-.]+\w"  # the same, as other languages write it


class TokenRole(NamedTuple):
    """What a role requires of its tokens; lengths in seconds, 0 for none; ``old_names`` are those that were sent."""

    allowed_policies: tuple[str, ...] = ()
    disallowed_policies: tuple[str, ...] = ()
    allowed_policies_glob: tuple[str, ...] = ()
    disallowed_policies_glob: tuple[str, ...] = ()
    orphan: bool = False
    renewable: bool = True
    path_suffix: str = ""
    allowed_entity_aliases: tuple[str, ...] = ()
    token_explicit_max_ttl: int = 0
    token_period: int = 0
    token_bound_cidrs: tuple[str, ...] = ()
    token_type: str = "default-service"
    token_no_default_policy: bool = False
    token_num_uses: int = 0
    old_names: tuple[str, ...] = ()

    @property
    def limits_policies(self) -> bool:
        """Whether the role says which policies its tokens may have."""
        return bool(
            self.allowed_policies
            or self.disallowed_policies
            or self.allowed_policies_glob
            or self.disallowed_policies_glob
        )


class RoleRequest(NamedTuple):
    """The settings of a role that a request changes, None leaves one as it is; the last three are old names."""

    role_name: str
    allowed_policies: list[str] | None
    disallowed_policies: list[str] | None
    allowed_policies_glob: list[str] | None
    disallowed_policies_glob: list[str] | None
    orphan: bool | None
    renewable: bool | None
    path_suffix: str | None
    allowed_entity_aliases: list[str] | None
    token_explicit_max_ttl: int | None
    token_period: int | None
    token_bound_cidrs: list[str] | None
    token_type: str | None
    token_no_default_policy: bool | None
    token_num_uses: int | None
    period: int | None
    explicit_max_ttl: int | None
    bound_cidrs: list[str] | None


OLD_NAMES = {
    "period": "token_period",
    "explicit_max_ttl": "token_explicit_max_ttl",
    "bound_cidrs": "token_bound_cidrs",
}

FIELDS = (
    fields.comma_list("allowed_policies", "policies that tokens of the role may have; empty: those of the caller"),
    fields.comma_list("disallowed_policies", "policies that tokens of the role may not have"),
    fields.comma_list("allowed_policies_glob", "the same with * for any characters"),
    fields.comma_list("disallowed_policies_glob", "the same with * for any characters"),
    fields.flag("orphan", "whether tokens of the role have no parent"),
    fields.flag("renewable", "whether tokens of the role may be renewed; true when left out"),
    fields.text("path_suffix", "what is appended to the path that a token of the role was made at"),
    fields.comma_list("allowed_entity_aliases", "kept and shown; labkit has no identity store to look them up in"),
    EXPLICIT_MAX_TTL,
    PERIOD,
    BOUND_CIDRS,
    fields.text("token_type", "kind of the tokens", choices=TYPES),
    NO_DEFAULT_POLICY,
    NUM_USES,
    fields.duration("period", "old name of token_period"),
    fields.duration("explicit_max_ttl", "old name of token_explicit_max_ttl"),
    fields.comma_list("bound_cidrs", "old name of token_bound_cidrs"),
)

ROLE_NAME = fields.name("role_name", "name of the role")


def decode_role(stored: bytes) -> TokenRole:
    """Read a stored role."""
    row: list[Any] = [tuple(value) if isinstance(value, list) else value for value in decode_record(stored)]
    return TokenRole(*row)


def find_role(storage: StorageView, name: str) -> TokenRole | None:
    """Return a role of a mount's storage by its name, or None."""
    return storage.decoded(ROLES + name, decode_role)


def read_role(ctx: Context, role_name: str) -> dict[str, Any]:
    """Read a role."""
    role = find_role(ctx.storage, role_name)
    if role is None:
        raise NotFound
    shown: dict[str, Any] = {"name": role_name, "period": 0, "explicit_max_ttl": 0}
    for field, value in zip(TokenRole._fields, role, strict=True):
        shown[field] = list(value) if isinstance(value, tuple) else value
    shown["allowed_entity_aliases"] = shown["allowed_entity_aliases"] or None
    for old in shown.pop("old_names"):
        shown[old] = shown[OLD_NAMES[old]]
    for optional in ("token_bound_cidrs", "token_num_uses"):
        if not shown[optional]:
            del shown[optional]
    return shown


def write_role(ctx: Context, asked: RoleRequest) -> None:
    """Create a role, or change what is sent of it."""
    sent = {name: value for name, value in asked._asdict().items() if value is not None}
    role_name = sent.pop("role_name")
    role = find_role(ctx.storage, role_name) or TokenRole()
    old_names = settle_old_names(sent, OLD_NAMES, role.old_names)
    plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in sent.items()}
    role = role._replace(**plain, old_names=old_names)
    _check(role)
    ctx.storage.put(ROLES + role_name, encode_record(list(role)))


def _check(role: TokenRole) -> None:
    if role.token_type not in TYPES:
        raise BadRequest(f"invalid 'token_type' value \"{role.token_type}\"")
    if role.token_num_uses < 0:
        raise BadRequest("'token_num_uses' cannot be negative")
    if role.path_suffix and not _SUFFIX.fullmatch(role.path_suffix):
        raise BadRequest(f"given role path suffix contains invalid characters; must match {_SHOWN_SUFFIX}")
    check_blocks(role.token_bound_cidrs)
    if role.token_type == "batch":
        _check_batch(role)


def _check_batch(role: TokenRole) -> None:
    wrong = {
        "non-orphan tokens": not role.orphan,
        "periodic tokens": role.token_period > 0,
        "renewable tokens": role.renewable,
        "tokens with an explicit max TTL": role.token_explicit_max_ttl > 0,
        "tokens with limited use count": role.token_num_uses > 0,
    }
    for what, is_so in wrong.items():
        if is_so:
            raise BadRequest(f"'token_type' cannot be 'batch' when role is set to generate {what}")


def delete_role(ctx: Context, role_name: str) -> None:
    """Delete a role; its tokens stay, but can no longer be renewed."""
    ctx.storage.delete(ROLES + role_name)


def list_roles(ctx: Context) -> dict[str, Any]:
    """List the names of the roles."""
    names = ctx.storage.list(ROLES)
    if not names:
        raise NotFound
    return {"keys": names}


ROUTES = (
    Route("list", "roles/", list_roles),
    Route("read", "roles/<role_name>", read_role, (ROLE_NAME,)),
    Route("write", "roles/<role_name>", write_role, Form(RoleRequest, (ROLE_NAME, *FIELDS))),
    Route("delete", "roles/<role_name>", delete_role, (ROLE_NAME,)),
)
