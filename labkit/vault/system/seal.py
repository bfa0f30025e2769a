"""Initialising, sealing, unsealing, and giving up the lead: ``sys/init``, ``seal-status``, ``unseal``, ``seal``,
``step-down``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.sealing import pgp
from labkit.vault.sealing import seal as seals
from labkit.vault.sealing.initialise import prepare, read_cluster

if TYPE_CHECKING:
    from labkit.vault.context import Context

ALWAYS = ("unauthenticated", "while_sealed", "on_standby", "any_mode")

MADE_AT = "1970-01-01T00:00:00Z"
"""Shown as the date of the build: clients read a date here, though labkit is not built."""

KEY_MISSING = "'key' must be specified in request body as JSON, or 'reset' set to true"

KEYS_MISMATCH = "count mismatch between number of provided PGP keys and number of shares"


class InitRequest(NamedTuple):
    """The fields of a request to initialise."""

    secret_shares: int | None
    secret_threshold: int | None
    pgp_keys: list[str] | None
    root_token_pgp_key: str | None
    recovery_shares: int | None
    recovery_threshold: int | None
    recovery_pgp_keys: list[str] | None
    stored_shares: int | None


def seal_status(ctx: Context) -> dict[str, Any]:
    """Return whether the node is sealed, and how many key shares were given so far."""
    core, keys = ctx.core, ctx.keys
    config = seals.read_config(core)
    body = {
        "type": "shamir",
        "initialized": config is not None,
        "sealed": keys.sealed,
        "t": config.threshold if config else 0,
        "n": config.shares if config else 0,
        "progress": len(keys.progress),
        "nonce": keys.nonce,
        "version": core.settings.version,
        "build_date": MADE_AT,
        "migration": False,
        "recovery_seal": False,
        "storage_type": core.settings.storage_type,
    }
    reason = seals.reason(core)
    if reason:
        body["reason"] = reason
    return body if keys.sealed else body | read_cluster(ctx)


def unseal(ctx: Context, key: str | None, reset: bool | None, migrate: bool | None) -> dict[str, Any]:
    """Take one key share, or drop those given so far."""
    core = ctx.core
    if migrate:
        raise BadRequest("can't perform a seal migration: the only type of seal here is shamir")
    if not reset and not key:
        raise BadRequest(KEY_MISSING)
    keys = seals.without_shares(core) if reset else seals.with_share(core, seals.parse_share(key))
    ctx.keys, ctx.after_commit = keys, partial(seals.install, core, keys)
    return seal_status(ctx)


def seal(ctx: Context) -> None:
    """Seal the node: it drops every key, once the request is recorded and committed."""
    if ctx.core.leadership.active:
        ctx.store_nonce_counts()
    ctx.after_commit = partial(seals.seal, ctx.core)


def step_down(ctx: Context) -> None:
    """Let another node lead: the active one gives that up once the request is recorded; any other has nothing to do.

    A node without others to take its place stays the active one.
    """
    if ctx.core.leadership.active:
        ctx.store_nonce_counts()
        ctx.after_commit = ctx.core.on_step_down


def read_init(ctx: Context) -> dict[str, Any]:
    """Return whether the cluster is initialised."""
    return {"initialized": seals.read_config(ctx.core) is not None}


def init(ctx: Context, asked: InitRequest) -> dict[str, Any]:
    """Initialise the cluster; only this answer ever shows key shares and root token."""
    seals.check_event(ctx.core, "init")
    if asked.recovery_shares or asked.recovery_threshold or asked.recovery_pgp_keys or asked.stored_shares:
        raise BadRequest(
            "parameters recovery_shares,recovery_threshold,recovery_pgp_keys,stored_shares "
            "not applicable to seal type shamir"
        )
    shares, threshold = asked.secret_shares or 0, asked.secret_threshold or 0
    pgp_keys, root_token_key = asked.pgp_keys or [], asked.root_token_pgp_key or ""
    seals.check_shares(shares, threshold, len(pgp_keys), "seal configuration", KEYS_MISMATCH)
    made, writes = prepare(ctx.core, shares, threshold)
    given = [pgp.encrypt(key, share.hex()) for key, share in zip(pgp_keys, made.keys, strict=False)] or made.keys
    answer = {
        "keys": [share.hex() for share in given],
        "keys_base64": [to_base64(share) for share in given],
        "root_token": to_base64(pgp.encrypt(root_token_key, made.root_token)) if root_token_key else made.root_token,
    }
    ctx.writes.update(writes)
    return answer


INIT_FIELDS = (
    fields.integer("secret_shares", "how many key shares are made"),
    fields.integer("secret_threshold", "how many of them unseal"),
    fields.text_list("pgp_keys", "PGP public keys (base64), one per share: the share's hex text is encrypted to it"),
    fields.text("root_token_pgp_key", "PGP public key (base64) that the root token is encrypted to"),
    fields.integer("recovery_shares", "only for other types of seal"),
    fields.integer("recovery_threshold", "only for other types of seal"),
    fields.text_list("recovery_pgp_keys", "only for other types of seal"),
    fields.integer("stored_shares", "only for other types of seal"),
)

UNSEAL_FIELDS = (
    fields.text("key", "one key share, hex or base64"),
    fields.flag("reset", "drop the shares given so far"),
    fields.flag("migrate", "refused: there is one type of seal"),
)

ROUTES = (
    Route("read", "seal-status", seal_status, (), *ALWAYS, "any_namespace", "no_envelope"),
    Route("write", "unseal", unseal, UNSEAL_FIELDS, *ALWAYS, "no_envelope"),
    Route("write", "seal", seal, (), "sudo"),
    Route("write", "step-down", step_down, (), "sudo", "on_standby"),
    Route("read", "init", read_init, (), *ALWAYS, "no_envelope"),
    Route("write", "init", init, Form(InitRequest, INIT_FIELDS), *ALWAYS, "no_envelope"),
)
