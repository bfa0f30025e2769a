"""Ciphertexts of external keys: the store encrypts and decrypts; the caller brings the IV of each message.

The payload is what the store gave: an IV is not in it, and is sent again as ``nonce`` to decrypt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.service.key_mechanisms import DECRYPT, ENCRYPT
from labkit.vault.engines.transit import batch, ciphertexts
from labkit.vault.engines.transit.encoding import ENVELOPE, from_base64, split_envelope
from labkit.vault.engines.transit.external.external_keys import (
    Asking,
    Prepared,
    as_batch,
    key_of_version,
    only,
    work_in_store,
)
from labkit.vault.engines.transit.keyring import Keyring, existing_keyring
from labkit.vault.engines.transit.parameters import MISSING_PLAINTEXT
from labkit.vault.managed_keys import ManagedKey

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext


def encrypt(ctx: EngineContext, asked: Any) -> Asking:
    """Encrypt one plaintext, or each item of a batch."""
    items, keyring = _items(asked, batch.ENCRYPT_MEMBERS), existing_keyring(ctx.storage, asked.name)

    def prepare(item: batch.Item) -> Prepared:
        if item.get("plaintext") is None:
            raise BadRequest(MISSING_PLAINTEXT)
        version = keyring.version_to_encrypt(item.get("key_version") or 0)
        return _prepared(ctx, keyring, version, from_base64(item["plaintext"]), item, ENCRYPT)

    def finish(prepared: Prepared, result: dict[str, Any]) -> batch.Result:
        return {"ciphertext": f"{ENVELOPE}{prepared['version']}:{result['output']}", "key_version": prepared["version"]}

    outcomes = yield from work_in_store(ENCRYPT, items, prepare, finish)
    if asked.batch_input is None:
        return only(outcomes)
    return batch.answer(ctx, *as_batch(items, outcomes, {}), asked.partial_failure_response_code)


def decrypt(ctx: EngineContext, asked: Any) -> Asking:
    """Decrypt one ciphertext, or each item of a batch."""
    items, keyring = _items(asked, batch.DECRYPT_MEMBERS), existing_keyring(ctx.storage, asked.name)

    def prepare(item: batch.Item) -> Prepared:
        if not item.get("ciphertext"):
            raise BadRequest(ciphertexts.MISSING_CIPHERTEXT)
        version, coded = split_envelope(item["ciphertext"])
        keyring.check_decryption(version)
        try:
            payload = from_base64(coded)
        except BadRequest:
            raise BadRequest("invalid ciphertext: could not decode base64") from None
        return _prepared(ctx, keyring, version, payload, item, DECRYPT)

    def finish(prepared: Prepared, result: dict[str, Any]) -> batch.Result:
        return {"plaintext": result["output"]}

    outcomes = yield from work_in_store(DECRYPT, items, prepare, finish)
    if asked.batch_input is None:
        return only(outcomes)
    results = as_batch(items, outcomes, {"plaintext": ""})
    return batch.answer(ctx, *results, asked.partial_failure_response_code)


def _items(asked: Any, members: Any) -> list[batch.Item]:
    """Return a request's items: those of its batch, or itself as the only one."""
    if asked.batch_input is not None:
        return batch.read_items(asked.batch_input, members)
    return [{name: getattr(asked, name) for name in members if hasattr(asked, name)}]


def _prepared(
    ctx: EngineContext, keyring: Keyring, version: int, message: bytes, item: batch.Item, usage: str
) -> Prepared:
    key = key_of_version(ctx, keyring, version, usage)
    iv = _iv(key, from_base64(item.get("nonce") or ""))
    associated = from_base64(item.get("associated_data") or "")
    if associated and not key.mechanism.binds_data:
        raise BadRequest(f"associated_data provided, which mechanism {key.mechanism_name} does not take")
    return {
        "version": version,
        "label": key.label,
        "input": to_base64(message),
        "iv": to_base64(iv),
        "associated_data": to_base64(associated),
    }


def _iv(key: ManagedKey, iv: bytes) -> bytes:
    """Return the IV that a message came with; raise BadRequest for one that does not fit the mechanism."""
    wanted = key.mechanism.iv_bytes
    if not wanted and iv:
        raise BadRequest("provided nonce not allowed for this key")
    if len(iv) != wanted:
        came = f"got {len(iv)} bytes" if iv else "none was sent"
        raise BadRequest(
            f"mechanism {key.mechanism_name} needs an IV of {wanted} bytes for each message, in nonce as base64; {came}"
        )
    return iv
