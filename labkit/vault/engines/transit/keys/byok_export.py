"""``byok-export``: keys wrapped for an RSA key of this mount, as another mount or cluster imports them.

The usual destination is a key whose public half is the wrapping key of the other side, imported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.service.fields import name, text
from labkit.service.routing import Route
from labkit.vault.engines.transit.keyring import Keyring, read_keyring
from labkit.vault.engines.transit.keys.export import VERSION, exported_versions
from labkit.vault.engines.transit.keys.key_material import wrapped_form
from labkit.vault.engines.transit.keys.wrapped_keys import DEFAULT_HASH, check_hash, wrap
from labkit.vault.engines.transit.refusals import ListedRefusal

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    from labkit.vault.engine_context import EngineContext


def export_wrapped(ctx: EngineContext, destination: str, source: str, hash: str) -> dict[str, Any]:  # noqa: A002 - the field's own name
    """Return every live version of a key, wrapped for another one."""
    return export_wrapped_version(ctx, destination, source, "", hash)


def export_wrapped_version(
    ctx: EngineContext,
    destination: str,
    source: str,
    version: str,
    hash: str,  # noqa: A002 - the field's own name
) -> dict[str, Any]:
    """Return one version of a key, wrapped for another one."""
    receiver = read_keyring(ctx.storage, destination)
    if receiver is None:
        raise ListedRefusal("no such destination key to export to")
    keyring = read_keyring(ctx.storage, source)
    if keyring is None:
        raise ListedRefusal("no such source key for export")
    if not keyring.exportable:
        raise BadRequest("key is not exportable")
    versions = exported_versions(keyring, version)
    public = _receiving_half(receiver)
    hash_name = check_hash(hash)
    materials = {number: _material(keyring, number) for number in versions}
    keys = {str(number): to_base64(wrap(public, materials[number], hash_name, ctx.entropy)) for number in versions}
    return {"name": source, "type": keyring.type, "keys": keys}


def _receiving_half(receiver: Keyring) -> RSAPublicKey:
    """Return what a destination wraps with: the public half of its latest version."""
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    pair = receiver.key_type.pair
    if pair is None:
        raise ListedRefusal(f"key wrapping (requring message signing) is not supported for key type {receiver.type}")
    public = pair.public_key(receiver.versions[-1].public)
    if not isinstance(public, RSAPublicKey):
        raise ListedRefusal("unsupported key type in use; must be a rsa key")
    return public


def _material(keyring: Keyring, version: int) -> bytes:
    entry = keyring.live(version)
    if not entry.key:
        raise ListedRefusal(f"version {version} has no private half to export; name another version")
    return wrapped_form(keyring.key_type, entry.key)


DESTINATION = name("destination", "name of the RSA key that wraps")
SOURCE = name("source", "name of the key that is copied")
HASH = text("hash", "hash of the wrapping: SHA1, SHA224, SHA256, SHA384 or SHA512", DEFAULT_HASH)

ROUTES = (
    Route("read", "byok-export/<destination>/<source>", export_wrapped, (DESTINATION, SOURCE, HASH)),
    Route(
        "read",
        "byok-export/<destination>/<source>/<version>",
        export_wrapped_version,
        (DESTINATION, SOURCE, VERSION, HASH),
    ),
)
