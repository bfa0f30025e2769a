"""Root key transfer: what a primary that was rekeyed gives its secondaries, and what they make of it (D23).

1. The keyring is replicated as any value; after a rekey it is under a root key that a secondary does not have.  The
   secondary goes on with the keyring that it had (``stored_keys``), and asks its primary for root key and seal
   configuration until it is given them.
2. Both take effect in one transaction: until then the cluster opens with the key shares of before, then with the new.
3. What is given is checked before anything changes: the keyring that comes with a root key must open with it.
4. A cluster that becomes a primary, or stands alone, with the root key of before has its own keyring again
   (``keyring_rotation``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.errors import ServiceError
from labkit.vault.sealing.seal import SEAL_CONFIG, SealConfig, awaits_root_key, has_own_keyring, reload_keyring
from labkit.vault.sealing.shamir import MAX_SHARES
from labkit.vault.sealing.stored_keys import (
    OWN_KEYRING,
    ROOT_KEY,
    decrypted,
    encode_root_key,
    open_keyring,
    together,
)
from labkit.vault.storage import StaleTerm
from labkit.vault.storage.barrier import KEYRING, encrypt_keyring
from labkit.vault.storage.records import decode_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labkit.vault.context import Context
    from labkit.vault.core import Core

QUESTION = "root_key"

INCOMPLETE = "this cluster was not given the root key of its primary's keyring yet"
LEFT_BEHIND = (
    "This cluster was not given the root key that its primary has since a rekey: what the primary encrypted under keys "
    "of after that does not open here."
)


def given(core: Core, serial: int) -> dict[str, Any]:
    """Return what a primary answers a connected secondary that asks for the root key; nothing where that is damaged."""
    keyring, config, root_key = core.storage.get(KEYRING), core.storage.get(SEAL_CONFIG), core.keys.root_key
    if keyring is None or config is None or root_key is None or decrypted(keyring, root_key) is None:
        return {"serial": serial, "gone": True}
    return {"serial": serial, "root_key": root_key, "keyring": keyring, "seal_config": config}


def take(core: Core, answer: Mapping[str, Any]) -> str:
    """Let the cluster have the root key and seal configuration that it was given; return why not, if so.

    A node that was overtaken steps down; what the store cannot write is reported, and asked for again (R25).
    """
    keyring = decrypted(answer["keyring"], answer["root_key"])
    if keyring is None or not _is_config(answer["seal_config"]):
        return "a root key that does not open the keyring beside it"
    root_key, held = core.keys.root_key, core.keys.barrier
    if held is None or root_key is None or root_key == answer["root_key"] or not awaits_root_key(core):
        return ""
    known = open_keyring(core, root_key)
    before = held.keyring if known is None else known.keyring
    replicated = decrypted(core.storage.get(KEYRING), answer["root_key"])
    whole = together(replicated or keyring, before)
    own = None if whole == replicated else encrypt_keyring(whole, answer["root_key"], core.entropy)
    writes = {
        SEAL_CONFIG: answer["seal_config"],
        ROOT_KEY: encode_root_key(answer["root_key"], before, core.now(), core.entropy),
        OWN_KEYRING: own,
    }
    try:
        core.commit(writes)
    except StaleTerm:
        core.step_down()
    except ServiceError as error:
        core.observe("root key not stored", reason="; ".join(error.errors))
    else:
        reload_keyring(core)
        core.observe("root_key_received")
    return ""


def warn_if_left_behind(ctx: Context) -> None:
    """Say so where a cluster leaves its primary without the root key of the keyring that it stores."""
    if has_own_keyring(ctx.core):
        ctx.warn(LEFT_BEHIND)


def _is_config(stored: bytes) -> bool:
    try:
        config = SealConfig(*decode_record(stored))
    except (ValueError, TypeError):
        return False
    return set(map(type, config)) == {int} and 1 <= config.threshold <= config.shares <= MAX_SHARES
