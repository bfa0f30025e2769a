"""Ed25519: published keys and signatures, and the pair of a context."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.pairs.ed25519 import Ed25519, pair_of
from labkit.vault.engines.transit.pairs.key_pairs import Scheme

ED25519 = Ed25519()

# RFC 8032, 7.1: seed, public key, message, signature.
RFC_8032 = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd"
        "25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c3"
        "87b2eaeb4302aeeb00d291612bb0c00",
    ),
]


@pytest.mark.parametrize("vector", RFC_8032, ids=["empty", "one byte"])
def test_keys_and_signatures_are_the_published_ones(vector: tuple[str, ...]) -> None:
    seed, public, message, signature = map(bytes.fromhex, vector)
    private, made = pair_of(seed)
    key = ED25519.public_key(public)

    assert (private, made) == (seed + public, public)
    assert ED25519.sign(ED25519.private_key(private), message, Scheme()) == signature
    assert ED25519.verify(key, signature, message, Scheme("sha2-512", prehashed=True))
    for wrong in (signature[:-1] + bytes([signature[-1] ^ 1]), signature[:-1], signature + b"\0", b"", bytes(64)):
        assert not ED25519.verify(key, wrong, message, Scheme())
    assert not ED25519.verify(key, signature, message + b"x", Scheme())


def test_a_pair_is_made_of_what_was_drawn(entropy: Any) -> None:
    private, public = ED25519.make(entropy)

    assert (len(private), private[32:]) == (64, public)
    assert pair_of(private[:32]) == (private, public)
    assert ED25519.make(entropy) != (private, public)


def test_the_pair_of_a_context_is_the_one_that_real_servers_derive() -> None:
    private, _ = pair_of(bytes(range(32)))
    derived, public = ED25519.derive(1, private, b"context-1")

    assert derived.hex().startswith("a14b432ed75f660af8810dccbd0354d4195efa42c5753959b7d797fce863c450")
    assert ED25519.public_text(public) == "Bxt54DbRV32vGQJixSn6XKUVoYMqxqB5IuxAg+LdW8Q="
    assert to_base64(ED25519.sign(ED25519.private_key(derived), b"the quick brown fox", Scheme())) == (
        "HaU5kavLkL1JjWZa4eiO689i347r3+amwBOGZpL8aYePXNj+ezXAW4faPMP2DOEp1jWGJQy0vuclg80AxIODCg=="
    )
    with pytest.raises(BadRequest, match="missing 'context' for key derivation"):
        ED25519.derive(1, private, b"")
