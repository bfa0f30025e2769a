"""The record of a token, where it is stored, the hash that it is stored under, and who makes a request by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.record import NamedTuple, new
from labkit.vault.identifiers import sha256
from labkit.vault.mounts import ROOT
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.mounts import Namespace
    from labkit.vault.policies.access_list import Access

IDS = "token/id/"
OLD_ACCESSORS, OLD_CHILDREN = "token/accessor/", "token/child/"
"""Where earlier versions kept which token has an accessor, and which ones it made: nobody reads it any more."""

ALWAYS_WRITTEN = 19  # members, up to ``max_ttl_s``


class Token(NamedTuple):
    """A token's record; times in nanoseconds since the epoch, durations in seconds, 0 for none.

    ``renewed_ttl_s`` is what the last renewal gave, which the next one gives again where it asks for nothing else.
    ``namespace`` is the path of the namespace that it belongs to, ``namespace_id`` its id; both empty for the root's.
    ``entity_id`` is of whoever logged in, empty for a token that no login gave.  ``role`` is the one that the token was
    made or logged in under.
    """

    accessor: str
    policies: tuple[str, ...]
    path: str
    display_name: str
    parent: str = ""
    kind: str = "service"
    meta: tuple[tuple[str, str], ...] | None = None
    uses: int = 0
    created_ns: int = 0
    ttl_s: int = 0
    explicit_max_ttl_s: int = 0
    period_s: int = 0
    renewable: bool = False
    expires_ns: int = 0
    renewed_ns: int = 0
    orphan: bool = False
    role: str = ""
    bound_cidrs: tuple[str, ...] = ()
    max_ttl_s: int = 0
    renewed_ttl_s: int = 0
    namespace: str = ""
    namespace_id: str = ""
    entity_id: str = ""

    def __repr__(self) -> str:
        return f"Token({self.display_name}, policies={list(self.policies)})"

    def issued(self, accessor: str, created_ns: int, expires_ns: int) -> Token:
        """Return the record with what it has from its issue on; by names it took 3 % of a creation longer."""
        return new(Token, (accessor, *self[1:8], created_ns, *self[9:13], expires_ns, *self[14:]))

    @property
    def label(self) -> bytes:
        """What of the record is in the clear: its accessor, and the hash of the token that made it."""
        return f"{self.accessor}/{self.parent}".encode()

    @property
    def is_root(self) -> bool:
        """Whether the token may do everything."""
        return self.policies == ("root",)


class Caller(NamedTuple):
    """The caller: its token's record, the hash it is stored under, what its policies allow, and its namespace."""

    token: Token
    digest: str
    acl: Access
    namespace: Namespace = ROOT

    def __repr__(self) -> str:
        return f"Caller({self.token.display_name})"


def digest_of(text: str) -> str:
    """Return the hash that a token is stored under."""
    return sha256(text.encode()).hexdigest()


def names_in(label: bytes) -> tuple[str, str]:
    """Return accessor and parent out of a label; of one that was altered, whatever stands there."""
    accessor, _, parent = label.decode("latin-1").partition("/")
    return accessor, parent


def encode_token(token: Token) -> bytes:
    """Write a token's record, up to the last of its newer members that says anything."""
    if not any(token[ALWAYS_WRITTEN:]):
        return encode_record(token[:ALWAYS_WRITTEN])
    row = list(token)
    while not row[-1]:
        row.pop()
    return encode_record(row)


def decode_token(stored: bytes) -> Token:
    """Read a token's record."""
    row = decode_record(stored)
    row[1], row[17] = tuple(row[1]), tuple(row[17])
    row[6] = None if row[6] is None else tuple(map(tuple, row[6]))
    return Token(*row)
