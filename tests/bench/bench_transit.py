"""Bench: what transit requests cost, against the primitive and base64 alone: small, large, audited, of many versions.

    python tests/bench/bench_transit.py [rounds]

It measures as ``bench_vault`` does, whose rows of the engine come first; below a row that misses its goal stands
where its time goes.
"""

from __future__ import annotations

import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from os import urandom
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Vault
from tests.bench.bench_vault import PLAINTEXT, Asker, Row, Work, line, transit_rows

MIB = 1_048_576
LARGE = 40
VERSIONS, READS = 1_000, 100


def encrypting(plaintext: str) -> Work:
    """Base64 in, a kept cipher, base64 out."""
    cipher = AESGCM(bytes(32))

    def encrypt() -> str:
        nonce = urandom(12)
        return b64encode(nonce + cipher.encrypt(nonce, b64decode(plaintext), None)).decode()

    return encrypt


def audited_rows() -> Iterator[Row]:
    """The same, and nothing written: a record of each request and answer is the vault's alone."""
    root = Asker(Vault.dev())
    root.ask("POST", "transit/keys/plain", {})
    root.ask("PUT", "sys/audit/file", {"type": "file", "options": {"file_path": "/audit.log"}})
    work = root.work("POST", "transit/encrypt/plain", {"plaintext": PLAINTEXT})
    yield Row("transit encrypt, with a file audit device", work, encrypting(PLAINTEXT), 13.0)


def large_rows() -> Iterator[Row]:
    """One message of a mebibyte."""
    root = Asker(Vault.dev())
    root.ask("POST", "transit/keys/plain", {})
    plaintext = b64encode(urandom(MIB)).decode()
    work = root.work("POST", "transit/encrypt/plain", {"plaintext": plaintext})
    yield Row("transit encrypt, 1 MiB", work, encrypting(plaintext), 1.2, LARGE)


def version_rows() -> Iterator[Row]:
    """A key of one version."""
    root = Asker(Vault.dev())
    for name in ("one", "many"):
        root.ask("POST", f"transit/keys/{name}", {})
    for _ in range(VERSIONS - 1):
        root.ask("POST", "transit/keys/many/rotate", {})
    many, one = (root.work("GET", f"transit/keys/{name}") for name in ("many", "one"))
    yield Row("transit key read, 1,000 versions ÷ one", many, one, 40.0, READS)


def main(rounds: int = 11) -> None:
    """Measure every row, and print the table as it grows."""
    print(f"{'medians of ' + str(rounds) + ' rounds':46} {'floor, µs':>10} {'ours, µs':>10} {'ratio':>8} {'goal':>6}")
    for rows in (transit_rows, audited_rows, large_rows, version_rows):
        for row in rows():
            print(line(row, rounds).rstrip(), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
