"""Key certificate: of the key that is published with it, and the same bytes each time."""

from __future__ import annotations

from base64 import b64decode
from hashlib import sha1

from cryptography import x509

from labkit.cloud.key_certificate import self_signed
from labkit.front.cloud import Cloud
from labkit.service.encoding import from_base64url


def test_the_certificate_holds_the_key_it_stands_beside(cloud: Cloud) -> None:
    keys = cloud.parts.keys["CloudPublicCloud"]
    for published in keys.key_set(certified=True):
        der = b64decode(published["x5c"][0])
        found = x509.load_der_x509_certificate(der)
        key = keys.named(published["kid"])
        assert key is not None
        assert found.public_key() == keys.private(key).public_key()
        found.verify_directly_issued_by(found)  # raises for any other signature
        assert from_base64url(published["x5t"]) == sha1(der, usedforsecurity=False).digest()
        assert self_signed(keys.private(key), key.kid) == der


def test_keys_for_a_vault_have_none(cloud: Cloud) -> None:
    assert all("x5c" not in key for key in cloud.jwks()["keys"])
