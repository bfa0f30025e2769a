"""Users: ``users/<username>``, the list of them, and each one's password and policies at paths of their own.

1. A user is made with a password; from then on what is not sent stays as it was.
2. A password is never shown; a new one leaves the tokens of the old one.
3. A request that hashes a password waits: what it changes is read again before it is written.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest, NotFound, one_error
from labkit.service.message import Fetch, Response
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.auth import token_fields
from labkit.vault.auth.addresses import bound_addresses
from labkit.vault.auth.token_fields import DEFAULT_TYPE, TokenFields, as_tuple, cleaned
from labkit.vault.auth.userpass import passwords
from labkit.vault.auth.userpass.user_record import USERS, PasswordHash, User, find_user, store_user
from labkit.vault.password_hashing import MAX_PASSWORD_BYTES

if TYPE_CHECKING:
    from labkit.vault.context import Context

OLD_NAMES = {
    "policies": "token_policies",
    "ttl": "token_ttl",
    "max_ttl": "token_max_ttl",
    "bound_cidrs": "token_bound_cidrs",
}

UNKNOWN = one_error("username does not exist")


class UserRequest(NamedTuple):
    """The settings of a user that a request changes, None leaves one as it is; the last four are old names."""

    username: str
    password: str | None
    password_hash: str | None
    token_ttl: int | None
    token_max_ttl: int | None
    token_policies: list[str] | None
    token_bound_cidrs: list[str] | None
    token_explicit_max_ttl: int | None
    token_no_default_policy: bool | None
    token_num_uses: int | None
    token_period: int | None
    token_type: str | None
    policies: list[str] | None
    ttl: int | None
    max_ttl: int | None
    bound_cidrs: list[str] | None

    def __repr__(self) -> str:
        return f"UserRequest({self.username})"  # never the password


def write_user(ctx: Context, asked: UserRequest) -> Generator[Fetch, Response, None]:
    """Create a user, or change what is sent of one."""
    if find_user(ctx.storage, asked.username) is None and not (asked.password or asked.password_hash):
        raise BadRequest(passwords.NEITHER)
    _changed(None, asked)
    password = yield from passwords.chosen(ctx, asked.password, asked.password_hash)
    user = find_user(ctx.storage, asked.username)
    if user is None and password is None:
        raise BadRequest(passwords.NEITHER)
    user = _changed(user, asked)
    store_user(ctx.storage, asked.username, user if password is None else user._replace(password=password))


def _changed(user: User | None, asked: UserRequest) -> User:
    """Return a user, or a new one, with what was sent; raise BadRequest for what no token can keep."""
    user = user or User(PasswordHash(""))
    sent = {name: as_tuple(value) for name, value in asked._asdict().items() if value is not None}
    old_names = token_fields.settle_old_names(sent, OLD_NAMES, user.old_names)
    given = {name: sent[name] for name in TokenFields._fields if name in sent}
    if "token_type" in given:
        given["token_type"] = given["token_type"] or DEFAULT_TYPE
    if "token_bound_cidrs" in given:
        given["token_bound_cidrs"] = bound_addresses(given["token_bound_cidrs"])
    chosen = user.token_fields._replace(**given)
    token_fields.check_members(chosen)
    return user._replace(token_fields=chosen, old_names=old_names)


def read_user(ctx: Context, username: str) -> dict[str, Any]:
    """Read a user, without the password."""
    user = find_user(ctx.storage, username)
    if user is None:
        raise NotFound
    return token_fields.shown_members(user.token_fields, user.old_names, OLD_NAMES)


def delete_user(ctx: Context, username: str) -> None:
    """Delete a user; the tokens stay, but can no longer be renewed."""
    ctx.storage.delete(USERS + username.lower())


def list_users(ctx: Context) -> dict[str, Any]:
    """List the names of the users."""
    names = ctx.storage.list(USERS)
    if not names:
        raise NotFound
    return {"keys": names}


def write_password(
    ctx: Context, username: str, password: str | None, password_hash: str | None
) -> Generator[Fetch, Response, None]:
    """Change a user's password."""
    _present(ctx, username)
    hashed = yield from passwords.chosen(ctx, password, password_hash)
    if hashed is None:
        raise BadRequest(passwords.NEITHER)
    store_user(ctx.storage, username, _present(ctx, username)._replace(password=hashed))


def write_policies(ctx: Context, username: str, token_policies: list[str] | None, policies: list[str] | None) -> None:
    """Change the policies of a user's tokens."""
    user = _present(ctx, username)
    sent = {"token_policies": token_policies, "policies": policies}
    sent = {name: value for name, value in sent.items() if value is not None}
    old_names = token_fields.settle_old_names(sent, {"policies": "token_policies"}, user.old_names)
    chosen = sent.get("token_policies")
    if chosen is not None:
        given = user.token_fields._replace(token_policies=cleaned(chosen))
        store_user(ctx.storage, username, user._replace(token_fields=given, old_names=old_names))


def _present(ctx: Context, username: str) -> User:
    user = find_user(ctx.storage, username)
    if user is None:
        raise BadRequest(UNKNOWN)
    return user


def exists(ctx: Context, username: str) -> bool:
    """Whether a write changes a user who is there."""
    return find_user(ctx.storage, username) is not None


USERNAME = fields.name("username", "name of the user")
PASSWORD = fields.text("password", f"the password, at most {MAX_PASSWORD_BYTES} bytes")
PASSWORD_HASH = fields.text("password_hash", "the bcrypt hash of the password, in its place")

FIELDS = (
    USERNAME,
    PASSWORD,
    PASSWORD_HASH,
    *token_fields.FIELDS,
    token_fields.OLD_POLICIES,
    token_fields.OLD_TTL,
    token_fields.OLD_MAX_TTL,
    token_fields.OLD_BOUND_CIDRS,
)
OF_POLICIES = (USERNAME, token_fields.POLICIES, token_fields.OLD_POLICIES)

ROUTES = (
    Route("list", "users/", list_users),
    Route("read", "users/<username>", read_user, (USERNAME,)),
    Route("write", "users/<username>", write_user, Form(UserRequest, FIELDS), "fetches", exists=exists),
    Route("delete", "users/<username>", delete_user, (USERNAME,)),
    Route("write", "users/<username>/password", write_password, (USERNAME, PASSWORD, PASSWORD_HASH), "fetches"),
    Route("write", "users/<username>/policies", write_policies, OF_POLICIES),
)
