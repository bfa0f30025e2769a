"""Signatures: sign one message under a keyring, and verify one signature.

1. A signature's text is the envelope of the version that made it, and base64: the standard alphabet, or with the
   marshaling ``jws`` that for URLs without padding.
2. A derived keyring signs with the pair of the item's context; the answer shows that pair's public half.
3. An item is a mapping of members as they were sent; one that is absent or null counts as not given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from labkit.service.encoding import to_base64, to_base64url
from labkit.service.errors import BadRequest
from labkit.service.fields import flag, text
from labkit.service.record import NamedTuple
from labkit.vault.engines.transit.encoding import ENVELOPE, from_base64, from_base64url, split_signed
from labkit.vault.engines.transit.hash_algorithms import KEYED_ALGORITHMS, NO_HASH, check_certified
from labkit.vault.engines.transit.keyring import Keyring, KeyVersion
from labkit.vault.engines.transit.pairs.key_pairs import AUTO_SALT, DEFAULT_HASH, HASH_SALT, PairType, Scheme
from labkit.vault.engines.transit.refusals import ListedRefusal

Item = Mapping[str, Any]

MISSING_INPUT = "missing input"

_NAMED_SALTS = {"auto": AUTO_SALT, "hash": HASH_SALT}
_MAX_DIGITS = 18

MAX_SCHEMES, MAX_SCHEME_CHARACTERS = 64, 64
"""How many ways of signing are kept as they were read, and how long their texts are: requests name few short ones."""

_schemes: tuple[dict[tuple[Any, ...], Scheme], ...] = ({}, {})  # of the usual mode, and of FIPS mode

HOW_MEMBERS = 7
"""The last fields of a request to sign or verify: those of ``FIELDS``, and the algorithm in the path."""


class Signer(NamedTuple):
    """A version prepared to sign: its envelope's beginning, its facts, and what signs a message under a scheme.

    Nothing signs for a derived keyring's version: each context has a pair of its own.
    """

    head: str
    version: int
    entry: KeyVersion
    sign: Callable[[bytes, Scheme], bytes] | None

    def __repr__(self) -> str:
        return f"Signer({self.head})"  # never the entry's keys


def read_scheme(asked: Any, *, fips: bool) -> Scheme:
    """Read how a request signs, or wants verified, from its fields; raise BadRequest in the API's order."""
    how = asked[-HOW_MEMBERS:]
    scheme = _schemes[fips].get(how)
    if scheme is None:
        scheme = _scheme(how, fips)
        if len(f"{how[0]}{how[1]}") > MAX_SCHEME_CHARACTERS:  # where both are there one is not read
            return scheme
        if len(_schemes[fips]) >= MAX_SCHEMES:
            _schemes[fips].clear()
        _schemes[fips][how] = scheme
    return scheme


def _scheme(how: tuple[Any, ...], fips: bool) -> Scheme:
    hash_algorithm, algorithm, prehashed, rsa_scheme, marshaling, salt_length, urlalgorithm = how
    hash_name = urlalgorithm or hash_algorithm or algorithm or DEFAULT_HASH  # the first has a default: it mostly wins
    if hash_name not in KEYED_ALGORITHMS and hash_name != NO_HASH:
        raise BadRequest(f'invalid hash algorithm "{hash_name}"')
    check_certified(hash_name, fips=fips)
    if marshaling not in ("asn1", "jws"):
        raise BadRequest(f'invalid marshaling type "{marshaling}"')
    return Scheme(hash_name, prehashed, rsa_scheme, _salt_length(salt_length), marshaling == "jws")


def _salt_length(text: str) -> int:
    named = _NAMED_SALTS.get(text.lower())
    if named is not None:
        return named
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _MAX_DIGITS:
        raise BadRequest(f"salt length neither 'auto', 'hash', nor an int: {text}")
    length = int(text)
    if length < HASH_SALT:
        raise BadRequest(f"salt length is invalid: {length}")
    return length


def check_unhashed(scheme: Scheme) -> None:
    """Raise BadRequest when nothing is to be hashed and the rest of the scheme does not fit (spec, Transit engine)."""
    if scheme.hash_name == NO_HASH and not (scheme.prehashed and scheme.rsa_scheme == "pkcs1v15"):
        raise BadRequest("hash_algorithm=none requires both prehashed=true and signature_algorithm=pkcs1v15")


def sign(
    keyring: Keyring, scheme: Scheme, sent: str | None, context_sent: str | None, wanted: int, public_member: str = ""
) -> dict[str, Any]:
    """Sign an input with a wanted version (0: the latest), under a context; return what is shown; raise BadRequest.

    Of a derived keyring that is also the public half of the context's pair, as ``public_member``.
    """
    message = _message(sent)
    context = _context(context_sent) if context_sent else b""
    signer = keyring.signers.get(wanted) or _signer(keyring, wanted)
    make, shown = signer.sign, None
    if make is None:
        pair = _pair(keyring)
        private, public = _derived(keyring, signer.entry, context)
        make, shown = partial(pair.sign, pair.private_key(private)), pair.public_text(public)
    made = make(message, scheme)
    coded = to_base64url(made) if scheme.jws else to_base64(made)
    signed = {"signature": signer.head + coded, "key_version": signer.version}
    return signed if shown is None else {**signed, public_member: shown}


def message_of(item: Item) -> bytes:
    """Return what an item's input says; raise BadRequest."""
    return _message(item.get("input"))


def _message(text: str | None) -> bytes:
    if text is None:
        raise BadRequest(MISSING_INPUT)
    try:
        return from_base64(text)
    except BadRequest as error:
        raise BadRequest(f"unable to decode input as base64: {error.errors[0]}") from None


def _context(text: str) -> bytes:
    try:
        return from_base64(text)
    except BadRequest:
        raise BadRequest("failed to base64-decode context") from None


def _pair(keyring: Keyring) -> PairType:
    pair = keyring.key_type.pair
    assert pair is not None, "the endpoint judged whether the key's type signs"
    return pair


def _signer(keyring: Keyring, wanted: int) -> Signer:
    """Judge which version signs, load its private half, and keep it with the keyring."""
    try:
        version = keyring.version_to_sign(wanted)
        entry = keyring.live(version)
    except BadRequest as error:
        raise ListedRefusal(error.errors[0]) from None
    if not entry.key:
        raise ListedRefusal("requested version for signing does not contain a private part")
    pair = _pair(keyring)
    make = None if keyring.derived else partial(pair.sign, pair.private_key(entry.key))
    signer = keyring.signers[wanted] = Signer(f"{ENVELOPE}{version}:", version, entry, make)
    return signer


def _derived(keyring: Keyring, entry: KeyVersion, context: bytes) -> tuple[bytes, bytes]:
    derive = _pair(keyring).derive
    assert derive is not None, "only keyrings of types that derive are derived"
    try:
        return derive(keyring.kdf, entry.key, context)
    except BadRequest as error:
        raise ListedRefusal(f"error deriving key: {error.errors[0]}") from None


def verify(keyring: Keyring, scheme: Scheme, item: Item) -> bool:
    """Whether an item's signature was made over its input with one of the keyring's live versions; raise BadRequest."""
    message = message_of(item)
    context = _context(item["context"]) if item.get("context") else b""
    version, coded = split_signed(item["signature"])
    keyring.check_verification(version)
    try:
        signature = (from_base64url if scheme.jws else from_base64)(coded)
    except BadRequest:
        raise BadRequest("invalid base64 signature value") from None
    pair = _pair(keyring)
    half = pair.public_key(_derived(keyring, keyring.live(version), context)[1]) if keyring.derived else None
    return pair.verify(
        half or keyring.verifiers.get(version) or _verifier(keyring, version), signature, message, scheme
    )


def _verifier(keyring: Keyring, version: int) -> Any:
    """Load a version's public half, and keep it with the keyring."""
    half = keyring.verifiers[version] = _pair(keyring).public_key(keyring.live(version).public)
    return half


# How a signature is made, the same for sign and verify.
FIELDS = (
    text("hash_algorithm", "sha2-224, -256, -384 or -512, sha3- the same, sha1 or none", DEFAULT_HASH),
    text("algorithm", "read only where hash_algorithm is sent empty", DEFAULT_HASH),
    flag("prehashed", "whether the input is the digest already", False),
    text("signature_algorithm", "of RSA: pss or pkcs1v15", "pss", choices=("pss", "pkcs1v15")),
    text("marshaling_algorithm", "of ECDSA: asn1 or jws", "asn1", choices=("asn1", "jws")),
    text("salt_length", "of RSA with pss: auto, hash, or how many bytes", "auto"),
)
