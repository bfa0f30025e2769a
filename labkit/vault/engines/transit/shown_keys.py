"""Shown keys: what the API shows of a named key, never a secret part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS, format_instant
from labkit.vault.engines.transit.algorithms import COUNTER_MODE, KDF_NAMES
from labkit.vault.engines.transit.pairs.key_pairs import chain_text

if TYPE_CHECKING:
    from labkit.vault.engines.transit.keyring import Keyring, KeyVersion


def describe(name: str, keyring: Keyring, context: bytes = b"") -> dict[str, Any]:
    """Return what the API shows of a key (spec, Transit key); never a secret key.

    ``context``: that of the pair whose public half a derived keyring shows.
    """
    key_type = keyring.key_type
    shown = {
        "name": name,
        "type": keyring.type,
        "derived": keyring.derived,
        "deletion_allowed": keyring.deletion_allowed,
        "exportable": keyring.exportable,
        "allow_plaintext_backup": keyring.allow_plaintext_backup,
        "supports_encryption": key_type.encrypts or key_type.external,
        "supports_decryption": key_type.encrypts or key_type.external,
        "supports_signing": key_type.signs or key_type.external,
        "supports_derivation": key_type.derives,
        "latest_version": keyring.latest_version,
        "min_available_version": keyring.min_available_version,
        "min_decryption_version": keyring.min_decryption_version,
        "min_encryption_version": keyring.min_encryption_version,
        "auto_rotate_period": keyring.auto_rotate_period_s,
        "imported_key": keyring.imported,
        "keys": _shown_versions(keyring, context),
    }
    if keyring.imported:
        shown["imported_key_allow_rotation"] = keyring.allow_rotation
    if keyring.key_size:
        shown["key_size"] = keyring.key_size
    if keyring.derived:
        shown["kdf"] = KDF_NAMES[keyring.kdf]
        if keyring.kdf == COUNTER_MODE:
            shown["kdf_mode"] = KDF_NAMES[keyring.kdf]
        shown["convergent_encryption"] = keyring.convergent_encryption
    if keyring.convergent_encryption:
        shown["convergent_encryption_version"] = keyring.convergent_version
    return shown | _shown_events(keyring)


def _shown_events(keyring: Keyring) -> dict[str, Any]:
    shown = {}
    if keyring.backup_version:
        shown["backup_info"] = shown_event(keyring.backup_ns, keyring.backup_version)
    if keyring.restore_version:
        shown["restore_info"] = shown_event(keyring.restore_ns, keyring.restore_version)
    return shown


def shown_event(at_ns: int, version: int) -> dict[str, Any]:
    """Lay out when a key was backed up or restored, and which version was its latest then."""
    return {"time": format_instant(at_ns), "version": version}


def _shown_versions(keyring: Keyring, context: bytes) -> dict[str, Any]:
    live = keyring.live_versions
    entries = keyring.versions[live.start - keyring.oldest_version :]
    if keyring.key_type.pair is None:
        return {str(version): entry.created_ns // SECOND_NS for version, entry in zip(live, entries, strict=True)}
    if context:
        shown = [_shown_pair(keyring, entry, context) for entry in entries]
    else:
        if not keyring.shown_pairs:
            keyring.shown_pairs.extend([_shown_pair(keyring, entry) for entry in entries])
        shown = [dict(pair) for pair in keyring.shown_pairs]
    return dict(zip(map(str, live), shown, strict=True))


def _shown_pair(keyring: Keyring, entry: KeyVersion, context: bytes = b"") -> dict[str, str]:
    pair = keyring.key_type.pair
    assert pair is not None, "only pairs are shown so"
    public_text = "" if keyring.derived else pair.public_text(entry.public)
    if keyring.derived and context and pair.derive is not None:
        public_text = pair.public_text(pair.derive(keyring.kdf, entry.key, context)[1])
    return {
        "name": pair.shown_name,
        "public_key": public_text,
        "certificate_chain": chain_text(entry.chain),
        "creation_time": format_instant(entry.created_ns),
    }
