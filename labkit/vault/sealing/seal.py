"""Seal and unseal: key shares combine to the root key, and the root key decrypts the keyring.

1. A node starts sealed and holds no key.  ``SEAL`` is the whole table of states; ``check_event`` refuses by it.
2. A share given twice counts once; the share that completes the threshold either unseals the node or sets the progress
   to 0.
3. Sealing drops the root key, the keyring and every cache.
4. A node follows a changed keyring or root key with the keys it has (``stored_keys``).  Where it cannot, it seals
   itself and says why: its cluster joined another replication set, or was rekeyed while the node did not look.  When
   its keys still open the mount table, only the keyring's record is damaged: it goes on with them (C12).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.vault.core import Core
from labkit.vault.identifiers import uuid_text
from labkit.vault.mounts import MOUNTS
from labkit.vault.seal_keys import SealKeys
from labkit.vault.sealing.shamir import MAX_SHARES, combine
from labkit.vault.sealing.stored_keys import OWN_KEYRING, decrypted, is_rekeyed, open_keyring, passed_on, together
from labkit.vault.storage.barrier import KEYRING, BarrierError, damaged
from labkit.vault.storage.records import decode_record, encode_record

SEAL: dict[str, dict[str, str]] = {
    "uninitialised": {"init": "sealed"},
    "sealed": {"share": "sealed", "threshold": "unsealed", "wrong share": "sealed", "reset": "sealed"},
    "unsealed": {"seal": "sealed", "share": "unsealed", "other keyring": "sealed"},
}
"""{state: {event: state}}."""

REFUSALS = {
    "init": "Vault is already initialized",
    "reset": "vault is unsealed",
}
"""What an event that the table does not have is refused with; before initialisation all have one refusal."""

NOT_INITIALISED = "Vault is not initialized"

JOINED = "the cluster joined another replication set"
REKEYED = "the cluster was rekeyed while this node did not look: unseal it with the new key shares"
AWAITED = (
    "the primary was rekeyed, and this cluster was not given the new root key yet: "
    "what the primary encrypts under later keys does not open here"
)
DAMAGED_KEYRING = "the stored keyring does not open: its bytes were altered"

SEAL_CONFIG = "node/seal-config"
OWN_SHARES = "node/own-shares"
"""Where the key shares of the last rekey are, of a vault that keeps them beside its data (``credentials``)."""

MIN_SHARE_BYTES, MAX_SHARE_BYTES = 16, 33
MAX_SHARE_CHARACTERS = 1_024


class SealConfig(NamedTuple):
    """How the root key is shared out."""

    shares: int
    threshold: int


def seal_state(core: Core) -> str:
    """Name the node's state: one of the keys of ``SEAL``."""
    if not core.keys.sealed:
        return "unsealed"
    return "sealed" if core.storage.get(SEAL_CONFIG) is not None else "uninitialised"


def check_event(core: Core, event: str) -> None:
    """Raise BadRequest for an event that the table does not have in the node's state."""
    state = seal_state(core)
    if event not in SEAL[state]:
        raise BadRequest(NOT_INITIALISED if state == "uninitialised" else REFUSALS[event])


def read_config(core: Core) -> SealConfig | None:
    """Return how the root key is shared out; None before initialisation."""
    stored = core.storage.get(SEAL_CONFIG)
    try:
        return None if stored is None else SealConfig(*map(int, decode_record(stored)))
    except (ValueError, TypeError):
        raise damaged(SEAL_CONFIG) from None


def encode_config(config: SealConfig) -> bytes:
    """Write a seal configuration as it is stored (in the clear: it is needed while sealed)."""
    return encode_record(list(config))


def parse_share(text: Any) -> bytes:
    """Read a key share given as hex or base64; raise BadRequest with the API's text."""
    if not isinstance(text, str) or not text:
        raise BadRequest("'key' must be specified in request body as JSON")
    if len(text) > MAX_SHARE_CHARACTERS:  # not read at all: anybody may send it
        raise BadRequest(f"invalid key: key is longer than maximum {MAX_SHARE_BYTES} bytes")
    share = _from_hex(text)
    if share is None or not MIN_SHARE_BYTES <= len(share) <= MAX_SHARE_BYTES:
        decoded = _from_base64(text)
        share = decoded if decoded is not None else share
    if share is None:
        raise BadRequest("'key' must be a valid hex or base64 string")
    if len(share) < MIN_SHARE_BYTES:
        raise BadRequest(f"invalid key: key is shorter than minimum {MIN_SHARE_BYTES} bytes")
    if len(share) > MAX_SHARE_BYTES:
        raise BadRequest(f"invalid key: key is longer than maximum {MAX_SHARE_BYTES} bytes")
    return share


def _from_hex(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text) if text.split() == [text] else None  # a text with white space is not hex
    except ValueError:
        return None


def _from_base64(text: str) -> bytes | None:
    from labkit.service.encoding import from_base64

    try:
        return from_base64(text)
    except ValueError:
        return None


def unseal(core: Core, *shares: bytes) -> bool:
    """Take key shares; return whether the node is unsealed now; raise BadRequest when they do not fit."""
    install(core, with_share(core, *shares))
    return not core.keys.sealed


def with_share(core: Core, *shares: bytes) -> SealKeys:
    """Return the node's keys as more key shares make them; raise BadRequest when they do not fit.

    The node itself changes with ``install`` only, but for a wrong last share, which sets the progress to 0 (R4).
    """
    check_event(core, "share")
    config, keys = read_config(core), core.keys
    assert config is not None
    given = tuple(dict.fromkeys((*keys.progress, *shares)))
    if not keys.sealed or len(given) == len(keys.progress):
        return keys
    nonce = keys.nonce if keys.progress else uuid_text(core.entropy)
    if len(given) < config.threshold:
        return SealKeys(None, given, nonce)
    try:
        root_key = combine_shares(given, lambda why: f"invalid key: {why}")
        return SealKeys.opened(root_key, check_root_key(core, root_key, "invalid key: "))
    except BadRequest:
        keys.add_share((), "")
        raise


def without_shares(core: Core) -> SealKeys:
    """Return the node's keys without the shares given so far; BadRequest when it is unsealed or not initialised."""
    check_event(core, "reset")
    return SealKeys()


def install(core: Core, keys: SealKeys) -> None:
    """Let the node have the keys that ``with_share`` or ``without_shares`` returned."""
    if keys is core.keys:
        return
    core.keys.add_share(keys.progress, keys.nonce)
    if not keys.sealed:
        core.keys.adopt(keys)
        _begin(core)


def combine_shares(shares: tuple[bytes, ...], text: Callable[[str], str]) -> bytes:
    """Combine key shares into a root key (a single share is the key); raise BadRequest with ``text`` of the reason."""
    if len(shares) == 1:
        return shares[0]
    try:
        return combine(list(shares))
    except ValueError as error:
        raise BadRequest(text(str(error))) from None


def _begin(core: Core) -> None:
    """Derive again, for new keys, what a node keeps in memory."""
    core.caches.clear()
    core.apply_mode()
    core.observe("unsealed")


def check_root_key(core: Core, root_key: bytes, prefix: str) -> tuple[Any, ...]:
    """Decrypt the stored keyring with a root key and return it; raise BadRequest with the API's text."""
    opened = open_keyring(core, root_key)
    if opened is not None:
        return opened.keyring
    raise BadRequest(
        f"{prefix}failed to decrypt keys from storage: the key shares given do not combine to this cluster's root key"
    )


def seal(core: Core, reason: str = "") -> None:
    """Drop the keys and every cache; ``reason``: why, where nobody asked for it."""
    core.keys.drop(reason)
    core.caches.clear()
    core.login_failures.clear()
    core.observe("sealed", reason=reason or "asked")


def reload_keyring(core: Core) -> None:
    """Follow a stored keyring or root key that changed; seal when this node cannot (rule 4)."""
    stored, keys = core.storage.get(KEYRING), core.keys
    if keys.barrier is None or stored is None:
        return
    if core.caches.followed_keyring is stored:
        core.caches.keyring_as_of = core.storage.deciding_writes
        return
    assert keys.root_key is not None
    replicated, held = decrypted(stored, keys.root_key), keys.barrier.keyring
    if replicated is not None and replicated[-1] == held[-1] and together(held, replicated) == held:
        core.caches.followed_keyring = stored  # no other record is looked at: a restored node does the same
        return
    root_key = passed_on(core) or keys.root_key
    opened = open_keyring(core, root_key)
    if opened is None:
        if is_rekeyed(core):
            seal(core, reason=REKEYED)
        elif not _opens_mounts(core):
            seal(core, reason=JOINED)
        else:
            core.note_damage(KEYRING)  # judged again at each step, as a node that was restored judges it
        return
    if (root_key, opened.keyring) != (keys.root_key, held):
        keys.install(root_key, opened.keyring)
    if opened.is_whole:
        core.caches.followed_keyring = stored


def awaits_root_key(core: Core) -> bool:
    """Whether the stored keyring is under another root key than this unsealed node's, or damaged."""
    stored, keys = core.storage.get(KEYRING), core.keys
    if keys.root_key is None or stored is None:
        return False
    return core.caches.followed_keyring is not stored and decrypted(stored, keys.root_key) is None


def has_own_keyring(core: Core) -> bool:
    """Whether the keyring in use is one that is kept beside the stored one, which does not open (``stored_keys``)."""
    return core.storage.get(OWN_KEYRING) is not None and awaits_root_key(core)


def reason(core: Core) -> str:
    """Return why the node is sealed, or does not open all that is stored; empty where there is nothing to say."""
    if core.keys.sealed:
        if core.keys.reason or core.storage.get(OWN_KEYRING) is None:
            return core.keys.reason
        return "it opens with the key shares that were valid when this cluster last heard from its primary"
    if not awaits_root_key(core):
        return ""
    return AWAITED if has_own_keyring(core) else DAMAGED_KEYRING


def _opens_mounts(core: Core) -> bool:
    """Whether the keys of this node open the stored mount table."""
    stored = core.storage.get(MOUNTS)
    try:
        return stored is not None and bool(core.keys.decrypt(MOUNTS, stored))
    except BarrierError:
        return False


def check_shares(shares: int, threshold: int, pgp_keys: int, what: str, count_mismatch: str) -> None:
    """Raise BadRequest for numbers of key shares that cannot be, or that the PGP keys do not match."""
    wrong = {
        "shares must be at least one": shares < 1,
        "threshold must be at least one": threshold < 1,
        "threshold must be greater than one for multiple shares": shares > 1 and threshold == 1,
        "shares must be less than 256": shares > MAX_SHARES,
        "threshold must be less than 256": threshold > MAX_SHARES,
        "threshold cannot be larger than shares": threshold > shares,
        count_mismatch: pgp_keys not in (0, shares),
    }
    for text, is_so in wrong.items():
        if is_so:
            raise BadRequest(f"invalid {what}: {text}")
