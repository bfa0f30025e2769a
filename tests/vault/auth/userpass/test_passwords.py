"""Passwords: hashed with a salt each, given as bcrypt hashes, compared; what cannot be one is refused."""

from __future__ import annotations

import sys

import pytest

from labkit import Vault
from labkit.vault.auth.userpass.user_record import find_user
from labkit.vault.context import own_work
from labkit.vault.mounts import read_table
from labkit.vault.password_hashing import COST, SEEDED_COST
from labkit.vault.storage.storage_view import StorageView
from tests.refusals import refused, refused_bare

# The password U*U, from the test vectors that came with the first crypt_blowfish.
BCRYPT = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
NEITHER = "must provide either password or password_hash"


def stored(vault: Vault, name: str = "ada"):
    ctx = own_work(vault.core)
    mount = read_table(ctx.full_storage).at("auth/userpass/")
    assert mount is not None
    user = find_user(StorageView(ctx, mount.prefix), name)
    assert user is not None
    return user.password


def test_each_has_a_salt_of_its_own(logins) -> None:
    logins.user("bob", password="right")
    ada, bob = stored(logins.vault), stored(logins.vault, "bob")
    assert ada.hash != bob.hash
    assert ada.salt != bob.salt
    assert (len(ada.salt), len(ada.hash), ada.cost) == (32, 64, SEEDED_COST)


def test_hashing_costs_much_only_where_entropy_is_real() -> None:
    vault = Vault.dev()
    vault.post("sys/auth/userpass", {"type": "userpass"})
    vault.post("auth/userpass/users/ada", {"password": "right"})
    assert stored(vault).cost == COST
    assert vault.post("auth/userpass/login/ada", {"password": "right"}, token="").ok
    assert vault.post("auth/userpass/login/ada", {"password": "wrong"}, token="").status == 400


def test_the_same_seed_gives_the_same_hash() -> None:
    found = []
    for _ in range(2):
        vault = Vault.dev(seed=9)
        vault.post("sys/auth/userpass", {"type": "userpass"})
        vault.post("auth/userpass/users/ada", {"password": "right"})
        found.append(stored(vault))
    assert found[0] == found[1]


@pytest.mark.parametrize("password", ["x" * 73, "é" * 37])
def test_more_than_72_bytes_are_refused_and_never_right(logins, password: str) -> None:
    text = "bcrypt: password length exceeds 72 bytes"
    assert refused(logins.user("bob", password=password), text)
    answer = logins.vault.post("auth/userpass/users/ada/password", {"password": password})
    assert refused(answer, text)
    logins.user("bob", password="x" * 72)
    assert logins.login("x" * 72, "bob").ok
    assert logins.login("x" * 73, "bob").status == 400


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({"password": "x", "password_hash": BCRYPT}, "only one of password or password_hash may be provided"),
        ({"password_hash": BCRYPT.replace("$05$", "$04$")}, "bcrypt cost of 4 is too low, want 5 at minimum"),
        ({"password_hash": BCRYPT.replace("$05$", "$13$")}, "bcrypt cost of 13 exceeds maximum cost of 12"),
        ({"password_hash": BCRYPT.replace("$2a$", "$2x$")}, "password_hash is not a valid bcrypt hash"),
        ({"password_hash": BCRYPT[:-1]}, "password_hash is not a valid bcrypt hash"),
        ({"password_hash": BCRYPT + "\n"}, "password_hash is not a valid bcrypt hash"),
        ({"password_hash": "$2a$\u0660\u0665$" + BCRYPT[7:]}, "password_hash is not a valid bcrypt hash"),
    ],
)
def test_what_cannot_be_a_password(logins, sent: dict[str, str], text: str) -> None:
    assert refused_bare(logins.user("bob", **sent), text)
    assert refused_bare(logins.vault.post("auth/userpass/users/ada/password", sent), text)
    assert logins.login().ok


@pytest.mark.parametrize("version", ["2a", "2b", "2y"])
def test_one_that_is_given_as_a_bcrypt_hash(logins, version: str) -> None:
    pytest.importorskip("bcrypt")
    given = BCRYPT.replace("2a", version, 1)
    assert logins.user("bob", password_hash=given).status == 204
    assert stored(logins.vault, "bob") == (given, "", 0)
    assert logins.login("U*U", "bob").ok
    for wrong in ("U*V", given, "x" * 73, "a\0b"):
        assert logins.login(wrong, "bob").status == 400


def test_without_the_package_it_is_refused_by_name(logins, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "bcrypt", None)
    (text,) = logins.user("bob", password_hash=BCRYPT).errors
    assert text.endswith("needs the package bcrypt: pip install '.[userpass]'")
    assert logins.vault.get("auth/userpass/users/bob").status == 404


def test_one_that_was_stored_where_the_package_is_missing_is_refused_by_name(logins, monkeypatch) -> None:
    pytest.importorskip("bcrypt")
    logins.user("bob", password_hash=BCRYPT)
    monkeypatch.setitem(sys.modules, "bcrypt", None)
    (text,) = logins.login("U*U", "bob").errors
    assert text.endswith("pip install '.[userpass]'")
    assert logins.login().ok
