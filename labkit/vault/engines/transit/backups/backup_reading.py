"""Backup blobs, read: what a real server wrote, or labkit, or anybody else.

1. What is unknown is ignored, what is missing is zero.
2. Settings that contradict one another or that this service does not have are refused before anything is written.
3. A version is taken from the live ones where it is among them, else from the archive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.vault.engines.transit.algorithms import (
    KDF_NAMES,
    KEY_TYPES,
    MAX_HMAC_KEY_BYTES,
    MIN_HMAC_KEY_BYTES,
    KeyType,
    type_for_new_key,
)
from labkit.vault.engines.transit.backups.backup_entries import read_entry
from labkit.vault.engines.transit.backups.backup_members import Members
from labkit.vault.engines.transit.encoding import from_base64
from labkit.vault.engines.transit.keyring import HMAC_KEY_BYTES, Keyring, check_rotation_period
from labkit.vault.engines.transit.refusals import ListedRefusal, item_text

VERSION_TEMPLATES = ("", "vault:v{{version}}:")

TYPES_BY_CODE = {row.code: name for name, row in KEY_TYPES.items()}
MAX_VERSION = 2**31 - 1
HMAC_CODES = (10, 11)
"""The numbers of type hmac: one family of servers uses the first, the other the second, each for another type too."""


class KeyBackup(NamedTuple):
    """A blob that was opened: its settings, and its versions by number."""

    policy: Members
    live: Members
    archived: list[Any]

    def __repr__(self) -> str:
        return "KeyBackup()"

    def entry(self, version: int) -> Members:
        """Return what stands of a version; raise BadRequest when nothing does."""
        found = self.live.object(str(version))
        if found is not None:
            return found
        place = version - self.policy.number("min_available_version")
        if not 0 <= place < len(self.archived):
            raise ListedRefusal(f"in the backup, version {version} is missing")
        return Members(self.archived[place], f"archived_keys.keys[{place}].")


def open_blob(text: str) -> KeyBackup:
    """Read a blob's layout; raise BadRequest for a text that is not a backup."""
    try:
        raw = from_base64(text)
    except BadRequest as refused:
        raise ListedRefusal(item_text(refused)) from None
    blob = Members(_read_json(raw), "")
    policy = blob.object("policy")
    if policy is None:
        raise ListedRefusal("in the backup, policy is missing")
    archive = blob.object("archived_keys")
    archived = [] if archive is None else archive.objects("keys")
    live = policy.object("keys") or Members({}, "policy.keys.")
    if policy.has("key") and not live.names():  # a key of before there were versions
        live = Members({"1": {"key": policy.text("key")}}, "policy.keys.")
        policy = policy.with_defaults({"latest_version": 1, "min_decryption_version": 1})
    return KeyBackup(policy, live, archived)


def _read_json(raw: bytes) -> Any:
    import json

    try:
        text = raw.decode()
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ListedRefusal("the backup is not JSON that can be read: it is too deep") from None
    except ValueError:
        first = raw.strip()[:1].decode("ascii", "ignore")
        if first and first not in '{["-0123456789tfn':
            raise ListedRefusal(f"invalid character '{first}' looking for beginning of value") from None
        raise ListedRefusal("the backup is not JSON") from None


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def keyring_of(backup: KeyBackup, name: str, entropy: Callable[[int], bytes], now_ns: int, *, fips: bool) -> Keyring:
    """Return the key of a backup; raise BadRequest when it contradicts itself, or is of another kind.

    ``entropy`` makes the HMAC keys that very old versions lack; ``now_ns`` is when a version without a time was made.
    """
    policy = backup.policy
    _check_versions(backup, name)
    key_type = type_for_new_key(_type_name(backup), fips=fips)
    keyring = _settings(policy, key_type)
    versions = []
    for version in range(keyring.oldest_version, policy.number("latest_version") + 1):
        entry = read_entry(key_type, backup.entry(version))
        if keyring.derived and not entry.key:
            raise ListedRefusal(f"in the backup, version {version} of a derived key lacks its private half")
        if not entry.hmac_key:
            entry = entry._replace(hmac_key=entropy(HMAC_KEY_BYTES))
        versions.append(entry if entry.created_ns else entry._replace(created_ns=now_ns))
    return keyring._replace(versions=tuple(versions))


def _check_versions(backup: KeyBackup, name: str) -> None:
    """Raise BadRequest when the numbers of versions cannot be those of one key."""
    policy = backup.policy
    oldest, latest = policy.number("min_decryption_version"), policy.number("latest_version")
    encryption, archived = policy.number("min_encryption_version"), policy.number("archive_version")
    available = policy.number("min_available_version")
    for wrong, text in (
        (latest > MAX_VERSION, f"latest version of {latest} is greater than {MAX_VERSION}"),
        (oldest < 1, f"minimum decryption version of {oldest} is less than 1"),
        (latest < 1, f"latest version of {latest} is less than 1"),
        (
            archived != latest and not backup.live.has(str(oldest)),
            f"version {oldest} is not among the keys, and the archive ends with version {archived}",
        ),
        (archived > latest, f"archive version of {archived} is greater than the latest version {latest}"),
        (
            encryption and encryption < oldest,
            f"minimum decryption version of {oldest} is greater than minimum encryption version {encryption}",
        ),
        (oldest > latest, f"minimum decryption version of {oldest} is greater than the latest version {latest}"),
        (encryption > latest, f"minimum encryption version of {encryption} is greater than the latest {latest}"),
        (not 0 <= available <= oldest, f"minimum available version of {available} is not between 0 and {oldest}"),
    ):
        if wrong:
            raise ListedRefusal(f'failed to restore the policy "{name}": {text}')


def _type_name(backup: KeyBackup) -> str:
    policy = backup.policy
    code = policy.number("type")
    if code in HMAC_CODES:
        entry = backup.entry(policy.number("latest_version"))
        if policy.number("key_size") or (entry.has("key") and entry.value("key") == entry.value("hmac_key")):
            return "hmac"
    if code not in TYPES_BY_CODE or code in HMAC_CODES:
        raise ListedRefusal(f"the backup is of a key of a type that this service does not restore, number {code}")
    return TYPES_BY_CODE[code]


def _check_settings(policy: Members, key_type: KeyType) -> None:
    """Raise BadRequest for settings that no key of this service has."""
    kdf, size = policy.number("kdf"), policy.number("key_size")
    derived, convergent = policy.flag("derived"), policy.flag("convergent_encryption")
    way = policy.number("convergent_version")
    for wrong, text in (
        (derived and not key_type.derives, f"keys of type {key_type.name} cannot be derived"),
        (convergent and not derived, "a convergent key must be derived"),
        (convergent and not key_type.symmetric, f"keys of type {key_type.name} cannot be convergent"),
        (kdf not in KDF_NAMES, f"key derivation function {kdf} is unknown"),
        (convergent and way not in (-1, 0, 1, 2, 3), f"convergent version {way} is unknown"),
        (size and not MIN_HMAC_KEY_BYTES <= size <= MAX_HMAC_KEY_BYTES, f"key size of {size} bytes"),
        (policy.text("version_template") not in VERSION_TEMPLATES, "ciphertexts would have a version template"),
        (policy.flag("soft_deleted"), "the key was deleted, though not for good; restore it there first"),
        (policy.number("auto_rotate_period") < 0, "auto rotate period is negative"),
    ):
        if wrong:
            raise ListedRefusal(f"the backup cannot be restored: {text}")


def _settings(policy: Members, key_type: KeyType) -> Keyring:
    """Return a key's settings, without versions."""
    _check_settings(policy, key_type)
    period_s = policy.number("auto_rotate_period") // SECOND_NS
    check_rotation_period(period_s)
    derived, convergent = policy.flag("derived"), policy.flag("convergent_encryption")
    backup_ns, backup_version = _event(policy, "backup_info")
    return Keyring(
        key_type.name,
        min_decryption_version=policy.number("min_decryption_version"),
        min_encryption_version=policy.number("min_encryption_version"),
        min_available_version=policy.number("min_available_version"),
        derived=derived,
        kdf=policy.number("kdf") if derived else 0,
        convergent_encryption=convergent,
        convergent_version=(policy.number("convergent_version") or 1) if convergent else 0,
        exportable=policy.flag("exportable"),
        allow_plaintext_backup=policy.flag("allow_plaintext_backup"),
        deletion_allowed=policy.flag("deletion_allowed"),
        auto_rotate_period_s=period_s,
        key_size=policy.number("key_size") if key_type.is_hmac else 0,
        imported=policy.flag("Imported"),
        allow_rotation=policy.flag("AllowImportedKeyRotation"),
        backup_ns=backup_ns,
        backup_version=backup_version,
    )


def _event(policy: Members, name: str) -> tuple[int, int]:
    """Return when something was done and with which version the latest; zeros for never."""
    event = policy.object(name)
    return (0, 0) if event is None else (event.instant("time"), event.number("version"))
