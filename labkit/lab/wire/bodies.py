"""Bodies: copies at a lab's door, so that no caller shares one with a message, a snapshot or a branch (R3).

1. A request's body is copied as far as the service would look at it: below what is too deep, and after too many values,
   containers stay empty.  The service refuses such a body either way, and a list that stands in many places, or in
   itself, costs no more than another.
2. Anything but a container is kept as it is: JSON's own values never change, any other value is refused unread.
"""

from __future__ import annotations

from typing import Any

from labkit.service.limits import MAX_DEPTH, MAX_VALUES
from labkit.service.message import Response


def copied(body: Any, max_values: int = MAX_VALUES) -> Any:
    """Return a copy of a body that shares no container with it, of ``max_values`` values or a few more."""
    root, pending = _emptied(body)
    values, depth = 0, 1
    while pending and values <= max_values and depth <= MAX_DEPTH:
        deeper: list[tuple[Any, Any]] = []
        for source, target in pending:
            values += len(source)
            if values > max_values + len(source):
                break
            _fill(source, target, deeper)
        pending, depth = deeper, depth + 1
    return root


def own_answer(answer: Response) -> Response:
    """Return an answer whose body and headers are the caller's own."""
    return answer._replace(headers=dict(answer.headers), body=copied(answer.body, _ANY_NUMBER))


def _emptied(value: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    """Return an empty container to be filled from a value, and that work; or the value itself."""
    kind = type(value)
    if kind is dict:
        target: Any = {}
    elif kind is list or kind is tuple:
        target = []
    else:
        return value, []
    return target, [(value, target)]


def _fill(source: Any, target: Any, deeper: list[tuple[Any, Any]]) -> None:
    if type(source) is dict:
        for name, member in source.items():
            target[name], work = _emptied(member)
            deeper += work
        return
    for member in source:
        part, work = _emptied(member)
        target.append(part)
        deeper += work


_ANY_NUMBER = 1 << 62
