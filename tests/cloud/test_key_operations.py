"""What the key store does with one key, of each mechanism; and what it refuses."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from labkit.cloud.key_operations import KeyRefused, StoredKey, carry_out, make_key
from labkit.seeded import SeededEntropy
from labkit.service.key_mechanisms import MECHANISMS

NAMES = tuple(MECHANISMS)
MESSAGE = b"as good as new"


def made(mechanism: str, size_bits: int = 0, label: str = "a") -> StoredKey:
    return make_key(mechanism, size_bits or MECHANISMS[mechanism].sizes_bits[0], SeededEntropy(7, label))


def item(key: StoredKey, message: bytes = MESSAGE, **more: Any) -> dict[str, Any]:
    iv = bytes(MECHANISMS[key.mechanism].iv_bytes)
    sent = {"input": message, "iv": iv, **more}
    plain = {name: b64encode(value).decode() if isinstance(value, bytes) else value for name, value in sent.items()}
    return {"hash_algorithm": "sha2-256", **plain}


@pytest.mark.parametrize("name", NAMES)
def test_what_one_operation_makes_the_other_takes(name: str) -> None:
    key, (first, second) = made(name), MECHANISMS[name].usages
    output = carry_out(key, first, item(key))
    assert isinstance(output, bytes)

    if second == "verify":
        assert carry_out(key, "verify", item(key, signature=output)) is True
        assert carry_out(key, "verify", item(key, b"another", signature=output)) is False
        assert carry_out(key, "verify", item(key, signature=b"no signature")) is False
    else:
        assert carry_out(key, "decrypt", item(key, output)) == MESSAGE
    with pytest.raises(KeyRefused, match="are used to"):
        carry_out(key, "sign" if first == "encrypt" else "encrypt", item(key))


def test_signatures_of_curves_are_r_and_s_where_that_is_wanted() -> None:
    for size_bits, size_bytes in ((256, 64), (384, 96), (521, 132)):
        key = made("CKM_ECDSA", size_bits)
        joined, der = (carry_out(key, "sign", item(key, joined=each)) for each in (True, False))
        assert isinstance(joined, bytes)
        assert isinstance(der, bytes)
        assert len(joined) == size_bytes
        assert carry_out(key, "verify", item(key, signature=joined, joined=True)) is True
        for other, is_joined in (
            (joined, False),
            (der, True),
            (joined + b"\0", True),
            (b"\0" + joined, True),
            (b"", True),
        ):
            assert carry_out(key, "verify", item(key, signature=other, joined=is_joined)) is False


@pytest.mark.parametrize(
    ("name", "size_bits"),
    [(name, size) for name in ("CKM_ECDSA", "CKM_AES_GCM") for size in MECHANISMS[name].sizes_bits],
)
def test_every_size_can_be_made_and_comes_from_entropy_alone(name: str, size_bits: int) -> None:
    key = made(name, size_bits)

    assert key == made(name, size_bits) != made(name, size_bits, "b")
    assert key.size_bits == size_bits
    assert isinstance(carry_out(key, MECHANISMS[name].usages[0], item(key)), bytes)


@pytest.mark.parametrize(
    ("name", "operation", "more", "why"),
    [
        ("CKM_AES_GCM", "encrypt", {"iv": b"short"}, "needs an IV of 12 bytes, got 5"),
        ("CKM_AES_CBC_PAD", "encrypt", {"iv": b""}, "needs an IV of 16 bytes, got 0"),
        ("CKM_AES_GCM", "decrypt", {"input": bytes(40)}, "message authentication failed"),
        ("CKM_AES_CBC_PAD", "decrypt", {"input": b"odd"}, "does not decrypt"),
        ("CKM_RSA_PKCS_OAEP", "encrypt", {"input": bytes(300)}, "too long"),
        ("CKM_RSA_PKCS_OAEP", "decrypt", {}, "decryption error"),
        ("CKM_ECDSA", "sign", {"input": "?"}, "input must be base64"),
        ("CKM_ECDSA", "sign", {"hash_algorithm": "md5"}, "the hash algorithm is one of"),
        ("CKM_ECDSA", "sign", {"prehashed": True}, "a digest of sha2-256 has 32 bytes, got 14"),
        *[
            ("CKM_RSA_PKCS_PSS", operation, {"salt_length": salt}, "the salt length is a number up to 222")
            for operation in ("sign", "verify")
            for salt in (223, 100_000, 2**31, 10**30, -2, "x", 1.5, True, [1])
        ],
    ],
)
def test_what_does_not_fit_is_refused(name: str, operation: str, more: dict[str, Any], why: str) -> None:
    key = made(name)

    with pytest.raises(KeyRefused, match=why):
        carry_out(key, operation, item(key, **more))


def test_associated_data_is_bound_in() -> None:
    key = made("CKM_AES_GCM")
    output = carry_out(key, "encrypt", item(key, associated_data=b"order 7"))
    assert isinstance(output, bytes)

    assert carry_out(key, "decrypt", item(key, output, associated_data=b"order 7")) == MESSAGE
    with pytest.raises(KeyRefused):
        carry_out(key, "decrypt", item(key, output))


@pytest.mark.parametrize("salt_length", [0, -1, 20, 222])
def test_salts_of_every_form(salt_length: int) -> None:
    key = made("CKM_RSA_PKCS_PSS")
    signature = carry_out(key, "sign", item(key, salt_length=salt_length))

    assert carry_out(key, "verify", item(key, signature=signature, salt_length=salt_length)) is True
    assert carry_out(key, "verify", item(key, signature=signature, salt_length=31)) is False


def test_no_key_shows_in_a_repr() -> None:
    assert repr(made("CKM_AES_GCM")) == "StoredKey(CKM_AES_GCM, 256 bits)"
