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

VECTORS = Path(__file__).parents[3] / "vectors"
FOX = base64.b64encode(b"the quick brown fox").decode()
CONTEXT = "Y29udGV4dC0x"

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
