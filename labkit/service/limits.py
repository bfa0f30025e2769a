"""How large a body may be: its size, depth and number of members, judged in one pass (decision C9)."""

from __future__ import annotations

from typing import Any

from labkit.service.errors import BadRequest, TooLarge

DEEPEST = 300
MOST_MEMBERS = 10_000

_SCALARS = frozenset((str, int, float, bool, type(None)))


def measure(value: Any, limit_bytes: int = 0, depth: int = 1) -> int:
    """Return about how many bytes a JSON value takes on the wire; raise BadRequest or TooLarge over a limit.

    Text counts its characters, everything else a small constant: a function of the value alone, cheap to compute.
    """
    kind = type(value)
    if kind is str:
        if not value.isascii():
            _check_text(value)
        size = len(value) + 3
    elif kind in _SCALARS:
        return 8
    elif kind is dict:
        size = _measure_members(value, limit_bytes, depth)
    elif kind is list or kind is tuple:
        if len(value) > MOST_MEMBERS:
            raise BadRequest(
                f"failed to decode JSON input: a list of {len(value)} items; at most {MOST_MEMBERS} are taken"
            )
        _check_depth(depth)
        size = 2
        for item in value:
            size += measure(item, limit_bytes, depth + 1)
    else:
        raise BadRequest(f"failed to decode JSON input: {kind.__name__} is no JSON value")
    if limit_bytes and size > limit_bytes:
        raise TooLarge(f"failed to decode JSON input: http: request body too large; the limit is {limit_bytes} bytes")
    return size


def _measure_members(value: dict[Any, Any], limit_bytes: int, depth: int) -> int:
    if len(value) > MOST_MEMBERS:
        raise BadRequest(
            f"failed to decode JSON input: an object of {len(value)} members; at most {MOST_MEMBERS} are taken"
        )
    _check_depth(depth)
    size = 2
    for name, member in value.items():
        if type(name) is not str:
            raise BadRequest(f"failed to decode JSON input: a member's name is {type(name).__name__}, not text")
        if not name.isascii():
            _check_text(name)
        size += len(name) + 4
        plain = type(member) is str and member.isascii()
        size += len(member) + 3 if plain else measure(member, limit_bytes, depth + 1)
    return size


def _check_text(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadRequest("failed to decode JSON input: half of a surrogate pair is no text") from None


def _check_depth(depth: int) -> None:
    if depth > DEEPEST:
        raise BadRequest(f"failed to decode JSON input: nested deeper than {DEEPEST} levels")
