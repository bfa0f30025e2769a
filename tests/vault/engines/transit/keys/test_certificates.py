"""``csr`` and ``set-certificate``: requests that keys sign, and the chains that come back for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from labkit.vault.engines.transit.algorithms import KEY_TYPES
from labkit.vault.engines.transit.pairs.key_pairs import chain_text
from tests.refusals import refused_bare

Certificate = Callable[..., bytes]

# type, signature algorithm of its requests
SIGNING = {
    "ed25519": "1.3.101.112",
    "ecdsa-p256": "1.2.840.10045.4.3.2",
    "ecdsa-p384": "1.2.840.10045.4.3.3",
    "ecdsa-p521": "1.2.840.10045.4.3.4",
    "rsa-2048": "1.2.840.113549.1.1.11",
}


@pytest.fixture
def template() -> x509.CertificateSigningRequest:
    """A request with names and extensions, signed with a key of its own."""
    pairs = (
        (x509.NameOID.COUNTRY_NAME, "US"),
        (x509.NameOID.STATE_OR_PROVINCE_NAME, "State"),
        (x509.NameOID.LOCALITY_NAME, "City"),
        (x509.NameOID.ORGANIZATION_NAME, "Organization"),
        (x509.NameOID.ORGANIZATIONAL_UNIT_NAME, "Unit"),
        (x509.NameOID.COMMON_NAME, "example.com"),
    )
    names = x509.SubjectAlternativeName([x509.DNSName("example.com"), x509.DNSName("www.example.com")])
    unknown = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\x05\x00")
    return (
        x509.CertificateSigningRequestBuilder()
        .subject_name(x509.Name([x509.NameAttribute(*pair) for pair in pairs]))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(unknown, critical=True)
        .sign(ec.derive_private_key(9, ec.SECP256R1()), hashes.SHA256())
    )


def pem(request: x509.CertificateSigningRequest) -> str:
    return request.public_bytes(Encoding.PEM).decode()


def public_text(service: Any, name: str, version: str = "1") -> str:
    text: str = service.get(f"transit/keys/{name}").data["keys"][version]["public_key"]
    return text


@pytest.mark.parametrize("key_type", [name for name in SIGNING if name in KEY_TYPES])
def test_each_type_signs_with_its_own_algorithm(
    service: Any, key_type: str, template: x509.CertificateSigningRequest
) -> None:
    service.post("transit/keys/k", {"type": key_type, "exportable": True})

    answer = service.post("transit/keys/k/csr")

    assert answer.status == 200
    assert (answer.data["name"], answer.data["type"]) == ("k", key_type)
    empty = x509.load_pem_x509_csr(answer.data["csr"].encode())
    assert answer.data["csr"].endswith("-----END CERTIFICATE REQUEST-----\n")
    assert empty.is_signature_valid
    assert (len(list(empty.subject)), len(list(empty.extensions)), len(list(empty.attributes))) == (0, 0, 0)
    assert empty.signature_algorithm_oid.dotted_string == SIGNING[key_type]
    copied = x509.load_pem_x509_csr(service.post("transit/keys/k/csr", {"csr": pem(template)}).data["csr"].encode())
    assert copied.is_signature_valid
    assert copied.subject == template.subject
    assert list(copied.extensions) == list(template.extensions)
    for made in (empty, copied):
        shown = made.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        if key_type != "ed25519":
            assert shown == public_text(service, "k")
    assert service.post("transit/keys/k/csr").data == answer.data


def test_versions_are_chosen_by_number_or_by_name(service: Any) -> None:
    service.post("transit/keys/k", {"type": "ed25519"})
    service.post("transit/keys/k/rotate")
    made = {}
    for sent in ("", "latest", 1, "1", "v1", 2, "2"):
        csr = service.post("transit/keys/k/csr", {"version": sent}).data["csr"]
        made[str(sent)] = x509.load_pem_x509_csr(csr.encode()).public_key()
    assert made[""] == made["latest"] == made["2"] != made["1"] == made["v1"]
    assert service.post("transit/keys/k/csr", {}).data == service.post("transit/keys/k/csr", {"version": 2}).data
    for sent in (0, 3, -1, "x", "vv1", "1.0", "²", "9" * 100):
        text = "could not create the csr: no such key version"
        assert refused_bare(service.post("transit/keys/k/csr", {"version": sent}), text)


def test_each_refusal_of_a_request_in_its_order(service: Any, template: x509.CertificateSigningRequest) -> None:
    service.post("transit/keys/aes")
    service.post("transit/keys/d", {"type": "ed25519", "derived": True})
    service.post("transit/keys/k", {"type": "ed25519"})
    wrong = {"csr": "x", "version": "9"}
    bent = pem(template).replace("MII", "MIJ", 1)
    for name, body, text in (
        ("none", wrong, "key with provided name 'none' not found"),
        ("aes", wrong, "key type 'aes256-gcm96' does not support signing"),
        ("d", wrong, "operation not supported on keys with derivation enabled"),
        ("k", wrong, "could not decode PEM certificate request"),
        ("k", {**wrong, "csr": bent}, "asn1: structure error: not a certificate request"),
        ("k", {**wrong, "csr": pem(template)}, "could not create the csr: no such key version"),
    ):
        assert refused_bare(service.post(f"transit/keys/{name}/csr", body), text)


def test_a_template_need_not_be_signed_by_its_key(service: Any, template: x509.CertificateSigningRequest) -> None:
    service.post("transit/keys/k", {"type": "ed25519"})
    der = template.public_bytes(Encoding.DER)
    broken = x509.load_der_x509_csr(der[:-1] + bytes([der[-1] ^ 1]))
    assert not broken.is_signature_valid

    made = service.post("transit/keys/k/csr", {"csr": pem(broken)}).data["csr"]

    assert x509.load_pem_x509_csr(made.encode()).subject == template.subject


def test_a_chain_is_kept_with_its_version(service: Any, certificate: Certificate) -> None:
    service.post("transit/keys/k", {"type": "ed25519", "exportable": True, "allow_plaintext_backup": True})
    service.post("transit/keys/k/rotate")
    csr = x509.load_pem_x509_csr(service.post("transit/keys/k/csr", {"version": 1}).data["csr"].encode())
    root = certificate(csr.public_key(), authority=True)
    text = chain_text([certificate(csr.public_key()), root]) + "\n"

    answer = service.post("transit/keys/k/set-certificate", {"version": "1", "certificate_chain": text})

    assert answer.status == 200
    shown = {"certificate-chain": text, "certificate_chain": text}
    assert answer.data == {"name": "k", "type": "ed25519", **shown}
    keys = service.get("transit/keys/k").data["keys"]
    assert (keys["1"]["certificate_chain"], keys["2"]["certificate_chain"]) == (text.rstrip("\n"), "")
    one = service.get("transit/export/certificate-chain/k/1").data
    assert one == {"name": "k", "type": "ed25519", "keys": {"1": text.rstrip("\n")}}
    assert service.get("transit/export/certificate-chain/k").status == 400
    again = chain_text([certificate(csr.public_key(), name="another")])
    service.post("transit/keys/k/set-certificate", {"version": 1, "certificate_chain": again})
    assert service.get("transit/export/certificate-chain/k/v1").data["keys"] == {"1": again}
    service.post("transit/restore/copy", {"backup": service.get("transit/backup/k").data["backup"]})
    assert service.get("transit/export/certificate-chain/copy/1").data["keys"] == {"1": again}


def test_each_refusal_of_a_chain_in_its_order(service: Any, certificate: Certificate) -> None:
    service.post("transit/keys/aes")
    service.post("transit/keys/d", {"type": "ed25519", "derived": True})
    service.post("transit/keys/k", {"type": "ed25519"})
    service.post("transit/keys/k/rotate")
    csr = x509.load_pem_x509_csr(service.post("transit/keys/k/csr").data["csr"].encode())
    owner = csr.public_key()
    good, root = chain_text([certificate(owner)]), chain_text([certificate(owner, authority=True)])
    foreign = chain_text([certificate(ec.derive_private_key(7, ec.SECP256R1()).public_key())])
    persist = "failed to persist certificate chain: "
    before = service.get("transit/keys/k").data
    for name, body, text in (
        ("none", {}, "key with provided name 'none' not found"),
        ("aes", {}, "key type 'aes256-gcm96' does not support signing"),
        ("d", {}, "operation not supported on keys with derivation enabled"),
        ("k", {"version": 9}, "could not decode PEM block in certificate chain"),
        (
            "k",
            {"version": 9, "certificate_chain": root},
            persist + "certificate in the first position is not a leaf certificate",
        ),
        ("k", {"version": 9, "certificate_chain": good}, persist + "no such key version"),
        (
            "k",
            {"version": 1, "certificate_chain": good},
            persist + "leaf certificate public key does match the key version selected",
        ),
        (
            "k",
            {"certificate_chain": foreign},
            persist + "could not validate key match between leaf certificate key and key version in transit: provided "
            "leaf certificate public key algorithm 'ECDSA' does not match the transit key type 'ed25519'",
        ),
    ):
        assert refused_bare(service.post(f"transit/keys/{name}/set-certificate", body), text)
    assert service.get("transit/keys/k").data == before


def test_an_extension_that_cannot_be_read_is_refused(service: Any) -> None:
    service.post("transit/keys/k", {"type": "ed25519"})
    for oid, value in (
        ("1.3.6.1.5.5.7.1.24", "300302017f"),  # a TLS feature of a number that is unknown
        ("2.5.29.31", "3006300481020080"),  # a distribution point without a name
        ("2.5.29.17", "3003080100"),
    ):
        odd = x509.UnrecognizedExtension(x509.ObjectIdentifier(oid), bytes.fromhex(value))
        builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).add_extension(odd, critical=False)
        signed = builder.sign(ec.derive_private_key(9, ec.SECP256R1()), hashes.SHA256())
        answer = service.post("transit/keys/k/csr", {"csr": pem(signed)})
        assert refused_bare(answer, "asn1: structure error: not a certificate request"), value


def test_a_chain_finds_its_version_on_a_trimmed_key(service: Any, certificate: Certificate) -> None:
    service.post("transit/keys/k", {"type": "ed25519", "exportable": True})
    for _ in range(3):
        service.post("transit/keys/k/rotate")
    service.post("transit/keys/k/config", {"min_decryption_version": 3, "min_encryption_version": 3})
    service.post("transit/keys/k/trim", {"min_available_version": 3})
    csr = x509.load_pem_x509_csr(service.post("transit/keys/k/csr", {"version": 3}).data["csr"].encode())
    text = chain_text([certificate(csr.public_key())])

    assert service.post("transit/keys/k/set-certificate", {"version": 3, "certificate_chain": text}).status == 200

    assert service.get("transit/export/certificate-chain/k/3").data["keys"] == {"3": text}
    lost = service.post("transit/keys/k/set-certificate", {"version": 2, "certificate_chain": text})
    assert refused_bare(lost, "failed to persist certificate chain: no such key version")


@pytest.mark.parametrize("key_type", ["ecdsa-p256", "rsa-2048"])
def test_a_chain_is_for_the_public_half_of_any_type_also_where_it_is_all_there_is(
    service: Any, certificate: Certificate, key_type: str
) -> None:
    service.post("transit/keys/whole", {"type": key_type, "exportable": True})
    public = public_text(service, "whole")
    half = {"type": key_type, "public_key": public, "exportable": True}
    assert service.post("transit/keys/half/import", half).status == 204
    text = chain_text([certificate(load_pem_public_key(public.encode()))])
    foreign = chain_text([certificate(ec.derive_private_key(7, ec.SECP384R1()).public_key())])

    for name in ("whole", "half"):
        answer = service.post(f"transit/keys/{name}/set-certificate", {"certificate_chain": text})
        assert answer.status == 200
        assert service.get(f"transit/export/certificate-chain/{name}").data["keys"] == {"1": text}
        assert service.post(f"transit/keys/{name}/set-certificate", {"certificate_chain": foreign}).status == 400
    why = "could not create the csr: private key not imported for key version selected"
    assert refused_bare(service.post("transit/keys/half/csr"), why)
