"""``encrypt/<name>``: encrypt plaintexts; a key that is missing is created where that is allowed.

1. A missing key is created for callers with the create capability, unless upsert is switched off; type and convergence
   come from the request's top level, else from the first item that names them (decision T6).
2. The new key is stored with the first success: a request of which nothing succeeds changes nothing.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.service.fields import text, to_flag
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.engines.transit import ciphertexts, nonces
from labkit.vault.engines.transit.algorithms import DEFAULT_TYPE, KEY_TYPES, NONCE_BYTES, type_for_new_key
from labkit.vault.engines.transit.encoding import from_base64
from labkit.vault.engines.transit.keyring import (
    FOLDER,
    KEY_NOT_FOUND,
    Keyring,
    decode_keyring,
    empty_keyring,
    fetches,
    rotate,
    upsert_disabled,
    write_keyring,
)
from labkit.vault.engines.transit.parameters import (
    ASSOCIATED_DATA,
    BATCH_INPUT,
    CONTEXT,
    CONVERGENT,
    KEY_VERSION,
    MISSING_PLAINTEXT,
    NAME,
    NONCE,
    PARTIAL_FAILURE,
    PLAINTEXT,
    REFERENCE,
)

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext
    from labkit.vault.engines.transit import batch

SHARED_NONCE = (
    "associated_data does not enter the nonce of convergent encryption: equal plaintexts with different "
    "associated_data are encrypted under one key and nonce, which weakens their authentication"
)

_PLAIN_MEMBERS = frozenset(("plaintext", "reference"))


class EncryptRequest(NamedTuple):
    """The fields of an encrypt request: one plaintext or a batch."""

    name: str
    plaintext: str | None
    associated_data: str | None
    context: str | None
    key_version: int
    nonce: str | None
    reference: str | None
    batch_input: Any
    partial_failure_response_code: int
    type: str | None
    convergent_encryption: bool

    def __repr__(self) -> str:
        return "EncryptRequest()"  # the plaintext is a secret


def find_existing(ctx: EngineContext, name: str) -> Keyring | None:
    """Return the keyring of an encrypt request, or None; without it the request would create one."""
    return ctx.storage.decoded(FOLDER + name, decode_keyring)


def encrypt(ctx: EngineContext, asked: EncryptRequest) -> Any:
    """Encrypt one plaintext, or each item of a batch.  With an external key it fetches."""
    if ctx.is_taped:
        from labkit.vault.engines.transit.external import external_ciphertexts  # of few keys (R24)

        return external_ciphertexts.encrypt(ctx, asked)
    name, plaintext, associated_data, context, key_version, nonce, _, batch_input, _, wanted, convergent = asked
    if wanted is not None:
        _check_type(wanted)
    keyring: Keyring | None = ctx.existing
    if batch_input is not None:
        return _encrypt_batch(ctx, asked, keyring)
    if plaintext is None:
        raise BadRequest(MISSING_PLAINTEXT)
    if keyring is not None and not (context or nonce or associated_data):
        keyed = keyring.encryptors.get(key_version)
        if keyed is not None and keyed.cipher is not None:  # as most: 5 % less than by way of an item
            random_nonce = ctx.entropy(NONCE_BYTES)
            encrypted = keyed.cipher.encrypt(random_nonce, from_base64(plaintext), None)
            nonces.count_used(ctx, name, keyring, keyed.version)
            return {"ciphertext": keyed.head + to_base64(random_nonce + encrypted), "key_version": keyed.version}
    item = {"context": context, "nonce": nonce, "associated_data": associated_data, "key_version": key_version}
    used = keyring or _new_keyring(ctx, [item], wanted, convergent)
    random_nonce = b"" if used.convergent_encryption else ctx.entropy(NONCE_BYTES)
    ciphertext, version = ciphertexts.encrypt(used, from_base64(plaintext), item, random_nonce)
    if keyring is None:
        write_keyring(ctx.storage, name, used)
    if not used.convergent_encryption:
        nonces.count_used(ctx, name, used, version)
    else:
        _warn_of_shared_nonces(ctx, used, [item])
    return {"ciphertext": ciphertext, "key_version": version}


def _encrypt_batch(ctx: EngineContext, asked: EncryptRequest, keyring: Keyring | None) -> Any:
    batch = _batch()
    items = batch.read_items(asked.batch_input, batch.ENCRYPT_MEMBERS)
    batch.check_contexts(items)
    used = keyring or _new_keyring(ctx, items, asked.type, asked.convergent_encryption)
    results, failures = _encrypt_items(ctx, used, items)
    _warn_of_shared_nonces(ctx, used, items)
    if keyring is None and failures < len(items):
        write_keyring(ctx.storage, asked.name, used)
    _count_nonces(ctx, asked.name, used, results)
    return batch.answer(ctx, results, failures, asked.partial_failure_response_code)


@cache
def _batch() -> Any:
    """Return the module that works on batches, which the first batch loads (R24)."""
    from labkit.vault.engines.transit import batch

    return batch


def _count_nonces(ctx: EngineContext, name: str, keyring: Keyring, results: list[batch.Result]) -> None:
    """Count the nonces of a batch, by the versions that its items were encrypted with."""
    versions = Counter([result["key_version"] for result in results if "key_version" in result])
    for version in sorted(versions):
        nonces.count_used(ctx, name, keyring, version, versions[version])


def _warn_of_shared_nonces(ctx: EngineContext, keyring: Keyring, items: list[batch.Item]) -> None:
    """Warn where a convergent key is used with associated data, which its nonces do not depend on (decision T17)."""
    if keyring.convergent_encryption and any(item.get("associated_data") for item in items):
        ctx.warn(SHARED_NONCE)


def _encrypt_items(ctx: EngineContext, keyring: Keyring, items: list[batch.Item]) -> tuple[list[batch.Result], int]:
    # One draw for all: an item has the nonce of its own position, whether the others succeed or not.
    drawn = nonces.draw(ctx, keyring, len(items))
    keyed = ciphertexts.plain_encryptor(keyring)
    if keyed is not None and _PLAIN_MEMBERS.issuperset(set().union(*items)):
        try:
            return _encrypt_plain_items(keyed, items, drawn), 0
        except (BadRequest, KeyError):
            pass  # some item is refused: below, item by item, and with the same nonces for the same messages

    def one(item: batch.Item, position: int) -> batch.Result:
        if "plaintext" not in item:
            raise BadRequest(MISSING_PLAINTEXT)
        start = NONCE_BYTES * position
        random_nonce = drawn[start : start + NONCE_BYTES]
        ciphertext, version = ciphertexts.encrypt(keyring, from_base64(item["plaintext"]), item, random_nonce, position)
        return {"ciphertext": ciphertext, "key_version": version}

    found: tuple[list[batch.Result], int] = _batch().work(items, one, {})
    return found


def _encrypt_plain_items(keyed: ciphertexts.Keyed, items: list[batch.Item], drawn: bytes) -> list[batch.Result]:
    """Return the results of items that have a valid plaintext and no other member that matters, as most batches do."""
    cipher, head, version = keyed.cipher, keyed.head, keyed.version
    assert cipher is not None
    encrypt_bytes = cipher.encrypt
    results = []
    start = 0
    for item in items:
        nonce = drawn[start : start + NONCE_BYTES]
        start += NONCE_BYTES
        ciphertext = head + to_base64(nonce + encrypt_bytes(nonce, from_base64(item["plaintext"]), None))
        results.append({"ciphertext": ciphertext, "key_version": version, "reference": item.get("reference") or ""})
    return results


def _new_keyring(ctx: EngineContext, items: list[batch.Item], wanted: str | None, convergent: bool) -> Keyring:
    """Return the keyring of a new key, not stored yet; raise BadRequest where the request may not create it."""
    assert ctx.is_create, "the request's policies were checked for a key that exists"
    with_context = bool(items[0].get("context"))
    if convergent or any(to_flag(item.get("convergent_encryption")) for item in items):
        convergent = True
        if not with_context:
            raise BadRequest("convergent encryption requires derivation to be enabled, so context is required")
    chosen = wanted or next((item["type"] for item in items if item.get("type")), DEFAULT_TYPE)
    type_for_new_key(chosen, fips=ctx.fips)
    _check_type(chosen)
    if upsert_disabled(ctx.storage):
        raise BadRequest(KEY_NOT_FOUND)
    keyring = empty_keyring(chosen, derived=with_context, convergent=convergent, service_version=ctx.service_version)
    return rotate(keyring, ctx, ctx.now)


def _check_type(name: str) -> None:
    """Raise BadRequest for a type that a request to encrypt cannot create, also where it creates nothing."""
    key_type = KEY_TYPES.get(name)
    if key_type is not None and key_type.family == "ecdsa":
        raise BadRequest(f"key type {name} not supported for this operation")
    if key_type is None or not key_type.symmetric:
        raise BadRequest(f"unknown key type {name}")


_TYPES = tuple(sorted(name for name, key_type in KEY_TYPES.items() if key_type.symmetric))
TYPE = text("type", "type of the key, if this request creates it", choices=_TYPES)

ROUTES = (
    Route(
        "write",
        "encrypt/<name>",
        encrypt,
        Form(
            EncryptRequest,
            (
                NAME,
                PLAINTEXT,
                ASSOCIATED_DATA,
                CONTEXT,
                KEY_VERSION,
                NONCE,
                REFERENCE,
                BATCH_INPUT,
                PARTIAL_FAILURE,
                TYPE,
                CONVERGENT,
            ),
        ),
        exists=find_existing,
    ).fetching_if(fetches),
)
