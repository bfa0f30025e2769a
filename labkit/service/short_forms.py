"""Short forms: ``get``, ``post``, ``put``, ``patch``, ``delete`` and ``list`` over anything that answers requests.

Every short form is one request of the API: a relative path is put below ``/v1/``, the root token is sent unless
another is given (``token=""`` sends none), ``namespace`` names the namespace that it is made in, and a patch is marked
as a JSON merge patch.  Other arguments are passed on to ``request``: a lab's cluster takes ``timeout`` and ``node``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from labkit.service.message import MERGE_PATCH, Body, Response

Headers = Mapping[str, str]


class ShortForms:
    """Gives a class with ``request`` and ``root_token`` the six short forms."""

    __slots__ = ()

    root_token: str
    request: Callable[..., Response]

    def get(self, path: str, *, token: str | None = None, headers: Headers | None = None, **how: Any) -> Response:
        """Read."""
        return self._send("GET", path, None, token, headers, how)

    def list(self, path: str, *, token: str | None = None, headers: Headers | None = None, **how: Any) -> Response:
        """List the names in a folder."""
        return self._send("LIST", path, None, token, headers, how)

    def delete(self, path: str, *, token: str | None = None, headers: Headers | None = None, **how: Any) -> Response:
        """Delete."""
        return self._send("DELETE", path, None, token, headers, how)

    def post(
        self,
        path: str,
        body: Body | None = None,
        *,
        token: str | None = None,
        headers: Headers | None = None,
        **how: Any,
    ) -> Response:
        """Create or update."""
        return self._send("POST", path, body, token, headers, how)

    def put(
        self,
        path: str,
        body: Body | None = None,
        *,
        token: str | None = None,
        headers: Headers | None = None,
        **how: Any,
    ) -> Response:
        """Create or update, as ``post``."""
        return self._send("PUT", path, body, token, headers, how)

    def patch(
        self,
        path: str,
        body: Body | None = None,
        *,
        token: str | None = None,
        headers: Headers | None = None,
        **how: Any,
    ) -> Response:
        """Merge a JSON merge patch (RFC 7396) into what is there."""
        return self._send("PATCH", path, body, token, {"Content-Type": MERGE_PATCH, **_checked(headers)}, how)

    def _send(
        self, method: str, path: str, body: Body | None, token: str | None, headers: Headers | None, how: Any
    ) -> Response:
        sent = dict(_checked(headers))
        namespace = how.pop("namespace", None)
        if namespace is not None:
            sent["X-Vault-Namespace"] = namespace
        text = self.root_token if token is None else token
        if text:
            sent["X-Vault-Token"] = text
        if how:
            _judge_others(method, how, self.request)
        return self.request(method, path, json=body, headers=sent, **how)


def _judge_others(method: str, how: Mapping[str, Any], request: Callable[..., Response]) -> None:
    """Return if ``request`` takes these arguments; TypeError names the form that was called, and what it takes."""
    from inspect import Parameter, signature  # few requests have any

    parameters = signature(request).parameters.values()
    known = ["token", "headers", "namespace"]
    known += [parameter.name for parameter in parameters if parameter.kind is Parameter.KEYWORD_ONLY]
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return
    for name in how:
        if name not in known:
            hint = '; it is a header: headers={"X-Vault-Wrap-TTL": "60s"}' if name == "wrap_ttl" else ""
            raise TypeError(f"{method.lower()}: expected only {', '.join(known)}, got {name!r}{hint}")


def _checked(headers: Headers | None) -> Headers:
    """Return headers, none for None; ValueError for what cannot be read by name."""
    if headers is None or isinstance(headers, Mapping):
        return headers or {}
    from labkit.service.arguments import wrong  # needed for errors only (R24)

    raise wrong("headers", "a mapping of names to texts", headers)
