"""Rows: ciphertexts of a table that is kept in a secret, and what they open to."""

from __future__ import annotations

from labkit.front.vault import Vault
from labkit.service.encoding import to_base64

TABLE = "secret/data/rows"


def base64_of(text: str) -> str:
    """Return a text as transit takes it."""
    return to_base64(text.encode())


def with_rows(seed: int, count: int) -> Vault:
    """Return a vault whose table has so many rows, encrypted under the key ``rows``."""
    vault = Vault.dev(seed=seed)
    items = [{"plaintext": base64_of(f"row {number}")} for number in range(count)]
    found = vault.post("transit/encrypt/rows", {"batch_input": items}).data["batch_results"]
    vault.post(TABLE, {"data": {"rows": [row["ciphertext"] for row in found]}})
    return vault


def rows_of(vault: Vault) -> list[str]:
    """Return the ciphertexts of the table; none where it is missing."""
    found = vault.get(TABLE)
    rows = found.data["data"].get("rows") if found.ok else None
    return [str(row) for row in rows] if isinstance(rows, list) else []


def opened(vault: Vault, ciphertext: str) -> str | None:
    """Return what a ciphertext opens to, in base64; None where that is refused."""
    answer = vault.post("transit/decrypt/rows", {"ciphertext": ciphertext})
    return str(answer.data["plaintext"]) if answer.ok else None
