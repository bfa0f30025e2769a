"""Logging in: ``login``, a role id and a secret id for a token.

1. In this order: the role id is named; its role is not locked out, and known; the secret id is named, and known; the
   request comes from where secret id and role are bound to.  A role that binds no secret id ignores any.
2. A wrong secret id of a role that there is counts towards its lock-out; a login that succeeds ends the count.
3. A login that is refused for its address takes no use; one whose token cannot be made has taken it.  The last use
   deletes the secret id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest, ServiceError
from labkit.service.message import Reply
from labkit.service.routing import Route
from labkit.vault import tokens
from labkit.vault.auth import login_token, user_lockout
from labkit.vault.auth.addresses import bound_addresses, check_subset
from labkit.vault.auth.approle import secret_id_record
from labkit.vault.auth.approle.role_record import AppRole, find_name, find_role
from labkit.vault.auth.approle.roles import ROLE_ID
from labkit.vault.auth.approle.secret_id_record import SecretId, SecretIdPlace
from labkit.vault.auth.approle.secret_ids import SECRET_ID

if TYPE_CHECKING:
    from labkit.vault.context import Context

INVALID = "invalid role or secret ID"


def login(ctx: Context, role_id: str | None, secret_id: str | None) -> Reply:
    """Answer with a token as the role says, for one of its secret ids."""
    role_id, text = (role_id or "").strip(), (secret_id or "").strip()
    if not role_id:
        raise BadRequest("missing role_id")
    user_lockout.check(ctx, role_id)
    name = find_name(ctx.storage, role_id)
    role = find_role(ctx.storage, name) if name is not None else None
    if name is None or role is None:
        raise _refused(ctx, "role_id", INVALID)
    place = secret_id_record.place_of(ctx, name, role)
    digest, found = _presented(ctx, place, role, role_id, text)
    _check_addresses(ctx, role, found)
    user_lockout.succeed(ctx, role_id)
    if found is not None:
        _use(ctx, place, digest, found)
    return _issue(ctx, name, role, found)


def _presented(
    ctx: Context, place: SecretIdPlace, role: AppRole, role_id: str, text: str
) -> tuple[str, SecretId | None]:
    """Return the hash and record of the secret id that is presented; None where the role binds none."""
    if not role.bind_secret_id:
        return "", None
    if not text:
        raise BadRequest("missing secret_id")
    digest = secret_id_record.digest_of(place, text)
    found = secret_id_record.find(place, digest)
    if found is None:
        user_lockout.fail(ctx, role_id)
        raise _refused(ctx, "secret_id", INVALID)
    return digest, found


def _check_addresses(ctx: Context, role: AppRole, found: SecretId | None) -> None:
    """Raise BadRequest for an address that the secret id, or the role, is not bound to."""
    address = ctx.request.remote_address
    if found is not None and found.cidr_list:
        check_subset(found.cidr_list, role.secret_id_bound_cidrs)
        if not tokens.is_within(address, found.cidr_list):
            how = "by" if found.uses else "through"
            text = f'source address "{address}" unauthorized {how} CIDR restrictions on the secret ID'
            raise _refused(ctx, "address", text)
    if role.secret_id_bound_cidrs and not tokens.is_within(address, role.secret_id_bound_cidrs):
        raise _refused(ctx, "address", f'source address "{address}" unauthorized by CIDR restrictions on the role')


def _use(ctx: Context, place: SecretIdPlace, digest: str, found: SecretId) -> None:
    """Take one use off a secret id that counts them."""
    if found.uses == 1:
        secret_id_record.delete(place, digest)
    elif found.uses:
        secret_id_record.store(place, digest, found._replace(uses=found.uses - 1, updated_ns=ctx.now))


def _issue(ctx: Context, name: str, role: AppRole, found: SecretId | None) -> Reply:
    given, metadata = role.token_fields, {} if found is None else dict(found.metadata)
    if found is not None and found.token_bound_cidrs:
        given = given._replace(token_bound_cidrs=bound_addresses(found.token_bound_cidrs))
    used = dict(ctx.writes)
    try:
        return login_token.issue(ctx, role.role_id, name, given, {**metadata, "role_name": name})
    except ServiceError:
        for key, stored in used.items():
            ctx.write_even_if_refused(key, stored)
        raise


def _refused(ctx: Context, reason: str, text: str) -> BadRequest:
    """Return a refusal, and report why."""
    user_lockout.report(ctx, reason)
    return BadRequest(text)


ROUTES = (Route("write", "login", login, (ROLE_ID, SECRET_ID), "unauthenticated"),)
