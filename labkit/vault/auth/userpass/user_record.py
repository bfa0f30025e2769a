"""The record of a user: how the password is recognised, and what the tokens are like.

Names are the same in any case.  Of a password its hash is stored, with salt and cost, or a bcrypt hash that was given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.record import NamedTuple
from labkit.vault.auth.token_fields import TokenFields, as_tuple
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.storage.storage_view import StorageView

USERS = "user/"


class PasswordHash(NamedTuple):
    """A password's hash: hex with its salt (hex) and cost, or with neither a bcrypt hash."""

    hash: str
    salt: str = ""
    cost: int = 0

    def __repr__(self) -> str:
        return "PasswordHash()"


class User(NamedTuple):
    """A user; ``old_names`` are those that were sent."""

    password: PasswordHash
    token_fields: TokenFields = TokenFields()
    old_names: tuple[str, ...] = ()


def find_user(storage: StorageView, name: str) -> User | None:
    """Return a user by the name in any case, or None."""
    return storage.decoded(USERS + name.lower(), _decode)


def store_user(storage: StorageView, name: str, user: User) -> None:
    """Store a user."""
    storage.put(USERS + name.lower(), encode_record([list(user.password), list(user.token_fields), user.old_names]))


def _decode(stored: bytes) -> User:
    password, given, old_names = decode_record(stored)
    return User(PasswordHash(*password), TokenFields(*map(as_tuple, given)), tuple(old_names))
