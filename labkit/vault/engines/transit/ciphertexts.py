"""Ciphertexts: encrypt one plaintext under a keyring, and decrypt it.

1. The payload is nonce (12 bytes), ciphertext and tag (16 bytes); of convergent version 1 without the nonce, which
   the caller keeps.  Key name and version are not bound in, associated data is.  That of an RSA key is one block.
2. A nonce is random and used once, or comes from the plaintext (see derivation); a caller may send one only where
   the key needs it.
3. An item is a mapping of members as they were sent; one that is absent, null or empty counts as not given.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import InvalidTag

from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.vault.engines.transit.algorithms import NONCE_BYTES
from labkit.vault.engines.transit.encoding import ENVELOPE, from_base64, split_envelope
from labkit.vault.engines.transit.keyring import Keyring, KeyVersion

if TYPE_CHECKING:
    from labkit.vault.engines.transit.algorithms import Cipher

Item = Mapping[str, Any]

MISSING_CIPHERTEXT = "missing ciphertext to decrypt"
WRONG_NONCE = "base64-decoded nonce must be 12 bytes long when using convergent encryption with this key"


class Keyed(NamedTuple):
    """A version prepared for use: its envelope's beginning, its facts, its cipher unless each context has its own.

    Of a key pair ``half`` is the one that does the work, loaded, in the place of a cipher.
    """

    head: str
    version: int
    entry: KeyVersion
    cipher: Cipher | None
    convergent_version: int
    half: Any = None

    def __repr__(self) -> str:
        return f"Keyed({self.head})"  # never the entry's keys


def encrypt(keyring: Keyring, message: bytes, item: Item, random_nonce: bytes, position: int = 0) -> tuple[str, int]:
    """Encrypt a message as an item asks (context, nonce, key_version, associated_data); return text and version.

    ``random_nonce`` is 12 fresh random bytes; a convergent keyring needs none.  ``position``: the item's in its batch.
    """
    context, nonce, associated = item.get("context"), item.get("nonce"), item.get("associated_data")
    context_bytes = from_base64(context) if context else b""
    nonce_bytes = from_base64(nonce) if nonce else b""
    if nonce:
        check_nonce(keyring, item)
    if associated:
        _check_associated(keyring, position)
    wanted = item.get("key_version") or 0
    keyed = keyring.encryptors.get(wanted) or _encryptor(keyring, wanted)
    cipher = keyed.cipher
    if cipher is not None:
        associated_bytes = _associated(associated) if associated else None
        encrypted = cipher.encrypt(random_nonce, message, associated_bytes)
        return keyed.head + to_base64(random_nonce + encrypted), keyed.version
    if keyed.half is not None:
        from labkit.vault.engines.transit.pairs import rsa  # few keys need it (R24)

        return keyed.head + to_base64(rsa.encrypt(keyed.half, message)), keyed.version
    cipher, nonce_key = _derived(keyring, keyed, context_bytes)
    associated_bytes = _associated(associated) if associated else None
    if keyed.convergent_version == 1:
        if len(nonce_bytes) != NONCE_BYTES:
            raise BadRequest(WRONG_NONCE)
        return keyed.head + to_base64(cipher.encrypt(nonce_bytes, message, associated_bytes)), keyed.version
    used = _derivation().convergent_nonce(nonce_key, message) if keyed.convergent_version else random_nonce
    return keyed.head + to_base64(used + cipher.encrypt(used, message, associated_bytes)), keyed.version


def plain_encryptor(keyring: Keyring) -> Keyed | None:
    """Return the latest version prepared, if a message needs nothing else; None when it needs more."""
    if keyring.derived or keyring.key_type.cipher is None:
        return None
    return keyring.encryptors.get(0) or _encryptor(keyring, 0)


def check_nonce(keyring: Keyring, item: Item) -> None:
    """Raise BadRequest when an item has a nonce and the keyring takes none."""
    if item.get("nonce") and not keyring.takes_nonce:
        raise BadRequest("provided nonce not allowed for this key")


def _encryptor(keyring: Keyring, wanted: int) -> Keyed:
    """Judge which version encrypts, prepare it, and keep it with the keyring."""
    if not keyring.key_type.encrypts:
        raise BadRequest(f"message encryption not supported for key type {keyring.type}")
    keyed = _keyed(keyring, keyring.version_to_encrypt(wanted))
    if keyring.key_type.pair is not None:
        keyed = keyed._replace(half=keyring.key_type.pair.public_key(keyed.entry.public))
    keyring.encryptors[wanted] = keyed
    return keyed


def _keyed(keyring: Keyring, version: int) -> Keyed:
    entry = keyring.live(version)
    make = keyring.key_type.cipher
    cipher = make(entry.key) if make is not None and not keyring.derived else None
    return Keyed(f"{ENVELOPE}{version}:", version, entry, cipher, keyring.convergent_version_of(entry))


def _derived(keyring: Keyring, keyed: Keyed, context: bytes) -> tuple[Cipher, bytes]:
    """Return the cipher of a context, and the key that its convergent nonces come from."""
    derivation = _derivation()
    make, size = keyring.key_type.cipher, keyring.key_type.key_bytes
    assert make is not None
    if keyed.convergent_version == 3:
        material = derivation.derive(keyring.kdf, keyed.entry.key, context, size + derivation.NONCE_KEY_BYTES)
        return make(material[:size]), material[size:]
    return make(derivation.derive(keyring.kdf, keyed.entry.key, context, size)), context


@cache
def _derivation() -> Any:
    """Return the module that derives keys, which the first key loads that is derived (R24)."""
    from labkit.vault.engines.transit import derivation

    return derivation


def _check_associated(keyring: Keyring, position: int) -> None:
    if keyring.key_type.asymmetric:
        raise BadRequest(f"'[{position}].associated_data' provided for non-AEAD cipher suite {keyring.type}")


def _associated(text: str) -> bytes:
    try:
        return from_base64(text)
    except BadRequest as error:
        from labkit.vault.engines.transit.refusals import ListedRefusal  # of what refuses so (R24)

        raise ListedRefusal(
            f"unable to get associated_data/additional_data from factory[0]: {error.errors[0]}"
        ) from None


def decrypt(keyring: Keyring, item: Item, position: int = 0) -> bytes:
    """Decrypt an item's ciphertext (with its context, nonce and associated_data); raise BadRequest."""
    text = item.get("ciphertext")
    if not text:
        raise BadRequest(MISSING_CIPHERTEXT)
    context, nonce, associated = item.get("context"), item.get("nonce"), item.get("associated_data")
    context_bytes = from_base64(context) if context else b""
    nonce_bytes = from_base64(nonce) if nonce else b""
    if associated:
        _check_associated(keyring, position)
    number, _, coded = text[len(ENVELOPE) :].partition(":")
    keyed = keyring.decryptors.get(number) if coded and text.startswith(ENVELOPE) else None
    if keyed is None:
        keyed = _decryptor(keyring, text, number)
    without_nonce = keyed.convergent_version == 1
    if without_nonce and len(nonce_bytes) != NONCE_BYTES:
        raise BadRequest("invalid convergent nonce supplied")
    payload = _payload(coded)
    if keyed.half is not None:
        from labkit.vault.engines.transit.pairs import rsa

        return rsa.decrypt(keyed.half, payload)
    cipher = keyed.cipher or _derived(keyring, keyed, context_bytes)[0]
    associated_bytes = _associated(associated) if associated else None
    if not without_nonce:
        if len(payload) < NONCE_BYTES:
            raise BadRequest("invalid ciphertext length")
        nonce_bytes, payload = payload[:NONCE_BYTES], payload[NONCE_BYTES:]
    try:
        return cipher.decrypt(nonce_bytes, payload, associated_bytes)
    except InvalidTag:
        raise BadRequest(keyring.key_type.tampered) from None


def _decryptor(keyring: Keyring, text: str, number: str) -> Keyed:
    """Judge what an envelope names, in the API's order, prepare its version, and keep it with the keyring."""
    if not keyring.key_type.encrypts:
        raise BadRequest(f"message decryption not supported for key type {keyring.type}")
    version, _ = split_envelope(text)
    keyring.check_decryption(version)
    keyed = _keyed(keyring, version)
    if keyring.key_type.pair is not None:
        if not keyed.entry.key:
            from labkit.vault.engines.transit.refusals import ListedRefusal  # of what refuses so (R24)

            raise ListedRefusal("cannot decrypt ciphertext, key version does not have a private counterpart")
        keyed = keyed._replace(half=keyring.key_type.pair.private_key(keyed.entry.key))
    if number == str(version):  # other spellings ("+1", "0") are judged each time: what is kept stays small
        keyring.decryptors[number] = keyed
    return keyed


def _payload(coded: str) -> bytes:
    try:
        return from_base64(coded)
    except BadRequest:
        raise BadRequest("invalid ciphertext: could not decode base64") from None
