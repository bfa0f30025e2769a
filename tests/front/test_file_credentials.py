"""Credentials in a file: stored with the data or not at all, and checked when the file is opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from labkit import Vault
from labkit.front import file_credentials
from labkit.front.file_credentials import StoredCredentials
from labkit.vault.context import own_work
from labkit.vault.mounts import namespace_at, new_mount, read_table, write_table
from labkit.vault.sealing.seal import unseal
from labkit.vault.storage import StoreError
from labkit.vault.storage.records import decode_record
from labkit.vault.storage.storage_view import StorageView


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


@pytest.mark.slow
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


OWN = ["cubbyhole/", "identity/"]


def as_an_older_version_left_it(path: str) -> str:
    """A file without the mounts that were not there from the beginning, in any namespace; with one of a user's."""
    with closing(Vault.open(path)) as vault:
        assert vault.post("sys/namespaces/team").ok
        assert vault.post("sys/namespaces/inner", namespace="team").ok
        assert vault.post("secret/data/app", {"data": {"user": "ada"}}).ok
        ctx = own_work(vault.core)
        for name in ("", "team/", "team/inner/"):
            namespace = namespace_at(ctx, name)
            assert namespace is not None
            storage = StorageView(ctx, namespace.prefix)
            table = read_table(storage)
            for mount in OWN:
                table = table.without(mount)
            write_table(storage, table)
        vault.core.commit(ctx.writes)
    return path


def mounts_of(vault: Vault, namespace: str) -> list[str]:
    return [name for name in OWN if name in vault.get("sys/mounts", namespace=namespace).data]


def test_a_file_of_an_older_version_gets_the_mounts_that_every_namespace_has(path):
    as_an_older_version_left_it(path)
    seen = []
    for _ in range(2):
        with closing(Vault.open(path)) as vault:
            assert [mounts_of(vault, name) for name in ("", "team", "team/inner")] == [OWN] * 3
            assert vault.get("secret/data/app").data["data"] == {"user": "ada"}
            assert vault.post("cubbyhole/mine", {"a": 1}).ok
            seen.append(vault.get("sys/mounts").data)
    assert seen[0] == seen[1], "once"


def test_what_a_user_mounted_there_stays(path):
    as_an_older_version_left_it(path)
    with closing(Vault.open(path)) as vault:
        ctx = own_work(vault.core)
        table = read_table(ctx.full_storage).without("identity/")
        write_table(ctx.full_storage, table.with_mount(new_mount("identity/people/", "kv", vault.core.entropy)))
        vault.core.commit(ctx.writes)
    with closing(Vault.open(path)) as vault:
        assert mounts_of(vault, "") == ["cubbyhole/"]
        assert "identity/people/" in vault.get("sys/mounts").data


def test_a_secondary_s_file_and_a_damaged_table_are_left_as_they_are(path):
    as_an_older_version_left_it(path)
    with closing(sqlite3.connect(path)) as connection:
        before = dict(connection.execute("SELECT key, value FROM entries"))
    change(path, "UPDATE entries SET value = ? WHERE key = 'core/mounts'", b"x" * 60)
    with closing(Vault.open(path)) as vault:
        assert vault.get("sys/health").status == 200
    change(path, "UPDATE entries SET value = ? WHERE key = 'core/mounts'", before["core/mounts"])
    with closing(Vault.open(path)) as vault:
        assert vault.post("sys/replication/dr/primary/enable").ok
        assert vault.post("sys/replication/dr/primary/demote").ok
    change(path, "UPDATE entries SET value = ? WHERE key = 'core/mounts'", before["core/mounts"])
    Vault.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        assert dict(connection.execute("SELECT key, value FROM entries"))["core/mounts"] == before["core/mounts"]


def rekeyed(vault: Vault) -> tuple[str, ...]:
    """Give a vault four other key shares, of which two open it; return them."""
    body = {"secret_shares": 4, "secret_threshold": 2}
    answer = vault.put("sys/rekey/init", body, token="").body or {}
    nonce = answer["nonce"]
    for share in vault.unseal_keys[:3]:
        answer = vault.put("sys/rekey/update", {"key": share, "nonce": nonce}, token="").body or {}
    return tuple(answer["keys"])


def test_a_file_opens_itself_with_the_shares_of_the_last_rekey(path):
    with closing(Vault.open(path)) as vault:
        before, made, token = vault.unseal_keys, rekeyed(vault), vault.root_token
    with closing(Vault.open(path)) as vault:
        assert not vault.sealed
        assert (vault.root_token, vault.unseal_keys) == (token, made)
        assert not {*made} & {*before}
        assert len(made) == 4


def test_shares_of_a_rekey_that_were_altered_are_damage(path):
    with closing(Vault.open(path)) as vault:
        rekeyed(vault)
    change(path, "UPDATE entries SET value = CAST(x'00' || value AS BLOB) WHERE key = 'node/own-shares'")
    with pytest.raises(StoreError, match=r"lab\.db is damaged"):
        Vault.open(path)


def test_as_many_shares_are_given_as_open_it(path, monkeypatch):
    given = []

    def noted(core, share):
        given.append(share)
        unseal(core, share)

    monkeypatch.setattr(file_credentials, "unseal", noted)
    with closing(Vault.open(path)) as vault:
        assert [share.hex() for share in given] == list(vault.unseal_keys[:3])
        rekeyed(vault)
    given.clear()
    Vault.open(path).close()
    assert len(given) == 2


def test_three_of_five_shares_open_a_file_s_vault(path):
    with closing(Vault.open(path)) as vault:
        shown = vault.get("sys/seal-status").body or {}
        assert (shown["n"], shown["t"], len(vault.unseal_keys)) == (5, 3, 5)
