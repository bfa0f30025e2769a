"""A request's path as sent, split into the clean path and its query, and judged (decisions C13, C14).

1. ``/v1/`` is optional (decision C1); slashes in a row count as one; what is percent-encoded must be UTF-8.
2. What is too long is refused before it is decoded or taken apart: the work is bounded by the limits.
"""

from __future__ import annotations

from typing import Any

from labkit.service.errors import BadRequest
from labkit.service.limits import MAX_MEMBERS, MAX_PATH_BYTES, check_path, is_text

MAX_QUERY_CHARACTERS = 1_048_576
_MAX_ENCODED_CHARACTERS = 3 * MAX_PATH_BYTES + 64  # three for each byte, and what is taken off in front


def split_path(raw: Any) -> tuple[str, dict[str, Any]]:
    """Split what was sent into the clean path (no ``/v1/``, decoded, single slashes) and its query parameters.

    A parameter that is sent once is its text, one that is sent several times the list of its texts.
    """
    if not is_text(raw):
        raise BadRequest("a path is text that has a UTF-8 form, such as /v1/secret/data/app")
    path, _, tail = raw.partition("?")
    if len(path) > _MAX_ENCODED_CHARACTERS:
        check_path(path)
    path = path.lstrip("/").removeprefix("v1/").lstrip("/")
    if "%" in path:
        path = _decoded(path).lstrip("/")
    while "//" in path:
        path = path.replace("//", "/")
    if not path.isprintable():
        raise BadRequest("a path holds printable characters only; this one has others")
    check_path(path)
    return path, _query(tail) if tail else {}


def readable(raw: Any) -> str:
    """Return a path that was refused as records show it: without its query, in printable ASCII, not too long."""
    if type(raw) is not str:
        return ""
    path = raw[:_MAX_ENCODED_CHARACTERS].partition("?")[0].lstrip("/").removeprefix("v1/")[:MAX_PATH_BYTES]
    return path if path.isascii() and path.isprintable() else ascii(path)[1:-1]


def _decoded(path: str) -> str:
    from urllib.parse import unquote

    try:
        return unquote(path, errors="strict")
    except UnicodeDecodeError:
        raise BadRequest("what is percent-encoded in the path is not UTF-8") from None


def _query(tail: str) -> dict[str, Any]:
    if len(tail) > MAX_QUERY_CHARACTERS:
        raise BadRequest(f"a query of {len(tail)} characters; at most {MAX_QUERY_CHARACTERS} are taken")
    if tail.count("&") >= MAX_MEMBERS:
        raise BadRequest(f"a query of more than {MAX_MEMBERS} parameters; at most {MAX_MEMBERS} are taken")
    from urllib.parse import parse_qs

    try:
        found = parse_qs(tail, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise BadRequest("what is percent-encoded in the query is not UTF-8") from None
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}
