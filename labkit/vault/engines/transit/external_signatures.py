"""Signatures of external keys: the store signs and verifies, by the scheme of the managed key's mechanism."""

from __future__ import annotations

from binascii import a2b_base64
from typing import Any

from labkit.service.encoding import to_base64, to_base64url
from labkit.service.errors import BadRequest
from labkit.service.key_mechanisms import SIGN, VERIFY
from labkit.vault.context import EngineContext
from labkit.vault.engines.transit import batch
from labkit.vault.engines.transit.encoding import ENVELOPE, from_base64, from_base64url, split_signed
from labkit.vault.engines.transit.external_keys import Asking, Prepared, as_batch, key_of_version, only, work_in_store
from labkit.vault.engines.transit.hash_algorithms import NO_HASH
from labkit.vault.engines.transit.key_pairs import Scheme
from labkit.vault.engines.transit.keyring import Keyring
from labkit.vault.engines.transit.signatures import message_of
from labkit.vault.managed_keys import ManagedKey

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
        signature = a2b_base64(result["output"])
        version = prepared["version"]
        if scheme.jws:
            made = to_base64url(_joined(signature, prepared["size_bits"]) if prepared["size_bits"] else signature)
        else:
            made = to_base64(signature)
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
        prepared = _prepared(key, version, scheme, message_of(item))
        if scheme.jws and prepared["size_bits"]:
            signature = _split(signature, prepared["size_bits"])
        return {**prepared, "signature": to_base64(signature)}

    def finish(prepared: Prepared, result: dict[str, Any]) -> batch.Result:
        return {"valid": result["valid"]}

    outcomes = yield from work_in_store(VERIFY, items, prepare, finish)
    if asked.batch_input is None:
        return only(outcomes)
    return batch.answer(ctx, *as_batch(items, outcomes, {"valid": False}))


def _prepared(key: ManagedKey, version: int, scheme: Scheme, message: bytes) -> Prepared:
    """Return what the store is sent; ``size_bits`` is that of a curve, 0 for any other key."""
    hash_name, prehashed = scheme.hash_name, scheme.prehashed
    if hash_name == NO_HASH:  # the input is a digest; its length says of which hash
        hash_name, prehashed = _HASH_OF_BYTES.get(len(message), NO_HASH), True
        if hash_name == NO_HASH:
            raise BadRequest(f"with hash_algorithm=none the input is a digest of a hash; none has {len(message)} bytes")
    return {
        "version": version,
        "size_bits": key.size_bits if key.mechanism.family == "ec" else 0,
        "label": key.label,
        "input": to_base64(message),
        "hash_algorithm": hash_name,
        "prehashed": prehashed,
        "salt_length": scheme.salt_length,
    }


def _joined(signature: bytes, size_bits: int) -> bytes:
    """Return a DER signature as r and s, one after the other (RFC 7518, 3.4)."""
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    size_bytes = (size_bits + 7) // 8
    return b"".join([number.to_bytes(size_bytes, "big") for number in decode_dss_signature(signature)])


def _split(signature: bytes, size_bits: int) -> bytes:
    """Return r and s as a DER signature; what has another length is none, and stays as it is."""
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

    size_bytes = (size_bits + 7) // 8
    if len(signature) != 2 * size_bytes:
        return signature
    halves = (signature[:size_bytes], signature[size_bytes:])
    return encode_dss_signature(*[int.from_bytes(half, "big") for half in halves])
