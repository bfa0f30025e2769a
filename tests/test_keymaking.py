"""Keys, certificates and signatures from entropy bytes: published vectors, refusals, no clock."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import keymaking
from labkit.keymaking import (
    Identity,
    check_client_certificate,
    issue_client_certificate,
    make_authority,
    make_signing_key,
    read_claims,
    sign,
    sign_es512,
    sign_p521,
    verify,
    verify_es512,
)
from tests.examples import examples

SECOND = 1_000_000_000
NOW = 1_767_225_600 * SECOND  # 2026-01-01T00:00:00Z
DAY_S = 86_400

# RFC 8032, 7.1, tests 1 to 3: private key, public key, message, signature.
ED25519 = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        "d25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
        "387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
        "4a7c15e9716ed28dc027beceea1ec40a",
    ),
]

# RFC 6979, A.2.7: the private key, and message, r, s with SHA-512.
P521_KEY = (
    "00fad06daa62ba3b25d2fb40133da757205de67f5bb0018fee8c86e1b68c7e75ca"
    "a896eb32f1f47c70855836a6d16fcc1466f6d8fbec67db89ec0c08b0e996b83538"
)
P521_SIGNATURES = [
    (
        b"sample",
        "00c328fafcbd79dd77850370c46325d987cb525569fb63c5d3bc53950e6d4c5f17"
        "4e25a1ee9017b5d450606add152b534931d7d4e8455cc91f9b15bf05ec36e377fa",
        "00617cce7cf5064806c467f678d3b4080d6f1cc50af26ca209417308281b68af28"
        "2623eaa63e5b5c0723d8b8c37ff0777b1a20f8ccb1dccc43997f1ee0e44da4a67a",
    ),
    (
        b"test",
        "013e99020abf5cee7525d16b69b229652ab6bdf2affcaef38773b4b7d08725f10c"
        "db93482fdcc54edcee91eca4166b2a7c6265ef0ce2bd7051b7cef945babd47ee6d",
        "01fbd0013c674aa79cb39849527916ce301c66ea7ce8b80682786ad60f98f7e78a"
        "19ca69eff5c57400e3b3a0ad66ce0978214d13baf4e9ac60752f7b155e2de4dce3",
    ),
]

# RFC 7520, 3.1 and 4.3: an ES512 key and a message signed with it; its payload is prose, not claims.
FRODO_X = "AHKZLLOsCOzz5cY97ewNUajB957y-C-U88c3v13nmGZx6sYl_oJXu9A5RkTKqjqvjyekWF-7ytDyRXYgCF5cj0Kt"
FRODO_Y = "AdymlHvOiLxXkEhayXQnNCvDX4h9htZaCJN34kfmC6pV5OhQHiraVySsUdaQkAgDPrwQrJmbnX9cwlGfP-HqHZR1"
FRODO = (
    "eyJhbGciOiJFUzUxMiIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9."
    "SXTigJlzIGEgZGFuZ2Vyb3VzIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUg"
    "cm9hZCwgYW5kIGlmIHlvdSBkb24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0"
    "IGJlIHN3ZXB0IG9mZiB0by4."
    "AE_R_YZCChjn4791jSQCrdPZCNYqHXCTZH0-JZGYNlaAjP2kqaluUIIUnC9qvbu9Plon7KRTzoNEuT4Va2cmL1eJAQy3mtPBu_u_"
    "sDDyYjnAMDxXPn7XrT0lw-kvAD890jl8e2puQens_IEKBpHABlsbEPX6sFY8OcGDqoRuBomu9xQ2"
)


def entropy(label: str) -> Callable[[int], bytes]:
    """A source of bytes that depends only on its label."""
    drawn = 0

    def draw(size_bytes: int) -> bytes:
        nonlocal drawn
        drawn += 1
        return hashlib.shake_256(f"{label} {drawn}".encode()).digest(size_bytes)

    return draw


AUTHORITY = make_authority("cluster paris", entropy("authority"), NOW - DAY_S * SECOND, 30 * DAY_S)
CLIENT = issue_client_certificate(AUTHORITY, "tokyo", entropy("client"), NOW, DAY_S)
SIGNING, PUBLIC = make_signing_key(entropy("signing"))
CLAIMS: dict[str, Any] = {
    "jti": "hvs.x",
    "addr": "https://paris:8200",
    "type": "wrapping",
    "iat": NOW // SECOND,
    "nbf": NOW // SECOND - 5,
    "exp": NOW // SECOND + 1800,
}
TOKEN = sign_es512(SIGNING, CLAIMS)


# ---- certificates ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("private", "public", "message", "signature"), ED25519)
def test_ed25519_signs_and_certifies_as_published(private: str, public: str, message: str, signature: str) -> None:
    key, data, signed = bytes.fromhex(private), bytes.fromhex(message), bytes.fromhex(signature)
    owner = make_authority("rfc 8032", lambda size: key[:size], NOW, DAY_S)
    certified = x509.load_pem_x509_certificate(owner.certificate.encode()).public_key()

    assert sign(key, data) == signed
    assert certified.public_bytes(Encoding.Raw, PublicFormat.Raw).hex() == public
    verify(owner.certificate, data, signed)
    with pytest.raises(ValueError, match="not made over this data"):
        verify(owner.certificate, data + b"!", signed)


def test_an_authority_signs_client_certificates_and_nothing_below() -> None:
    certificate = x509.load_pem_x509_certificate(AUTHORITY.certificate.encode())
    constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    usage = certificate.extensions.get_extension_for_class(x509.KeyUsage)

    certificate.verify_directly_issued_by(certificate)
    assert certificate.subject.rfc4514_string() == "CN=cluster paris"
    assert certificate.version is x509.Version.v3
    assert constraints.critical
    assert (constraints.value.ca, constraints.value.path_length) == (True, 0)
    assert usage.critical
    assert (usage.value.key_cert_sign, usage.value.digital_signature) == (True, False)


def test_dates_come_from_now_and_the_serial_number_from_entropy() -> None:
    drawn: list[int] = []

    def draw(size_bytes: int) -> bytes:
        drawn.append(size_bytes)
        return b"\x01" * size_bytes

    made = make_authority("paris", draw, NOW + 999_999_999, 90)
    certificate = x509.load_pem_x509_certificate(made.certificate.encode())

    assert certificate.not_valid_before_utc == datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    assert certificate.not_valid_after_utc == datetime.datetime(2026, 1, 1, 0, 1, 30, tzinfo=datetime.UTC)
    assert certificate.serial_number == int("81" + "01" * 15, 16)
    assert made.private == b"\x01" * 32
    assert drawn == [32, 16]


def test_a_client_certificate_names_its_subject_and_its_issuer() -> None:
    issuer = x509.load_pem_x509_certificate(AUTHORITY.certificate.encode())
    extensions = x509.load_pem_x509_certificate(CLIENT.certificate.encode()).extensions
    names = extensions.get_extension_for_class(x509.SubjectAlternativeName)
    by = extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier

    assert names.critical
    assert names.value.get_values_for_type(x509.UniformResourceIdentifier) == ["labkit:client:tokyo"]
    assert not extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert by == issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest


@given(st.text(min_size=1, max_size=120))
@settings(max_examples=examples(40))
def test_any_text_may_be_a_subject_id(subject: str) -> None:
    issued = issue_client_certificate(AUTHORITY, subject, entropy("any"), NOW, DAY_S)

    assert check_client_certificate(issued.certificate, AUTHORITY.certificate, NOW) == subject


@pytest.mark.parametrize("subject", ["a", "ab", "abc" * 30, "a/b?c#d%41", "é", "日本", "labkit:client:x", " "])
def test_ids_come_back_as_they_were_given(subject: str) -> None:
    issued = issue_client_certificate(AUTHORITY, subject, entropy("id"), NOW, DAY_S)

    assert check_client_certificate(issued.certificate, AUTHORITY.certificate, NOW) == subject


def test_both_ends_of_the_validity_belong_to_it() -> None:
    def check(now: int) -> str:
        return check_client_certificate(CLIENT.certificate, AUTHORITY.certificate, now)

    assert check(NOW) == check(NOW + DAY_S * SECOND) == "tokyo"
    with pytest.raises(ValueError, match=r"client certificate is not yet valid: .* 2026-01-01T00:00:00"):
        check(NOW - 1)
    with pytest.raises(ValueError, match=r"client certificate has expired: .* 2026-01-02T00:00:00"):
        check(NOW + DAY_S * SECOND + 1)


def test_an_authority_that_is_out_of_its_time_vouches_for_no_certificate() -> None:
    early = make_authority("paris", entropy("early"), NOW, DAY_S)
    lasting = issue_client_certificate(early, "tokyo", entropy("x"), NOW - DAY_S * SECOND, 9 * DAY_S)

    assert check_client_certificate(lasting.certificate, early.certificate, NOW) == "tokyo"
    with pytest.raises(ValueError, match="the authority's certificate has expired"):
        check_client_certificate(lasting.certificate, early.certificate, NOW + 2 * DAY_S * SECOND)
    with pytest.raises(ValueError, match="the authority's certificate is not yet valid"):
        check_client_certificate(lasting.certificate, early.certificate, NOW - 1)


def test_another_authority_of_the_same_name_is_another() -> None:
    twin = make_authority("cluster paris", entropy("twin"), NOW, DAY_S)

    with pytest.raises(ValueError, match="issued by another authority"):
        check_client_certificate(CLIENT.certificate, twin.certificate, NOW)


def test_the_same_key_under_another_name_is_another_authority() -> None:
    renamed = make_authority("cluster lima", lambda size: AUTHORITY.private[:size], NOW, DAY_S)

    with pytest.raises(ValueError, match="issued by another authority"):
        check_client_certificate(CLIENT.certificate, renamed.certificate, NOW)


def test_a_client_cannot_issue() -> None:
    forged = issue_client_certificate(
        Identity(CLIENT.private, AUTHORITY.certificate), "lima", entropy("forged"), NOW, DAY_S
    )

    with pytest.raises(ValueError, match="issued by another authority"):
        check_client_certificate(forged.certificate, AUTHORITY.certificate, NOW)


def test_the_authority_itself_is_no_client() -> None:
    with pytest.raises(ValueError, match="not a client certificate"):
        check_client_certificate(AUTHORITY.certificate, AUTHORITY.certificate, NOW)


CLIENT_USE = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
SERVER_USE = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])


@pytest.mark.parametrize(
    ("usage", "names"),
    [
        (SERVER_USE, ["labkit:client:tokyo"]),
        (CLIENT_USE, ["labkit:server:tokyo"]),
        (CLIENT_USE, ["labkit:client:tokyo", "labkit:client:lima"]),
        (CLIENT_USE, []),
        (CLIENT_USE, None),
        (None, ["labkit:client:tokyo"]),
    ],
)
def test_what_the_authority_signed_for_another_purpose_is_no_client_certificate(
    usage: x509.ExtendedKeyUsage | None, names: list[str] | None
) -> None:
    begin = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    issuer = x509.load_pem_x509_certificate(AUTHORITY.certificate.encode()).subject
    key = Ed25519PrivateKey.from_private_bytes(AUTHORITY.private)
    builder = x509.CertificateBuilder(issuer, x509.Name([]), certified_key(), 1, begin, begin)
    if usage is not None:
        builder = builder.add_extension(usage, critical=False)
    if names is not None:
        addresses = [x509.DNSName("tokyo"), *map(x509.UniformResourceIdentifier, names)]
        builder = builder.add_extension(x509.SubjectAlternativeName(addresses), critical=True)
    pem = builder.sign(key, None).public_bytes(Encoding.PEM).decode()

    with pytest.raises(ValueError, match="not a client certificate"):
        check_client_certificate(pem, AUTHORITY.certificate, NOW)


# The library warns of a negative serial number before it is seen that the signature is wrong.
@pytest.mark.filterwarnings("ignore:Parsed a serial number")
@given(st.data())
@settings(max_examples=examples(150))
def test_no_altered_certificate_passes(data: st.DataObject) -> None:
    body = base64.b64decode("".join(CLIENT.certificate.splitlines()[1:-1]))
    # The byte before the 64 of the signature counts unused bits: it is not signed, and it has no meaning.
    at = data.draw(st.integers(0, len(body) - 1).filter(lambda at: at != len(body) - 65))
    pem = altered(body, at, data.draw(st.integers(1, 255)))

    with pytest.raises(ValueError, match=r"issued by another authority, or altered|not an X.509 certificate"):
        check_client_certificate(pem, AUTHORITY.certificate, NOW)


def test_a_certificate_of_another_version_is_none() -> None:
    body = base64.b64decode("".join(CLIENT.certificate.splitlines()[1:-1]))
    version = body.index(bytes.fromhex("a003020102")) + 4  # RFC 5280, 4.1: [0] EXPLICIT INTEGER 2, which is v3

    for bits in (1, 4, 0x7F):
        with pytest.raises(ValueError, match=r"the client certificate is not an X.509"):
            check_client_certificate(altered(body, version, bits), AUTHORITY.certificate, NOW)


@given(st.text())
@settings(max_examples=examples(60))
def test_no_text_passes_for_a_certificate(text: str) -> None:
    with pytest.raises(ValueError, match=r"the client certificate is not an X.509"):
        check_client_certificate(text, AUTHORITY.certificate, NOW)


def test_a_hello_is_signed_by_the_holder_of_the_certificate() -> None:
    hello = b"hello of tokyo to paris"
    signature = sign(CLIENT.private, hello)

    verify(CLIENT.certificate, hello, signature)
    for certificate, data, given_ in [
        (AUTHORITY.certificate, hello, signature),
        (CLIENT.certificate, hello + b".", signature),
        (CLIENT.certificate, hello, signature[:-1]),
        (CLIENT.certificate, hello, bytes(64)),
        (CLIENT.certificate, hello, b""),
    ]:
        with pytest.raises(ValueError, match="not made over this data"):
            verify(certificate, data, given_)


def test_a_key_of_another_kind_verifies_nothing() -> None:
    key = ec.derive_private_key(7, ec.SECP256R1())
    name = x509.Name([])
    begin = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, begin, begin)
    pem = builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM).decode()

    with pytest.raises(ValueError, match="another kind than Ed25519"):
        verify(pem, b"", bytes(64))


def test_what_cannot_be_certified_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one second, not 0"):
        make_authority("paris", entropy("x"), NOW, 0)
    with pytest.raises(ValueError, match="end with the year 9999"):
        make_authority("paris", entropy("x"), NOW, 300_000_000_000)
    with pytest.raises(ValueError, match="length"):
        make_authority("p" * 65, entropy("x"), NOW, DAY_S)
    with pytest.raises(ValueError, match="id of its subject"):
        issue_client_certificate(AUTHORITY, "", entropy("x"), NOW, DAY_S)


def test_an_identity_does_not_show_its_key() -> None:
    shown = repr(CLIENT) + str([CLIENT])

    assert CLIENT.private.hex() not in shown
    assert repr(CLIENT.private) not in shown
    assert "PRIVATE" not in shown


# ---- tokens ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("message", "r", "s"), P521_SIGNATURES)
def test_p521_signs_as_published(message: bytes, r: str, s: str) -> None:
    assert sign_p521(bytes.fromhex(P521_KEY), message).hex() == r + s


def test_a_published_token_is_verified() -> None:
    public = pem_of(FRODO_X, FRODO_Y)

    with pytest.raises(ValueError, match="payload is not JSON"):  # it is prose: the signature has passed
        verify_es512(public, FRODO)
    with pytest.raises(ValueError, match="signed by another key, or altered"):
        verify_es512(public, FRODO.replace(".AE_R", ".AE_S"))
    with pytest.raises(ValueError, match="signed by another key, or altered"):
        verify_es512(PUBLIC, FRODO)


def test_a_token_is_what_the_format_says() -> None:
    head, payload, signature = TOKEN.split(".")

    assert base64.urlsafe_b64decode(head + "==") == b'{"alg":"ES512","typ":"JWT"}'
    assert base64.urlsafe_b64decode(payload + "==").decode() == json.dumps(
        dict(sorted(CLAIMS.items())), separators=(",", ":")
    )
    assert len(base64.urlsafe_b64decode(signature + "==")) == 132
    assert "=" not in TOKEN


def test_another_library_reads_the_token() -> None:
    options: Any = {"verify_exp": False, "verify_nbf": False, "verify_iat": False}

    assert jwt.decode(TOKEN, PUBLIC, algorithms=["ES512"], options=options) == CLAIMS


def test_a_token_of_another_library_is_read() -> None:
    key = ec.derive_private_key(int.from_bytes(SIGNING, "big"), ec.SECP521R1())
    token = jwt.encode(CLAIMS, key, algorithm="ES512")

    assert verify_es512(PUBLIC, token, NOW) == read_claims(token) == CLAIMS


def test_the_order_of_claims_does_not_matter() -> None:
    assert sign_es512(SIGNING, dict(reversed(CLAIMS.items()))) == TOKEN


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=6))
@settings(max_examples=examples(60))
def test_claims_come_back(claims: dict[str, Any]) -> None:
    token = sign_es512(SIGNING, claims)

    assert verify_es512(PUBLIC, token) == read_claims(token) == claims


@given(st.data())
@settings(max_examples=examples(120))
def test_no_altered_token_passes(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(TOKEN) - 1))
    other = data.draw(st.characters().filter(lambda c: c != TOKEN[at]))

    with pytest.raises(ValueError, match="token"):
        verify_es512(PUBLIC, TOKEN[:at] + other + TOKEN[at + 1 :])


@given(st.text() | st.from_regex(r"[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*", fullmatch=True))
@settings(max_examples=examples(150))
def test_no_text_passes_for_a_token(text: str) -> None:
    with pytest.raises(ValueError, match="token"):
        read_claims(text)
    with pytest.raises(ValueError, match="token"):
        verify_es512(PUBLIC, text)


@pytest.mark.parametrize(
    ("head", "payload", "match"),
    [
        ('{"alg":"none"}', "{}", "another algorithm or type"),
        ('{"alg":"HS256","typ":"JWT"}', "{}", "another algorithm or type"),
        ('{"alg":["ES512"]}', "{}", "another algorithm or type"),
        ('{"typ":"JWT"}', "{}", "another algorithm or type"),
        ('{"alg":"ES512","typ":"at+jwt"}', "{}", "another algorithm or type"),
        ('{"alg":"ES512","crit":["b64"],"b64":false}', "{}", "extensions"),
        ("[]", "{}", "header is not a JSON object"),
        ("{", "{}", "header is not JSON"),
        ('{"alg":"ES512"}', "[]", "payload is not a JSON object"),
        ('{"alg":"ES512"}', '{"a":NaN}', "payload is not JSON"),
        ('{"alg":"ES512"}', '{"a":1e999}', "payload is not JSON"),
        ('{"alg":"ES512"}', '{"a":"\\ud800"}', "payload is not JSON"),
        ('{"alg":"ES512"}', '{"a":' + "[" * 5000 + "]" * 5000 + "}", "payload is not JSON"),
        ('{"alg":"ES512"}', '{"a":' + "9" * 5000 + "}", "payload is not JSON"),
        ('{"alg":"ES512"}', '{"a":"' + "x" * 16_384 + '"}', "at most 16384"),
    ],
)
def test_a_token_of_another_form_is_refused_before_its_signature_counts(head: str, payload: str, match: str) -> None:
    signed = f"{base64url(head.encode())}.{base64url(payload.encode())}"
    token = f"{signed}.{base64url(sign_p521(SIGNING, signed.encode()))}"

    with pytest.raises(ValueError, match=match):
        read_claims(token)
    with pytest.raises(ValueError, match=match):
        verify_es512(PUBLIC, token)


@pytest.mark.parametrize("spelling", [TOKEN + "=", TOKEN + ".", TOKEN + "\n", " " + TOKEN, TOKEN[:-1] + "/"])
def test_a_token_has_one_spelling(spelling: str) -> None:
    with pytest.raises(ValueError, match="segment"):
        read_claims(spelling)
    with pytest.raises(ValueError, match="segment"):
        verify_es512(PUBLIC, spelling)


@pytest.mark.parametrize("size", [0, 131, 133, 134])
def test_a_signature_has_132_bytes(size: int) -> None:
    """A longer one, whose second number begins with zeros, would be another spelling of the same numbers."""
    signed, _, text = TOKEN.rpartition(".")
    raw = base64.urlsafe_b64decode(text)
    spelled = raw[:66] + raw[66:].rjust(size - 66, b"\0") if size > len(raw) else raw[:size]

    with pytest.raises(ValueError, match="signed by another key, or altered"):
        verify_es512(PUBLIC, f"{signed}.{base64url(spelled)}")


def test_times_are_judged_against_the_time_handed_in() -> None:
    issued = CLAIMS["iat"] * SECOND
    bare = sign_es512(SIGNING, {"nbf": CLAIMS["nbf"], "exp": CLAIMS["exp"]})

    assert verify_es512(PUBLIC, TOKEN, issued) == CLAIMS
    assert verify_es512(PUBLIC, TOKEN, issued + 1800 * SECOND - 1) == CLAIMS
    assert verify_es512(PUBLIC, TOKEN) == CLAIMS
    assert verify_es512(PUBLIC, sign_es512(SIGNING, {}), 0) == {}
    with pytest.raises(ValueError, match="token expired at 1767227400; it is 1767227400 now"):
        verify_es512(PUBLIC, TOKEN, issued + 1800 * SECOND)
    with pytest.raises(ValueError, match="issued in the future, at 1767225600; it is 1767225599 now"):
        verify_es512(PUBLIC, TOKEN, issued - 1)
    assert verify_es512(PUBLIC, bare, issued - 5 * SECOND)
    with pytest.raises(ValueError, match="not valid before 1767225595"):
        verify_es512(PUBLIC, bare, issued - 5 * SECOND - 1)


@pytest.mark.parametrize("name", ["exp", "nbf", "iat"])
@pytest.mark.parametrize("value", [None, True, "1", 1.5, [1]])
def test_times_are_whole_numbers(name: str, value: Any) -> None:
    token = sign_es512(SIGNING, {name: value})

    assert verify_es512(PUBLIC, token) == {name: value}
    with pytest.raises(ValueError, match=f"claim {name} must be a whole number"):
        verify_es512(PUBLIC, token, NOW)


def test_only_a_key_on_p521_verifies() -> None:
    for key in (ec.derive_private_key(7, ec.SECP256R1()).public_key(), certified_key()):
        pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        with pytest.raises(ValueError, match="elliptic-curve key on P-521"):
            verify_es512(pem, TOKEN)


@pytest.mark.parametrize(
    ("drawn", "scalar"),
    [
        (0, 1),
        (keymaking.P521_ORDER - 2, keymaking.P521_ORDER - 1),
        (keymaking.P521_ORDER - 1, 1),
        (2**592 - 1, (2**592 - 1) % (keymaking.P521_ORDER - 1) + 1),
    ],
)
def test_a_signing_key_is_reduced_evenly_and_never_zero(drawn: int, scalar: int) -> None:
    private, public = make_signing_key(lambda size: drawn.to_bytes(size, "big"))

    assert private == scalar.to_bytes(66, "big")
    assert verify_es512(public, sign_es512(private, {})) == {}


def test_the_order_of_p521_is_the_published_one() -> None:
    key = ec.derive_private_key(keymaking.P521_ORDER - 1, ec.SECP521R1())
    one = ec.derive_private_key(1, ec.SECP521R1()).public_key().public_numbers()

    assert key.public_key().public_numbers().x == one.x  # minus one times the base point
    with pytest.raises(ValueError, match="key"):
        ec.derive_private_key(keymaking.P521_ORDER, ec.SECP521R1())


def test_a_signature_is_not_a_structure() -> None:
    key = ec.derive_private_key(int.from_bytes(SIGNING, "big"), ec.SECP521R1())
    head, payload, _ = TOKEN.split(".")
    der = key.sign(f"{head}.{payload}".encode(), ec.ECDSA(hashes.SHA512(), deterministic_signing=True))
    r, s = decode_dss_signature(der)

    assert base64url(r.to_bytes(66, "big") + s.to_bytes(66, "big")) == TOKEN.split(".")[2]
    with pytest.raises(ValueError, match="altered"):
        verify_es512(PUBLIC, f"{head}.{payload}.{base64url(der)}")


# ---- the same bytes everywhere, and no clock ---------------------------------------------------------------

EVERYTHING = """
import hashlib, sys
before = set(sys.modules)
from labkit import keymaking

loaded = sorted(name for name in set(sys.modules) - before if name.startswith(("cryptography", "jwt", "datetime")))
drawn = 0

def entropy(size):
    global drawn
    drawn += 1
    return hashlib.shake_256(str(drawn).encode()).digest(size)

authority = keymaking.make_authority("paris", entropy, 1_767_225_600_000_000_000, 9000)
client = keymaking.issue_client_certificate(authority, "tokyo", entropy, 1_767_225_600_000_000_000, 900)
signing, public = keymaking.make_signing_key(entropy)
token = keymaking.sign_es512(signing, {"type": "wrapping", "jti": "x", "addr": "y"})
hello = keymaking.sign(client.private, b"hello")
print(loaded, repr((tuple(authority), tuple(client), signing, public, token, hello)))
"""


def test_every_process_makes_the_same_bytes(checkout: Path) -> None:
    outputs = set()
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", EVERYTHING],
            cwd=checkout,
            env=os.environ | {"PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo" if seed == "1" else "UTC"},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.add(done.stdout)

    (only,) = outputs
    assert only.startswith("[] ")  # to import the module loads none of the libraries
    digest = hashlib.sha256(only.encode()).hexdigest()
    assert digest == "8638959ad6fa92591f94cc33efd94bfa352ffc3299049566088857cf80cb9d8f"


def test_nothing_asks_for_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the clock was read")

    class Timeless(datetime.datetime):
        now = utcnow = today = refuse

    for name in ("time", "time_ns", "monotonic", "monotonic_ns", "gmtime", "localtime"):
        monkeypatch.setattr(time, name, refuse)
    real = datetime.datetime
    for module in [*sys.modules.values()]:
        if module is not None and vars(module).get("datetime") is real:
            monkeypatch.setattr(module, "datetime", Timeless)

    authority = make_authority("paris", entropy("a"), NOW, DAY_S)
    client = issue_client_certificate(authority, "tokyo", entropy("c"), NOW, DAY_S)
    signing, public = make_signing_key(entropy("s"))
    token = sign_es512(signing, CLAIMS)

    assert check_client_certificate(client.certificate, authority.certificate, NOW) == "tokyo"
    verify(client.certificate, b"hello", sign(client.private, b"hello"))
    assert verify_es512(public, token, NOW) == read_claims(token) == CLAIMS
    with pytest.raises(AssertionError, match="the clock was read"):  # what the guard guards against
        jwt.decode(token, public, algorithms=["ES512"], options={"verify_exp": False, "verify_iat": False})


def altered(body: bytes, at: int, bits: int) -> str:
    """A certificate's bytes with some bits of one of them turned over, as PEM."""
    changed = body[:at] + bytes([body[at] ^ bits]) + body[at + 1 :]
    return f"-----BEGIN CERTIFICATE-----\n{base64.b64encode(changed).decode()}\n-----END CERTIFICATE-----\n"


def base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def pem_of(x: str, y: str) -> str:
    at, up = (int.from_bytes(base64.urlsafe_b64decode(text + "=="), "big") for text in (x, y))
    key = ec.EllipticCurvePublicNumbers(at, up, ec.SECP521R1()).public_key()
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def certified_key() -> Any:
    return x509.load_pem_x509_certificate(AUTHORITY.certificate.encode()).public_key()
