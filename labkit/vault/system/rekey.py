"""``sys/rekey``: another root key and other key shares; ``sys/rekey-recovery-key``: there is none here.

The endpoints are open, the shares are the authority (decision C6); a backup wants a token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.sealing import rekey as rekeys
from labkit.vault.sealing.rekey import RekeyPlan

if TYPE_CHECKING:
    from labkit.vault.context import Context

NO_RECOVERY = "recovery rekeying not supported: seal type shamir has no recovery keys"
NO_BACKUP = "no backed-up keys found"


class RekeyRequest(NamedTuple):
    """The fields of a request to rekey."""

    secret_shares: int | None
    secret_threshold: int | None
    stored_shares: int | None
    pgp_keys: list[str] | None
    backup: bool | None
    require_verification: bool | None


def read_rekey(ctx: Context) -> dict[str, Any]:
    """Return the progress of a rekey."""
    return rekeys.status(ctx, rekeys.read(ctx))


def start_rekey(ctx: Context, asked: RekeyRequest) -> dict[str, Any]:
    """Start a rekey: say how many shares there will be, their threshold, and how they are given out."""
    if asked.stored_shares:
        raise BadRequest("parameter stored_shares not applicable to seal type shamir")
    wanted = RekeyPlan(
        asked.secret_shares or 0,
        asked.secret_threshold or 0,
        tuple(asked.pgp_keys or ()),
        backup=bool(asked.backup),
        is_verified=bool(asked.require_verification),
    )
    return rekeys.start(ctx, wanted)


def cancel_rekey(ctx: Context) -> None:
    """Cancel the rekey under way."""
    rekeys.cancel(ctx)


def update_rekey(ctx: Context, key: str | None, nonce: str | None) -> dict[str, Any]:
    """Take one share of the present root key; the last one is answered with the new shares."""
    return rekeys.update(ctx, key, nonce)


def read_verification(ctx: Context) -> dict[str, Any]:
    """Return the progress of a verification."""
    rekey = rekeys.read(ctx)
    rekeys.check_event(rekey, "verify")
    assert rekey is not None
    return rekeys.verification_status(rekey)


def verify_rekey(ctx: Context, key: str | None, nonce: str | None) -> dict[str, Any]:
    """Take one of the new shares; as many as their threshold let them hold."""
    return rekeys.verify(ctx, key, nonce)


def restart_verification(ctx: Context) -> dict[str, Any]:
    """Begin the verification again, under another nonce; the rekey goes on."""
    return rekeys.restart_verification(ctx)


def read_backup(ctx: Context) -> dict[str, Any]:
    """Return the encrypted shares of the last rekey that was backed up, by the fingerprints of their PGP keys."""
    backup = rekeys.read_backup(ctx)
    if backup is None:
        raise BadRequest(NO_BACKUP)
    keys: dict[str, list[str]] = {}
    for fingerprint, share in backup.keys:
        keys.setdefault(fingerprint, []).append(share)
    in_base64 = {name: [to_base64(bytes.fromhex(share)) for share in shares] for name, shares in keys.items()}
    return {"nonce": backup.nonce, "keys": keys, "keys_base64": in_base64}


def delete_backup(ctx: Context) -> None:
    """Delete the backup."""
    rekeys.delete_backup(ctx)


def refuse_recovery(ctx: Context) -> None:
    """Refuse what is about recovery keys: there is one type of seal, and it has none."""
    raise BadRequest(NO_RECOVERY)


OPEN = ("unauthenticated", "key_shares", "no_envelope")

START = (
    fields.integer("secret_shares", "how many key shares are made"),
    fields.integer("secret_threshold", "how many of them unseal"),
    fields.integer("stored_shares", "only for other types of seal"),
    fields.text_list("pgp_keys", "PGP public keys (base64), one per share: the share's hex text is encrypted to it"),
    fields.flag("backup", "keep the encrypted shares; refused in a seeded world"),
    fields.flag("require_verification", "let the new shares hold only once enough of them were given back"),
)
SHARE = (fields.text("key", "one key share, hex or base64"), fields.text("nonce", "nonce of the attempt"))

RECOVERY = "rekey-recovery-key/"

ROUTES = (
    Route("read", "rekey/init", read_rekey, (), *OPEN),
    Route("write", "rekey/init", start_rekey, Form(RekeyRequest, START), *OPEN),
    Route("delete", "rekey/init", cancel_rekey, (), *OPEN),
    Route("write", "rekey/update", update_rekey, SHARE, *OPEN),
    Route("read", "rekey/verify", read_verification, (), *OPEN),
    Route("write", "rekey/verify", verify_rekey, SHARE, *OPEN),
    Route("delete", "rekey/verify", restart_verification, (), *OPEN),
    Route("read", "rekey/backup", read_backup, (), "top_level_data"),
    Route("delete", "rekey/backup", delete_backup),
    *[
        Route(operation, RECOVERY + name, refuse_recovery, (), *OPEN)
        for name in ("init", "update", "verify", "backup")
        for operation in ("read", "write", "delete")
        if (operation, name) not in (("read", "update"), ("delete", "update"), ("write", "backup"))
    ],
)
