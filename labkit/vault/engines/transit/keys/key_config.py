"""``keys/<name>/config``, ``/rotate`` and ``/trim``: a key's settings and the life of its versions.

1. ``config`` applies what was sent, all of it or, when one thing is wrong, nothing.
2. A key's latest version is always at or above both minimums; ``min_encryption_version`` is 0 or at or above
   ``min_decryption_version`` (spec, Errors 6).
3. What ``trim`` destroys was neither decryptable nor usable for encryption before; no minimum goes below it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest
from labkit.service.fields import duration, flag, integer
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.engines.transit.external import external_keyrings
from labkit.vault.engines.transit.keyring import (
    Keyring,
    check_rotation_period,
    fetches,
    read_keyring,
    rotate,
    trim,
    write_keyring,
)
from labkit.vault.engines.transit.parameters import MANAGED_ID, MANAGED_NAME, NAME
from labkit.vault.engines.transit.refusals import ListedRefusal
from labkit.vault.engines.transit.shown_keys import describe

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext


class KeyConfigRequest(NamedTuple):
    """The settings that a request changes; None leaves one as it is."""

    name: str
    min_decryption_version: int | None
    min_encryption_version: int | None
    deletion_allowed: bool | None
    exportable: bool | None
    allow_plaintext_backup: bool | None
    auto_rotate_period: int | None


def configure_key(ctx: EngineContext, asked: KeyConfigRequest) -> dict[str, Any]:
    """Change the settings that were sent."""
    keyring = read_keyring(ctx.storage, asked.name)
    if keyring is None:
        raise BadRequest(f"no existing key named {asked.name} could be found")
    if asked.exportable or asked.allow_plaintext_backup or asked.auto_rotate_period:
        external_keyrings.refuse(keyring, "to export, to back up or to rotate by itself")
    if asked.min_decryption_version == 0:
        ctx.warn("since Vault 0.3, transit key numbering starts at 1; forcing minimum to 1")
    changed = with_minimums(keyring, asked.min_decryption_version, asked.min_encryption_version)
    if asked.deletion_allowed is not None:
        changed = changed._replace(deletion_allowed=asked.deletion_allowed)
    # Key material that was exported cannot be recalled: these two are only ever switched on.
    changed = changed._replace(
        exportable=keyring.exportable or bool(asked.exportable),
        allow_plaintext_backup=keyring.allow_plaintext_backup or bool(asked.allow_plaintext_backup),
    )
    if asked.auto_rotate_period is not None:
        check_rotation_period(asked.auto_rotate_period)
        changed = changed._replace(auto_rotate_period_s=asked.auto_rotate_period)
    if changed != keyring:
        _check_against_trimmed(changed)
        write_keyring(ctx.storage, asked.name, changed)
    return describe(asked.name, changed)


def with_minimums(keyring: Keyring, decryption: int | None, encryption: int | None) -> Keyring:
    """Return the keyring with new minimum versions (None: as they are); raise BadRequest for an impossible pair."""
    latest = keyring.latest_version
    if decryption is not None:
        if decryption < 0:
            raise BadRequest("min decryption version cannot be negative")
        decryption = decryption or 1
        if decryption > latest:
            raise BadRequest(f"cannot set min decryption version of {decryption}, latest key version is {latest}")
        keyring = keyring._replace(min_decryption_version=decryption)
    if encryption is not None:
        if encryption < 0:
            raise BadRequest("min encryption version cannot be negative")
        if encryption > latest:
            raise BadRequest(f"cannot set min encryption version of {encryption}, latest key version is {latest}")
        keyring = keyring._replace(min_encryption_version=encryption)
    if 0 < keyring.min_encryption_version < keyring.min_decryption_version:
        raise BadRequest(
            "cannot set min encryption/decryption values; "
            f"min encryption version of {keyring.min_encryption_version} must be greater than or equal to "
            f"min decryption version of {keyring.min_decryption_version}"
        )
    return keyring


def _check_against_trimmed(keyring: Keyring) -> None:
    if keyring.min_available_version > keyring.min_encryption_version:
        raise BadRequest("min encryption version should not be less than min available version")
    if keyring.min_available_version > keyring.min_decryption_version:
        raise BadRequest("min decryption version should not be less then min available version")


def rotate_key(ctx: EngineContext, name: str, managed_key_name: str, managed_key_id: str) -> Any:
    """Add a version, which becomes the latest.  For an external key it fetches."""
    keyring = read_keyring(ctx.storage, name)
    if keyring is None:
        raise BadRequest("key not found")
    if keyring.key_type.external:
        return external_keyrings.rotate(ctx, name, managed_key_name, managed_key_id)
    if keyring.imported and not keyring.allow_rotation:
        raise ListedRefusal(f"imported key {name} does not allow rotation within Vault")
    keyring = rotate(keyring, ctx, ctx.now)
    write_keyring(ctx.storage, name, keyring)
    return describe(name, keyring)


def trim_key(ctx: EngineContext, name: str, min_available_version: int | None) -> dict[str, Any]:
    """Destroy the versions below a minimum."""
    keyring = read_keyring(ctx.storage, name)
    if keyring is None:
        raise BadRequest("invalid key name")
    if min_available_version is None:
        raise BadRequest("missing min_available_version")
    check_trim(keyring, min_available_version)
    if min_available_version != keyring.min_available_version:
        keyring = trim(keyring, min_available_version)
        write_keyring(ctx.storage, name, keyring)
    return describe(name, keyring)


def check_trim(keyring: Keyring, minimum: int) -> None:
    """Raise BadRequest when the versions below a minimum may not be destroyed."""
    if minimum < keyring.min_available_version:
        raise BadRequest("minimum available version cannot be decremented")
    if keyring.min_encryption_version == 0:
        raise BadRequest("minimum available version cannot be set when minimum encryption version is not set")
    if minimum > keyring.min_encryption_version:
        raise BadRequest("minimum available version cannot be greater than minmum encryption version")
    if minimum > keyring.min_decryption_version:
        raise BadRequest("minimum available version cannot be greater than minimum decryption version")
    if minimum == 0:
        raise BadRequest("minimum available version should be positive")


CONFIG = (
    NAME,
    integer("min_decryption_version", "oldest version whose ciphertexts may be decrypted; at least 1"),
    integer("min_encryption_version", "oldest version that a request may encrypt with; 0 for no limit"),
    flag("deletion_allowed", "whether the key may be deleted"),
    flag("exportable", "whether the key may be exported; cannot be taken back"),
    flag("allow_plaintext_backup", "whether the key may be backed up in plaintext; cannot be taken back"),
    duration("auto_rotate_period", "after which time the key rotates by itself; 0 for never, else at least 1h"),
)
ROTATE = (NAME, MANAGED_NAME, MANAGED_ID)
MIN_AVAILABLE_VERSION = integer("min_available_version", "versions below this one are destroyed")

ROUTES = (
    Route("write", "keys/<name>/config", configure_key, Form(KeyConfigRequest, CONFIG)),
    Route("write", "keys/<name>/rotate", rotate_key, ROTATE).fetching_if(fetches),
    Route("write", "keys/<name>/trim", trim_key, (NAME, MIN_AVAILABLE_VERSION)),
)
