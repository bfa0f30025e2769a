"""Odd requests to which the recorded server has answers of its own: the same here, or the page of differences says why.

A row's last column is empty where the answer is the recorded one, else the heading under which the page has its reason.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from labkit import Vault
from labkit.reference import page

X = b64encode(b"x").decode()
HASH = {"input": X}
PUBLIC_KEY = (
    ec.generate_private_key(ec.SECP256R1())
    .public_key()
    .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    .decode()
)
BATCH = {"token_type": "batch", "orphan": True, "renewable": False, "allowed_policies": "default"}


@pytest.fixture(scope="module")
def vault() -> Vault:
    """A vault with keys, roles, a token and a secret."""
    vault = Vault.dev(seed=7)
    for name, kind in (("a", "aes256-gcm96"), ("e", "ecdsa-p256")):
        vault.post(f"transit/keys/{name}", {"type": kind}).raise_for_status()
    vault.post("auth/token/roles/batch", BATCH).raise_for_status()
    vault.post("auth/token/create", {"id": "known", "ttl": "1h", "policies": ["default"]}).raise_for_status()
    vault.post("secret/data/b", {"data": {"a": 1}}).raise_for_status()
    return vault


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "heading"),
    [
        ("POST", "transit/hmac/a", {**HASH, "algorithm": ""}, 400, ""),
        ("POST", "transit/hmac/a", {**HASH, "algorithm": None}, 400, ""),
        ("POST", "transit/hash", {**HASH, "format": ""}, 400, ""),
        ("POST", "transit/hash", {**HASH, "format": None}, 400, ""),
        ("POST", "sys/tools/hash", {**HASH, "format": None}, 400, ""),
        ("POST", "sys/tools/hash", {}, 200, ""),
        ("POST", "transit/encrypt/a", {"plaintext": X, "type": "nonsense"}, 400, ""),
        ("POST", "transit/encrypt/a", {"plaintext": X, "type": None}, 400, ""),
        ("POST", "transit/keys/p/import", {"type": "ecdsa-p256", "public_key": PUBLIC_KEY}, 204, ""),
        (
            "POST",
            "transit/keys/q/import",
            {"type": "ecdsa-p256", "public_key": PUBLIC_KEY, "derived": True, "context": X},
            400,
            "import",
        ),
        ("POST", "transit/random/-1", {}, 400, "random bytes"),
        ("POST", "sys/tools/random/-1", {}, 400, "random bytes"),
        ("POST", "auth/token/roles/r", {"token_type": "default"}, 204, "token roles"),
        ("POST", "auth/token/roles/r", {"path_suffix": "a.b"}, 204, ""),
        ("POST", "auth/token/roles/r", {"path_suffix": "a-.b"}, 204, ""),
        ("POST", "auth/token/roles/r", {"path_suffix": "-a"}, 400, ""),
        ("POST", "auth/token/create/batch", {"id": "own", "policies": ["default"]}, 200, ""),
        ("POST", "auth/token/renew", {"token": "known", "increment": {}}, 400, ""),
        ("POST", "auth/token/renew", {"token": "known", "increment": []}, 400, ""),
        ("POST", "sys/capabilities", {"token": "known", "paths": [None]}, 400, ""),
        ("POST", "sys/remount", {"from": "secret", "to": "secret"}, 400, ""),
        ("POST", "sys/namespaces/n", {"custom_metadata": {"a": 1}}, 400, ""),
        ("POST", "sys/mounts/secret/tune", {"token_type": "batch"}, 400, ""),
        ("POST", "secret/data/l", {"data": [{"a": 1}, {"b": 2}]}, 200, ""),
        ("POST", "secret/metadata/l", {"max_versions": -1}, 400, "`max_versions` below zero"),
        ("GET", "sys/policies/acl/response-wrapping", None, 200, ""),
        ("POST", "secret/data/x/", {"data": {}}, 400, ""),
        ("GET", "sys/health?activecode=0xff", None, 400, ""),
        ("GET", "sys/health?activecode=99", None, 400, ""),
        ("GET", "secret/metadata/b?list=", None, 200, ""),
    ],
)
def test_an_odd_request_is_answered_as_recorded_or_as_the_page_says(
    vault: Vault, method: str, path: str, body: Any, status: int, heading: str
) -> None:
    answer = vault.request(method, f"/v1/{path}", body, {"X-Vault-Token": vault.root_token})

    assert answer.status == status, answer.body
    assert not heading or f"**{heading}**" in page("differences").splitlines()


def test_odd_ciphertexts_and_signatures(vault: Vault) -> None:
    ciphertext = vault.post("transit/encrypt/a", {"plaintext": X}).data["ciphertext"]
    assert vault.post("transit/decrypt/a", {"ciphertext": ciphertext.replace("v1", "v+1")}).data["plaintext"] == X

    def verified(signature: bytes, **how: str) -> Any:
        body = {"input": X, "signature": f"vault:v1:{signature.decode()}", **how}
        return vault.post("transit/verify/e", body).data["valid"]

    negative = bytes.fromhex("3006020180020180")
    assert verified(b64encode(negative)) is False
    jws = {"marshaling_algorithm": "jws"}
    signature = vault.post("transit/sign/e", {"input": X, **jws}).data["signature"].split(":")[2].encode()
    halves = urlsafe_b64decode(signature + b"==")
    padded = b"\0" + halves[:32] + b"\0" + halves[32:]
    assert verified(signature, **jws) is True
    assert verified(urlsafe_b64encode(padded).rstrip(b"="), **jws) is False
    assert "**`marshaling_algorithm` `jws`**" in page("differences")


def test_what_is_judged_first() -> None:
    """A rate limit that is used up comes after what cannot be read; a bad token before a path that ends oddly."""
    vault = Vault.dev(seed=7)
    vault.post("sys/quotas/rate-limit/q", {"rate": 1, "path": "secret"}).raise_for_status()
    token = {"X-Vault-Token": vault.root_token}
    statuses = [vault.get("secret/config", headers=token).status for _ in range(2)]
    assert statuses == [200, 429]
    for headers, status in (({"X-Vault-Namespace": "none"}, 404), ({"X-Vault-Wrap-TTL": "x"}, 400)):
        assert vault.get("secret/config", headers={**token, **headers}).status == status
    assert vault.request("PATCH", "/v1/secret/data/x", {"data": {}}, token).status == 400

    other = Vault.dev(seed=7)
    assert other.post("secret/data/x/", {"data": {}}, token="bad").status == 403
    assert "**what is judged first**" in page("differences")


def test_big_numbers_stay_exact(vault: Vault) -> None:
    vault.post("secret/data/big", {"data": {"n": 12345678901234567890}}).raise_for_status()

    assert vault.get("secret/data/big").data["data"] == {"n": 12345678901234567890}
    assert "**whole numbers**" in page("differences")
