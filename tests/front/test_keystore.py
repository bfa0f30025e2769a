"""Key store: one that is made by hand, with a seed or without."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault
from labkit.front.keystore import KeyStore
from labkit.service.encoding import from_base64url


def test_one_of_a_seed_makes_the_same_keys_every_time() -> None:
    stores = [KeyStore.dev(seed=seed) for seed in (7, 7, 8, None, None)]
    for store in stores:
        store.generate("a")
    first, again, other, *real = [store.state() for store in stores]

    assert first == again != other
    assert real[0] != real[1]


def test_what_is_no_seed_makes_none() -> None:
    with pytest.raises(ValueError, match="seed: expected a whole number"):
        KeyStore.dev(seed=-1)


@pytest.mark.slow
def test_no_rsa_key_comes_twice_in_a_seeded_world() -> None:
    """Not in the store, and not as a key with which the cloud beside it signs, or one of the vault's own."""
    from cryptography.hazmat.primitives.serialization import load_der_private_key, load_pem_public_key

    vault = Vault.dev(seed=26)
    moduli: list[int] = []
    for number in range(60):
        vault.keystore.generate(f"k{number}", "CKM_RSA_PKCS", 2_048)
    for _, _, private in vault.keystore.state()["keys"].values():
        loaded: Any = load_der_private_key(private, None)
        moduli.append(loaded.public_key().public_numbers().n)
    moduli += [int.from_bytes(from_base64url(key["n"]), "big") for key in vault.cloud.jwks()["keys"]]
    for number in range(20):
        vault.post(f"transit/keys/r{number}", {"type": "rsa-2048"})
        public: Any = load_pem_public_key(vault.get(f"transit/keys/r{number}").data["keys"]["1"]["public_key"].encode())
        moduli.append(public.public_numbers().n)

    assert len(set(moduli)) == len(moduli) == 82
