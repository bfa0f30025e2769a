"""Backup blobs: a whole key as text, in the layout that real servers write and read.

1. A blob is base64 of one JSON object and a newline: ``policy``, the settings with the live versions, and
   ``archived_keys``, a list of all versions that are not destroyed.
2. Before the first version of a list of which none was destroyed stands one that is all zero.
"""

from __future__ import annotations

from typing import Any

from labkit.service.durations import SECOND_NS
from labkit.service.encoding import to_base64
from labkit.vault.engines.transit.backups.backup_entries import NO_ENTRY, written_entry
from labkit.vault.engines.transit.keyring import Keyring
from labkit.vault.engines.transit.shown_keys import shown_event


def write_blob(name: str, keyring: Keyring) -> str:
    """Write a key with its settings, all versions that are not destroyed, and their private halves."""
    import json

    written = [written_entry(keyring.key_type, entry) for entry in keyring.versions]
    live = {str(version): written[version - keyring.oldest_version] for version in keyring.live_versions}
    archive = written if keyring.min_available_version else [NO_ENTRY, *written]
    blob = {"policy": _policy(name, keyring, live), "archived_keys": {"keys": archive}}
    return to_base64((json.dumps(blob, separators=(",", ":"), ensure_ascii=False) + "\n").encode())


def _policy(name: str, keyring: Keyring, live: dict[str, Any]) -> dict[str, Any]:
    size = {"key_size": keyring.key_size} if keyring.key_size else {}
    return {
        "name": name,
        **size,
        "keys": live,
        "derived": keyring.derived,
        "kdf": keyring.kdf,
        "convergent_encryption": keyring.convergent_encryption,
        "exportable": keyring.exportable,
        "min_decryption_version": keyring.min_decryption_version,
        "min_encryption_version": keyring.min_encryption_version,
        "latest_version": keyring.latest_version,
        "archive_version": keyring.latest_version,
        "archive_min_version": keyring.min_available_version,
        "min_available_version": keyring.min_available_version,
        "deletion_allowed": keyring.deletion_allowed,
        "convergent_version": keyring.convergent_version,
        "type": keyring.key_type.code,
        "backup_info": _event(keyring.backup_ns, keyring.backup_version),
        "restore_info": _event(keyring.restore_ns, keyring.restore_version),
        "allow_plaintext_backup": keyring.allow_plaintext_backup,
        "version_template": "",
        "storage_prefix": "",
        "auto_rotate_period": keyring.auto_rotate_period_s * SECOND_NS,
        "Imported": keyring.imported,
        "AllowImportedKeyRotation": keyring.allow_rotation,
    }


def _event(at_ns: int, version: int) -> dict[str, Any] | None:
    return shown_event(at_ns, version) if version else None
