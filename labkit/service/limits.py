"""Limits of what a client sends: the body's size, depth and members (decision C9), text and numbers that can be kept
(C13), and the length of a path (C14).

``check_body`` judges a body in one pass, level by level, and raises.  Each container is judged before its members are
looked at, so the work is bounded also where one list stands in many places.  ``wire_size`` counts bytes as it does.
"""

from __future__ import annotations

from typing import Any

from labkit.service.errors import BadRequest, TooLarge

MAX_REQUEST_BYTES = 33_554_432  # spec, Limits: unless the listener has another
MAX_UNJUDGED_BYTES = 1_048_576  # of a body that is read before path and token are judged (C22)
MAX_FORM_FIELDS = 1_000
MAX_LONG_NUMBERS, LONG_NUMBER_DIGITS = 1_000, 500  # in a body that is larger than that
MAX_DEPTH = 300
MAX_MEMBERS = 10_000
MAX_VALUES = 250_000
MAX_DIGITS = 4_000
MAX_PATH_BYTES = 4_096
MAX_PATH_SEGMENTS = 64

SCALAR_BYTES = 8
TEXT_BYTES = 3  # beside its characters
NAME_BYTES = 4  # beside its characters
CONTAINER_BYTES = 2
"""What a value weighs on the wire (``wire_size``)."""

_TOO_LARGE = 10**MAX_DIGITS
_INFINITY = float("inf")
_MEMBER_BYTES = NAME_BYTES + TEXT_BYTES
FEW_MEMBERS = 64
_NOT_JSON = "failed to decode JSON input: "


def check_body(value: Any, limit_bytes: int = 0) -> None:
    """Raise BadRequest for a body that is not JSON, too deep or too wide, TooLarge for one over the limit (0: none)."""
    if type(value) is dict and (size := _few_texts_bytes(value)) and (size <= limit_bytes or not limit_bytes):
        return  # as most are
    level, depth, size, values = [value], 1, 0, 0
    while level:
        deeper: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is dict or kind is list or kind is tuple:
                width = len(item)
                values += width
                if width > MAX_MEMBERS or depth > MAX_DEPTH or values > MAX_VALUES:
                    raise _too_much(item, depth)
                if kind is dict:
                    size += _checked_members(item, deeper)
                else:
                    size += CONTAINER_BYTES
                    deeper += item
            else:
                size += _checked_scalar(item)
            if size > limit_bytes and limit_bytes and (size > SCALAR_BYTES or kind is str):
                raise TooLarge(f"{_NOT_JSON}http: request body too large; the limit is {limit_bytes} bytes")
        level = deeper
        depth += 1


def _few_texts_bytes(value: dict[Any, Any], levels: int = 2) -> int:
    """Return the weight of an object of few texts of ASCII, or of such objects and lists, two levels deep; else 0."""
    if len(value) > FEW_MEMBERS:
        return 0
    size = CONTAINER_BYTES
    for name, member in value.items():
        if type(name) is not str or not name.isascii():
            return 0
        if type(member) is str and member.isascii():
            size += len(name) + len(member) + _MEMBER_BYTES
        elif type(member) is dict and levels > 1 and (inner := _few_texts_bytes(member, levels - 1)):
            size += len(name) + NAME_BYTES + inner
        elif type(member) is list and len(member) <= FEW_MEMBERS:
            size += len(name) + NAME_BYTES + CONTAINER_BYTES
            for item in member:
                if type(item) is not str or not item.isascii():
                    return 0
                size += len(item) + TEXT_BYTES
        else:
            return 0
    return size


def check_path(path: str) -> None:
    """Raise BadRequest for a path, namespace included, that is longer than a path may be (decision C14)."""
    if len(path) > MAX_PATH_BYTES or len(path.encode()) > MAX_PATH_BYTES:
        raise BadRequest(f"a path of more than {MAX_PATH_BYTES} bytes; paths have at most {MAX_PATH_BYTES}")
    segments = path.strip("/").count("/") + 1
    if segments > MAX_PATH_SEGMENTS:
        raise BadRequest(f"a path of {segments} segments; paths have at most {MAX_PATH_SEGMENTS}")


def is_whole_number(value: Any) -> bool:
    """Whether a value is a whole number of 64 bits: a longer one may not even be written as text."""
    return type(value) is int and -(1 << 63) <= value < 1 << 63


def is_text(value: Any) -> bool:
    """Whether a value is text that has a UTF-8 form."""
    if type(value) is not str:
        return False
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _too_much(item: Any, depth: int) -> BadRequest:
    if len(item) > MAX_MEMBERS:
        what = f"an object of {len(item)} members" if type(item) is dict else f"a list of {len(item)} items"
        return BadRequest(f"{_NOT_JSON}{what}; at most {MAX_MEMBERS} are taken")
    if depth > MAX_DEPTH:
        return BadRequest(f"{_NOT_JSON}nested deeper than {MAX_DEPTH} levels")
    return BadRequest(f"{_NOT_JSON}more than {MAX_VALUES} values; send them in several requests")


def _checked_members(item: dict[Any, Any], deeper: list[Any]) -> int:
    """Judge an object's names and texts, put its other members on the list; return the weight of what was judged."""
    size = CONTAINER_BYTES + NAME_BYTES * len(item)
    for name, member in item.items():
        if type(name) is not str:
            raise BadRequest(f"{_NOT_JSON}a member's name is {type(name).__name__}, not text")
        if not name.isascii():
            _check_text(name)
        size += len(name)
        if type(member) is str and member.isascii():
            size += len(member) + TEXT_BYTES
        else:
            deeper.append(member)
    return size


def _checked_scalar(item: Any) -> int:
    kind = type(item)
    if kind is str:
        if not item.isascii():
            _check_text(item)
        return len(item) + TEXT_BYTES
    if kind is int:
        if not -_TOO_LARGE < item < _TOO_LARGE:
            raise BadRequest(f"{_NOT_JSON}a whole number of more than {MAX_DIGITS} digits")
    elif kind is float:
        if not -_INFINITY < item < _INFINITY:
            raise BadRequest(f"{_NOT_JSON}{item} is not a JSON number")
    elif item is not None and kind is not bool:
        raise BadRequest(f"{_NOT_JSON}{kind.__name__} is not a JSON value")
    return SCALAR_BYTES


def _check_text(value: str) -> None:
    if not is_text(value):
        raise BadRequest(f"{_NOT_JSON}half of a surrogate pair is not text")
