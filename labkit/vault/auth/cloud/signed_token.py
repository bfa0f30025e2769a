"""Signed tokens: the compact form of a JSON web signature, its header judged before any key is looked at.

1. Only the algorithm RS256 is taken (decision A5; RFC 8725, 3.1), and only the key that its name finds: keys and
   addresses of keys in the header are ignored.
2. Three parts in canonical base64url, of bounded size and depth, without a member twice (RFC 8725, 3.10), and of text
   that has a UTF-8 form: half of a surrogate pair can be escaped, and written nowhere.
3. Claims are read after the signature was verified, never before.
"""

from __future__ import annotations

import json
import re
from typing import Any

from labkit.service.encoding import from_base64url, to_base64url
from labkit.service.errors import BadRequest
from labkit.service.limits import is_text
from labkit.service.record import NamedTuple
from labkit.vault.auth.cloud.refusals import LoginRefused

ALGORITHM = "RS256"
TYPES = ("jwt", "at+jwt")
MAX_TOKEN_BYTES = 16_384
MAX_HEADER_BYTES = 2_048
MAX_DEPTH = 16

_KEY_NAME = re.compile(r"[!-~]{1,256}", re.ASCII)


class SignedToken(NamedTuple):
    """A token whose header was judged: the key's name, what was signed, the signature, and the claims, unread."""

    key_id: str
    signed: bytes
    signature: bytes
    claims: bytes

    def __repr__(self) -> str:
        return f"SignedToken({self.key_id})"


def read_token(text: str) -> SignedToken:
    """Split a token and judge its header; BadRequest for another kind of text, LoginRefused for one not taken."""
    if len(text) > MAX_TOKEN_BYTES:
        raise BadRequest(f"jwt: a token of more than {MAX_TOKEN_BYTES} characters")
    parts = text.split(".", 3)
    if len(parts) != 3 or not all(parts[:2]):
        raise BadRequest("jwt: expected a signed token, three parts with dots between them")
    head, claims, signature = [_decoded(part) for part in parts]
    if len(head) > MAX_HEADER_BYTES:
        raise BadRequest(f"jwt: a header of more than {MAX_HEADER_BYTES} bytes")
    key_id = _judged_header(read_object(head, "header"))
    return SignedToken(key_id, f"{parts[0]}.{parts[1]}".encode(), signature, claims)


def _decoded(part: str) -> bytes:
    try:
        value = from_base64url(part)
    except ValueError:
        raise LoginRefused("encoding") from None
    if to_base64url(value) != part:
        raise LoginRefused("encoding")
    return value


def _judged_header(header: dict[str, Any]) -> str:
    """Return the name of the key."""
    if header.get("alg") != ALGORITHM:
        raise LoginRefused("algorithm")
    if "crit" in header or "b64" in header:  # RFC 7515, 4.1.11; RFC 7797
        raise LoginRefused("critical")
    kind = header.get("typ", "JWT")
    if not isinstance(kind, str) or kind.lower().removeprefix("application/") not in TYPES:
        raise LoginRefused("type")
    key_id = header.get("kid")
    if key_id is None:
        raise LoginRefused("no_key")
    if not isinstance(key_id, str) or not _KEY_NAME.fullmatch(key_id) or ".." in key_id:
        raise BadRequest("jwt: kid is the name of a key, up to 256 printable characters")
    return key_id


def read_object(content: bytes, what: str) -> dict[str, Any]:
    """Read a JSON object; BadRequest for any other text, LoginRefused for a member twice, or a bad number or text."""
    try:
        found = _DECODER.decode(content.decode())
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise BadRequest(f"jwt: the {what} is not JSON") from None
    except ValueError:  # a number of too many digits
        raise LoginRefused("claim_form") from None
    if type(found) is not dict:
        raise BadRequest(f"jwt: the {what} is not an object")
    _check_parts(found, what, has_escapes=b"\\" in content)
    return found


def _check_parts(value: Any, what: str, *, has_escapes: bool) -> None:
    """Judge depth, and texts: what was UTF-8 is one, but for halves of surrogate pairs, which only escapes can make."""
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise BadRequest(f"jwt: the {what} is nested deeper than {MAX_DEPTH}")
        inside = [part for item in level for part in ((*item, *item.values()) if isinstance(item, dict) else item)]
        if has_escapes and any(isinstance(part, str) and not is_text(part) for part in inside):
            raise LoginRefused("claim_form")
        level = [part for part in inside if isinstance(part, (dict, list))]


def _only_once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise LoginRefused("duplicate")
    return found


def _no_number(name: str) -> Any:
    raise LoginRefused("claim_form")


_DECODER = json.JSONDecoder(object_pairs_hook=_only_once, parse_constant=_no_number)


def check_signature(token: SignedToken, key: Any) -> None:
    """Raise LoginRefused unless this key made the signature (RFC 7518, 3.3); whatever goes wrong, it did not."""
    from jwt.algorithms import RSAAlgorithm

    try:
        verified = RSAAlgorithm(RSAAlgorithm.SHA256).verify(token.signed, key, token.signature)
    except Exception:  # a library's own mistake lets nobody in
        verified = False
    if verified is not True:
        raise LoginRefused("signature")
