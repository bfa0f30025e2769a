"""``datakey``: a new key for the caller's own use, encrypted under a named key.

1. The path says whether the answer has the key in the clear, so that a policy can allow one form and refuse the other.
2. Nothing of a data key is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.service.fields import integer, segment
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.engines.transit import ciphertexts, nonces
from labkit.vault.engines.transit.encoding import from_base64
from labkit.vault.engines.transit.keyring import existing_keyring
from labkit.vault.engines.transit.parameters import CONTEXT, KEY_VERSION, NAME, NONCE

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

FORMS = ("plaintext", "wrapped")
SIZES_BITS = (128, 256, 512)


class DataKeyRequest(NamedTuple):
    """The fields of a request for a data key."""

    type: str
    name: str
    context: str | None
    nonce: str | None
    bits: int
    key_version: int

    def __repr__(self) -> str:
        return f"DataKeyRequest({self.type}, {self.bits} bits)"


def make_data_key(ctx: EngineContext, asked: DataKeyRequest) -> dict[str, Any]:
    """Draw a key and encrypt it; show it in the clear as well where the path says so."""
    if asked.type not in FORMS:
        raise BadRequest("Invalid path, must be 'plaintext' or 'wrapped'")
    item = {"context": asked.context, "nonce": asked.nonce, "key_version": asked.key_version}
    for member in ("context", "nonce"):
        _check_base64(item, member)
    keyring = existing_keyring(ctx.storage, asked.name)
    if asked.bits not in SIZES_BITS:
        raise BadRequest("invalid bit length")
    if asked.nonce and not keyring.takes_nonce:
        raise BadRequest("nonce provided when not allowed")
    key = ctx.entropy(asked.bits // 8)
    ciphertext, version = ciphertexts.encrypt(keyring, key, item, nonces.draw(ctx, keyring))
    nonces.count_used(ctx, asked.name, keyring, version)
    answer = {"ciphertext": ciphertext, "key_version": version}
    if asked.type == "plaintext":
        answer["plaintext"] = to_base64(key)
    return answer


def _check_base64(item: dict[str, Any], member: str) -> None:
    try:
        from_base64(item[member] or "")
    except BadRequest:
        raise BadRequest(f"failed to base64-decode {member}") from None


FIELDS = (
    segment("type", "plaintext: the answer has the key also in the clear; wrapped: it does not"),
    NAME,
    CONTEXT,
    NONCE,
    integer("bits", "size of the key: 128, 256 or 512", 256),
    KEY_VERSION,
)

ROUTES = (Route("write", "datakey/<type>/<name>", make_data_key, Form(DataKeyRequest, FIELDS)),)
