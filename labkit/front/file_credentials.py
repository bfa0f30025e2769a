"""Credentials of a vault in a file: the root token and key shares, stored beside the data, so that it unseals itself.

1. They are stored in the transaction that sets the vault up: a file has both or neither (C18).
2. A digest is stored with them, so that altered bytes are noticed when the file is opened.
3. A rekey stores its shares in the transaction that lets them hold: they are used then.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from labkit.service.errors import ServiceError
from labkit.service.record import NamedTuple
from labkit.vault.identifiers import sha256
from labkit.vault.sealing.initialise import Wanted, complete, prepare
from labkit.vault.sealing.seal import OWN_SHARES, read_config, unseal
from labkit.vault.storage import StoreError
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.core import Core
    from labkit.vault.storage.sqlite import SqliteStorage

FACT = "credentials"
SHARES, THRESHOLD = 5, 3


class StoredCredentials(NamedTuple):
    """What opens a vault: its root token, and its key shares in hex."""

    root_token: str
    unseal_keys: tuple[str, ...]

    def __repr__(self) -> str:
        return f"StoredCredentials({len(self.unseal_keys)} key shares)"


def unseal_stored(core: Core, store: SqliteStorage, engines: Iterable[Wanted]) -> StoredCredentials:
    """Unseal the vault of a file with the credentials in it, and return them; set the vault up when the file is new.

    Raises StoreError for a file whose data and credentials do not belong together.
    """
    stored = store.fact(FACT)
    credentials = _set_up(core, store, engines) if stored is None else _decode(store, stored)
    core.keeps_shares = True
    try:
        credentials = _since_the_last_rekey(core, store, credentials)
        config = read_config(core)
        for share in credentials.unseal_keys[: config.threshold if config else THRESHOLD]:
            unseal(core, bytes.fromhex(share))
    except StoreError:
        raise
    except (ServiceError, ValueError, TypeError):
        raise store.damaged() from None
    if core.keys.sealed:
        raise store.damaged()
    complete(core)
    return credentials


def _since_the_last_rekey(core: Core, store: SqliteStorage, credentials: StoredCredentials) -> StoredCredentials:
    stored = core.storage.get(OWN_SHARES)
    if stored is None:
        return credentials
    return credentials._replace(unseal_keys=tuple(decode_record(_checked(store, stored))))


def _set_up(core: Core, store: SqliteStorage, engines: Iterable[Wanted]) -> StoredCredentials:
    if store.list(""):
        raise store.damaged()
    initialised, writes = prepare(core, SHARES, THRESHOLD, engines)
    credentials = StoredCredentials(initialised.root_token, tuple([share.hex() for share in initialised.keys]))
    row = encode_record(list(credentials))
    store.set_up(writes, {FACT: sha256(row).digest() + row})
    return credentials


def _decode(store: SqliteStorage, stored: bytes) -> StoredCredentials:
    root_token, unseal_keys = decode_record(_checked(store, stored))
    return StoredCredentials(root_token, tuple(unseal_keys))


def _checked(store: SqliteStorage, stored: bytes) -> bytes:
    """Return a row whose digest stands before it; raise StoreError for an altered one."""
    digest, row = stored[:32], stored[32:]
    if sha256(row).digest() != digest:
        raise store.damaged()
    return row
