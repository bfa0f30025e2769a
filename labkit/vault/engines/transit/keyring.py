"""The keyring: a named key's versions and settings, and the rules of which version may do what.

1. A keyring is immutable: to change it, make another and write it.
2. Versions are numbered from 1 without gaps.  Those below ``min_available_version`` are destroyed; of the rest, the
   live ones, ``min_decryption_version`` to the latest, can be used and are shown.
3. The latest version encrypts; a request may name an older live one, down to ``min_encryption_version``
   where that is set.
4. Each version has a random HMAC key of its own; that of type hmac is the key itself.
5. What ``encryptors``, ``decryptors``, ``signers`` and ``verifiers`` keep is made from the keyring alone: caches that
   end with the object.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.vault.engines.transit.algorithms import HKDF_SHA256, KEY_TYPES, MIN_HMAC_KEY_BYTES, KeyType
from labkit.vault.storage.nonce_counts import NonceCount
from labkit.vault.storage.records import decode_record, encode_record
from labkit.vault.storage.storage_view import StorageView

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext
    from labkit.vault.engines.transit.pairs.key_pairs import KeySource

FOLDER = "key/"
COUNTS_FOLDER = "nonces/"
SETTINGS = "config/keys"
"""Where the settings of all keys of the mount are stored."""
HMAC_KEY_BYTES = 32
EVENTS = ("backup_ns", "backup_version", "restore_ns", "restore_version")
"""Members that few stored keyrings have."""
MIN_ROTATION_S = 3_600

# What a convergent keyring's own record says: today's keyrings name no version, each of their entries does.
CONVERGENT_BY_ENTRY = -1
CONVERGENT_NEWEST = 3

KEY_NOT_FOUND = "encryption key not found"


class KeyVersion(NamedTuple):
    """One version: key, HMAC key, when it was made, and its way of convergent encryption (0: as the keyring says).

    Of a key pair ``key`` is the private half, empty where only the public one was imported, and ``chain`` its
    certificates (DER), the leaf first.  An external key has only the id of its managed key.
    """

    key: bytes
    hmac_key: bytes
    created_ns: int
    convergent_version: int = 0
    public: bytes = b""
    chain: tuple[bytes, ...] = ()
    managed_id: str = ""

    def __repr__(self) -> str:
        return f"KeyVersion(created_ns={self.created_ns})"  # never a key


class KeyringRecord(NamedTuple):
    """What is stored of a keyring; ``versions`` begins with the oldest that is not destroyed."""

    type: str
    versions: tuple[KeyVersion, ...] = ()
    min_decryption_version: int = 1
    min_encryption_version: int = 0
    min_available_version: int = 0
    derived: bool = False
    kdf: int = 0
    convergent_encryption: bool = False
    convergent_version: int = 0
    exportable: bool = False
    allow_plaintext_backup: bool = False
    deletion_allowed: bool = False
    auto_rotate_period_s: int = 0
    key_size: int = 0
    imported: bool = False
    allow_rotation: bool = False
    backup_ns: int = 0  # when it was last backed up, 0 for never, and its latest version then; the same of a restore
    backup_version: int = 0
    restore_ns: int = 0
    restore_version: int = 0


class Keyring(KeyringRecord):
    """A stored keyring with its rules, and the ciphers that were made from it so far."""

    def __repr__(self) -> str:
        return f"Keyring({self.type}, versions {self.oldest_version} to {self.latest_version})"

    @property
    def key_type(self) -> KeyType:
        """The row of the keyring's type."""
        return KEY_TYPES[self.type]

    @property
    def oldest_version(self) -> int:
        """The oldest version that is not destroyed."""
        return max(self.min_available_version, 1)

    @property
    def latest_version(self) -> int:
        """The newest version; 0 for a keyring that has none yet."""
        return self.oldest_version + len(self.versions) - 1

    @property
    def live_versions(self) -> range:
        """The versions that can be used."""
        return range(max(self.min_decryption_version, self.oldest_version), self.latest_version + 1)

    @property
    def next_rotation_ns(self) -> int | None:
        """When the keyring rotates by itself, in nanoseconds since the epoch; None for never."""
        if not self.auto_rotate_period_s or (self.imported and not self.allow_rotation):
            return None
        return self.versions[-1].created_ns + self.auto_rotate_period_s * SECOND_NS

    @property
    def takes_nonce(self) -> bool:
        """Whether callers bring the nonce: a convergent keyring of the first kind."""
        return self.convergent_encryption and self.convergent_version in (0, 1)

    @cached_property
    def encryptors(self) -> dict[int, Any]:
        """What encrypts, by the wanted version (0: the latest)."""
        return {}

    @cached_property
    def nonce_counts(self) -> dict[int, NonceCount]:
        """The counts of random nonces of the versions that encrypted so far, where the node keeps them."""
        return {}

    @cached_property
    def decryptors(self) -> dict[str, Any]:
        """What decrypts, by the version as an envelope spells it."""
        return {}

    @cached_property
    def signers(self) -> dict[int, Any]:
        """What signs, by the wanted version (0: the latest)."""
        return {}

    @cached_property
    def verifiers(self) -> dict[int, Any]:
        """What verifies signatures, by their version."""
        return {}

    @cached_property
    def shown_pairs(self) -> list[dict[str, str]]:
        """What a key read shows of each live version of a key pair, once it was asked for; copied for each answer."""
        return []

    def live(self, version: int) -> KeyVersion:
        """Return a live version; raise BadRequest when there is none of that number."""
        if version not in self.live_versions:
            raise BadRequest("no such key version")
        return self.versions[version - self.oldest_version]

    def version_to_encrypt(self, wanted: int) -> int:
        """Return the version that encrypts for a wanted version (0: the latest); raise BadRequest."""
        return self._wanted(wanted, "encryption")

    def version_to_sign(self, wanted: int) -> int:
        """Return the version that signs for a wanted version (0: the latest); raise BadRequest."""
        return self._wanted(wanted, "signing")

    def _wanted(self, wanted: int, work: str) -> int:
        if wanted == 0:
            return self.latest_version
        if wanted < 0:
            raise BadRequest(f"requested version for {work} is negative")
        if wanted > self.latest_version:
            raise BadRequest(f"requested version for {work} is higher than the latest key version")
        if wanted < self.min_encryption_version:
            raise BadRequest(f"requested version for {work} is less than the minimum encryption key version")
        return wanted

    def version_to_hmac(self, wanted: int) -> int:
        """Return the version that makes keyed digests for a wanted version (0: the latest); raise BadRequest."""
        if wanted == 0:
            return self.latest_version
        if 0 <= wanted < self.min_encryption_version:
            raise BadRequest("cannot generate HMAC: version is too old (disallowed by policy)")
        if wanted < 0:
            raise BadRequest("key version does not exist (cannot be negative)")
        if wanted > self.latest_version:
            raise BadRequest(f"key version does not exist; latest key version is {self.latest_version}")
        return wanted

    def check_decryption(self, version: int) -> None:
        """Raise BadRequest when what was made with a version may not be decrypted."""
        if version > self.latest_version:
            raise BadRequest("invalid ciphertext: version is too new")
        if version < self.min_decryption_version:
            raise BadRequest("ciphertext or signature version is disallowed by policy (too old)")

    def check_verification(self, version: int) -> None:
        """Raise BadRequest when signatures of a version may not be verified."""
        if version > self.latest_version:
            raise BadRequest("invalid signature: version is too new")
        if version < self.min_decryption_version:
            raise BadRequest("ciphertext or signature version is disallowed by policy (too old)")

    def check_hmac_verification(self, version: int) -> None:
        """Raise BadRequest when keyed digests of a version may not be verified."""
        if version > self.latest_version:
            raise BadRequest("invalid HMAC: version is too new")
        if version < self.min_decryption_version:
            raise BadRequest("cannot verify HMAC: version is too old (disallowed by policy)")

    def convergent_version_of(self, entry: KeyVersion) -> int:
        """Return the way of convergent encryption of a version: 1, 2 or 3; 0 when the keyring is not convergent."""
        if not self.convergent_encryption:
            return 0
        version = entry.convergent_version or self.convergent_version or 1
        return version if version in (1, 2) else CONVERGENT_NEWEST


def empty_keyring(key_type: str, *, derived: bool, convergent: bool, service_version: str) -> Keyring:
    """Return the keyring of a new key, before its first version."""
    return Keyring(
        key_type,
        derived=derived,
        kdf=HKDF_SHA256 if derived else 0,
        convergent_encryption=convergent,
        convergent_version=convergent_version_made_by(service_version) if convergent else 0,
    )


def convergent_version_made_by(service_version: str) -> int:
    """Return what a new convergent keyring's record says: 1 in a service up to 0.6.1 (spec, Versioning 3), else -1."""
    numbers = tuple([int(number) for number in re.findall(r"\d+", service_version.partition("+")[0])[:3]])
    return 1 if numbers <= (0, 6, 1) else CONVERGENT_BY_ENTRY


def rotate(keyring: Keyring, source: KeySource, now_ns: int) -> Keyring:
    """Return the keyring with a new latest version, the first one for a new keyring."""
    key_type = keyring.key_type
    public = b""
    if key_type.pair is not None:
        key, public = key_type.pair.make(source)
    else:
        key = source.entropy(key_type.key_bytes or keyring.key_size or MIN_HMAC_KEY_BYTES)
    hmac_key = key if key_type.is_hmac else source.entropy(HMAC_KEY_BYTES)
    # A keyring of the first kind stays so; every other one gets the newest way with its next version.
    newest = keyring.convergent_encryption and keyring.convergent_version not in (0, 1)
    entry = KeyVersion(key, hmac_key, now_ns, CONVERGENT_NEWEST if newest else 0, public)
    return keyring._replace(versions=(*keyring.versions, entry), imported=False)


def trim(keyring: Keyring, minimum: int) -> Keyring:
    """Return the keyring without the versions below ``minimum``."""
    kept = keyring.versions[minimum - keyring.oldest_version :]
    return keyring._replace(versions=kept, min_available_version=minimum)


def check_rotation_period(period_s: int) -> None:
    """Raise BadRequest for a period of automatic rotation that is too short (spec, Limits); 0 switches it off."""
    if 0 < period_s < MIN_ROTATION_S:
        raise BadRequest("auto rotate period must be 0 to disable or at least an hour")


def encode_keyring(keyring: Keyring) -> bytes:
    """Write a keyring as it is stored."""
    record = keyring._asdict()
    record["versions"] = [_row(entry) for entry in keyring.versions]
    for event in EVENTS:
        if not record[event]:
            del record[event]
    return encode_record(record)


def _row(entry: KeyVersion) -> tuple[Any, ...]:
    row: tuple[Any, ...] = (entry.key.hex(), entry.hmac_key.hex(), entry.created_ns, entry.convergent_version)
    if not (entry.public or entry.chain or entry.managed_id):
        return row
    row = (*row, entry.public.hex(), [certificate.hex() for certificate in entry.chain])
    return (*row, entry.managed_id) if entry.managed_id else row


def decode_keyring(stored: bytes) -> Keyring:
    """Read a stored keyring; members that were not known when it was written have their defaults."""
    record = decode_record(stored)
    rows = record.pop("versions")
    return Keyring(versions=tuple(map(_entry, rows)), **record)


def _entry(row: list[Any]) -> KeyVersion:
    entry = KeyVersion(bytes.fromhex(row[0]), bytes.fromhex(row[1]), *row[2:4])
    if len(row) < 5:
        return entry
    chain = tuple([bytes.fromhex(text) for text in row[5]])
    return entry._replace(public=bytes.fromhex(row[4]), chain=chain, managed_id=row[6] if len(row) > 6 else "")


def read_keyring(storage: StorageView, name: str) -> Keyring | None:
    """Return the keyring of a name, or None."""
    return storage.decoded(FOLDER + name, decode_keyring)


def fetches(ctx: EngineContext, arguments: dict[str, Any]) -> bool:
    """Whether a request is for a key whose versions are managed keys: their store outside is asked."""
    keyring = read_keyring(ctx.storage, arguments["name"])
    return keyring is not None and keyring.key_type.external


def existing_keyring(storage: StorageView, name: str) -> Keyring:
    """Return the keyring that data is encrypted or decrypted with; raise BadRequest when there is none."""
    keyring = read_keyring(storage, name)
    if keyring is None:
        raise BadRequest(KEY_NOT_FOUND)
    return keyring


def upsert_disabled(storage: StorageView) -> bool:
    """Whether encrypt must not make keys that are missing."""
    return bool(storage.decoded(SETTINGS, _disables_upsert))


def _disables_upsert(stored: bytes) -> bool:
    return bool(decode_record(stored)["disable_upsert"])


def write_keyring(storage: StorageView, name: str, keyring: Keyring) -> None:
    """Store a keyring when the step commits, with what was counted of it, and note when it rotates by itself."""
    counted = COUNTS_FOLDER + name
    counts = storage.nonce_counts.encoded(storage.prefix + counted, keyring.oldest_version)
    if counts is not None:
        storage.put(counted, counts)
    storage.put(FOLDER + name, encode_keyring(keyring), due_ns=keyring.next_rotation_ns or 0)
