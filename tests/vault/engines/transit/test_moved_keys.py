"""Keys that move: published ones, imported or restored, decrypt, sign and verify as where they came from."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
)

from labkit import Vault

VECTORS = Path(__file__).parents[3] / "vectors"
FOX = base64.b64encode(b"the quick brown fox").decode()
CONTEXT = "Y29udGV4dC0x"

KDFS = {"derived-hkdf": 1, "derived-counter": 0}

Wrap = Callable[..., str]


def vectors(name: str) -> Any:
    return json.loads((VECTORS / name).read_text())


PAIRS = {vector["case"]: vector for vector in vectors("transit_pairs.json")["vectors"]}
BACKUPS = vectors("transit_backups.json")["vault_1_14_era"]


def key_of(case: str) -> Any:
    der = PAIRS[case].get("sec1_der_b64") or PAIRS[case]["pkcs1_der_b64"]
    return load_der_private_key(base64.b64decode(der), None)


def pkcs8_of(key: Any) -> bytes:
    der: bytes = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return der


def public_pem_of(key: Any) -> str:
    text: bytes = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return text.decode()


def flipped(signature: str) -> str:
    """The same signature with a bit of its last bytes changed."""
    head, _, coded = signature.rpartition(":")
    place = len(coded.rstrip("=")) - 3
    return f"{head}:{coded[:place]}{'A' if coded[place] != 'A' else 'B'}{coded[place + 1 :]}"


def ways_in(service: Any, wrapped: Wrap, case: str) -> None:
    """Import the case's key whole and by its public half, and restore it from a real server's backup."""
    key = key_of(case)
    whole = {"type": case, "ciphertext": wrapped(pkcs8_of(key)), "exportable": True}
    assert service.post("transit/keys/whole/import", whole).status == 204
    half = {"type": case, "public_key": public_pem_of(key), "exportable": True}
    assert service.post("transit/keys/half/import", half).status == 204
    assert service.post("transit/restore/restored", {"backup": BACKUPS[case]}).status == 204


def valid(service: Any, name: str, signature: str, **scheme: Any) -> bool:
    answer = service.post(f"transit/verify/{name}", {"input": FOX, "signature": signature, **scheme})
    assert answer.status == 200, answer.errors
    found: bool = answer.data["valid"]
    return found


@pytest.mark.parametrize("case", ["ecdsa-p256", "ecdsa-p384", "ecdsa-p521"])
def test_ecdsa_signatures_are_verified_with_the_moved_key(service: Any, wrapped: Wrap, case: str) -> None:
    ways_in(service, wrapped, case)
    vector = PAIRS[case]
    for name in ("whole", "half", "restored"):
        for member, form in (("sig_asn1_sha2_256", "asn1"), ("sig_jws_sha2_256", "jws")):
            assert valid(service, name, vector[member], marshaling_algorithm=form), (name, form)
            assert not valid(service, name, flipped(vector[member]), marshaling_algorithm=form), (name, form)
        assert service.get(f"transit/keys/{name}").data["keys"]["1"]["public_key"] == vector["public_pem"]
    signed = [service.post(f"transit/sign/{name}", {"input": FOX}).data["signature"] for name in ("whole", "restored")]
    assert signed[0] == signed[1]
    assert valid(service, "half", signed[0])
    exported = service.get("transit/export/signing-key/whole").data["keys"]["1"]
    assert exported.startswith("-----BEGIN EC PRIVATE KEY-----\n")
    assert exported.endswith("-----END EC PRIVATE KEY-----")
    assert service.get("transit/export/signing-key/half").data["keys"] == {"1": ""}


def test_rsa_signatures_and_ciphertexts_work_with_the_moved_key(service: Any, wrapped: Wrap) -> None:
    ways_in(service, wrapped, "rsa-2048")
    vector = PAIRS["rsa-2048"]
    for name in ("whole", "half", "restored"):
        for member, scheme in (
            ("pss_salt_0", {}),
            ("pss_salt_-1", {"salt_length": "hash"}),
            ("pss_salt_20", {"salt_length": "20"}),
            ("pkcs1v15_sha2-256", {"signature_algorithm": "pkcs1v15"}),
            ("pkcs1v15_jws_sha2-256", {"signature_algorithm": "pkcs1v15", "marshaling_algorithm": "jws"}),
        ):
            assert valid(service, name, vector[member], **scheme), (name, member)
            assert not valid(service, name, flipped(vector[member]), **scheme), (name, member)
    sent = {"ciphertext": vector["ciphertext_of_quick_brown"]}
    for name in ("whole", "restored"):
        assert (
            base64.b64decode(service.post(f"transit/decrypt/{name}", sent).data["plaintext"]) == b"the quick brown fox"
        )
        assert service.post(f"transit/decrypt/{name}", {"ciphertext": flipped(sent["ciphertext"])}).status == 400
    refused = service.post("transit/decrypt/half", sent)
    assert (refused.status, "does not have a private counterpart" in refused.errors[0]) == (400, True)
    made = service.post("transit/encrypt/half", {"plaintext": FOX}).data
    assert service.post("transit/decrypt/whole", made).data == {"plaintext": FOX}
    for kind in ("encryption-key", "signing-key"):
        text = service.get(f"transit/export/{kind}/whole").data["keys"]["1"]
        assert text.startswith("-----BEGIN RSA PRIVATE KEY-----\n")
        assert text.endswith("-----END RSA PRIVATE KEY-----\n")
    assert service.get("transit/export/public-key/half").data["keys"]["1"] == public_pem_of(key_of("rsa-2048"))


def test_ed25519_keys_sign_as_on_real_servers(service: Any) -> None:
    plain = "OZORekOQiAkX+r0lQwgpVDF+nm4IFKGAnX15wMqffzhClKn67u/NbsuGqOqrCgYylUgQZYM2rgXPBuGAea7mDA=="
    derived = "HaU5kavLkL1JjWZa4eiO689i347r3+amwBOGZpL8aYePXNj+ezXAW4faPMP2DOEp1jWGJQy0vuclg80AxIODCg=="
    for name, sent, signature in (("ed25519", {}, plain), ("ed25519-derived", {"context": CONTEXT}, derived)):
        service.post(f"transit/restore/{name}", {"backup": BACKUPS[name]})
        made = service.post(f"transit/sign/{name}", {"input": FOX, **sent}).data
        assert made["signature"] == f"vault:v1:{signature}"
        if sent:
            assert made["public_key"] == "Bxt54DbRV32vGQJixSn6XKUVoYMqxqB5IuxAg+LdW8Q="


def test_published_ciphertexts_of_the_ciphers_are_decrypted_with_imported_keys(service: Any, wrapped: Wrap) -> None:
    rows = vectors("aead.json")["vectors"]
    for number, row in enumerate(rows):
        body = {"type": row["type"], "ciphertext": wrapped(bytes.fromhex(row["key"]))}
        assert service.post(f"transit/keys/k{number}/import", body).status == 204
        payload = bytes.fromhex(row["nonce"] + row["ciphertext"] + row["tag"])
        sent = {"associated_data": base64.b64encode(bytes.fromhex(row["associated_data"])).decode()}
        for changed in (
            payload,
            payload[:-1] + bytes([payload[-1] ^ 1]),
            payload[:-1],
            bytes([payload[0] ^ 1]) + payload[1:],
        ):
            ciphertext = f"vault:v1:{base64.b64encode(changed).decode()}"
            answer = service.post(f"transit/decrypt/k{number}", {"ciphertext": ciphertext, **sent})
            if changed == payload:
                assert base64.b64decode(answer.data["plaintext"]).hex() == row["plaintext"], row["source"]
            else:
                assert answer.status == 400, row["source"]
    assert {row["type"] for row in rows} == {"aes128-gcm96", "aes256-gcm96", "chacha20-poly1305"}


def test_derived_keys_decrypt_with_the_function_that_their_backup_names(service: Any) -> None:
    rows = [row for row in vectors("transit_symmetric.json")["vectors"] if row.get("case") in KDFS]
    for row in rows:
        blob = json.loads(base64.b64decode(BACKUPS[f"plain-{row['type']}"]))
        blob["policy"] |= {"derived": True, "kdf": KDFS[row["case"]]}
        backup = base64.b64encode(json.dumps(blob).encode()).decode()
        assert service.post("transit/restore/k", {"backup": backup, "force": True}).status == 204
        sent = {"ciphertext": row["ciphertext"], "context": row["context_b64"]}
        assert service.post("transit/decrypt/k", sent).data == {"plaintext": row["plaintext_b64"]}
        assert service.post("transit/decrypt/k", {**sent, "context": "YQ=="}).status == 400
    assert len(rows) == 6


def test_published_key_wraps_are_imported_and_the_altered_ones_refused(
    service: Any, wrapping_key: RSAPrivateKey
) -> None:
    seen = set()
    for vector in vectors("key_wrap.json")["vectors"]:
        name = f"k{vector['bits']}-{vector['count']}"
        oaep = OAEP(MGF1(SHA256()), SHA256(), None)
        block = wrapping_key.public_key().encrypt(bytes.fromhex(vector["key"]), oaep)
        ciphertext = base64.b64encode(block + bytes.fromhex(vector["wrapped"])).decode()
        answer = service.post(
            f"transit/keys/{name}/import", {"type": "hmac", "ciphertext": ciphertext, "exportable": True}
        )
        if vector["bits"] == 64:
            outcome = "kwp: wrapped key size too small"
        elif vector["unwrapped"] is None:
            outcome = "kwp: unwrap failed integrity check"
        else:
            outcome = "invalid key size 31 bytes for key type hmac" if vector["bits"] == 248 else "imported"
        seen.add(outcome)
        if outcome == "imported":
            assert answer.status == 204, (name, answer.errors)
            shown = service.get(f"transit/export/hmac-key/{name}").data["keys"]["1"]
            assert base64.b64decode(shown).hex() == vector["unwrapped"]
        else:
            assert answer.status == 400, name
            assert outcome in answer.errors[0], (name, answer.errors)
    assert len(seen) == 4


def test_pairs_of_another_kind_curve_or_size_are_named(service: Any, wrapped: Wrap) -> None:
    rsa, p256 = key_of("rsa-2048"), key_of("ecdsa-p256")
    assert isinstance(p256, EllipticCurvePrivateKey)
    edwards = load_der_private_key(base64.b64decode(vectors("transit_import.json")["ed25519_pkcs8_b64"]), None)
    for key_type, key, why in (
        ("ecdsa-p384", p256, "invalid curve: expected P-384, got P-256"),
        ("ecdsa-p256", rsa, "invalid key type: expected ecdsa-p256, got *rsa"),
        ("ecdsa-p521", edwards, "invalid key type: expected ecdsa-p521, got ed25519"),
        ("rsa-3072", rsa, "invalid key size: expected 384 bytes, got 256 bytes"),
        ("rsa-2048", p256, "invalid key type: expected rsa-2048, got *ecdsa"),
    ):
        for half, body in (
            ("PrivateKey", {"ciphertext": wrapped(pkcs8_of(key))}),
            ("PublicKey", {"public_key": public_pem_of(key)}),
        ):
            answer = service.post("transit/keys/x/import", {"type": key_type, **body})
            text = f"{why}.{half}" if "type" in why else why
            assert answer.errors == [f"1 error occurred:\n\t* error importing key: {text}\n\n"]
    for form, hint in ((p256, "ParseECPrivateKey"), (rsa, "ParsePKCS1PrivateKey")):
        der = form.private_bytes(Encoding.DER, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        answer = service.post("transit/keys/x/import", {"type": "rsa-2048", "ciphertext": wrapped(der)})
        assert (
            f"error parsing asymmetric key: x509: failed to parse private key (use {hint} instead" in answer.errors[0]
        )
    der = base64.b64decode(vectors("transit_import.json")["encodings"]["rsa_pss_oid_pkcs8_b64"])
    assert service.post("transit/keys/pss/import", {"type": "rsa-2048", "ciphertext": wrapped(der)}).status == 204
    assert service.post("transit/sign/pss", {"input": FOX}).status == 200


def test_a_private_half_that_fits_completes_the_public_one(service: Any, wrapped: Wrap) -> None:
    for case in ("rsa-2048", "ecdsa-p521"):
        key = key_of(case)
        service.post(f"transit/keys/{case}/import", {"type": case, "public_key": public_pem_of(key)})
        sent = {"ciphertext": wrapped(pkcs8_of(key)), "version": 1}
        assert service.post(f"transit/keys/{case}/import_version", sent).status == 204
        assert service.post(f"transit/sign/{case}", {"input": FOX}).status == 200
        assert service.get(f"transit/keys/{case}").data["latest_version"] == 1


def test_no_audit_line_error_repr_or_report_shows_a_key(
    clock: Any, vectors_key: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[Any] = []
    vault = Vault.dev(clock=clock, seed=7)
    monkeypatch.setattr(vault.core, "observe", lambda kind, **members: reports.append((kind, members)))
    vault.put("sys/audit/file", {"type": "file", "options": {"file_path": "/log"}})
    answers, secrets = [], set()

    def ask(method: str, path: str, body: Any = None) -> Any:
        answer = vault.get(path) if method == "GET" else vault.post(path, body or {})
        answers.append(answer)
        return answer

    settings = {"exportable": True, "allow_plaintext_backup": True}
    for key_type in ("aes256-gcm96", "ed25519", "ecdsa-p256", "rsa-2048", "hmac"):
        ask("POST", f"transit/keys/{key_type}", {"type": key_type, **settings})
        kind = {"aes256-gcm96": "encryption-key", "hmac": "hmac-key"}.get(key_type, "signing-key")
        exported = ask("GET", f"transit/export/{kind}/{key_type}").data["keys"]["1"]
        secrets |= parts_of(exported)
        backup = ask("GET", f"transit/backup/{key_type}").data["backup"]
        secrets.add(backup[400:500])
        entry = json.loads(base64.b64decode(backup))["policy"]["keys"]["1"]
        secrets.add(entry["hmac_key"])
        ask("POST", f"transit/restore/{key_type}", {"backup": backup})  # refused: it exists
        ask("POST", f"transit/restore/{key_type}", {"backup": backup[:-9]})
        ask("POST", f"transit/restore/x-{key_type}", {"backup": backup})
    ask("POST", "transit/keys/there/import", {"type": "rsa-2048", "public_key": public_pem_of(vectors_key)})
    ask("GET", "transit/byok-export/there/aes256-gcm96")
    plain = ask("POST", "transit/datakey/plaintext/aes256-gcm96").data["plaintext"]
    random = ask("POST", "transit/random/64").data["random_bytes"]
    secrets |= {plain, random}
    ask("POST", "transit/keys/new/import", {"type": "aes256-gcm96", "ciphertext": random, "context": plain})
    ask("POST", "transit/keys/new/import", {"type": "ed25519", "public_key": random})
    ask("POST", "transit/keys/ed25519/csr", {"csr": random, "version": plain})

    shown = "\n".join(
        (
            *[line.decode() if isinstance(line, bytes) else line for line in vault.files.lines["/log"]],
            *[repr(answer) for answer in answers],
            *[error for answer in answers for error in answer.errors],
            *[str(warning) for answer in answers for warning in answer.warnings],
            repr(reports),
            repr(vault),
            repr(list(vault.calls)),
        )
    )
    assert len(secrets) > 20
    assert len(vault.files.lines["/log"]) > 60
    assert [secret for secret in sorted(secrets) if secret in shown] == []


def parts_of(exported: str) -> set[str]:
    """Parts of an exported key as text, each in base64 and in hex."""
    if exported.startswith("-----"):
        return {line for line in exported.splitlines() if len(line) > 40}
    return {exported, base64.b64decode(exported)[:32].hex()}


@pytest.fixture
def vectors_key() -> Any:
    return key_of("rsa-2048")
