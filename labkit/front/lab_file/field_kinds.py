"""Field kinds: whether the values of a record are of the kinds that its class declares.

What is checked is each record by itself; what the whole means is judged by the lab that is built of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from labkit.service.message import Response

Kind = Callable[[Any], bool]

_MORE: dict[tuple[Any, str], Any] = {(Response, "body"): str}  # of metrics and of instance documents it is text


@cache
def kinds_of(record: Any) -> tuple[tuple[str, Kind], ...]:
    """Return a test for each field of a record's class, in order; a test is true of a value that may stand there."""
    hints = get_type_hints(record)
    return tuple([(name, _kind(hint | _MORE.get((record, name), hint))) for name, hint in hints.items()])


def wrong_field(record: Any, values: tuple[Any, ...]) -> str | None:
    """Return the name of the first field whose value is of another kind; None where all are as declared."""
    return next((name for (name, kind), value in zip(kinds_of(record), values, strict=True) if not kind(value)), None)


@cache
def _kind(hint: Any) -> Kind:
    """Return the test for one annotation; TypeError for one that no record of a saved lab has."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda value: True
    if origin in (Union, UnionType):
        either = [_kind(argument) for argument in arguments]
        return lambda value: any(kind(value) for kind in either)
    if origin is tuple:
        return _tuple_kind(arguments)
    if origin in (dict, Mapping):
        return _dict_kind(*map(_kind, arguments))
    if origin is frozenset:
        member = _kind(arguments[0])
        return lambda value: type(value) is frozenset and all(member(one) for one in value)
    if hint in (int, str, bytes, bool, float, NoneType) or hasattr(hint, "_fields") or hasattr(hint, "__annotations__"):
        return lambda value: type(value) is hint
    raise TypeError(f"no test for {hint!r}")


def _tuple_kind(arguments: tuple[Any, ...]) -> Kind:
    if arguments[-1:] == (Ellipsis,):
        each = _kind(arguments[0])
        return lambda value: type(value) is tuple and all(each(item) for item in value)
    kinds = tuple(map(_kind, arguments))

    def is_such_tuple(value: Any) -> bool:
        if type(value) is not tuple or len(value) != len(kinds):
            return False
        return all(kind(item) for kind, item in zip(kinds, value, strict=True))

    return is_such_tuple


def _dict_kind(key_kind: Kind, value_kind: Kind) -> Kind:
    def is_such_dict(value: Any) -> bool:
        return type(value) is dict and all(key_kind(key) and value_kind(item) for key, item in value.items())

    return is_such_dict
