"""Passwords of users: taken as they are or as a bcrypt hash, hashed outside of any step, and compared."""

from __future__ import annotations

import hmac
import re
from collections.abc import Generator
from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest, one_error
from labkit.service.message import Fetch, Response
from labkit.vault import password_hashing
from labkit.vault.auth.userpass.user_record import PasswordHash
from labkit.vault.password_hashing import COST, MAX_PASSWORD_BYTES, SALT_BYTES, SEEDED_COST

if TYPE_CHECKING:
    from labkit.vault.context import Context

NEITHER = "must provide either password or password_hash"
BOTH = "only one of password or password_hash may be provided"

MIN_COST, MAX_COST = 5, 12

_BCRYPT = re.compile(r"\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}", re.ASCII)

UNKNOWN = PasswordHash("", "00" * SALT_BYTES, COST)
"""What a password is compared with for an unknown user: it takes as long, and nothing has this hash."""


def chosen(
    ctx: Context, password: str | None, password_hash: str | None
) -> Generator[Fetch, Response, PasswordHash | None]:
    """Return what is stored of a new password, None where none is sent; raise BadRequest for one that cannot be."""
    if password and password_hash:
        raise BadRequest(BOTH)
    if password_hash:
        _check_bcrypt(password_hash)
        return PasswordHash(password_hash)
    if not password:
        return None
    if len(password.encode()) > MAX_PASSWORD_BYTES:
        raise BadRequest(one_error(f"bcrypt: password length exceeds {MAX_PASSWORD_BYTES} bytes"))
    salt, cost = ctx.entropy(SALT_BYTES).hex(), SEEDED_COST if ctx.core.is_seeded else COST
    hashed = yield password_hashing.request(password, salt, cost)
    return PasswordHash(hashed.body["hash"] if hashed.body else "", salt, cost)


def _check_bcrypt(text: str) -> None:
    found = _BCRYPT.fullmatch(text)
    if found is None:
        raise BadRequest("password_hash is not a valid bcrypt hash")
    cost = int(found[1])
    if cost < MIN_COST:
        raise BadRequest(f"bcrypt cost of {cost} is too low, want {MIN_COST} at minimum")
    if cost > MAX_COST:
        raise BadRequest(f"bcrypt cost of {cost} exceeds maximum cost of {MAX_COST}")
    password_hashing.check_bcrypt()


def is_password(ctx: Context, password: str, known: PasswordHash | None) -> Generator[Fetch, Response, bool]:
    """Whether a password is the one that is stored; of an unknown user it is not, which takes as long to find out."""
    if len(password.encode()) > MAX_PASSWORD_BYTES:
        return False
    if known is None:
        known = UNKNOWN._replace(cost=SEEDED_COST) if ctx.core.is_seeded else UNKNOWN
    if known.cost:
        hashed = yield password_hashing.request(password, known.salt, known.cost)
        return bool(known.hash) and hmac.compare_digest(hashed.body["hash"] if hashed.body else "", known.hash)
    compared = yield password_hashing.comparison(password, known.hash)
    if compared.status != 200:
        raise BadRequest(*compared.errors)
    return bool(compared.body and compared.body["same"])
