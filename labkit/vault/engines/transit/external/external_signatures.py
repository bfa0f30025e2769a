"""Signatures of external keys: the store signs and verifies, by the scheme of the managed key's mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.service.key_mechanisms import SIGN, VERIFY
from labkit.vault.engines.transit import batch
from labkit.vault.engines.transit.encoding import ENVELOPE, from_base64, from_base64url, split_signed
from labkit.vault.engines.transit.external.external_keys import (
    Asking,
    Prepared,
    as_batch,
    key_of_version,
    only,
    work_in_store,
)
from labkit.vault.engines.transit.hash_algorithms import NO_HASH
from labkit.vault.engines.transit.keyring import Keyring
from labkit.vault.engines.transit.pairs.key_pairs import Scheme
from labkit.vault.engines.transit.signatures import message_of
from labkit.vault.managed_keys import ManagedKey

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

_HASH_OF_BYTES = {20: "sha1", 28: "sha2-224", 32: "sha2-256", 48: "sha2-384", 64: "sha2-512"}


def sign(ctx: EngineContext, keyring: Keyring, scheme: Scheme, asked: Any) -> Asking:
    """Sign one input, or each item of a batch."""
    items = [{"input": asked.input}]
    if asked.batch_input is not None:
        items = batch.read_texts(asked.batch_input, batch.SIGN_MEMBERS)

    def prepare(item: batch.Item) -> Prepared:
        version = keyring.version_to_sign(asked.key_version)
        return _prepared(key_of_version(ctx, keyring, version, SIGN), version, scheme, message_of(item))

    def finish(prepared: Prepared, result: dict[str, Any]) -> batch.Result:
        version, made = prepared["version"], result["output"]
        if scheme.jws:
            made = made.replace("+", "-").replace("/", "_").rstrip("=")
        return {"signature": f"{ENVELOPE}{version}:{made}", "key_version": version}

    outcomes = yield from work_in_store(SIGN, items, prepare, finish)
    if asked.batch_input is None:
        return only(outcomes)
    return batch.answer(ctx, *as_batch(items, outcomes, {"key_version": 0}))


def verify(ctx: EngineContext, keyring: Keyring, scheme: Scheme, asked: Any) -> Asking:
    """Verify one signature, or those of each item of a batch."""
    items = [{"input": asked.input, "signature": asked.signature}]
    if asked.batch_input is not None:
        items = batch.read_texts(asked.batch_input, batch.VERIFY_MEMBERS)

    def prepare(item: batch.Item) -> Prepared:
        version, coded = split_signed(item["signature"])
        try:
            signature = from_base64url(coded) if scheme.jws else from_base64(coded)
        except BadRequest:
            raise BadRequest("invalid base64 signature value") from None
        keyring.check_verification(version)
        key = key_of_version(ctx, keyring, version, VERIFY)
        return {**_prepared(key, version, scheme, message_of(item)), "signature": to_base64(signature)}

    def finish(prepared: Prepared, result: dict[str, Any]) -> batch.Result:
        return {"valid": result["valid"]}

    outcomes = yield from work_in_store(VERIFY, items, prepare, finish)
    if asked.batch_input is None:
        return only(outcomes)
    return batch.answer(ctx, *as_batch(items, outcomes, {"valid": False}))


def _prepared(key: ManagedKey, version: int, scheme: Scheme, message: bytes) -> Prepared:
    """Return what the store is sent; it knows how large its key is, so it writes r and s too (``joined``)."""
    hash_name, prehashed = scheme.hash_name, scheme.prehashed
    if hash_name == NO_HASH:  # the input is a digest; its length says of which hash
        hash_name, prehashed = _HASH_OF_BYTES.get(len(message), NO_HASH), True
        if hash_name == NO_HASH:
            raise BadRequest(f"with hash_algorithm=none the input is a digest of a hash; none has {len(message)} bytes")
    return {
        "version": version,
        "label": key.label,
        "input": to_base64(message),
        "hash_algorithm": hash_name,
        "prehashed": prehashed,
        "salt_length": scheme.salt_length,
        "joined": scheme.jws,
    }
