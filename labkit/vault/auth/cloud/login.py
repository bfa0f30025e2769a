"""Logging in: ``login``, the walk from a signed token to one of the service's own.

1. Syntax, then the token: its header, signature and claims; then the role, the caller's address, what the role binds,
   and the machine last.  So only who holds a valid token learns that a role is unknown (decision A6), and nothing is
   asked of the cloud's metadata before the signature was verified and the claims allow the login.
2. Whoever is refused gets one and the same answer; the reason is in audit and trace only (decision A3).
3. A token's metadata names the machine only where the token or the cloud confirmed it (decision A6).
4. A login that waited for the cloud is judged again, from its token on, and issued as its mount is tuned by then.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from labkit.service import fields
from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest, Forbidden
from labkit.service.folding import folded
from labkit.service.message import Fetch, Reply, Response
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault import tokens
from labkit.vault.auth import login_token
from labkit.vault.auth.cloud import checks, key_sets, machine_lookup, signed_token
from labkit.vault.auth.cloud.checks import Presented
from labkit.vault.auth.cloud.machine import MachinePlace, read_place
from labkit.vault.auth.cloud.refusals import LoginRefused
from labkit.vault.auth.cloud.role_record import CloudRole, find_role
from labkit.vault.auth.cloud.settings import CloudConfig, effective, find_config

if TYPE_CHECKING:
    from labkit.vault.context import Context

MAX_SHOWN = 128
REQUIRED = ("role", "jwt", "subscription_id", "resource_group_name")


class LoginRequest(NamedTuple):
    """What a machine logs in with."""

    role: str
    jwt: str
    subscription_id: str
    resource_group_name: str
    vm_name: str
    vmss_name: str
    resource_id: str

    def __repr__(self) -> str:
        return f"LoginRequest({self.role})"


def login(ctx: Context, asked: LoginRequest) -> Generator[Fetch, Response, Reply]:
    """Verify a machine's token, and answer with a token of the service as its role says."""
    for name in REQUIRED:
        if not getattr(asked, name):
            raise BadRequest(f"{name} is required")
    place = read_place(asked)
    config, step = find_config(ctx.storage), ctx.writes
    try:
        presented = yield from _verified(ctx, asked.jwt, place)
        role = find_role(ctx.storage, asked.role)
        if role is None:
            raise BadRequest(f'invalid role name "{asked.role[:MAX_SHOWN]}"')
        presented = _fitting(ctx, presented, role)
        if role.binds_machine:
            yield from machine_lookup.check_machine(ctx, presented)
            presented = _fitting(ctx, (yield from _verified(ctx, asked.jwt, place)), role)
    except LoginRefused as refused:
        ctx.audit_reason = refused.reason
        ctx.observe("login refused", mount=ctx.mount.path, role=asked.role[:MAX_SHOWN], reason=refused.reason)
        raise Forbidden(tokens.DENIED) from None
    went_on = ctx.writes is not step  # in another step: the cloud was asked
    if went_on and (find_role(ctx.storage, asked.role) != role or find_config(ctx.storage) != config):
        raise BadRequest("role or configuration were changed while the cloud was asked; log in again")
    return _issue(ctx, asked.role, presented)


def _verified(ctx: Context, text: str, place: MachinePlace) -> Generator[Fetch, Response, Presented]:
    """Return what a token presents, once its signature and its claims were checked."""
    token = signed_token.read_token(text)
    settings = effective(ctx, find_config(ctx.storage) or CloudConfig())
    issuer, key = yield from key_sets.find_key(ctx, settings, token.key_id)
    signed_token.check_signature(token, key)
    claims = signed_token.read_object(token.claims, "claims")
    leeway_ns = ctx.core.settings.login_leeway_s * SECOND_NS
    ctx.core.time_decided = True
    presented = Presented(claims, issuer, settings, place, ctx.now, leeway_ns)
    for check in checks.TOKEN_CHECKS:
        check(presented)
    return presented


def _fitting(ctx: Context, presented: Presented, role: CloudRole) -> Presented:
    """Return what a valid token presents under a role that takes it."""
    check_address(ctx, role)
    presented = presented._replace(role=role)
    for check in checks.ROLE_CHECKS:
        check(presented)
    return presented


def check_address(ctx: Context, role: CloudRole) -> None:
    """The request comes from one of the role's blocks of addresses (spec, ``token_bound_cidrs``)."""
    blocks = role.token_fields.token_bound_cidrs
    if blocks and not tokens.is_within(ctx.request.remote_address, blocks):
        raise LoginRefused("address")


def _issue(ctx: Context, role_name: str, presented: Presented) -> Reply:
    claims, place, role = presented.claims, presented.place, presented.role
    confirmed = role.binds_machine or checks.is_confirmed(presented)
    metadata = {"role": role_name, **(place.shown() if confirmed else {})}
    application = claims.get("appid")
    if isinstance(application, str) and application:
        metadata["app_id"] = application
    alias = folded(claims["oid"])
    return login_token.issue(ctx, alias, folded(role_name), role.token_fields, metadata, alias)


FIELDS = (
    fields.text("role", "role to log in under", ""),
    fields.text("jwt", "signed token of a managed identity", ""),
    fields.text("subscription_id", "subscription of the machine that got the token", ""),
    fields.text("resource_group_name", "resource group of that machine", ""),
    fields.text("vm_name", "name of the virtual machine; ignored where vmss_name is given", ""),
    fields.text("vmss_name", "name of the scale set", ""),
    fields.text("resource_id", "path of any other resource; ignored where vmss_name or vm_name is given", ""),
)

ROUTES = (Route("write", "login", login, Form(LoginRequest, FIELDS), "unauthenticated", "fetches"),)
