"""The engine's routes: which operation on which path."""

from __future__ import annotations

import pytest

from labkit.service.errors import NotFound, Unsupported
from labkit.vault.engines.transit.table import TABLE

ROUTES = [
    ("list", "keys/"),
    ("write", "keys/k"),
    ("read", "keys/k"),
    ("delete", "keys/k"),
    ("write", "keys/k/config"),
    ("write", "keys/k/rotate"),
    ("write", "keys/k/trim"),
    ("write", "encrypt/k"),
    ("write", "decrypt/k"),
    ("write", "rewrap/k"),
    ("write", "datakey/plaintext/k"),
    ("write", "keys/k/csr"),
    ("write", "keys/k/set-certificate"),
    ("read", "byok-export/d/s"),
    ("read", "byok-export/d/s/latest"),
    ("read", "backup/k"),
    ("write", "restore"),
    ("write", "restore/k"),
    ("read", "export/hmac-key/k"),
    ("read", "export/hmac-key/k/1"),
    ("write", "keys/k/import"),
    ("write", "keys/k/import_version"),
    ("read", "wrapping_key"),
    ("write", "random"),
    ("write", "random/32"),
    ("write", "random/all/32"),
    ("write", "hash"),
    ("write", "hash/sha2-256"),
    ("write", "hmac/k"),
    ("write", "hmac/k/sha2-512"),
    ("write", "sign/k"),
    ("write", "sign/k/sha2-512"),
    ("write", "verify/k"),
    ("write", "verify/k/sha2-512"),
    ("read", "config/keys"),
    ("write", "config/keys"),
]


@pytest.mark.parametrize(("operation", "path"), ROUTES)
def test_an_endpoint_is_found(operation: str, path: str) -> None:
    assert TABLE.match(operation, path).route.operation == operation


@pytest.mark.parametrize(
    ("operation", "path"),
    [("read", "encrypt/k"), ("write", "keys"), ("patch", "keys/k"), ("read", "keys/"), ("delete", "config/keys")],
)
def test_another_operation_on_a_known_path_is_405(operation: str, path: str) -> None:
    with pytest.raises(Unsupported):
        TABLE.match(operation, path)


@pytest.mark.parametrize("path", ["nonsense", "", "encrypt", "encrypt/k/x", "keys/k-", "keys/a b", "keys/k/unknown"])
def test_an_unknown_path_is_404(path: str) -> None:
    with pytest.raises(NotFound):
        TABLE.match("write", path)


def test_only_encrypt_tells_create_from_update() -> None:
    assert [route.pattern for route in TABLE.routes if route.exists is not None] == ["encrypt/<name>"]
