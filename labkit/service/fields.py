"""Field kinds: one line declares, parses, validates and documents an endpoint's parameter.

1. Input is weakly typed, as clients of this API expect: numbers and flags may come as text, lists as comma text.
2. A field that was not sent has its default (None unless declared otherwise); a null is the kind's zero value, but for
   durations, where it means "not sent".  Where the difference matters the handler looks into ``ctx.body``.
3. A whole number has 64 bits (decision C13); one inside an object of any members may be larger.
4. A value that cannot be converted is a ValueError with the reason; routing puts the field's name before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.service.durations import SECOND_NS, parse_duration
from labkit.service.record import NamedTuple

MIN_INTEGER, MAX_INTEGER = -(2**63), 2**63 - 1

_MAX_INTEGER_TEXT = 80  # characters without the sign: sixty-four binary digits need most
_NO_FLAG = "'' cannot parse value as 'bool': strconv.ParseBool: invalid syntax"
_NO_INTEGER = "'' cannot parse value as 'int': strconv.ParseInt: invalid syntax"

NAME_PATTERN = r"\w(?:[\w.-]*\w)?"
SEGMENT_PATTERN = r"[^/]+"
PATH_PATTERN = r".*[^/]"
TAKE_ANY_NAME = frozenset((NAME_PATTERN, SEGMENT_PATTERN, PATH_PATTERN))
"""Patterns that match whatever is made of ASCII letters and digits only."""


class Field(NamedTuple):
    """One parameter: its name, kind, conversion, default, help text and, in a path, the pattern it matches."""

    name: str
    kind: str
    convert: Callable[[Any], Any]
    help: str
    default: Any = None
    pattern: str = NAME_PATTERN
    required: bool = False
    choices: tuple[str, ...] = ()


def name(field: str = "name", help: str = "name of the object") -> Field:
    """A path segment: letters, digits and ``_``, inside also ``-`` and ``.``."""
    return Field(field, "name", to_text, help, None, NAME_PATTERN, True)


def segment(field: str, help: str) -> Field:
    """A path segment of any characters but ``/``."""
    return Field(field, "segment", to_text, help, None, SEGMENT_PATTERN, True)


def path(field: str = "path", help: str = "path of the object; may contain slashes") -> Field:
    """The rest of a path, at least one character, not ending in ``/``."""
    return Field(field, "path", to_text, help, None, PATH_PATTERN, True)


def folder(field: str = "path", help: str = "folder to list") -> Field:
    """The rest of a path down to and with a final ``/``, or nothing at all."""
    return Field(field, "folder", to_text, help, "", r"(?:.*/)?", False)


def text(field: str, help: str, default: str | None = None, *, choices: tuple[str, ...] = ()) -> Field:
    """A string; numbers and flags are written as text."""
    return Field(field, "string", to_text, help, default, choices=choices)


def integer(field: str, help: str, default: int | None = None) -> Field:
    """A whole number, also as numeric text."""
    return Field(field, "integer", to_integer, help, default)


def flag(field: str, help: str, default: bool | None = None) -> Field:
    """True or false, also as text, 0 or 1."""
    return Field(field, "boolean", to_flag, help, default)


def duration(field: str, help: str, default: int | None = None) -> Field:
    """A duration such as ``90s`` or ``1h30m`` or a number of seconds; the value is whole seconds."""
    return Field(field, "duration", to_seconds, help, default)


def mapping(field: str, help: str) -> Field:
    """An object with members of any kind."""
    return Field(field, "object", to_mapping, help)


def text_mapping(field: str, help: str) -> Field:
    """An object whose values are strings (numbers and flags are written as text)."""
    return Field(field, "object of strings", to_text_mapping, help)


def text_list(field: str, help: str) -> Field:
    """A list of strings; a single string is a list of one."""
    return Field(field, "list of strings", to_text_list, help)


def comma_list(field: str, help: str) -> Field:
    """A list of strings, or one string that is split at commas."""
    return Field(field, "list or comma-separated string", to_comma_list, help)


def integer_list(field: str, help: str) -> Field:
    """A list of whole numbers, a single one, or text that is split at commas."""
    return Field(field, "list of integers", to_integer_list, help)


def items(field: str, help: str) -> Field:
    """A list of objects (the batch parameters); a single object is a list of one."""
    return Field(field, "list of objects", to_items, help)


def anything(field: str, help: str) -> Field:
    """Any JSON value, as sent."""
    return Field(field, "any", _as_sent, help)


def to_text(value: Any) -> str:
    """Convert to a string, or raise ValueError."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, (int, float)):
        return str(value)
    raise ValueError(f"'' expected type 'string', got unconvertible type '{_go_type(value)}'")


def to_integer(value: Any) -> int:
    """Convert to a whole number of 64 bits, or raise ValueError."""
    if type(value) is not int:
        value = _read_integer(value)
    if not MIN_INTEGER <= value <= MAX_INTEGER:
        raise ValueError("'' cannot parse value as 'int': strconv.ParseInt: value out of range")
    number: int = value
    return number


def _read_integer(value: Any) -> int:
    """Read what is not a whole number yet: text as Go reads it (``0x10``, ``0b1``, ``0o17``, ``017`` as octal)."""
    if value is None or value == "":
        return 0
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, (str, float)):
        raise ValueError(f"'' expected type 'int', got unconvertible type '{_go_type(value)}'")
    if isinstance(value, float) or not value.isascii() or value[-1].isspace():
        raise ValueError(_NO_INTEGER)
    digits = value[1:] if value[:1] in ("+", "-") else value
    if len(digits) > _MAX_INTEGER_TEXT:
        raise ValueError("'' cannot parse value as 'int': strconv.ParseInt: value out of range")
    try:
        number = int(digits, 8 if digits.isdigit() and digits[0] == "0" else 0) if digits[:1].isdigit() else None
    except ValueError:
        number = None
    if number is None:
        raise ValueError(_NO_INTEGER)
    return -number if value[0] == "-" else number


_TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False", ""))


def to_flag(value: Any) -> bool:
    """Convert to true or false, or raise ValueError; of numbers only 0 and 1 mean one of them (decision C19)."""
    if isinstance(value, bool):
        return value
    if value is None:
        return False
    if isinstance(value, str):
        if value in _TRUE:
            return True
        if value in _FALSE:
            return False
        raise ValueError(_NO_FLAG)
    if isinstance(value, float) or (isinstance(value, int) and value not in (0, 1)):
        raise ValueError(_NO_FLAG)
    if isinstance(value, int):
        return value == 1
    raise ValueError(f"'' expected type 'bool', got unconvertible type '{_go_type(value)}'")


def to_seconds(value: Any) -> int | None:
    """Convert to whole seconds (truncated), None for null, or raise ValueError; negative ones are refused."""
    if value is None:
        return None
    seconds = to_signed_seconds(value)
    if seconds < 0:
        raise ValueError(f"cannot provide negative value '{value}'")
    return seconds


def to_signed_seconds(value: Any) -> int:
    """Convert to whole seconds, negative ones too, or raise ValueError."""
    nanoseconds = parse_duration(value)
    seconds = abs(nanoseconds) // SECOND_NS
    return seconds if nanoseconds >= 0 else -seconds


def signed_duration(field: str, help: str, default: int | None = None) -> Field:
    """A duration that may be negative; the value is whole seconds."""
    return Field(field, "duration", lambda v: None if v is None else to_signed_seconds(v), help, default)


def to_mapping(value: Any) -> dict[str, Any] | None:
    """Take an object as sent; a list of objects counts as one with the members of all, null as None."""
    if isinstance(value, dict) or value is None:
        return value
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return {name: member for item in value for name, member in item.items()}
    raise ValueError(f"'' expected type 'map[string]interface {{}}', got unconvertible type '{_go_type(value)}'")


def to_text_mapping(value: Any) -> dict[str, str]:
    """Convert to an object of strings: an object, or a list of ``key=value`` texts."""
    if value is None:
        return {}
    if isinstance(value, list) and all(isinstance(item, str) and "=" in item for item in value):
        return dict(item.split("=", 1) for item in value)
    members = to_mapping(value) or {}
    return {key: to_text(member) for key, member in members.items()}


def to_text_list(value: Any) -> list[str]:
    """Convert to a list of strings, trimmed."""
    if value is None:
        return []
    if isinstance(value, list):
        return [to_text(item).strip() for item in value]
    return [to_text(value).strip()]


def to_comma_list(value: Any) -> list[str]:
    """Convert to a list of strings; text is split at commas, empty parts of it are dropped."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return to_text_list(value)


def to_integer_list(value: Any) -> list[int]:
    """Convert to a list of whole numbers; text is split at commas."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    if not isinstance(value, list):
        value = [value]
    return [to_integer(item) for item in value]


def to_items(value: Any) -> list[Any] | None:
    """Take a list as sent; a single object is a list of one."""
    if value is None or isinstance(value, list):
        return value
    return [value]


def _as_sent(value: Any) -> Any:
    return value


def _go_type(value: Any) -> str:
    """Name a value's type as the API's texts do."""
    if isinstance(value, dict):
        return "map[string]interface {}"
    if isinstance(value, list):
        return "[]interface {}"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "json.Number"
    return "string"
