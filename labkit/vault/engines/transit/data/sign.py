"""``sign/<name>``: sign messages, or digests of messages, with a key whose type signs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.engines.transit import batch, signatures
from labkit.vault.engines.transit.external import external_signatures
from labkit.vault.engines.transit.keyring import fetches, read_keyring
from labkit.vault.engines.transit.parameters import (
    BATCH_INPUT,
    CONTEXT,
    INPUT,
    KEY_VERSION,
    NAME,
    REFERENCE,
    URL_ALGORITHM,
)

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext


class SignRequest(NamedTuple):
    """The fields of a sign request: one input or a batch."""

    name: str
    key_version: int
    input: str | None
    context: str | None
    reference: str | None
    batch_input: Any
    hash_algorithm: str | None
    algorithm: str | None
    prehashed: bool
    signature_algorithm: str
    marshaling_algorithm: str
    salt_length: str
    urlalgorithm: str | None = None

    def __repr__(self) -> str:
        return f"SignRequest({self.name})"  # never what is sent with it


def sign(ctx: EngineContext, asked: SignRequest) -> Any:
    """Sign one input, or each item of a batch.  With an external key it fetches."""
    scheme = signatures.read_scheme(asked, fips=ctx.fips)
    keyring = read_keyring(ctx.storage, asked.name)
    if keyring is None:
        raise BadRequest("signing key not found")
    if ctx.is_taped:
        return external_signatures.sign(ctx, keyring, scheme, asked)
    if not (keyring.signers or keyring.key_type.signs):
        raise BadRequest(f"key type {keyring.type} does not support signing")
    signatures.check_unhashed(scheme)
    if asked.batch_input is None:
        return signatures.sign(keyring, scheme, asked.input, asked.context, asked.key_version, "public_key")
    items = batch.read_texts(asked.batch_input, batch.SIGN_MEMBERS)

    def one(item: batch.Item, position: int) -> batch.Result:
        return signatures.sign(keyring, scheme, item.get("input"), item.get("context"), asked.key_version, "publickey")

    return batch.answer(ctx, *batch.work(items, one, {"key_version": 0}))


FIELDS = (NAME, KEY_VERSION, INPUT, CONTEXT, REFERENCE, BATCH_INPUT, *signatures.FIELDS)

ROUTES = (
    Route("write", "sign/<name>", sign, Form(SignRequest, FIELDS)).fetching_if(fetches),
    Route("write", "sign/<name>/<urlalgorithm>", sign, Form(SignRequest, (*FIELDS, URL_ALGORITHM))).fetching_if(
        fetches
    ),
)
