"""Key operations: what the key store does with one key: make it, sign, verify, encrypt, decrypt.

1. Bytes come as base64.  What a key cannot do, or was not given right, is refused with the reason.
2. A signature of ECDSA is DER, or with ``joined`` r and s, one after the other (RFC 7518, 3.4).
3. ECDSA is deterministic; the outputs of PSS and OAEP cannot be seeded, and are never stored here (R8).
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature, InvalidTag

from labkit.service.key_mechanisms import DECRYPT, ENCRYPT, MECHANISMS, SIGN, Mechanism
from labkit.service.record import NamedTuple

HASHES = {
    "sha1": "SHA1",
    **{f"sha2-{bits}": f"SHA{bits}" for bits in (224, 256, 384, 512)},
    **{f"sha3-{bits}": f"SHA3_{bits}" for bits in (224, 256, 384, 512)},
}
BLOCK_BITS = 128
SPARE_BYTES = 8
AUTO_SALT, HASH_SALT = 0, -1


class KeyRefused(ValueError):
    """The key is not used: what was asked does not fit it."""


class StoredKey(NamedTuple):
    """One key: its mechanism, size, and bytes (AES: the key; else a PKCS #8 PrivateKeyInfo)."""

    mechanism: str
    size_bits: int
    private: bytes

    def __repr__(self) -> str:
        return f"StoredKey({self.mechanism}, {self.size_bits} bits)"  # never the key


def make_key(mechanism: str, size_bits: int, entropy: Callable[[int], bytes]) -> StoredKey:
    """Make a key for a mechanism from entropy bytes."""
    family = MECHANISMS[mechanism].family
    if family == "aes":
        return StoredKey(mechanism, size_bits, entropy(size_bits // 8))
    key = _ec_key(size_bits, entropy) if family == "ec" else _rsa_key(size_bits, entropy)
    return StoredKey(mechanism, size_bits, _der(key))


def _ec_key(size_bits: int, entropy: Callable[[int], bytes]) -> Any:
    """Make a key of a NIST curve: more bits are drawn than its order has, and reduced (FIPS 186-5, A.2.1)."""
    from cryptography.hazmat.primitives.asymmetric import ec

    curve = getattr(ec, f"SECP{size_bits}R1")()
    drawn = int.from_bytes(entropy((size_bits + 7) // 8 + SPARE_BYTES), "big")
    return ec.derive_private_key(drawn % (curve.group_order - 1) + 1, curve)


def _rsa_key(size_bits: int, entropy: Callable[[int], bytes]) -> Any:
    """Make a new key, or in a seeded world one that nothing else in it has (R8)."""
    from labkit.rsa_keys import PAIRS, make_rsa_key

    drawing: Any = entropy
    seeded = getattr(entropy, "is_seeded", False)
    return make_rsa_key(size_bits, drawing.draw_once(f"rsa-{size_bits}", PAIRS) if seeded else None)


def _der(key: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    der: bytes = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return der


def _loaded(key: StoredKey) -> Any:
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    return load_der_private_key(key.private, None, unsafe_skip_rsa_key_validation=True)  # made here, so it is sound


def carry_out(key: StoredKey, operation: str, item: Mapping[str, Any]) -> bytes | bool:
    """Work with a key: return the output, or whether a signature is valid; raise KeyRefused."""
    row = MECHANISMS[key.mechanism]
    if operation not in row.usages:
        raise KeyRefused(f"keys of mechanism {row.name} are used to {' and '.join(row.usages)}, not to {operation}")
    data = _bytes(item, "input")
    if operation in (ENCRYPT, DECRYPT):
        work = _oaep if row.family == "rsa" else _aes
        return work(key, row, operation, data, item)
    if operation == SIGN:
        return _sign(key, row, data, item)
    return _verify(key, row, data, item)


def _bytes(item: Mapping[str, Any], member: str) -> bytes:
    try:
        return b64decode(item.get(member) or "", validate=True)
    except (ValueError, TypeError):
        raise KeyRefused(f"{member} must be base64") from None


def _aes(key: StoredKey, row: Mechanism, operation: str, data: bytes, item: Mapping[str, Any]) -> bytes:
    iv = _bytes(item, "iv")
    if len(iv) != row.iv_bytes:
        raise KeyRefused(f"{row.name} needs an IV of {row.iv_bytes} bytes, got {len(iv)}")
    if not row.binds_data:
        return _cbc(key.private, iv, operation, data)
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    cipher, bound = AESGCM(key.private), _bytes(item, "associated_data") or None
    if operation == ENCRYPT:
        return cipher.encrypt(iv, data, bound)
    try:
        return cipher.decrypt(iv, data, bound)
    except InvalidTag:
        raise KeyRefused("cipher: message authentication failed") from None


def _cbc(key: bytes, iv: bytes, operation: str, data: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import CBC
    from cryptography.hazmat.primitives.padding import PKCS7

    cipher, padding = Cipher(AES(key), CBC(iv)), PKCS7(BLOCK_BITS)
    if operation == ENCRYPT:
        padder, worker = padding.padder(), cipher.encryptor()
        return worker.update(padder.update(data) + padder.finalize()) + worker.finalize()
    unpadder, worker = padding.unpadder(), cipher.decryptor()
    try:
        return unpadder.update(worker.update(data) + worker.finalize()) + unpadder.finalize()
    except ValueError:
        raise KeyRefused("the ciphertext does not decrypt under this key and IV") from None


def _oaep(key: StoredKey, row: Mechanism, operation: str, data: bytes, item: Mapping[str, Any]) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP
    from cryptography.hazmat.primitives.hashes import SHA256

    private, padding = _loaded(key), OAEP(MGF1(SHA256()), SHA256(), None)
    try:
        if operation == ENCRYPT:
            encrypted: bytes = private.public_key().encrypt(data, padding)
            return encrypted
        decrypted: bytes = private.decrypt(data, padding)
    except ValueError:
        wrong = "the message is too long for this key" if operation == ENCRYPT else "decryption error"
        raise KeyRefused(wrong) from None
    return decrypted


def _sign(key: StoredKey, row: Mechanism, data: bytes, item: Mapping[str, Any]) -> bytes:
    arguments = _scheme(key, row, data, item, signing=True)
    try:
        signature: bytes = _loaded(key).sign(data, *arguments)
    except ValueError:
        raise KeyRefused("the input does not fit the key, the hash or the salt length") from None
    return _joined(signature, key.size_bits) if row.family == "ec" and item.get("joined") else signature


def _verify(key: StoredKey, row: Mechanism, data: bytes, item: Mapping[str, Any]) -> bool:
    signature = _bytes(item, "signature")
    if row.family == "ec" and item.get("joined"):
        signature = _split(signature, key.size_bits)
    arguments = _scheme(key, row, data, item, signing=False)
    try:
        _loaded(key).public_key().verify(signature, data, *arguments)
    except (InvalidSignature, ValueError):
        return False
    return True


def _joined(signature: bytes, size_bits: int) -> bytes:
    """Return a DER signature as r and s."""
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    size_bytes = (size_bits + 7) // 8
    return b"".join([number.to_bytes(size_bytes, "big") for number in decode_dss_signature(signature)])


def _split(signature: bytes, size_bits: int) -> bytes:
    """Return r and s as a DER signature; empty for a text of another length, which is not a signature."""
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

    size_bytes = (size_bits + 7) // 8
    if len(signature) != 2 * size_bytes:
        return b""
    halves = (signature[:size_bytes], signature[size_bytes:])
    return encode_dss_signature(*[int.from_bytes(half, "big") for half in halves])


def _scheme(key: StoredKey, row: Mechanism, data: bytes, item: Mapping[str, Any], *, signing: bool) -> tuple[Any, ...]:
    """Return what the library's sign and verify take after the data."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, padding, utils

    name = item.get("hash_algorithm")
    if name not in HASHES:
        raise KeyRefused(f"the hash algorithm is one of {', '.join(HASHES)}, not {name}")
    algorithm: Any = getattr(hashes, HASHES[name])()
    used: Any = algorithm
    if item.get("prehashed"):
        if len(data) != algorithm.digest_size:
            raise KeyRefused(f"a digest of {name} has {algorithm.digest_size} bytes, got {len(data)}")
        used = utils.Prehashed(algorithm)
    if row.family == "ec":
        return (ec.ECDSA(used, deterministic_signing=True) if signing else ec.ECDSA(used),)
    if row.name == "CKM_RSA_PKCS":
        return padding.PKCS1v15(), used
    salt = item.get("salt_length") or AUTO_SALT
    longest = (key.size_bits + 6) // 8 - algorithm.digest_size - 2  # RFC 8017, 9.1.1
    if type(salt) is not int or not HASH_SALT <= salt <= longest:
        raise KeyRefused(f"the salt length is a number up to {longest} for this key and {name}")
    length: Any = {HASH_SALT: padding.PSS.DIGEST_LENGTH}.get(salt, salt)
    if salt == AUTO_SALT:
        length = padding.PSS.MAX_LENGTH if signing else padding.PSS.AUTO
    return padding.PSS(padding.MGF1(algorithm), length), used
