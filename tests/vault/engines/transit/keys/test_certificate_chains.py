"""Certificate chains: which texts are one, whose leaf is whose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.algorithms import KEY_TYPES
from labkit.vault.engines.transit.keyring import KeyVersion
from labkit.vault.engines.transit.keys.certificate_chains import UNREADABLE, check_chain, check_leaf, read_chain
from labkit.vault.engines.transit.keys.pair_material import stored_public
from labkit.vault.engines.transit.pairs.key_pairs import chain_text, to_pem

Certificate = Callable[..., bytes]

OWNER = Ed25519PrivateKey.from_private_bytes(bytes(range(32))).public_key()


def refusal(work: Any, *arguments: Any) -> str:
    with pytest.raises(BadRequest) as refused:
        work(*arguments)
    text: str = refused.value.errors[0]
    return text


def test_certificates_are_read_among_other_blocks(certificate: Certificate) -> None:
    leaf, root = certificate(OWNER), certificate(OWNER, authority=True)
    assert read_chain(chain_text([leaf, root])) == (leaf, root)
    text = to_pem("PRIVATE KEY", b"x") + to_pem("X509 CERTIFICATE", leaf) + "note\n" + to_pem("CERTIFICATE", root)
    assert read_chain(text) == (leaf, root)


def test_what_is_no_chain(certificate: Certificate) -> None:
    leaf = certificate(OWNER)
    for text, why in (
        ("", "could not decode PEM block in certificate chain"),
        ("x", "could not decode PEM block in certificate chain"),
        (chain_text([leaf])[:-5], "could not decode PEM block in certificate chain"),
        (to_pem("PUBLIC KEY", leaf), "provided certificate chain did not contain any valid PEM certificate"),
        (to_pem("CERTIFICATE", b"junk"), UNREADABLE),
        (chain_text([leaf, leaf[:-1]]), UNREADABLE),
    ):
        assert refusal(read_chain, text) == why, text


def test_only_the_first_is_a_leaf(certificate: Certificate) -> None:
    plain, leaf, root = (certificate(OWNER, authority=authority) for authority in (None, False, True))
    for chain in ((leaf,), (plain,), (leaf, root), (plain, root, root), (leaf, plain)):
        check_chain(chain)
    first = "certificate in the first position is not a leaf certificate"
    for chain, why in (
        ((root,), first),
        ((root, leaf), first),
        ((leaf, leaf), "provided certificate chain contains more than one leaf certificate"),
        ((leaf, root, leaf), "provided certificate chain contains more than one leaf certificate"),
    ):
        assert refusal(check_chain, chain) == why


def test_a_leaf_is_for_one_key(certificate: Certificate) -> None:
    key_type = KEY_TYPES["ed25519"]
    own = KeyVersion(b"", b"", 0, public=stored_public(OWNER))
    check_leaf(key_type, own, certificate(OWNER))
    other = own._replace(public=bytes(32))
    text = "leaf certificate public key does match the key version selected"
    assert refusal(check_leaf, key_type, other, certificate(OWNER)) == text
    for key, name in (
        (ec.derive_private_key(7, ec.SECP256R1()), "ECDSA"),
        (x25519.X25519PrivateKey.from_private_bytes(bytes(range(32))), "0"),
    ):
        assert refusal(check_leaf, key_type, own, certificate(key.public_key())) == (
            "could not validate key match between leaf certificate key and key version in transit: provided leaf "
            f"certificate public key algorithm '{name}' does not match the transit key type 'ed25519'"
        )
