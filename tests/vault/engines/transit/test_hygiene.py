"""No key byte, plaintext or signature input is in any output but the answer's own data, whichever endpoint is asked.

Every route of the engine is asked, for keys of several types, with canaries in all that may be secret: as they should
be sent, and malformed.  An endpoint that comes later is asked too.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from labkit import Vault
from labkit.front.keystore import KeyStore
from labkit.service.message import Request, Suspended
from labkit.vault.engines.transit.keyring import decode_keyring
from labkit.vault.engines.transit.table import TABLE

CANARY = b"canary-7c1e-of-what-is-secret"
CODED, MALFORMED = b64encode(CANARY).decode(), "canary-7c1e-malformed!"
NONCE = "AAAAAAAAAAAAAAAA"

KEYS: dict[str, dict[str, Any]] = {
    "aes": {"exportable": True, "allow_plaintext_backup": True},
    "derived": {"type": "chacha20-poly1305", "derived": True, "convergent_encryption": True},
    "ed": {"type": "ed25519", "exportable": True},
    "ec": {"type": "ecdsa-p256"},
    "rsa": {"type": "rsa-2048", "exportable": True},
    "mac": {"type": "hmac", "exportable": True},
    "outside": {"type": "managed_key", "managed_key_name": "hsm"},
}
SEGMENTS = {
    "type": ("plaintext", "wrapped"),
    "key_type": ("encryption-key", "signing-key", "hmac-key", "public-key"),
    "version": ("1", "9"),
    "destination": ("rsa",),
    "urlalgorithm": ("sha2-256",),
    "place": ("16",),
    "urlbytes": ("16",),
}


def bodies(coded: str, backup: str) -> list[dict[str, Any]]:
    """What is sent to every endpoint: all secrets at once, alone and in a batch."""
    secret = {"plaintext": coded, "input": coded, "associated_data": coded, "context": coded}
    rest = {"ciphertext": f"vault:v1:{coded}", "signature": f"vault:v1:{coded}", "nonce": NONCE, "force": True}
    items = [secret, {**secret, "ciphertext": f"vault:v1:{coded}", "nonce": NONCE}, {"input": coded, "plaintext": 5}]
    without = {name: value for name, value in secret.items() if name not in ("context", "associated_data")}
    return [
        {**secret, **rest, "backup": backup},
        {**without, **rest, "backup": coded},
        {**without, "hmac": f"vault:v1:{coded}"},
        {"batch_input": items},
        {"batch_input": items[:2]},
        {"batch_input": [coded]},
    ]


def paths(pattern: str) -> list[str]:
    """Every path that a pattern stands for, with each key and each choice."""
    found = [pattern]
    names = {"name": tuple(KEYS), "source": tuple(KEYS), **SEGMENTS}
    for name, values in names.items():
        mark = f"<{name}>"
        found = [path.replace(mark, value) for path in found for value in (values if mark in path else ("",))]
    return found


@pytest.fixture(scope="module")
def outputs() -> tuple[Vault, list[str]]:
    """Everything that a vault puts out beside its answers' data, after every endpoint was asked."""
    vault = Vault.dev(seed=7, keystore=KeyStore.dev(seed=7))
    seen: list[str] = []
    vault.core.observe = lambda kind, **fields: seen.append(f"{kind} {fields}")
    vault.put("sys/audit/file", {"type": "file", "options": {"file_path": "/audit.log"}}).raise_for_status()
    hsm = {"key_label": "l", "mechanism": "CKM_AES_GCM", "allow_generate_key": True}
    vault.post("sys/managed-keys/pkcs11/hsm", hsm).raise_for_status()
    for name, sent in KEYS.items():
        vault.post(f"transit/keys/{name}", sent).raise_for_status()
    backup = vault.get("transit/backup/aes").data["backup"]
    for route in sorted(TABLE.routes, key=lambda each: each.operation == "delete"):
        for path in paths(route.pattern):
            ask(vault, route.operation, path, backup, seen)
    seen.append((vault.files.read("/audit.log") or b"").decode())
    seen += map(repr, (vault, vault.core, vault.calls, list(vault.calls), vault.keystore, vault.core.caches.records))
    return vault, seen


def ask(vault: Vault, operation: str, path: str, backup: str, seen: list[str]) -> None:
    """Ask an endpoint in every way, and keep what is shown of it."""
    method = {"write": "POST", "read": "GET", "list": "LIST", "delete": "DELETE"}[operation]
    headers = {"X-Vault-Token": vault.root_token}
    sent = [body for coded in (CODED, MALFORMED) for body in bodies(coded, backup)] if method == "POST" else [None]
    for body in sent:
        request = Request(method, f"/v1/transit/{path}", headers, body)
        outcome = vault.handle(request)
        seen.append(repr(request))
        while isinstance(outcome, Suspended):
            seen.append(f"{outcome!r}{outcome.fetch!r}")
            outcome = vault.resume(outcome, vault.keystore.answer(outcome.fetch))
        seen.append(f"{outcome!r} {outcome._repr_html_()} {outcome.errors} {outcome.warnings}")


def test_no_plaintext_or_input_is_put_out(outputs: tuple[Vault, list[str]]) -> None:
    forms = (CANARY.decode(), CODED, CANARY.hex(), MALFORMED, CODED[:20], "canary")

    shown = [(form, text[:200]) for text in outputs[1] for form in forms if form in text]

    assert shown == []


def test_no_key_is_put_out(outputs: tuple[Vault, list[str]]) -> None:
    vault, seen = outputs
    secrets = [row[2] for row in vault.keystore.state()["keys"].values()]
    for key in [*vault.core.storage.keys()]:
        if "/key/" in key:
            ring = decode_keyring(vault.core.keys.decrypt(key, vault.core.storage.get(key) or b""))
            secrets += [
                part
                for version in (ring.versions[0], ring.versions[-1])
                for part in (version.key, version.hmac_key)
                if part
            ]
    assert len(secrets) >= 2 * len(KEYS)
    text = "\n".join(dict.fromkeys(seen))

    for secret in secrets:
        middle = secret[len(secret) // 2 :][:16]  # the beginnings of two keys in DER form are the same
        assert middle.hex() not in text
        assert repr(middle)[2:-1] not in text
        for cut in range(3):
            assert b64encode(secret[cut:][:24]).decode()[:24] not in text


def test_every_endpoint_was_asked(outputs: tuple[Vault, list[str]]) -> None:
    asked = "\n".join(outputs[1])

    assert all(f"/v1/transit/{path})" in asked for route in TABLE.routes for path in paths(route.pattern))
    assert "'canary" not in asked
    assert sum('"type":"response"' in line for line in asked.splitlines()) > 500
