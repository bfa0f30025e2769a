"""Limits of a body: its size, depth and number of members (decision C9); and the weight of any value on the wire.

1. ``check_body`` judges what a client sent, in one pass, and raises.
2. ``wire_size`` weighs what is sent through the network.  It judges nothing and never raises (R25): an answer of the
   service may be larger or deeper than what the service takes.
3. Both count alike: text as its characters, everything else as a small constant.
"""

from __future__ import annotations

from typing import Any

from labkit.service.errors import BadRequest, TooLarge

MAX_DEPTH = 300
MAX_MEMBERS = 10_000

_SCALARS = frozenset((str, int, float, bool, type(None)))
_SCALAR_BYTES = 8
_TEXT_BYTES = 3  # beside its characters
_NAME_BYTES = 4  # beside its characters
_CONTAINER_BYTES = 2


def check_body(value: Any, limit_bytes: int = 0) -> None:
    """Raise BadRequest for a body that is not JSON, too deep or too wide, TooLarge for one over the limit (0: none)."""
    _checked_size(value, limit_bytes, 1)


def wire_size(value: Any) -> int:
    """Return about how many bytes a value takes on the wire: a function of the value only, cheap to compute."""
    size = 0
    pending = [value]
    while pending:
        item = pending.pop()
        kind = type(item)
        if kind is str:
            size += len(item) + _TEXT_BYTES
        elif kind is dict:
            size += _CONTAINER_BYTES + _NAME_BYTES * len(item)
            for name, member in item.items():
                size += len(name) if type(name) is str else _SCALAR_BYTES
                if type(member) is str:
                    size += len(member) + _TEXT_BYTES
                else:
                    pending.append(member)
        elif kind is list or kind is tuple:
            size += _CONTAINER_BYTES
            pending += item
        else:
            size += _SCALAR_BYTES
    return size


def _checked_size(value: Any, limit_bytes: int, depth: int) -> int:
    kind = type(value)
    if kind is str:
        if not value.isascii():
            _check_text(value)
        size = len(value) + _TEXT_BYTES
    elif kind in _SCALARS:
        return _SCALAR_BYTES
    elif kind is dict:
        size = _checked_members(value, limit_bytes, depth)
    elif kind is list or kind is tuple:
        if len(value) > MAX_MEMBERS:
            raise BadRequest(
                f"failed to decode JSON input: a list of {len(value)} items; at most {MAX_MEMBERS} are taken"
            )
        _check_depth(depth)
        size = _CONTAINER_BYTES
        for item in value:
            size += _checked_size(item, limit_bytes, depth + 1)
    else:
        raise BadRequest(f"failed to decode JSON input: {kind.__name__} is not a JSON value")
    if limit_bytes and size > limit_bytes:
        raise TooLarge(f"failed to decode JSON input: http: request body too large; the limit is {limit_bytes} bytes")
    return size


def _checked_members(value: dict[Any, Any], limit_bytes: int, depth: int) -> int:
    if len(value) > MAX_MEMBERS:
        raise BadRequest(
            f"failed to decode JSON input: an object of {len(value)} members; at most {MAX_MEMBERS} are taken"
        )
    _check_depth(depth)
    size = _CONTAINER_BYTES
    for name, member in value.items():
        if type(name) is not str:
            raise BadRequest(f"failed to decode JSON input: a member's name is {type(name).__name__}, not text")
        if not name.isascii():
            _check_text(name)
        size += len(name) + _NAME_BYTES
        if type(member) is str and member.isascii():
            size += len(member) + _TEXT_BYTES
        else:
            size += _checked_size(member, limit_bytes, depth + 1)
    return size


def _check_text(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadRequest("failed to decode JSON input: half of a surrogate pair is not text") from None


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise BadRequest(f"failed to decode JSON input: nested deeper than {MAX_DEPTH} levels")
