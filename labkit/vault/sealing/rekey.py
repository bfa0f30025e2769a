"""Rekey: another root key, shared out otherwise, authorised by key shares of the present one.

1. ``REKEY`` is the whole table of states, and ``check_event`` runs on it.  An attempt is stored, so it survives a
   change of the active node.
2. The keyring stays what it is, under the new root key; no value is encrypted again.
3. Where verification is required the new shares hold only once as many of them as their threshold were given back.
4. New shares that are backed up are encrypted to PGP keys, which a seed does not determine: in a seeded world none are
   stored (R8).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.service.encoding import to_base64
from labkit.service.errors import ATTEMPT_IN_PROGRESS, BadRequest
from labkit.vault.identifiers import sha256, uuid_text
from labkit.vault.sealing import given_shares, pgp
from labkit.vault.sealing.seal import (
    OWN_SHARES,
    SEAL_CONFIG,
    SealConfig,
    check_shares,
    combine_shares,
    encode_config,
    parse_share,
    reload_keyring,
)
from labkit.vault.sealing.shamir import split
from labkit.vault.sealing.stored_keys import ROOT_KEY, encode_root_key, keyring_writes
from labkit.vault.storage.barrier import KEY_BYTES
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.core import Core

REKEY: dict[str, dict[str, str]] = {
    "none": {"start": "in progress", "cancel": "none"},
    "in progress": {
        "share": "in progress",
        "wrong": "in progress",
        "threshold": "none",
        "threshold, to be verified": "verification",
        "cancel": "none",
    },
    "verification": {
        "verify": "verification",
        "wrong": "verification",
        "restart": "verification",
        "verified": "none",
        "cancel": "none",
    },
}
"""{state: {event: state}}."""

NOT_VERIFYING = "no rekey verification in progress"
REFUSALS = {
    "start": ("rekey already in progress", ATTEMPT_IN_PROGRESS),
    "share": ("no barrier rekey in progress", ""),
    "verify": (NOT_VERIFYING, ""),
    "restart": (NOT_VERIFYING, ""),
}
"""{event: (text, reason code)} of what an event is refused with in a state that does not have it."""

FINISHED = (
    'rekey operation already finished; verification must be performed; nonce for the verification operation is "{}"'
)
NO_BACKUP_HERE = (
    "backup needs real entropy: PGP messages are not determined by this world's seed, and nothing that is not may be "
    "stored; leave backup out, the answer shows the encrypted shares"
)
BACKUP_WITHOUT_KEYS = "cannot request a backup of the new keys without providing PGP keys for encryption"

RECORD = "node/rekey"
BACKUP = "node/rekey-backup"


class RekeyPlan(NamedTuple):
    """What a rekey was asked for: how many shares, their threshold, PGP keys, and how the shares are kept."""

    shares: int
    threshold: int
    pgp_keys: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    backup: bool = False
    is_verified: bool = False


class Rekey(NamedTuple):
    """A rekey under way: its nonce, what was asked for, and the shares given so far (hex).

    While it is verified: the verification's nonce, the new root key, and the encrypted shares to back up (hex).
    """

    nonce: str
    wanted: RekeyPlan
    given: tuple[str, ...] = ()
    verification_nonce: str = ""
    root_key: str = ""
    made: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Rekey({self.state}, progress={len(self.given)})"

    @property
    def state(self) -> str:
        """One of the keys of ``REKEY``."""
        return "verification" if self.root_key else "in progress"


class Backup(NamedTuple):
    """The encrypted shares of the last rekey that was to be backed up: its nonce, and (fingerprint, share in hex)."""

    nonce: str
    keys: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return f"Backup({len(self.keys)} key shares)"


def decode_rekey(stored: bytes) -> Rekey:
    """Read a stored rekey."""
    nonce, wanted, given, *rest, made = decode_record(stored)
    shares, threshold, pgp_keys, fingerprints, *flags = wanted
    asked = RekeyPlan(shares, threshold, tuple(pgp_keys), tuple(fingerprints), *flags)
    verification_nonce, root_key = rest
    return Rekey(nonce, asked, tuple(given), verification_nonce, root_key, tuple(made))


def read(ctx: Context) -> Rekey | None:
    """Return the rekey under way, or None."""
    return ctx.full_storage.decoded(RECORD, decode_rekey)


def status(ctx: Context, rekey: Rekey | None) -> dict[str, Any]:
    """Build the status object of a rekey."""
    wanted = rekey.wanted if rekey else RekeyPlan(0, 0)
    body = {
        "nonce": rekey.nonce if rekey else "",
        "started": rekey is not None,
        "t": wanted.threshold,
        "n": wanted.shares,
        "progress": len(rekey.given) if rekey and rekey.state == "in progress" else 0,
        "required": given_shares.seal_config(ctx).threshold,
        "pgp_fingerprints": list(wanted.fingerprints) or None,
        "backup": wanted.backup,
        "verification_required": wanted.is_verified,
    }
    return body | {"verification_nonce": rekey.verification_nonce} if rekey and rekey.verification_nonce else body


def verification_status(rekey: Rekey) -> dict[str, Any]:
    """Build the status object of a verification."""
    return {
        "nonce": rekey.verification_nonce,
        "started": True,
        "t": rekey.wanted.threshold,
        "n": rekey.wanted.shares,
        "progress": len(rekey.given),
    }


def check_event(rekey: Rekey | None, event: str) -> None:
    """Raise BadRequest for an event that the table does not have in the present state."""
    if event in REKEY["none" if rekey is None else rekey.state]:
        return
    if rekey is not None and event == "share":
        raise BadRequest(FINISHED.format(rekey.verification_nonce))
    text, code = REFUSALS[event]
    raise BadRequest(text, code=code)


def start(ctx: Context, asked: RekeyPlan) -> dict[str, Any]:
    """Start a rekey; its fingerprints are found here."""
    check_event(read(ctx), "start")
    if asked.backup and not asked.pgp_keys:
        raise BadRequest(BACKUP_WITHOUT_KEYS)
    if asked.backup and ctx.core.is_seeded:
        raise BadRequest(NO_BACKUP_HERE)
    mismatch = "incorrect number of PGP keys for rekey"
    check_shares(asked.shares, asked.threshold, len(asked.pgp_keys), "rekey seal configuration", mismatch)
    wanted = asked._replace(fingerprints=tuple(map(pgp.fingerprint, asked.pgp_keys)))
    rekey = Rekey(uuid_text(ctx.entropy), wanted)
    _store(ctx, rekey)
    return status(ctx, rekey)


def cancel(ctx: Context) -> None:
    """End the rekey under way, if there is one; shares that were not verified never hold."""
    if ctx.read(RECORD) is not None:
        ctx.full_storage.delete(RECORD)


def update(ctx: Context, key: Any, nonce: str | None) -> dict[str, Any]:
    """Take one share of the present root key; at the threshold return the new shares."""
    parse_share(key)  # a malformed share is refused first
    rekey = read(ctx)
    check_event(rekey, "share")
    assert rekey is not None
    given_shares.check_nonce(nonce, rekey.nonce, "rekey")
    given = rekey._replace(given=given_shares.with_share(rekey.given, key))
    if len(given.given) < given_shares.seal_config(ctx).threshold:
        _store(ctx, given)
        return status(ctx, given)
    given_shares.prove(ctx, given.given, "rekey", (RECORD, _encode(rekey._replace(given=()))))
    return _share_out(ctx, rekey._replace(given=()))


def _share_out(ctx: Context, rekey: Rekey) -> dict[str, Any]:
    """Make the new root key and its shares; they hold at once, unless they are to be verified."""
    wanted, root_key = rekey.wanted, ctx.entropy(KEY_BYTES)
    shares = split(root_key, wanted.shares, wanted.threshold, ctx.entropy)
    made = [pgp.encrypt(key, share.hex()) for key, share in zip(wanted.pgp_keys, shares, strict=False)] or shares
    backed_up = tuple([share.hex() for share in made]) if wanted.backup else ()
    answer = {
        "nonce": rekey.nonce,
        "complete": True,
        "keys": [share.hex() for share in made],
        "keys_base64": [to_base64(share) for share in made],
        "pgp_fingerprints": list(wanted.fingerprints) or None,
        "backup": wanted.backup,
        "verification_required": wanted.is_verified,
    }
    rekey = rekey._replace(root_key=root_key.hex(), made=backed_up)
    if not wanted.is_verified:
        _apply(ctx, rekey, shares)
        return answer
    rekey = rekey._replace(verification_nonce=uuid_text(ctx.entropy))
    _store(ctx, rekey)
    return answer | {"verification_nonce": rekey.verification_nonce}


def verify(ctx: Context, key: Any, nonce: str | None) -> dict[str, Any]:
    """Take one of the new shares; as many as their threshold let them hold."""
    parse_share(key)
    rekey = read(ctx)
    check_event(rekey, "verify")
    assert rekey is not None
    given_shares.check_nonce(nonce, rekey.verification_nonce, "rekey verification")
    given = rekey._replace(given=given_shares.with_share(rekey.given, key))
    if len(given.given) < rekey.wanted.threshold:
        _store(ctx, given)
        return verification_status(given)
    shares = tuple(map(bytes.fromhex, given.given))
    try:
        combined = combine_shares(shares, lambda why: f"rekey verification failed: {why}")
        if combined != bytes.fromhex(rekey.root_key):
            raise BadRequest("rekey verification failed: the key shares given do not combine to the new root key")
    except BadRequest:
        emptied = _encode(rekey._replace(given=()))
        ctx.write_even_if_refused(RECORD, ctx.keys.encrypt(RECORD, emptied, ctx.entropy))
        raise
    _apply(ctx, rekey, list(shares))
    return {"nonce": rekey.verification_nonce, "complete": True}


def restart_verification(ctx: Context) -> dict[str, Any]:
    """Drop the shares given so far, under another nonce."""
    rekey = read(ctx)
    check_event(rekey, "restart")
    assert rekey is not None
    rekey = rekey._replace(given=(), verification_nonce=uuid_text(ctx.entropy))
    _store(ctx, rekey)
    return verification_status(rekey)


def read_backup(ctx: Context) -> Backup | None:
    """Return the encrypted shares that were backed up, or None."""
    stored = ctx.full_storage.get(BACKUP)
    if stored is None:
        return None
    nonce, rows = decode_record(stored)
    return Backup(nonce, tuple([(fingerprint, share) for fingerprint, share in rows]))


def delete_backup(ctx: Context) -> None:
    """Delete the encrypted shares that were backed up, if there are any."""
    if ctx.read(BACKUP) is not None:
        ctx.full_storage.delete(BACKUP)


def _apply(ctx: Context, rekey: Rekey, shares: list[bytes]) -> None:
    """Let the new root key hold once the step is committed; other nodes take it from the store (``stored_keys``)."""
    core, wanted, barrier = ctx.core, rekey.wanted, ctx.keys.barrier
    assert barrier is not None, "a sealed node takes no share"
    root_key = bytes.fromhex(rekey.root_key)
    writes = keyring_writes(core, barrier.keyring, root_key, ctx.entropy)
    writes[SEAL_CONFIG] = encode_config(SealConfig(wanted.shares, wanted.threshold))
    writes[ROOT_KEY] = encode_root_key(root_key, barrier.keyring, ctx.now, ctx.entropy)
    if core.keeps_shares:
        row = encode_record([share.hex() for share in shares])
        writes[OWN_SHARES] = sha256(row).digest() + row
    for key, stored in writes.items():
        ctx.write(key, stored)
    ctx.full_storage.delete(RECORD)
    if rekey.made:
        rows = list(zip(wanted.fingerprints, rekey.made, strict=True))
        ctx.full_storage.put(BACKUP, encode_record([rekey.nonce, rows]))
    ctx.after_commit = partial(_use, core)


def _use(core: Core) -> None:
    reload_keyring(core)
    core.observe("rekeyed")


def _store(ctx: Context, rekey: Rekey) -> None:
    ctx.full_storage.put(RECORD, _encode(rekey))


def _encode(rekey: Rekey) -> bytes:
    return encode_record([*rekey[:1], list(rekey.wanted), *rekey[2:]])
