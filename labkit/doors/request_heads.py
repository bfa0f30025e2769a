"""Request heads: what the first lines of a request say beyond what h11 judges: version, target, ``Host``.

1. A target in absolute form, such as ``http://host/v1/sys/health``, names the host in place of the header ``Host``.
2. A ``Host`` that names none, with or without a port, is refused with 400; a version that is not 1.x with 505.
3. Several lengths are refused with 400, also where all are equal.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Any, NamedTuple

_ABSOLUTE = re.compile(rb"https?://([^/?#]*)([^?#]*)", re.IGNORECASE)
_HOST = re.compile(r"(?:[\w.~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.%\w~-]*\])(?::[0-9]*)?", re.ASCII)
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_LENGTHS = re.compile(rb"\ncontent-length[ \t]*:[\s\d]*,", re.IGNORECASE)  # h11 takes several that are equal

Headers = list[tuple[str, str]]
Scope = MutableMapping[str, Any]


class Head(NamedTuple):
    """A request's scope and headers as they are meant, and the status and text of its refusal (0 for none)."""

    scope: Scope
    headers: Headers
    status: int = 0
    why: str = ""

    def __repr__(self) -> str:
        return f"Head({self.scope['method']})"  # headers carry tokens


def read_head(scope: Scope) -> Head:
    """Read what h11 has taken."""
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    absolute = _ABSOLUTE.fullmatch(scope["raw_path"])
    if absolute is not None:
        headers = [("host", absolute[1].decode("latin-1")), *[pair for pair in headers if pair[0].lower() != "host"]]
        scope = {**scope, "raw_path": absolute[2] or b"/"}
    if not scope.get("http_version", "1.1").startswith("1."):
        return Head(scope, headers, 505, "expected HTTP/1.1 or HTTP/1.0, got another version")
    if not all(is_host(value) for name, value in headers if name.lower() == "host"):
        return Head(scope, headers, 400, "malformed Host header")
    return Head(scope, headers)


def is_host(text: str) -> bool:
    """Whether a ``Host`` is a host, with or without a port, or nothing."""
    return _HOST.fullmatch(text) is not None


def head_end(before: bytes, data: bytes) -> int:
    """Return how many bytes of ``data`` belong to the head that ends in it and began in ``before``; 0 for none."""
    if b"\n" not in data:
        return 0
    found = _HEAD_END.search(before + data, max(len(before) - 3, 0))
    return 0 if found is None else max(found.end() - len(before), 0)


def has_several_lengths(head: bytes) -> bool:
    """Whether a head gives several lengths in one header (rule 3)."""
    return _LENGTHS.search(head) is not None
