"""RSA (RFC 8017): keys, signatures with PSS or PKCS#1 v1.5, and encryption with OAEP.

1. The private half is a PKCS#8 PrivateKeyInfo, the public half a SubjectPublicKeyInfo (both DER).
2. OAEP works with SHA-256 in both places and an empty label.  What it gives differs each time, as does PSS: it is never
   stored (R8).
3. A length that cannot be is refused where something is signed, and is a signature that is not valid elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.rsa_keys import PAIRS, SIZES, make_rsa_key
from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.hash_algorithms import NO_HASH, algorithm
from labkit.vault.engines.transit.pairs.key_pairs import AUTO_SALT, HASH_SALT, KeySource, Scheme, to_pem
from labkit.vault.engines.transit.refusals import ListedRefusal

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.padding import OAEP, PSS, PKCS1v15
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

PADDING_BYTES = 11
OAEP_BYTES = 66
TOO_LONG = "crypto/rsa: message too long for RSA key size"


class Rsa:
    """The type of one size of key."""

    derive = None

    def __init__(self, size_bits: int) -> None:
        self.shown_name, self.size_bits, self.size_bytes = f"rsa-{size_bits}", size_bits, size_bits // 8

    def __repr__(self) -> str:
        return f"Rsa({self.size_bits})"

    def make(self, source: KeySource) -> tuple[bytes, bytes]:
        """Make a pair."""
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

        key = make_rsa_key(self.size_bits, source.draw_once(self.shown_name, PAIRS))
        private = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
        return private, key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)

    def private_key(self, stored: bytes) -> RSAPrivateKey:
        """Load a private half."""
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.serialization import load_der_private_key

        key = load_der_private_key(stored, None, unsafe_skip_rsa_key_validation=True)  # it was valid when stored
        assert isinstance(key, RSAPrivateKey), "a private half of this type was stored"
        return key

    def public_key(self, stored: bytes) -> RSAPublicKey:
        """Load a public half."""
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
        from cryptography.hazmat.primitives.serialization import load_der_public_key

        key = load_der_public_key(stored)
        assert isinstance(key, RSAPublicKey), "a public half of this type was stored"
        return key

    def public_text(self, stored: bytes) -> str:
        """Write a public half as the API shows it: PEM."""
        return to_pem("PUBLIC KEY", stored)

    def sign(self, key: RSAPrivateKey, message: bytes, scheme: Scheme) -> bytes:
        """Sign a message; raise BadRequest when the scheme cannot."""
        from cryptography.hazmat.primitives.asymmetric.utils import NoDigestInfo, Prehashed

        padding = self._padding(scheme)
        if scheme.hash_name == NO_HASH:
            if len(message) > self.size_bytes - PADDING_BYTES:
                raise ListedRefusal(TOO_LONG)
            return key.sign(message, padding, NoDigestInfo())
        made_by = algorithm(scheme.hash_name)
        if not scheme.prehashed:
            return key.sign(message, padding, made_by)
        if len(message) != made_by.digest_size:
            wanted = "message" if scheme.rsa_scheme == "pkcs1v15" else "with given hash"
            raise ListedRefusal(f"crypto/rsa: input must be hashed {wanted}")
        return key.sign(message, padding, Prehashed(made_by))

    def verify(self, key: RSAPublicKey, signature: bytes, message: bytes, scheme: Scheme) -> bool:
        """Whether a signature was made over a message; raise BadRequest when the scheme can have no signatures."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.utils import Prehashed

        padding = self._padding(scheme, verifies=True)
        try:
            if scheme.hash_name == NO_HASH:
                return key.recover_data_from_signature(signature, padding, None) == message
            made_by = algorithm(scheme.hash_name)
            if scheme.prehashed and len(message) != made_by.digest_size:
                return False
            key.verify(signature, message, padding, Prehashed(made_by) if scheme.prehashed else made_by)
        except InvalidSignature:
            return False
        return True

    def _padding(self, scheme: Scheme, *, verifies: bool = False) -> PSS | PKCS1v15:
        from cryptography.hazmat.primitives.asymmetric import padding

        if scheme.rsa_scheme == "pkcs1v15":
            return padding.PKCS1v15()
        if scheme.rsa_scheme not in ("", "pss"):
            raise ListedRefusal(f"unsupported rsa signature algorithm {scheme.rsa_scheme}")
        made_by = algorithm(scheme.hash_name)
        largest = (self.size_bits - 1 + 7) // 8 - 2 - made_by.digest_size
        if scheme.salt_length > largest:
            text = f"requested salt length {scheme.salt_length} is invalid"
            raise BadRequest(text) if verifies else ListedRefusal(text)
        auto = padding.PSS.AUTO if verifies else padding.PSS.MAX_LENGTH
        named = {AUTO_SALT: auto, HASH_SALT: made_by.digest_size}
        return padding.PSS(padding.MGF1(made_by), named.get(scheme.salt_length, scheme.salt_length))


PAIR_TYPES = {f"rsa-{size_bits}": Rsa(size_bits) for size_bits in SIZES}


def encrypt(key: RSAPublicKey, message: bytes) -> bytes:
    """Encrypt a message; raise BadRequest for one that is too long."""
    if len(message) > key.key_size // 8 - OAEP_BYTES:
        raise ListedRefusal(f"failed to RSA encrypt the plaintext: {TOO_LONG}")
    return key.encrypt(message, oaep())


def decrypt(key: RSAPrivateKey, payload: bytes) -> bytes:
    """Decrypt a payload; raise BadRequest for one that was not encrypted for this key."""
    try:
        return key.decrypt(payload, oaep())
    except ValueError:
        raise ListedRefusal("failed to RSA decrypt the ciphertext: crypto/rsa: decryption error") from None


def oaep() -> OAEP:
    """Return the padding that messages are encrypted with."""
    from cryptography.hazmat.primitives.asymmetric import padding

    sha256 = algorithm("sha2-256")
    return padding.OAEP(padding.MGF1(sha256), sha256, None)
