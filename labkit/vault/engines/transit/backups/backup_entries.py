"""Backup entries: one version of a key within a backup blob.

Every entry has all members, whatever the key's type; those that it has no use for are null.
"""

from __future__ import annotations

from typing import Any

from labkit.service.durations import SECOND_NS, format_instant
from labkit.service.encoding import to_base64
from labkit.vault.engines.transit.algorithms import KeyType
from labkit.vault.engines.transit.backups.backup_members import NO_INSTANT, Members
from labkit.vault.engines.transit.backups.backup_pairs import read_pair, written_pair
from labkit.vault.engines.transit.keyring import KeyVersion
from labkit.vault.engines.transit.keys.key_material import Material, private_material

NO_ENTRY: dict[str, Any] = {
    "key": None,
    "hmac_key": None,
    "time": NO_INSTANT,
    "ec_x": None,
    "ec_y": None,
    "ec_d": None,
    "rsa_key": None,
    "rsa_public_key": None,
    "public_key": "",
    "convergent_version": 0,
    "creation_time": 0,
}
"""The entry of no version."""


def written_entry(key_type: KeyType, entry: KeyVersion) -> dict[str, Any]:
    """Lay out a version."""
    return {
        **NO_ENTRY,
        **_written_key(key_type, entry),
        "hmac_key": to_base64(entry.hmac_key),
        "time": format_instant(entry.created_ns),
        "convergent_version": entry.convergent_version,
        "creation_time": entry.created_ns // SECOND_NS,
        **({"certificate_chain": [to_base64(certificate) for certificate in entry.chain]} if entry.chain else {}),
    }


def _written_key(key_type: KeyType, entry: KeyVersion) -> dict[str, Any]:
    if key_type.pair is None:
        return {"key": to_base64(entry.key)}
    return written_pair(key_type, entry)


def read_entry(key_type: KeyType, members: Members) -> KeyVersion:
    """Read a version; raise BadRequest when it is not one of the type."""
    material = _read_key(key_type, members)
    return KeyVersion(
        material.key,
        material.key if key_type.is_hmac else members.value("hmac_key"),
        members.instant("time") or members.seconds("creation_time"),
        members.number("convergent_version"),
        material.public,
        tuple(members.values("certificate_chain")),
    )


def _read_key(key_type: KeyType, members: Members) -> Material:
    if key_type.pair is None:
        return private_material(key_type, members.value("key"))
    return Material(*read_pair(key_type, members))
