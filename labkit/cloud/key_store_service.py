"""Key store service: the simulated store of external keys, a service of its own: a Request in, a Response out.

1. Key bytes never leave it; what is done with a key is asked for: ``POST /v1/operations`` with the operation and items.
2. ``state`` returns all that it holds as plain values, and a store that is built from it goes on the same (R3).
3. Keys come from entropy bytes (R8).  Of a request with several items each has its own result or error.
4. Threads act on it one at a time, and a process that was forked from its own is refused (C18).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from labkit.cloud import key_operations
from labkit.cloud.key_operations import KeyRefused, StoredKey
from labkit.cloud.shared_use import SharedUse
from labkit.service.arguments import one_of, text, whole_number
from labkit.service.encoding import to_base64
from labkit.service.errors import ServiceError
from labkit.service.key_mechanisms import MAX_LABEL_CHARACTERS, MECHANISMS
from labkit.service.message import Fetch, Request, Response, respond
from labkit.service.request_path import split_path


class KeyStoreService:
    """One simulated store of external keys, by label."""

    def __init__(self, entropy: Callable[[int], bytes], state: Mapping[str, Any] | None = None) -> None:
        self._entropy, self.use = entropy, SharedUse("key store")
        self._keys = {label: StoredKey(*row) for label, row in (state or {}).get("keys", {}).items()}

    def __repr__(self) -> str:
        return f"KeyStore({len(self._keys)} keys)"

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of its keys, sorted."""
        with self.use:
            return tuple(sorted(self._keys))

    def generate(self, label: str, mechanism: str = "CKM_AES_GCM", size_bits: int = 0) -> None:
        """Make a key for a mechanism, of its first size unless another is named; one of that label must not exist."""
        text("label", "the label of a key", label)
        row = MECHANISMS[one_of("mechanism", "a mechanism", mechanism, tuple(MECHANISMS))]
        whole_number("size_bits", "a size in bits, or 0", size_bits, 0)
        if size_bits and size_bits not in row.sizes_bits:
            raise ValueError(f"size_bits: expected one of {row.sizes_bits}, got {size_bits}")
        with self.use:
            if label in self._keys:
                raise ValueError(f"label: a key named {label!r} exists already")
            self._make(label, row.name, size_bits or row.sizes_bits[0])

    def delete(self, label: str) -> None:
        """Destroy a key."""
        with self.use:
            one_of("label", "the label of a key", label, self.labels)
            del self._keys[label]

    def handle(self, request: Request) -> Response:
        """Answer a request: read a key, make one, or work with keys."""
        try:
            path = split_path(request.path)[0]
            with self.use:
                return self._answer(request, path)
        except ServiceError as error:
            return respond(error.status, {"error": error.errors[0]})

    def answer(self, fetch: Fetch) -> Response:
        """Answer a fetch."""
        return self.handle(fetch.request)

    def state(self) -> dict[str, Any]:
        """Return what the constructor takes, as plain values."""
        with self.use:
            return {"keys": {label: tuple(key) for label, key in self._keys.items()}}

    def _answer(self, request: Request, path: str) -> Response:
        body = request.body if isinstance(request.body, dict) else {}
        if path == "operations" and request.method == "POST":
            return self._operate(body)
        if path.startswith("keys/") and request.method in ("GET", "POST"):
            label = path.removeprefix("keys/")
            return self._read(label) if request.method == "GET" else self._create(label, body)
        return respond(404, {"error": "no such path"})

    def _make(self, label: str, mechanism: str, size_bits: int) -> None:
        self._keys[label] = key_operations.make_key(mechanism, size_bits, self._entropy)

    def _read(self, label: str) -> Response:
        key = self._keys.get(label)
        if key is None:
            return respond(404, {"error": f"no key of label {label}"})
        return respond(200, {"label": label, "mechanism": key.mechanism, "size_bits": key.size_bits})

    def _create(self, label: str, body: Mapping[str, Any]) -> Response:
        row, size_bits = MECHANISMS.get(str(body.get("mechanism"))), body.get("size_bits") or 0
        if row is None or not row.generates:
            return respond(400, {"error": f"keys of mechanism {body.get('mechanism')} are not made here on request"})
        if size_bits not in (0, *row.sizes_bits) or not 0 < len(label) <= MAX_LABEL_CHARACTERS:
            return respond(400, {"error": f"a key of {size_bits} bits cannot be made for {row.name}"})
        if label in self._keys:
            return respond(409, {"error": f"a key of label {label} exists already"})
        self._make(label, row.name, size_bits or row.sizes_bits[0])
        return self._read(label)

    def _operate(self, body: Mapping[str, Any]) -> Response:
        items = body.get("items")
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            return respond(400, {"error": "items must be a list of objects"})
        return respond(200, {"results": [self._result(str(body.get("operation")), item) for item in items]})

    def _result(self, operation: str, item: Mapping[str, Any]) -> dict[str, Any]:
        label = str(item.get("label"))
        key = self._keys.get(label)
        try:
            if key is None:
                raise KeyRefused(f"the key store has no key of label {label}")
            made = key_operations.carry_out(key, operation, item)
        except KeyRefused as refused:
            return {"error": str(refused)}
        return {"valid": made} if isinstance(made, bool) else {"output": to_base64(made)}
