"""``verify/<name>``: whether a signature, or a keyed digest, was made over data.

What is not a valid signature is answered with ``valid`` false; what cannot be read as one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest
from labkit.service.fields import text
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.engines.transit import batch, signatures
from labkit.vault.engines.transit.data import hmacs
from labkit.vault.engines.transit.external import external_keys, external_signatures
from labkit.vault.engines.transit.keyring import existing_keyring, fetches, read_keyring
from labkit.vault.engines.transit.parameters import (
    BATCH_INPUT,
    CONTEXT,
    INPUT,
    NAME,
    REFERENCE,
    URL_ALGORITHM,
)

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

Judge = Callable[[batch.Item], bool]


class VerifyRequest(NamedTuple):
    """The fields of a verify request: one signature or HMAC, or a batch of either."""

    name: str
    input: str | None
    signature: str | None
    hmac: str | None
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
        return f"VerifyRequest({self.name})"  # never what is sent with it


def verify(ctx: EngineContext, asked: VerifyRequest) -> Any:
    """Verify one signature or HMAC, or those of each item of a batch.  For an external key it fetches."""
    if asked.batch_input is None:
        if asked.signature is not None and asked.hmac is not None:
            raise BadRequest("provide one of 'signature' or 'hmac'")
        if asked.signature is None and asked.hmac is None:
            raise BadRequest("neither a 'signature' nor an 'hmac' were given to verify")
        item = {
            "input": asked.input,
            "signature": asked.signature,
            "hmac": asked.hmac,
            "context": asked.context,
        }
        if ctx.is_taped and asked.hmac is None:
            return _outside(ctx, asked)
        return {"valid": _judge(ctx, asked, asked.hmac is not None)(item)}
    items = batch.read_texts(asked.batch_input, batch.VERIFY_MEMBERS)
    hmac = _are_hmacs(items)
    if ctx.is_taped and not hmac:
        return _outside(ctx, asked)
    judge = _judge(ctx, asked, hmac)

    def one(item: batch.Item, position: int) -> batch.Result:
        return {"valid": judge(item)}

    return batch.answer(ctx, *batch.work(items, one, {"valid": False}))


def _outside(ctx: EngineContext, asked: VerifyRequest) -> external_keys.Asking:
    """Verify signatures of an external key, which is there."""
    scheme = signatures.read_scheme(asked, fips=ctx.fips)
    return external_signatures.verify(ctx, existing_keyring(ctx.storage, asked.name), scheme, asked)


def _are_hmacs(items: Sequence[batch.Item]) -> bool:
    """Whether a batch is of HMACs; raise BadRequest unless all items have the same of the two (spec, Errors 2)."""
    signed = sum(1 for item in items if item.get("signature") is not None)
    keyed = sum(1 for item in items if item.get("hmac") is not None and item.get("signature") is None)
    if signed and keyed:
        raise BadRequest("elements of batch_input must all provide 'signature' or all provide 'hmac'")
    if not signed and not keyed:
        raise BadRequest("no batch_input elements have 'signature' or 'hmac'")
    if signed + keyed < len(items):
        raise BadRequest(f"some elements of batch_input are missing '{'signature' if signed else 'hmac'}'")
    return bool(keyed)


def _judge(ctx: EngineContext, asked: VerifyRequest, hmac: bool) -> Judge:
    """Return what judges an item, once the key and the request's other fields are judged."""
    if hmac:
        keyring = existing_keyring(ctx.storage, asked.name)
        wanted = asked.urlalgorithm or asked.hash_algorithm or asked.algorithm or ""
        digest_name = hmacs.digest_named(wanted, fips=ctx.fips)
        return lambda item: hmacs.verify(keyring, digest_name, item)
    scheme = signatures.read_scheme(asked, fips=ctx.fips)
    found = read_keyring(ctx.storage, asked.name)
    if found is None:
        raise BadRequest("signature verification key not found")
    keyring = found
    if not keyring.key_type.signs:
        raise BadRequest(f"key type {keyring.type} does not support verification")
    signatures.check_unhashed(scheme)
    return lambda item: signatures.verify(keyring, scheme, item)


SIGNATURE = text("signature", "signature as sign gave it; either this or hmac")
HMAC = text("hmac", "keyed digest as hmac gave it; either this or signature")
FIELDS = (NAME, INPUT, SIGNATURE, HMAC, CONTEXT, REFERENCE, BATCH_INPUT, *signatures.FIELDS)

ROUTES = (
    Route("write", "verify/<name>", verify, Form(VerifyRequest, FIELDS)).fetching_if(fetches),
    Route("write", "verify/<name>/<urlalgorithm>", verify, Form(VerifyRequest, (*FIELDS, URL_ALGORITHM))).fetching_if(
        fetches
    ),
)
