"""Logging in: ``login/<username>``, a password for a token.

1. In this order: the user is not locked out; a password is sent; it is the user's; the request comes from where the
   tokens are bound to.  An unknown user is refused as one with a wrong password, after as long.
2. Hashing is done outside of any step: what was read before is read, and judged, again after it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest, Forbidden
from labkit.service.message import Fetch, Reply, Response
from labkit.service.routing import Route
from labkit.vault import tokens
from labkit.vault.auth import login_token, user_lockout
from labkit.vault.auth.userpass import passwords
from labkit.vault.auth.userpass.user_record import User, find_user
from labkit.vault.auth.userpass.users import PASSWORD, USERNAME

if TYPE_CHECKING:
    from labkit.vault.context import Context

WRONG = "invalid username or password"


def login(ctx: Context, username: str, password: str | None) -> Generator[Fetch, Response, Reply]:
    """Answer with a token as the user's record says, for the password."""
    name = username.lower()
    user_lockout.check(ctx, name)
    if not password:
        raise BadRequest("missing password")
    user, right = yield from _judged(ctx, name, password)
    if user is None or not right:
        if user is not None:
            user_lockout.fail(ctx, name)
        user_lockout.report(ctx, "username" if user is None else "password")
        raise BadRequest(WRONG)
    blocks = user.token_fields.token_bound_cidrs
    if blocks and not tokens.is_within(ctx.request.remote_address, blocks):
        user_lockout.report(ctx, "address")
        raise Forbidden("permission denied")
    user_lockout.succeed(ctx, name)
    return login_token.issue(ctx, name, name, user.token_fields, {"username": name}, name)


def _judged(ctx: Context, name: str, password: str) -> Generator[Fetch, Response, tuple[User | None, bool]]:
    """Return the user, and whether the password is right for what is stored of it by now (rule 2)."""
    while True:
        user = find_user(ctx.storage, name)
        known = None if user is None else user.password
        right = yield from passwords.is_password(ctx, password, known)
        user_lockout.check(ctx, name)
        user = find_user(ctx.storage, name)
        if (None if user is None else user.password) == known:
            return user, right


ROUTES = (Route("write", "login/<username>", login, (USERNAME, PASSWORD), "unauthenticated", "fetches"),)
