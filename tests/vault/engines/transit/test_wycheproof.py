"""Test vectors of Project Wycheproof through the API: each key is imported, and what is not valid must not pass."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

VECTORS = json.loads((Path(__file__).parents[3] / "vectors" / "wycheproof.json").read_text())
SIGNATURES = {
    family: [group for group in VECTORS["verify"] if group["source"].startswith(family)]
    for family in ("ecdsa", "ed25519", "rsa_pss", "rsa_signature")
}


def coded(hexadecimal: str) -> str:
    return b64encode(bytes.fromhex(hexadecimal)).decode()


@pytest.mark.parametrize("family", SIGNATURES)
def test_a_signature_is_valid_or_not_as_published(service: Any, family: str) -> None:
    counted: Counter[bool] = Counter()
    for number, group in enumerate(SIGNATURES[family]):
        name, scheme = f"{family}-{number}", group["scheme"]
        body = {"type": group["type"], "public_key": group["public_key"]}
        assert service.post(f"transit/keys/{name}/import", body).status == 204, group["source"]
        for message, signature, valid in group["cases"]:
            text = coded(signature)
            if scheme.get("marshaling_algorithm") == "jws":
                text = urlsafe_b64encode(bytes.fromhex(signature)).decode().rstrip("=")
            body = {"input": coded(message), "signature": f"vault:v1:{text}", **scheme}
            answer = service.post(f"transit/verify/{name}", body)
            assert answer.status == 200 or (answer.status == 400 and not valid), answer.errors
            assert (answer.data == {"valid": True}) == valid, f"{group['source']}: {signature}"
            counted[valid] += 1
    assert min(counted[True], counted[False]) >= 10


def test_a_ciphertext_decrypts_or_not_as_published(service: Any, wrapped: Callable[..., str]) -> None:
    for group in VECTORS["decrypt"]:
        name = group["source"].replace("_", "-")
        material = wrapped(bytes.fromhex(group["private_key"]))
        body = {"type": group["type"], "ciphertext": material}
        assert service.post(f"transit/keys/{name}/import", body).status == 204
        for message, ciphertext, valid in group["cases"]:
            answer = service.post(f"transit/decrypt/{name}", {"ciphertext": f"vault:v1:{coded(ciphertext)}"})
            assert answer.status == (200 if valid else 400)
            assert answer.data == ({"plaintext": coded(message)} if valid else None), ciphertext


def test_a_keyed_digest_is_valid_or_not_as_published(service: Any, wrapped: Callable[..., str]) -> None:
    for group in VECTORS["hmac"]:
        for number, (key, message, tag, valid) in enumerate(group["cases"]):
            name = f"{group['algorithm']}-{number}"
            body = {"type": "hmac", "ciphertext": wrapped(bytes.fromhex(key))}
            assert service.post(f"transit/keys/{name}/import", body).status == 204
            sent = {"input": coded(message), "hmac": f"vault:v1:{coded(tag)}"}
            answer = service.post(f"transit/verify/{name}/{group['algorithm']}", sent)
            assert answer.data == {"valid": valid}, f"{group['source']}: {tag}"
