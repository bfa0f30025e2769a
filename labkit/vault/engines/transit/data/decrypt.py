"""``decrypt/<name>``: decrypt ciphertexts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.engines.transit import batch, ciphertexts
from labkit.vault.engines.transit.keyring import existing_keyring, fetches
from labkit.vault.engines.transit.parameters import (
    ASSOCIATED_DATA,
    BATCH_INPUT,
    CIPHERTEXT,
    CONTEXT,
    NAME,
    NONCE,
    PARTIAL_FAILURE,
    REFERENCE,
)

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext


class DecryptRequest(NamedTuple):
    """The fields of a decrypt request: one ciphertext or a batch."""

    name: str
    ciphertext: str | None
    associated_data: str | None
    context: str | None
    nonce: str | None
    reference: str | None
    batch_input: Any
    partial_failure_response_code: int

    def __repr__(self) -> str:
        return f"DecryptRequest({self.name})"  # never what is sent with it


def decrypt(ctx: EngineContext, asked: DecryptRequest) -> Any:
    """Decrypt one ciphertext, or each item of a batch.  With an external key it fetches."""
    if ctx.is_taped:
        from labkit.vault.engines.transit.external import external_ciphertexts  # of few keys (R24)

        return external_ciphertexts.decrypt(ctx, asked)
    if asked.batch_input is not None:
        items = batch.read_items(asked.batch_input, batch.DECRYPT_MEMBERS)
        batch.check_contexts(items)
        keyring = existing_keyring(ctx.storage, asked.name)

        def one(item: batch.Item, position: int) -> batch.Result:
            return {"plaintext": to_base64(ciphertexts.decrypt(keyring, item, position))}

        results, failures = batch.work(items, one, {"plaintext": ""})
        return batch.answer(ctx, results, failures, asked.partial_failure_response_code)
    if not asked.ciphertext:
        raise BadRequest(ciphertexts.MISSING_CIPHERTEXT)
    item = {
        "ciphertext": asked.ciphertext,
        "context": asked.context,
        "nonce": asked.nonce,
        "associated_data": asked.associated_data,
    }
    return {"plaintext": to_base64(ciphertexts.decrypt(existing_keyring(ctx.storage, asked.name), item))}


ROUTES = (
    Route(
        "write",
        "decrypt/<name>",
        decrypt,
        Form(
            DecryptRequest, (NAME, CIPHERTEXT, ASSOCIATED_DATA, CONTEXT, NONCE, REFERENCE, BATCH_INPUT, PARTIAL_FAILURE)
        ),
    ).fetching_if(fetches),
)
