"""Seen versions: which version of a secret an answer names, whoever gave it.

1. A version is known by its path, its number and when it was created, as answers name it: numbers come again after a
   promotion that lost some.  Version 0 stands for nothing being there.
2. It is read off the answer only: nothing is asked of a store.
   What hides versions, or shows them again, is known by its request: which ones, or the newest.
3. What a write left is known by its request where the request says it all: a version of a secret, or an answer
   without a body.  Two of them left the same value when method, path and body (of a secret, its data) are the same.
"""

from __future__ import annotations

from hashlib import blake2b
from json import encoder
from typing import Any, NamedTuple

from labkit.service.call_names import version_facts
from labkit.service.message import Request, Response
from labkit.service.request_path import split_path

PREFIX, NAMESPACE = "/v1/", "x-vault-namespace"
VALUE_BYTES = 8
NO_CONTENT = 204
DATA, METADATA, SHOWS_AGAIN = "/data/", "/metadata/", "/undelete/"
HIDES = (DATA, "/delete/", "/destroy/")
KINDS = (*HIDES, SHOWS_AGAIN, METADATA)
"""Which endpoint of a secrets engine a path is of: the first of these in it."""


class SeenVersion(NamedTuple):
    """A version of a secret: the path of its data with its namespace, its number, and when it was created."""

    path: str
    version: int
    created: str


class HiddenVersions(NamedTuple):
    """Versions of a secret that a request hid or showed again: which (none: the newest), and which of the two."""

    path: str
    numbers: tuple[int, ...]
    hidden: bool


def read_version(request: Request, response: Response) -> SeenVersion | None:
    """Return what the answer to a reading of the newest version showed; None for any other request or answer.

    A deleted version is named by the answer too.  Nothing at all under the path is version 0.
    """
    path, _, query = request.path.partition("?")
    if request.method != "GET" or "version=" in query or response.status not in (200, 404):
        return None
    body = response.body if type(response.body) is dict else {}
    data = body.get("data")
    if type(data) is dict:
        names = "metadata" in data and (DATA in path or DATA in _clean(path))
        return _seen(request, path, data) if names else None
    is_empty = response.status == 404 and body.get("errors") == []
    return SeenVersion(_whole(request, path), 0, "") if is_empty else None


def made_version(request: Request, response: Response) -> SeenVersion | None:
    """Return the version that an answered write made, or version 0 for the end of all versions of a secret."""
    path = request.path.partition("?")[0]
    if request.method == "DELETE" and response.ok and _kind(path) == METADATA:
        return SeenVersion(_whole(request, path, METADATA), 0, "")
    body = response.body
    return _seen(request, path, body.get("data")) if body and response.ok else None


def hidden_versions(request: Request, response: Response) -> HiddenVersions | None:
    """Return which versions an answered request hid or showed again; None where it did neither."""
    path = request.path.partition("?")[0]
    kind = _kind(path) if response.ok else ""
    if kind not in (SHOWS_AGAIN, *HIDES):
        return None
    if kind == DATA:
        return HiddenVersions(_whole(request, path), (), True) if request.method == "DELETE" else None
    given = request.body.get("versions") if isinstance(request.body, dict) else None
    numbers = tuple([number for number in given if type(number) is int]) if isinstance(given, list | tuple) else ()
    return HiddenVersions(_whole(request, path, kind), numbers, kind != SHOWS_AGAIN) if numbers else None


def written_value(request: Request, response: Response, made: SeenVersion | None) -> bytes:
    """Return a digest of what an answered write left; empty where the request does not say it, as for a new key."""
    if made is None and response.status != NO_CONTENT:
        return b""
    path, body = _whole(request, request.path.partition("?")[0]), request.body
    said = body.get("data") if made is not None and isinstance(body, dict) else body  # beside it stands what to check
    method = "POST" if request.method == "PUT" else request.method
    text = f"{method} {path} {''.join(_encode(said, 0))}"
    return blake2b(text.encode(errors="surrogatepass"), digest_size=VALUE_BYTES).digest()


# json builds an encoder for each text; one for all takes half the time (see ``records``).  Names sorted, no indent.
_encode: Any = encoder.c_make_encoder(  # type: ignore[attr-defined]  # the C half of json, which every CPython has
    None, repr, encoder.encode_basestring_ascii, None, ":", ",", True, False, True
)


def _kind(path: str) -> str:
    """Return of which endpoint of a secrets engine a path is; empty where of none."""
    path = _clean(path)
    return min([kind for kind in KINDS if kind in path], key=path.index, default="")


def _clean(path: str) -> str:
    """Return the path that is meant: without the API's prefix, decoded, with single slashes."""
    path = path.removeprefix(PREFIX)
    return split_path(path)[0] if "%" in path or "//" in path or path[:1] == "/" else path


def _seen(request: Request, path: str, data: Any) -> SeenVersion | None:
    facts = version_facts(data) if type(data) is dict else None
    if facts is None:
        return None
    version, created = facts.get("version"), facts.get("created_time")
    if type(version) is not int or type(created) is not str:
        return None
    return SeenVersion(_whole(request, path), version, created)


def _whole(request: Request, path: str, kind: str = DATA) -> str:
    """Return a path with its namespace; one of another endpoint as that of the secret's data."""
    path = path.removeprefix(PREFIX)
    if "%" in path or "//" in path or path[:1] == "/":  # few are: no call for the others
        path = _clean(path)
    if kind != DATA:
        path = path.replace(kind, DATA, 1)
    for name, value in request.headers.items():
        if len(name) == len(NAMESPACE) and name.lower() == NAMESPACE:
            namespace = value.strip("/")
            return path if namespace in ("", "root") else f"{namespace}/{path}"
    return path
