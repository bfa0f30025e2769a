"""Key mechanisms: what keys of an external key store can do, by the names of PKCS #11; which kinds of store know which.

A managed key names a key of such a store: the secrets service never has its bytes, and asks the store to work with it.
"""

from __future__ import annotations

from labkit.service.record import NamedTuple

MAX_LABEL_CHARACTERS = 256
"""Of the name that a key has in its store."""

SIGN, VERIFY, ENCRYPT, DECRYPT = "sign", "verify", "encrypt", "decrypt"
SIGNING, ENCRYPTION = (SIGN, VERIFY), (ENCRYPT, DECRYPT)


class Mechanism(NamedTuple):
    """One mechanism: its number, the family of its keys, what they are used for, and their sizes in bits.

    ``iv_bytes`` is how long the IV is that each message needs, 0 for none; ``binds_data``: whether it takes associated
    data; ``generates``: whether the store makes keys for it when it is asked to.
    """

    name: str
    number: int
    family: str
    usages: tuple[str, ...]
    sizes_bits: tuple[int, ...]
    iv_bytes: int = 0
    binds_data: bool = False
    generates: bool = True


_RSA_BITS, _AES_BITS = (2_048, 3_072, 4_096), (256, 128)

MECHANISMS = {
    row.name: row
    for row in (
        Mechanism("CKM_RSA_PKCS", 0x0001, "rsa", SIGNING, _RSA_BITS),
        Mechanism("CKM_RSA_PKCS_OAEP", 0x0009, "rsa", ENCRYPTION, _RSA_BITS),
        Mechanism("CKM_RSA_PKCS_PSS", 0x000D, "rsa", SIGNING, _RSA_BITS),
        Mechanism("CKM_ECDSA", 0x1041, "ec", SIGNING, (256, 384, 521)),
        Mechanism("CKM_AES_CBC_PAD", 0x1085, "aes", ENCRYPTION, _AES_BITS, 16, generates=False),
        Mechanism("CKM_AES_GCM", 0x1087, "aes", ENCRYPTION, _AES_BITS, 12, binds_data=True),
    )
}


class StoreKind(NamedTuple):
    """One kind of key store: which of a managed key's settings name the key there, and the mechanisms it knows."""

    name: str
    labels: tuple[str, ...]
    mechanisms: tuple[str, ...]


STORE_KINDS = {
    row.name: row
    for row in (
        StoreKind("awskms", ("kms_key",), ("CKM_RSA_PKCS_PSS", "CKM_RSA_PKCS", "CKM_RSA_PKCS_OAEP", "CKM_ECDSA")),
        StoreKind("azurekeyvault", ("key_name",), ("CKM_RSA_PKCS_PSS", "CKM_RSA_PKCS", "CKM_ECDSA")),
        StoreKind("pkcs11", ("key_label", "key_id"), tuple(MECHANISMS)),
    )
}


def mechanism_named(text: str) -> Mechanism | None:
    """Return the mechanism of a name, or of a number such as ``0x1087``; None when there is none."""
    if text in MECHANISMS:
        return MECHANISMS[text]
    try:
        number = int(text, 0)
    except ValueError:
        return None
    return next((row for row in MECHANISMS.values() if row.number == number), None)
