"""``export``: keys of the mount in the clear, by what they are for; only those that were made exportable (T9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest, NotFound
from labkit.service.fields import segment
from labkit.service.routing import Route
from labkit.vault.engines.transit.keyring import Keyring, KeyVersion, read_keyring
from labkit.vault.engines.transit.keys.key_material import private_text
from labkit.vault.engines.transit.pairs.key_pairs import chain_text
from labkit.vault.engines.transit.parameters import NAME
from labkit.vault.engines.transit.refusals import ListedRefusal

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

    Shown = Callable[[Keyring, KeyVersion], str]


def export_key(ctx: EngineContext, key_type: str, name: str) -> dict[str, Any]:
    """Return every live version of a key."""
    return export_version(ctx, key_type, name, "")


def export_version(ctx: EngineContext, key_type: str, name: str, version: str) -> dict[str, Any]:
    """Return one version of a key."""
    if key_type not in SHOWN:
        raise BadRequest(f"invalid export type: {key_type}")
    keyring = read_keyring(ctx.storage, name)
    if keyring is None:
        raise NotFound
    if not keyring.exportable:
        raise BadRequest("private key material is not exportable")
    _check_kind(key_type, keyring)
    shown = SHOWN[key_type]
    keys = {str(number): shown(keyring, keyring.live(number)) for number in exported_versions(keyring, version)}
    return {"name": name, "type": keyring.type, "keys": keys}


def _check_kind(key_type: str, keyring: Keyring) -> None:
    if key_type == "encryption-key" and not keyring.key_type.encrypts:
        raise BadRequest("encryption not supported for the key")
    if key_type == "signing-key" and not keyring.key_type.signs:
        raise BadRequest("signing not supported for the key")
    if key_type == "certificate-chain" and not keyring.key_type.signs:
        raise BadRequest("certificate chain not supported for keys that do not support signing")


def exported_versions(keyring: Keyring, version: str) -> list[int]:
    """Return the versions that a request wants: all live ones, ``latest``, or one by number; raise BadRequest."""
    if not version:
        return list(keyring.live_versions)
    if version == "latest":
        return [keyring.latest_version]
    digits = version.removeprefix("v")
    if not (digits.isascii() and digits.removeprefix("-").isdigit()) or len(digits) > 18:
        raise BadRequest("invalid key version")
    number = int(digits)
    if number < keyring.min_decryption_version:
        raise BadRequest("version for export is below minimum decryption version")
    if number not in keyring.live_versions:
        raise BadRequest("version does not exist or cannot be found")
    return [number]


def _private(keyring: Keyring, entry: KeyVersion) -> str:
    return private_text(keyring.key_type, entry.key)


def _hmac_key(keyring: Keyring, entry: KeyVersion) -> str:
    return to_base64(entry.hmac_key)


def _public(keyring: Keyring, entry: KeyVersion) -> str:
    pair = keyring.key_type.pair
    if pair is None:
        raise ListedRefusal(f"unknown key type {keyring.type} for export type public-key")
    return pair.public_text(entry.public)


def _chain(keyring: Keyring, entry: KeyVersion) -> str:
    if not entry.chain:
        raise ListedRefusal("selected key version does not have a certificate chain imported")
    return chain_text(entry.chain)


SHOWN: dict[str, Shown] = {
    "encryption-key": _private,
    "signing-key": _private,
    "hmac-key": _hmac_key,
    "public-key": _public,
    "certificate-chain": _chain,
}
KEY_TYPE = segment("key_type", "what of the key: " + ", ".join(SHOWN))
VERSION = segment("version", "one version by number, or latest")

ROUTES = (
    Route("read", "export/<key_type>/<name>", export_key, (KEY_TYPE, NAME)),
    Route("read", "export/<key_type>/<name>/<version>", export_version, (KEY_TYPE, NAME, VERSION)),
)
