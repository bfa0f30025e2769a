"""Secret ids: made by the service or chosen by the caller, listed, looked up and destroyed, each under its role.

1. A secret id is shown once, in the answer that makes it; a lookup names its accessor.
2. It has no more uses, time or addresses than its role gives; what is not sent is as the role says.
3. What one is asked about is in the body; a DELETE has it in the query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.durations import SECOND_NS, format_instant
from labkit.service.errors import BadRequest, NotFound, one_error
from labkit.service.message import Reply
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.auth.addresses import check_masked, check_subset
from labkit.vault.auth.approle import secret_id_record
from labkit.vault.auth.approle.metadata import parse_metadata
from labkit.vault.auth.approle.role_record import AppRole, check_blocks, find_role
from labkit.vault.auth.approle.roles import ROLE_NAME
from labkit.vault.auth.approle.secret_id_record import TOO_LONG, SecretId, SecretIdPlace
from labkit.vault.auth.lifetime import mount_limits
from labkit.vault.identifiers import uuid_text

if TYPE_CHECKING:
    from labkit.vault.context import Context

NEVER = "0001-01-01T00:00:00Z"


class SecretIdRequest(NamedTuple):
    """What a new secret id is to be like; None leaves it to the role.  ``secret_id`` is one that the caller chose."""

    role_name: str
    metadata: str | None
    cidr_list: list[str] | None
    token_bound_cidrs: list[str] | None
    ttl: int | None
    num_uses: int | None
    secret_id: str | None = None

    def __repr__(self) -> str:
        return f"SecretIdRequest({self.role_name})"  # never the secret id


def generate(ctx: Context, asked: SecretIdRequest) -> Reply:
    """Make a secret id for a role."""
    return _make(ctx, asked, "")


def generate_custom(ctx: Context, asked: SecretIdRequest) -> Reply:
    """Make a secret id of the caller's choice for a role."""
    if not asked.secret_id:
        raise BadRequest("missing secret_id")
    return _make(ctx, asked, asked.secret_id)


def _make(ctx: Context, asked: SecretIdRequest, text: str) -> Reply:
    role = find_role(ctx.storage, asked.role_name)
    if role is None:
        raise NotFound(_no_role(asked.role_name))
    if not role.bind_secret_id:
        raise BadRequest("bind_secret_id is not set on the role")
    cidr_list, token_cidrs = _blocks(role, asked)
    uses, ttl_s = _uses(role, asked.num_uses), _ttl_s(role, asked.ttl)
    metadata = parse_metadata(asked.metadata or "")
    granted_s = min(ttl_s, mount_limits(ctx.mount).mount_max_s)
    place = secret_id_record.place_of(ctx, asked.role_name, role)
    text = text or uuid_text(ctx.entropy)
    if secret_id_record.is_too_long(text):
        raise BadRequest(one_error(f"failed to store secret_id: failed to create HMAC of secret ID: {TOO_LONG}"))
    digest = _digest(place, text)
    if secret_id_record.find(place, digest) is not None:
        raise BadRequest(one_error("failed to store secret_id: SecretID is already registered"))
    expires_ns = ctx.now + granted_s * SECOND_NS if granted_s else 0
    times = (ttl_s, ctx.now, expires_ns, ctx.now)
    made = SecretId(uuid_text(ctx.entropy), uses, *times, tuple(metadata.items()), cidr_list, token_cidrs)
    secret_id_record.store(place, digest, made)
    secret_id_record.store_accessor(place, digest, made)
    data = {
        "secret_id": text,
        "secret_id_accessor": made.accessor,
        "secret_id_num_uses": uses,
        "secret_id_ttl": granted_s,
    }
    return Reply(data, accessor=made.accessor)


def _blocks(role: AppRole, asked: SecretIdRequest) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the blocks that logins, and tokens, are bound to; raise BadRequest for any that are not the role's."""
    cidr_list, token_cidrs = tuple(asked.cidr_list or ()), tuple(asked.token_bound_cidrs or ())
    try:
        check_blocks(cidr_list)
        check_subset(cidr_list, role.secret_id_bound_cidrs)
        check_masked(token_cidrs, "failed to validate token CIDR blocks")
        check_subset(token_cidrs, role.token_fields.token_bound_cidrs)
    except BadRequest as refused:
        raise BadRequest(one_error(*refused.errors)) from None
    return cidr_list, token_cidrs


def _uses(role: AppRole, asked: int | None) -> int:
    if asked is None:
        return role.secret_id_num_uses
    if asked < 0:
        raise BadRequest("num_uses cannot be negative")
    if role.secret_id_num_uses and not 0 < asked <= role.secret_id_num_uses:
        raise BadRequest("num_uses cannot be higher than the role's secret_id_num_uses")
    return asked


def _ttl_s(role: AppRole, asked_s: int | None) -> int:
    if asked_s is None:
        return role.secret_id_ttl
    if role.secret_id_ttl and not 0 < asked_s <= role.secret_id_ttl:
        raise BadRequest("ttl cannot be longer than the role's secret_id_ttl")
    return asked_s


def list_accessors(ctx: Context, role_name: str) -> dict[str, Any]:
    """List the accessors of a role's secret ids."""
    role = find_role(ctx.storage, role_name)
    if role is None:
        raise BadRequest(_no_role(role_name))
    accessors = secret_id_record.accessors(secret_id_record.place_of(ctx, role_name, role))
    if not accessors:
        raise NotFound
    return {"keys": accessors}


def look_up(ctx: Context, role_name: str, secret_id: str | None) -> dict[str, Any] | None:
    """Describe a secret id of a role; nothing of one that is not there."""
    place, digest = _named(ctx, role_name, secret_id)
    found = secret_id_record.find(place, digest)
    return None if found is None else describe(found)


def destroy(ctx: Context, role_name: str, secret_id: str | None) -> None:
    """Delete a secret id of a role; one that is not there is ignored."""
    place, digest = _named(ctx, role_name, secret_id)
    secret_id_record.delete(place, digest)


def _named(ctx: Context, role_name: str, secret_id: str | None) -> tuple[SecretIdPlace, str]:
    """Return where a role's secret ids are, and the hash of the one that the request names."""
    if not secret_id:
        raise BadRequest("missing secret_id")
    role = present_role(ctx, role_name)
    place = secret_id_record.place_of(ctx, role_name, role)
    return place, _digest(place, secret_id)


def present_role(ctx: Context, role_name: str) -> AppRole:
    """Return a role that a request needs; raise BadRequest for one that is not there."""
    role = find_role(ctx.storage, role_name)
    if role is None:
        raise BadRequest(one_error(_no_role(role_name)))
    return role


def _no_role(name: str) -> str:
    return f'role "{name}" does not exist'


def _digest(place: SecretIdPlace, text: str) -> str:
    try:
        return secret_id_record.digest_of(place, text)
    except BadRequest as refused:
        raise BadRequest(one_error(*refused.errors)) from None


def describe(secret_id: SecretId) -> dict[str, Any]:
    """Lay out what a lookup shows of a secret id."""
    return {
        "secret_id_accessor": secret_id.accessor,
        "secret_id_num_uses": secret_id.uses,
        "secret_id_ttl": secret_id.ttl_s,
        "creation_time": format_instant(secret_id.created_ns),
        "expiration_time": format_instant(secret_id.expires_ns) if secret_id.expires_ns else NEVER,
        "last_updated_time": format_instant(secret_id.updated_ns),
        "metadata": dict(secret_id.metadata),
        "cidr_list": list(secret_id.cidr_list),
        "token_bound_cidrs": list(secret_id.token_bound_cidrs),
    }


SECRET_ID = fields.text("secret_id", "the secret id")

FIELDS = (
    ROLE_NAME,
    fields.text("metadata", "names and texts for the tokens of its logins: a JSON object as text, or a=b,c=d"),
    fields.comma_list("cidr_list", "blocks of addresses that logins come from, within the role's"),
    fields.comma_list("token_bound_cidrs", "blocks of addresses that tokens are used from, within the role's"),
    fields.duration("ttl", "how long it is valid, at most what the role says"),
    fields.integer("num_uses", "how often it may log in, at most what the role says"),
)

NAMED = (ROLE_NAME, SECRET_ID)

ROUTES = (
    Route("write", "role/<role_name>/secret-id", generate, Form(SecretIdRequest, FIELDS)),
    Route("list", "role/<role_name>/secret-id/", list_accessors, (ROLE_NAME,)),
    Route("write", "role/<role_name>/custom-secret-id", generate_custom, Form(SecretIdRequest, (*FIELDS, SECRET_ID))),
    Route("write", "role/<role_name>/secret-id/lookup", look_up, NAMED),
    Route("write", "role/<role_name>/secret-id/destroy", destroy, NAMED),
    Route("delete", "role/<role_name>/secret-id/destroy", destroy, NAMED),
)
