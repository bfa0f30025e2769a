"""``keys/<name>/csr`` and ``/set-certificate``: certificates for keys of the mount.

1. A request for a certificate is signed with a key's version; of a template's subject and extensions a copy is signed,
   nothing else of it counts.
2. A chain belongs to a version: the leaf is first and certifies that version's public half.  Neither issuers'
   signatures nor dates are judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest
from labkit.service.fields import text
from labkit.service.routing import Route
from labkit.vault.engines.transit.hash_algorithms import algorithm as hash_algorithm
from labkit.vault.engines.transit.keyring import Keyring, KeyVersion, read_keyring, write_keyring
from labkit.vault.engines.transit.keys.certificate_chains import check_chain, check_leaf, malformed, read_chain
from labkit.vault.engines.transit.pairs.key_pairs import DEFAULT_HASH
from labkit.vault.engines.transit.pairs.pem import pem_blocks
from labkit.vault.engines.transit.parameters import NAME
from labkit.vault.engines.transit.refusals import item_text

if TYPE_CHECKING:
    from cryptography.x509 import CertificateSigningRequest, CertificateSigningRequestBuilder

    from labkit.vault.engine_context import EngineContext

MAX_DIGITS = 18
HASHES = {"P-256": "sha2-256", "P-384": "sha2-384", "P-521": "sha2-512"}
"""The hash that requests are signed with, by curve."""


def sign_request(ctx: EngineContext, name: str, version: str, csr: str) -> dict[str, Any]:
    """Sign a request for a certificate with a version of a key."""
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.x509 import CertificateSigningRequestBuilder, Name

    keyring = _signing_keyring(ctx, name)
    request = _template(csr) if csr else CertificateSigningRequestBuilder().subject_name(Name([]))
    try:
        entry = keyring.live(chosen_version(keyring, version))
        if not entry.key:
            raise BadRequest("private key not imported for key version selected")
    except BadRequest as refused:
        raise BadRequest(f"could not create the csr: {item_text(refused)}") from None
    signed = _signed(keyring, entry, request)
    return {"name": name, "type": keyring.type, "csr": signed.public_bytes(Encoding.PEM).decode()}


def set_certificate(ctx: EngineContext, name: str, version: str, certificate_chain: str) -> dict[str, Any]:
    """Give a version of a key its certificates, in place of those that it had."""
    keyring = _signing_keyring(ctx, name)
    chain = read_chain(certificate_chain)
    try:
        check_chain(chain)
        number = chosen_version(keyring, version)
        entry = keyring.live(number)
        check_leaf(keyring.key_type, entry, chain[0])
    except BadRequest as refused:
        raise BadRequest(f"failed to persist certificate chain: {item_text(refused)}") from None
    entries = list(keyring.versions)
    entries[number - keyring.oldest_version] = entry._replace(chain=chain)
    write_keyring(ctx.storage, name, keyring._replace(versions=tuple(entries)))
    shown = {"name": name, "type": keyring.type}
    return shown | dict.fromkeys(("certificate-chain", "certificate_chain"), certificate_chain)


def _signing_keyring(ctx: EngineContext, name: str) -> Keyring:
    keyring = read_keyring(ctx.storage, name)
    if keyring is None:
        raise BadRequest(f"key with provided name '{name}' not found")
    if keyring.key_type.pair is None:
        raise BadRequest(f"key type '{keyring.type}' does not support signing")
    if keyring.derived:
        raise BadRequest("operation not supported on keys with derivation enabled")
    return keyring


def chosen_version(keyring: Keyring, text: str) -> int:
    """Return the version that a request names (decision T8); raise BadRequest for one that the key does not have."""
    if text in ("", "latest"):
        return keyring.latest_version
    digits = text.removeprefix("v")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > MAX_DIGITS:
        raise BadRequest("no such key version")
    return int(digits)


def _template(pem: str) -> CertificateSigningRequestBuilder:
    """Return a request with the subject and the extensions of a template."""
    from cryptography import x509

    try:
        blocks = pem_blocks(pem)
    except ValueError:
        blocks = []
    if not blocks:
        raise BadRequest("could not decode PEM certificate request")
    try:
        template = x509.load_der_x509_csr(blocks[0][1])
        copied = x509.CertificateSigningRequestBuilder().subject_name(template.subject)
        for extension in template.extensions:
            copied = copied.add_extension(
                x509.UnrecognizedExtension(extension.oid, extension.value.public_bytes()), extension.critical
            )
    except malformed():
        raise BadRequest("asn1: structure error: not a certificate request") from None
    return copied


def _signed(
    keyring: Keyring, entry: KeyVersion, request: CertificateSigningRequestBuilder
) -> CertificateSigningRequest:
    """Sign a request; the same one each time (R8)."""
    pair = keyring.key_type.pair
    assert pair is not None, "the endpoint judged whether the key's type signs"
    algorithm: Any = None if pair.shown_name == "ed25519" else hash_algorithm(HASHES.get(pair.shown_name, DEFAULT_HASH))
    deterministic = True if pair.shown_name in HASHES else None
    return request.sign(pair.private_key(entry.key), algorithm, ecdsa_deterministic=deterministic)


VERSION = text("version", "version of the key; the current one when empty or latest", "")
CSR = text("csr", "request whose subject and extensions are copied, in PEM; an empty one is signed without it", "")
CHAIN = text("certificate_chain", "certificates in PEM, the leaf first", "")

ROUTES = (
    Route("write", "keys/<name>/csr", sign_request, (NAME, VERSION, CSR)),
    Route("write", "keys/<name>/set-certificate", set_certificate, (NAME, VERSION, CHAIN)),
)
