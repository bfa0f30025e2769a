"""Credentials in a file: stored with the data or not at all, and checked when the file is opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from labkit import Vault
from labkit.vault.credentials import StoredCredentials
from labkit.vault.storage import StoreError
from labkit.vault.storage.records import decode_record


@pytest.fixture
def path(tmp_path):
    """A file with a vault in it."""
    made = str(tmp_path / "lab.db")
    Vault.open(made).close()
    return made


def change(path: str, statement: str, *values: object) -> None:
    """Alter a file behind the vault's back."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement, values)
        connection.commit()


def test_a_file_opens_itself_with_what_it_was_set_up_with(path):
    seen = set()
    for _ in range(2):
        with closing(Vault.open(path)) as vault:
            seen.add((vault.root_token, vault.unseal_keys))
            assert vault.get("auth/token/lookup-self").data["policies"] == ["root"]
    assert len(seen) == 1


def test_the_digest_shows_an_altered_byte(path):
    with closing(sqlite3.connect(path)) as connection:
        stored = connection.execute("SELECT value FROM facts WHERE name = 'credentials'").fetchone()[0]
    assert len(decode_record(stored[32:])) == 2
    for position in range(0, len(stored), 7):
        altered = bytearray(stored)
        altered[position] ^= 1
        change(path, "UPDATE facts SET value = ? WHERE name = 'credentials'", bytes(altered))
        with pytest.raises(StoreError, match=r"lab\.db is damaged"):
            Vault.open(path)
    change(path, "UPDATE facts SET value = ? WHERE name = 'credentials'", stored)
    Vault.open(path).close()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM facts WHERE name = 'credentials'",
        "DELETE FROM entries WHERE key = 'node/seal-config'",
        "UPDATE entries SET value = x'7b' WHERE key = 'node/seal-config'",
        "DELETE FROM entries WHERE key = 'core/keyring'",
        "UPDATE entries SET value = x'00' WHERE key = 'core/keyring'",
        "UPDATE facts SET value = 'text' WHERE name = 'format'",
        "INSERT INTO facts VALUES ('term', x'ff')",
    ],
)
def test_data_and_credentials_that_do_not_belong_together_are_refused(path, statement):
    change(path, statement)
    if "format" in statement:
        Vault.open(path).close()
        return
    for _ in range(2):  # the second time too: a refused file is not left open
        with pytest.raises(StoreError, match=r"lab\.db is damaged"):
            Vault.open(path)


def test_no_credential_shows():
    assert repr(StoredCredentials("hvs.secret", ("ab",))) == "StoredCredentials(1 key shares)"
