"""PGP: a text encrypted to an OpenPGP key (RFC 9580), so that only the key's owner can read it.

1. A key comes as the base64 of its binary form; it is shown as its fingerprint, in lower-case hex.
2. The library is pysequoia, which the extra ``pgp`` installs.  It draws a message's entropy, and judges whether a key
   is in force, by itself: the seed does not determine a message.  None is stored, and its size is determined, so that
   traces are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.encoding import from_base64
from labkit.service.errors import BadRequest

if TYPE_CHECKING:
    from pysequoia import Cert


_DRAWS = 8  # one message in 256 to an RSA key is a byte shorter: the longest of several has always the same size
_SECRET_KEY = 5  # the type of a packet (RFC 9580, 5)


def fingerprint(key: str) -> str:
    """Return the fingerprint of a key that a message can be encrypted to; raise BadRequest for any other text."""
    certificate = _certificate(key)
    _encrypt(certificate, b"")
    return certificate.fingerprint.lower()


def encrypt(key: str, text: str) -> bytes:
    """Return an OpenPGP message, in binary, that holds a text for the owner of a key; raise BadRequest."""
    certificate = _certificate(key)
    return max([_encrypt(certificate, text.encode()) for _ in range(_DRAWS)], key=len)


def _certificate(key: str) -> Cert:
    try:
        from pysequoia import Cert
    except ImportError:
        raise _refusal("this needs the package pysequoia: pip install '.[pgp]'") from None
    try:
        sent = from_base64(key)
    except ValueError:
        raise _refusal("a key is sent as the base64 of its binary form, on one line") from None
    if _first_packet(sent) == _SECRET_KEY:
        raise _refusal("this is a secret key; send the public one")
    try:
        return Cert.from_bytes(sent)
    except RuntimeError as error:
        raise _refusal(_first_line(error)) from None


def _first_packet(sent: bytes) -> int:
    """Return the type of the first packet (RFC 9580, 4.2), in either form of its header; 0 where there is none."""
    header = sent[0] if sent else 0
    return header & 0x3F if header & 0x40 else header >> 2 & 0x0F


def _encrypt(certificate: Cert, value: bytes) -> bytes:
    from pysequoia import encrypt as encrypt_to

    try:
        return encrypt_to(value, recipients=[certificate], armor=False)
    except RuntimeError as error:
        raise _refusal(_first_line(error)) from None


def _first_line(error: RuntimeError) -> str:
    return str(error).partition("\n")[0]  # what follows may be a trace of the library's own calls


def _refusal(why: str) -> BadRequest:
    return BadRequest(f"error parsing PGP key: {why}")
