"""``rewrap/<name>``: encrypt ciphertexts again, by default with the latest key version; no plaintext leaves.

Associated data is not taken: a ciphertext that was made with it cannot be rewrapped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest
from labkit.service.message import Reply
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.engines.transit import batch, ciphertexts, nonces
from labkit.vault.engines.transit.keyring import Keyring, existing_keyring
from labkit.vault.engines.transit.parameters import (
    BATCH_INPUT,
    CIPHERTEXT,
    CONTEXT,
    KEY_VERSION,
    NAME,
    NONCE,
    REFERENCE,
)

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext


class RewrapRequest(NamedTuple):
    """The fields of a rewrap request: one ciphertext or a batch."""

    name: str
    ciphertext: str | None
    context: str | None
    key_version: int
    nonce: str | None
    reference: str | None
    batch_input: Any

    def __repr__(self) -> str:
        return f"RewrapRequest({self.name})"  # never what is sent with it


def rewrap(ctx: EngineContext, asked: RewrapRequest) -> dict[str, Any] | Reply:
    """Decrypt and encrypt again one ciphertext, or each item of a batch."""
    if asked.batch_input is not None:
        items = batch.read_items(asked.batch_input, batch.REWRAP_MEMBERS)
        keyring = existing_keyring(ctx.storage, asked.name)

        def one(item: batch.Item, position: int) -> batch.Result:
            wanted = {member: item.get(member) for member in batch.REWRAP_MEMBERS}
            return _rewrap_item(ctx, asked.name, keyring, wanted)

        results, failures = batch.work(items, one, {})
        return batch.answer(ctx, results, failures)
    if not asked.ciphertext:
        raise BadRequest(ciphertexts.MISSING_CIPHERTEXT)
    item = {
        "ciphertext": asked.ciphertext,
        "context": asked.context,
        "nonce": asked.nonce,
        "key_version": asked.key_version,
    }
    return _rewrap_item(ctx, asked.name, existing_keyring(ctx.storage, asked.name), item)


def _rewrap_item(ctx: EngineContext, name: str, keyring: Keyring, item: batch.Item) -> batch.Result:
    ciphertexts.check_nonce(keyring, item)
    message = ciphertexts.decrypt(keyring, item)
    ciphertext, version = ciphertexts.encrypt(keyring, message, item, nonces.draw(ctx, keyring))
    nonces.count_used(ctx, name, keyring, version)
    return {"ciphertext": ciphertext, "key_version": version}


ROUTES = (
    Route(
        "write",
        "rewrap/<name>",
        rewrap,
        Form(RewrapRequest, (NAME, CIPHERTEXT, CONTEXT, KEY_VERSION, NONCE, REFERENCE, BATCH_INPUT)),
    ),
)
