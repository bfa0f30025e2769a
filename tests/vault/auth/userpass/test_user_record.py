"""The record of a user: stored and read alike, and it shows no password."""

from __future__ import annotations

from labkit.vault.auth.token_fields import TokenFields
from labkit.vault.auth.userpass.user_record import PasswordHash, User, find_user, store_user
from labkit.vault.context import own_work


def test_what_is_stored_is_found_in_any_case(logins) -> None:
    storage = own_work(logins.vault.core).full_storage.folder("logical/test/")
    user = User(PasswordHash("ab", "cd", 2), TokenFields(5, token_policies=("a",)), ("ttl",))
    store_user(storage, "Ada", user)

    assert find_user(storage, "aDA") == user
    assert find_user(storage, "bob") is None
    assert "ab" not in repr(user.password)


def test_no_password_is_in_the_store(logins) -> None:
    logins.user("bob", password="a password that is looked for")
    ctx = own_work(logins.vault.core)
    values = [ctx.full_storage.get(key) or b"" for key in ctx.full_storage.keys("logical/")]
    assert values
    assert not [value for value in values if b"looked for" in value]
