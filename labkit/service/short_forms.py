"""Short forms: ``get``, ``post``, ``put``, ``patch``, ``delete`` and ``list`` over anything that answers requests.

Every short form is one request of the API: a relative path gets ``/v1/`` put before it, the root token is sent unless
another is given (``token=""`` sends none), and a patch is marked as a JSON merge patch.
"""

from __future__ import annotations

from collections.abc import Mapping

from labkit.service.message import Body, Response

MERGE_PATCH = "application/merge-patch+json"

Headers = Mapping[str, str]


class ShortForms:
    """Gives a class with ``request`` and ``root_token`` the six short forms."""

    __slots__ = ()

    root_token: str

    def request(self, method: str, path: str, json: Body | None = None, headers: Headers | None = None) -> Response:
        """Send one request with exactly these headers; the class itself says how."""
        raise TypeError(f"{type(self).__name__} does not say how to send a request")

    def get(self, path: str, *, token: str | None = None, headers: Headers | None = None) -> Response:
        """Read."""
        return self._send("GET", path, None, token, headers)

    def list(self, path: str, *, token: str | None = None, headers: Headers | None = None) -> Response:
        """List the names in a folder."""
        return self._send("LIST", path, None, token, headers)

    def delete(self, path: str, *, token: str | None = None, headers: Headers | None = None) -> Response:
        """Delete."""
        return self._send("DELETE", path, None, token, headers)

    def post(
        self, path: str, body: Body | None = None, *, token: str | None = None, headers: Headers | None = None
    ) -> Response:
        """Create or update."""
        return self._send("POST", path, body, token, headers)

    def put(
        self, path: str, body: Body | None = None, *, token: str | None = None, headers: Headers | None = None
    ) -> Response:
        """Create or update, as ``post``."""
        return self._send("PUT", path, body, token, headers)

    def patch(
        self, path: str, body: Body | None = None, *, token: str | None = None, headers: Headers | None = None
    ) -> Response:
        """Merge a JSON merge patch (RFC 7396) into what is there."""
        return self._send("PATCH", path, body, token, {"Content-Type": MERGE_PATCH, **(headers or {})})

    def _send(self, method: str, path: str, body: Body | None, token: str | None, headers: Headers | None) -> Response:
        sent = dict(headers or {})
        text = self.root_token if token is None else token
        if text:
            sent["X-Vault-Token"] = text
        return self.request(method, path, json=body, headers=sent)
