"""The endpoints of disaster-recovery replication (spec, DR replication).

Calls that change the mode answer 200 with a warning (decision D1); a call in the wrong mode is 400 that names the mode
(D11).  On a secondary the operation token is used instead of a client token.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest, Unavailable
from labkit.service.message import Fetch, Reply, Response
from labkit.service.routing import Route
from labkit.vault.replication import applied_position, index_state, reindex, reports
from labkit.vault.replication.mode import MODE_KEY, Mode, WrongMode, advance, by_addresses, forgetting, require
from labkit.vault.replication.shapes import MAX_ADDRESSES, MAX_ID_CHARACTERS, is_id
from labkit.vault.replication.state import State, ready_to_promote
from labkit.vault.replication.trust import activation, joining, operation_token, root_key_transfer
from labkit.vault.sealing import rekey, token_generation
from labkit.vault.sealing.seal import awaits_root_key

if TYPE_CHECKING:
    from labkit.vault.context import Context

Asking = Generator[Fetch, Response, Any]

BRIEFLY = "Vault will be unavailable for a brief period and will resume service shortly."
PUBLIC_KEYS_SINCE = (1, 3, 0)  # version of the service
NOT_READY = 'replication is still catching up: {}; try again later, or provide the "force" argument and accept the loss'

TOKEN = fields.text("dr_operation_token", "operation token of this secondary")
CLUSTER_ADDR = fields.text("primary_cluster_addr", "cluster address that secondaries are given", "")
ID = fields.text("id", "opaque and unique id of the secondary")
ACTIVATION = fields.text("token", "secondary activation token")
API_ADDR = fields.text("primary_api_addr", "address that the token is unwrapped at, instead of the one it carries", "")
CA_FILE = fields.text("ca_file", "file among the cluster's own that holds the authority of the primary's API", "")
CA_PATH = fields.text("ca_path", "folder of such files; what either of the two names is trusted", "")


def read_status(ctx: Context) -> dict[str, Any]:
    """Return mode and progress; answered in any namespace, without a token."""
    return reports.status(ctx)


def read_both_statuses(ctx: Context) -> dict[str, Any]:
    """Return the status of both kinds of replication; performance replication is not implemented."""
    return {"dr": reports.status(ctx), "performance": {"mode": "disabled"}}


def enable_primary(ctx: Context, primary_cluster_addr: str) -> None:
    """Make this cluster a DR primary, with a replication set and an authority of its own."""
    mode = joining.new_set(ctx, primary_cluster_addr)
    activation.make_authority(ctx)
    store_mode(ctx, mode)
    ctx.warn(f"This cluster is being enabled as a primary for replication. {BRIEFLY}")


def demote_primary(ctx: Context) -> None:
    """Make this primary a secondary without an upstream; data and cluster id stay."""
    store_mode(ctx, _advanced(ctx, "demote"))
    rekey.cancel(ctx)
    index_state.end_reign(ctx)
    activation.drop_authority(ctx)
    ctx.warn(f"This cluster is being demoted to a replication secondary. {BRIEFLY}")


def disable_primary(ctx: Context) -> None:
    """Leave the replication set; its secondaries can no longer connect."""
    store_mode(ctx, _advanced(ctx, "disable_primary"))
    joining.forget(ctx)
    ctx.warn(f"Replication is being disabled on this cluster. {BRIEFLY}")


def issue_secondary_token(ctx: Context, id: str, ttl: int, secondary_public_key: str) -> Reply:  # noqa: A002 - the API's name
    """Issue an activation token for a secondary's id."""
    mode = require_mode(ctx, "primary", "issue a secondary token")
    if not id:
        raise BadRequest("id must be specified: an opaque, unique name for the secondary")
    if not is_id(id):
        raise BadRequest(f"id has at most {MAX_ID_CHARACTERS} characters, not {len(id)}")
    if ttl == 0:
        raise BadRequest("ttl must be positive; leave it out for 30m")
    if secondary_public_key and activation.version_numbers(ctx.core.settings.version) < PUBLIC_KEYS_SINCE:
        raise BadRequest("secondary_public_key needs service version 1.3 or later")
    return Reply(**activation.issue(ctx, mode, id, ttl, secondary_public_key))


def revoke_secondary(ctx: Context, id: str) -> None:  # noqa: A002 - the API's name
    """Revoke a secondary's activation: it is disconnected at once."""
    require_mode(ctx, "primary", "revoke a secondary")
    if not id:
        raise BadRequest("id must be specified: the name that the secondary's token was issued for")
    if not is_id(id):
        raise BadRequest(f"no secondary with an id of {len(id)} characters is known")
    activation.revoke(ctx, id)
    ctx.after_commit = partial(ctx.core.observe, "secondary_revoked", secondary=id)


def generate_public_key(ctx: Context) -> dict[str, str]:
    """Make the key that an activation can be encrypted to."""
    if ctx.mode.mode == "primary":
        require_mode(ctx, "secondary", "generate a public key")
    if activation.version_numbers(ctx.core.settings.version) < PUBLIC_KEYS_SINCE:
        raise BadRequest("generate-public-key needs service version 1.3 or later")
    return {"secondary_public_key": activation.make_exchange_key(ctx)}


def enable_secondary(ctx: Context, token: str, primary_api_addr: str, ca_file: str, ca_path: str) -> Asking:
    """Join a primary's replication set: unwrap and validate first, then wipe (decision D4)."""
    _advanced(ctx, "enable_secondary")
    trusted = joining.Trusted(ca_file, ca_path)
    bundle, keys, spent = yield from joining.fetch_bundle(ctx, token, primary_api_addr, trusted)
    with joining.saying(spent):
        mode = _advanced(ctx, "enable_secondary", **joining.fields_of(bundle))
    joining.wipe(ctx, keys)
    store_mode(ctx, mode)
    joining.store_credentials(ctx, bundle)
    reindex.note_end(ctx)
    ctx.warn(
        "Vault has successfully found secondary information; it may take a while to perform setup tasks. "
        "Vault will be unavailable until these tasks and initial sync complete."
    )


def promote_secondary(ctx: Context, dr_operation_token: str, primary_cluster_addr: str, force: bool) -> None:
    """Make this secondary the primary; ``force`` skips the safety check, never the token."""
    require_mode(ctx, "secondary", "promote")
    operation_token.check(ctx, dr_operation_token)
    why = ready_to_promote(ctx.core.replica.sync or _unstarted(ctx), reindex.progress(ctx) is not None)
    why = why or (root_key_transfer.INCOMPLETE if awaits_root_key(ctx.core) else "")
    if why and not force:
        raise Unavailable(NOT_READY.format(why))
    root_key_transfer.warn_if_left_behind(ctx)
    index_state.inherit(ctx)
    store_mode(ctx, _advanced(ctx, "promote", primary_cluster_addr=primary_cluster_addr))
    activation.make_authority(ctx)
    ctx.full_storage.delete(activation.CREDENTIALS)
    token_generation.cancel(ctx, operation_token.OPERATION)
    ctx.warn(f"This cluster is being promoted to a replication primary. {BRIEFLY}")


def _unstarted(ctx: Context) -> State:
    """Return the state of a secondary whose replication is not under way: a vault alone never starts it (D3)."""
    return State(addresses=applied_position.addresses(ctx), complete=applied_position.read(ctx).complete)


def disable_secondary(ctx: Context, dr_operation_token: str) -> None:
    """Leave the replication set and keep the data; joining one again wipes them."""
    require_mode(ctx, "secondary", "disable the secondary")
    operation_token.check(ctx, dr_operation_token)
    root_key_transfer.warn_if_left_behind(ctx)
    store_mode(ctx, _advanced(ctx, "disable_secondary"))
    joining.forget(ctx)
    ctx.warn(f"Replication is being disabled on this cluster. {BRIEFLY}")


def update_primary(
    ctx: Context,
    dr_operation_token: str,
    token: str | None,
    primary_api_addr: str,
    ca_file: str,
    ca_path: str,
    update_primary_addrs: list[str] | None,
) -> Asking:
    """Point this secondary at another primary, at new addresses of its own, or (blank token) at none."""
    mode = require_mode(ctx, "secondary", "update the primary")
    operation_token.check(ctx, dr_operation_token)
    if token and update_primary_addrs:
        raise BadRequest("token and update_primary_addrs are mutually exclusive: give one of them")
    if update_primary_addrs and len(update_primary_addrs) > MAX_ADDRESSES:
        raise BadRequest(f"update_primary_addrs has at most {MAX_ADDRESSES} addresses, not {len(update_primary_addrs)}")
    if update_primary_addrs:
        return (yield from _move_addresses(ctx, mode, tuple(update_primary_addrs), dr_operation_token))
    if token is None or (not token and ctx.body.get("token") is None):  # a null is not a blank token
        raise BadRequest("give token (blank: forget the primary) or update_primary_addrs")
    if not token:
        store_mode(ctx, forgetting(with_position(ctx, mode)))
        ctx.warn("This secondary has no primary any more.")
        return None
    trusted = joining.Trusted(ca_file, ca_path)
    bundle, _, spent = yield from joining.fetch_bundle(ctx, token, primary_api_addr, trusted)
    with joining.saying(spent):
        mode = _still_allowed(ctx, dr_operation_token)
        store_mode(ctx, joining.repointed(mode, bundle))
    joining.store_credentials(ctx, bundle)
    ctx.warn(f"This secondary is being pointed at another primary. {BRIEFLY}")
    return None


def _move_addresses(ctx: Context, mode: Mode, addresses: tuple[str, ...], dr_operation_token: str) -> Asking:
    _moved(mode, addresses)
    serving = yield from joining.first_that_answers(ctx, addresses)
    store_mode(ctx, _moved(_still_allowed(ctx, dr_operation_token), serving))


def _moved(mode: Mode, addresses: tuple[str, ...]) -> Mode:
    try:
        return by_addresses(mode, addresses)
    except ValueError as error:
        raise BadRequest(str(error)) from None


def _still_allowed(ctx: Context, dr_operation_token: str) -> Mode:
    """Judge mode and operation token again after a fetch (R4); return the mode record with the applied position."""
    mode = require_mode(ctx, "secondary", "update the primary")
    operation_token.check(ctx, dr_operation_token)
    return with_position(ctx, mode)


def with_position(ctx: Context, mode: Mode) -> Mode:
    """Return the record with the applied position in it: the one stored beside it is valid for this record only."""
    return mode._replace(**applied_position.read(ctx)._asdict())


def read_attempt(ctx: Context) -> dict[str, Any]:
    """Return the progress of an operation token's generation."""
    require_mode(ctx, "secondary", "generate an operation token")
    return token_generation.status(ctx, operation_token.OPERATION)


def start_attempt(ctx: Context, pgp_key: str | None, otp: str | None) -> dict[str, Any]:
    """Start the generation of an operation token."""
    require_mode(ctx, "secondary", "generate an operation token")
    return token_generation.start(ctx, operation_token.OPERATION, otp, pgp_key)


def cancel_attempt(ctx: Context) -> None:
    """Cancel the generation under way."""
    require_mode(ctx, "secondary", "generate an operation token")
    token_generation.cancel(ctx, operation_token.OPERATION)


def update_attempt(ctx: Context, key: str | None, nonce: str | None) -> dict[str, Any]:
    """Take one key share."""
    require_mode(ctx, "secondary", "generate an operation token")
    return token_generation.update(ctx, operation_token.OPERATION, key, nonce)


def delete_operation_token(ctx: Context, dr_operation_token: str) -> None:
    """Delete the operation token; possible in any mode, also after a promotion with it."""
    operation_token.check(ctx, dr_operation_token)
    operation_token.delete(ctx)


def _advanced(ctx: Context, event: str, **known: Any) -> Mode:
    try:
        return advance(ctx.mode, event, **known)
    except WrongMode as error:
        raise BadRequest(str(error)) from None


def require_mode(ctx: Context, wanted: str, verb: str) -> Mode:
    """Return the mode record when the cluster is what is wanted; else BadRequest, which says what cannot be done."""
    mode = ctx.mode
    try:
        require(mode, wanted, verb)
    except WrongMode as error:
        raise BadRequest(str(error)) from None
    return mode


def store_mode(ctx: Context, mode: Mode) -> None:
    """Write the mode record."""
    ctx.full_storage.put(MODE_KEY, mode.to_bytes())


DR = "replication/dr/"
ATTEMPT = DR + "secondary/generate-operation-token/"
OPEN = ("unauthenticated", "any_mode", "enterprise")
PRIMARY = ("any_mode", "enterprise")
SECONDARY = ("unauthenticated", "any_mode", "enterprise")

ROUTES = (
    Route("read", "replication/status", read_both_statuses, (), "any_namespace", *OPEN),
    Route("read", DR + "status", read_status, (), "any_namespace", *OPEN),
    Route("write", DR + "primary/enable", enable_primary, (CLUSTER_ADDR,), *PRIMARY),
    Route("write", DR + "primary/demote", demote_primary, (), *PRIMARY),
    Route("write", DR + "primary/disable", disable_primary, (), *PRIMARY),
    Route(
        "write",
        DR + "primary/secondary-token",
        issue_secondary_token,
        (
            ID,
            fields.duration("ttl", "how long the token can be used", activation.DEFAULT_TTL_S),
            fields.text("secondary_public_key", "public key of the secondary, in place of response wrapping", ""),
        ),
        *PRIMARY,
        "sudo",
    ),
    Route("write", DR + "primary/revoke-secondary", revoke_secondary, (ID,), *PRIMARY),
    Route("write", DR + "secondary/generate-public-key", generate_public_key, (), *PRIMARY),
    Route(
        "write",
        DR + "secondary/enable",
        enable_secondary,
        (ACTIVATION, API_ADDR, CA_FILE, CA_PATH),
        *PRIMARY,
        "fetches",
    ),
    Route(
        "write",
        DR + "secondary/promote",
        promote_secondary,
        (TOKEN, CLUSTER_ADDR, fields.flag("force", "promote in spite of the safety check; may lose data", False)),
        *SECONDARY,
    ),
    Route("write", DR + "secondary/disable", disable_secondary, (TOKEN,), *SECONDARY),
    Route(
        "write",
        DR + "secondary/update-primary",
        update_primary,
        (
            TOKEN,
            ACTIVATION,
            API_ADDR,
            CA_FILE,
            CA_PATH,
            fields.comma_list("update_primary_addrs", "cluster addresses, the first that answers is taken"),
        ),
        "fetches",
        *SECONDARY,
    ),
    Route("read", ATTEMPT + "attempt", read_attempt, (), "no_envelope", *SECONDARY),
    Route(
        "write",
        ATTEMPT + "attempt",
        start_attempt,
        (
            fields.text("pgp_key", "PGP public key (base64) that the token is encrypted to"),
            fields.text("otp", "one-time pad of the token's length; made by the service when left out"),
        ),
        "no_envelope",
        *SECONDARY,
    ),
    Route("delete", ATTEMPT + "attempt", cancel_attempt, (), *SECONDARY),
    Route(
        "write",
        ATTEMPT + "update",
        update_attempt,
        (fields.text("key", "one root key share, hex or base64"), fields.text("nonce", "nonce of the attempt")),
        "no_envelope",
        *SECONDARY,
    ),
    Route("write", DR + "secondary/operation-token/delete", delete_operation_token, (TOKEN,), *SECONDARY),
)
