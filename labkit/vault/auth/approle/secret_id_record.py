"""Secret ids as they are stored: under their hash with the role's key, and beside it their accessors.

1. A secret id's text is stored nowhere: its HMAC-SHA256 (RFC 2104) under the key of its role is what it is found by.
2. An accessor is stored under itself, with the role and the hash that it stands for, and when it falls due.
3. Secret ids of roles with ``local_secret_ids`` are in the mount's local part: other clusters than disaster-recovery
   secondaries never get them.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.vault.auth.token_fields import as_tuple
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.auth.approle.role_record import AppRole
    from labkit.vault.context import Context
    from labkit.vault.storage.storage_view import StorageView

SECRET_IDS = "secret-id/"
ACCESSORS = "accessor/"
MAX_BYTES = 4_096
TOO_LONG = f"value is longer than maximum of {MAX_BYTES} bytes"

PERIOD_NS = 60_000_000_000
"""How often expired secret ids are deleted: each falls due when the next of these periods begins."""


class SecretId(NamedTuple):
    """A secret id: uses left (0: without limit), times in nanoseconds since the epoch, and what it is bound to.

    ``ttl_s`` is what it was given; ``expires_ns`` is 0 for never.
    """

    accessor: str
    uses: int
    ttl_s: int
    created_ns: int
    expires_ns: int
    updated_ns: int
    metadata: tuple[tuple[str, str], ...] = ()
    cidr_list: tuple[str, ...] = ()
    token_bound_cidrs: tuple[str, ...] = ()


class AccessorEntry(NamedTuple):
    """What an accessor stands for: the name of its role, the hash of its secret id, and when that expires."""

    role_name: str
    digest: str
    expires_ns: int


class SecretIdPlace(NamedTuple):
    """Where a role's secret ids are stored."""

    storage: StorageView
    role_name: str
    hash_key: str

    def __repr__(self) -> str:
        return f"SecretIdPlace({self.role_name})"  # never the key

    @property
    def folder(self) -> str:
        """The folder of the role's secret ids."""
        return f"{SECRET_IDS}{self.role_name}/"


def place_of(ctx: Context, role_name: str, role: AppRole) -> SecretIdPlace:
    """Return where a role's secret ids are stored (rule 3)."""
    storage = ctx.local_storage if role.local_secret_ids else ctx.storage
    return SecretIdPlace(storage, role_name.lower(), role.hash_key)


def digest_of(place: SecretIdPlace, text: str) -> str:
    """Return the hash that a secret id of a role is stored under; raise BadRequest for one that is too long."""
    if is_too_long(text):
        raise BadRequest(f"failed to create HMAC of secret_id: {TOO_LONG}")
    return hmac.digest(bytes.fromhex(place.hash_key), text.encode(), "sha256").hex()


def is_too_long(text: str) -> bool:
    """Whether a text is too long for a secret id."""
    return len(text.encode()) > MAX_BYTES


def find(place: SecretIdPlace, digest: str) -> SecretId | None:
    """Return a role's secret id by its hash, or None."""
    return place.storage.decoded(place.folder + digest, _decode)


def store(place: SecretIdPlace, digest: str, secret_id: SecretId) -> None:
    """Store a secret id that is new or was used."""
    row = [*secret_id[:6], dict(secret_id.metadata), secret_id.cidr_list, secret_id.token_bound_cidrs]
    place.storage.put(place.folder + digest, encode_record(row))


def store_accessor(place: SecretIdPlace, digest: str, secret_id: SecretId) -> None:
    """Store what the accessor of a new secret id stands for, and note when it is to be deleted."""
    entry = AccessorEntry(place.role_name, digest, secret_id.expires_ns)
    place.storage.put(ACCESSORS + secret_id.accessor, encode_record(entry), due_ns=falls_due_ns(entry))


def falls_due_ns(entry: AccessorEntry) -> int:
    """Return when a secret id is to be deleted; 0 for never."""
    return -(-entry.expires_ns // PERIOD_NS) * PERIOD_NS


def find_accessor(storage: StorageView, accessor: str) -> AccessorEntry | None:
    """Return what an accessor stands for, or None."""
    return storage.decoded(ACCESSORS + accessor, _decode_accessor) if accessor and "/" not in accessor else None


def delete(place: SecretIdPlace, digest: str) -> None:
    """Delete a secret id and its accessor; one that is not there is ignored."""
    found = find(place, digest)
    if found is not None:
        delete_entry(place.storage, found.accessor, AccessorEntry(place.role_name, digest, 0))


def delete_entry(storage: StorageView, accessor: str, entry: AccessorEntry) -> None:
    """Delete an accessor and the secret id that it stands for."""
    storage.delete(f"{SECRET_IDS}{entry.role_name}/{entry.digest}")
    storage.delete(ACCESSORS + accessor)


def delete_all(place: SecretIdPlace) -> None:
    """Delete a role's secret ids and their accessors."""
    found = [(digest, find(place, digest)) for digest in place.storage.list(place.folder)]
    for digest, secret_id in found:
        place.storage.delete(place.folder + digest)
        if secret_id is not None:
            place.storage.delete(ACCESSORS + secret_id.accessor)


def accessors(place: SecretIdPlace) -> list[str]:
    """Return the accessors of a role's secret ids, sorted."""
    found = [find(place, digest) for digest in place.storage.list(place.folder)]
    return sorted([secret_id.accessor for secret_id in found if secret_id is not None])


def _decode(stored: bytes) -> SecretId:
    *plain, metadata, cidr_list, token_bound_cidrs = decode_record(stored)
    found = SecretId(*plain)
    blocks = {"cidr_list": as_tuple(cidr_list), "token_bound_cidrs": as_tuple(token_bound_cidrs)}
    return found._replace(metadata=tuple(metadata.items()), **blocks)


def _decode_accessor(stored: bytes) -> AccessorEntry:
    return AccessorEntry(*decode_record(stored))
