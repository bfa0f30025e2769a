"""Password hashing: slow on purpose, and so done outside of any step.

1. A password is hashed with Scrypt (RFC 7914) and a salt of its own.  What was given as a bcrypt hash stays one, and is
   compared with the package bcrypt.
2. In a seeded world everybody knows the salts, and hashing costs next to nothing.
3. A handler that needs a hash yields a Fetch on a channel of its own (``request``).  Whoever runs the node answers it
   (``answer``) between two steps: no lock is held meanwhile, no message is sent, and no simulated time passes.
"""

from __future__ import annotations

from labkit.service.errors import BadRequest
from labkit.service.message import Fetch, Request, Response, respond

CHANNEL = "hashing"

SALT_BYTES, HASH_BYTES = 16, 32
MAX_PASSWORD_BYTES = 72

COST, SEEDED_COST = 2**14, 2
BLOCK_SIZE, PARALLEL = 8, 1

MISSING_PACKAGE = "comparing a password with a bcrypt hash needs the package bcrypt: pip install '.[userpass]'"


def request(password: str, salt: str, cost: int) -> Fetch:
    """Return the Fetch that a password's hash is the answer to; ``salt`` is hex."""
    return Fetch("", Request("POST", "scrypt", {}, {"password": password, "salt": salt, "cost": cost}), channel=CHANNEL)


def comparison(password: str, bcrypt_hash: str) -> Fetch:
    """Return the Fetch that says whether a password has a bcrypt hash."""
    return Fetch("", Request("POST", "bcrypt", {}, {"password": password, "hash": bcrypt_hash}), channel=CHANNEL)


def check_bcrypt() -> None:
    """Raise BadRequest where the package is missing that compares bcrypt hashes."""
    try:
        import bcrypt  # noqa: F401  # only whether it is there
    except ImportError:
        raise BadRequest(MISSING_PACKAGE) from None


def answer(fetch: Fetch) -> Response:
    """Answer such a Fetch: ``hash`` is hex, ``same`` a flag."""
    asked = fetch.request.body or {}
    secret = asked["password"].encode()
    if fetch.request.path == "scrypt":
        from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

        salt = bytes.fromhex(asked["salt"])
        kdf = Scrypt(salt=salt, length=HASH_BYTES, n=asked["cost"], r=BLOCK_SIZE, p=PARALLEL)
        return respond(200, {"hash": kdf.derive(secret).hex()})
    try:
        import bcrypt
    except ImportError:
        return respond(400, {"errors": [MISSING_PACKAGE]})
    try:
        same = bcrypt.checkpw(secret, asked["hash"].encode())
    except ValueError:  # a salt that no bcrypt writes, whose last bits are set: no password has this hash
        same = False
    return respond(200, {"same": same})
