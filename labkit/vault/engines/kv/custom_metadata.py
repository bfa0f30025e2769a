"""Custom metadata: what users say about a secret, and how much of it there may be.

1. Names and values are text; numbers and flags are written as text, nothing nested is taken.
2. Lengths are counted in bytes of UTF-8; at most 64 names a request, names of 1 to 128, values of 1 to 512.
3. Every character is printable: no control characters, no blanks but the ASCII space.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.service.errors import BadRequest, one_error
from labkit.service.fields import to_text

MAX_KEYS = 64
MAX_KEY_BYTES = 128
MAX_VALUE_BYTES = 512

FAILED = "custom_metadata validation failed: "

Pairs = tuple[tuple[str, str], ...]


def replace(sent: Mapping[str, Any] | None) -> Pairs:
    """Return custom metadata as sent, in the order of its names; raise BadRequest."""
    return tuple(sorted(checked(sent or {}).items()))


def merge(kept: Pairs, sent: Mapping[str, Any] | None) -> Pairs:
    """Return custom metadata with a patch laid over it: null takes a name away, null for all of it takes all away."""
    if sent is None:
        return ()
    changed = checked({name: value for name, value in sent.items() if value is not None})
    stay = {name: value for name, value in kept if sent.get(name, value) is not None}
    return tuple(sorted((stay | changed).items()))


def checked(sent: Mapping[str, Any]) -> dict[str, str]:
    """Return what was sent as text by name; raise BadRequest that lists all that is wrong with it."""
    try:
        texts = {name: to_text(value) for name, value in sent.items()}
    except ValueError as error:
        raise BadRequest(f"{FAILED}{error}") from None
    if len(texts) > MAX_KEYS:
        said = f"{FAILED}payload must contain at most {MAX_KEYS} keys, provided {len(texts)}"
        raise BadRequest(one_error(said))
    wrong = [said for name, value in texts.items() for said in _faults(name, value)]
    if wrong:
        raise BadRequest(one_error(*(FAILED + said for said in wrong)))
    return texts


def _faults(name: str, value: str) -> list[str]:
    shown = _quoted(name)
    found = []
    if not 0 < (size := _size_bytes(name)) <= MAX_KEY_BYTES:
        found.append(f"length of key {shown} is {size} but must be 0 < len(key) <= {MAX_KEY_BYTES}")
    if not 0 < (size := _size_bytes(value)) <= MAX_VALUE_BYTES:
        found.append(f"length of value for key {shown} is {size} but must be 0 < len(value) <= {MAX_VALUE_BYTES}")
    if not name.isprintable():
        found.append(f"key {shown} contains unprintable characters")
    if not value.isprintable():
        found.append(f"value for key {shown} contains unprintable characters")
    return found


def _size_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _quoted(text: str) -> str:
    """Put a name between quotation marks, with escapes for what cannot be printed."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else character.encode("unicode_escape").decode()
