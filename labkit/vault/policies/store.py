"""Stored policies: their texts, the index that changes with any of them, and compiled access lists.

A policy's text is stored by name; ``policy/index`` maps each name to a digest of its text.  The index is rewritten with
every change of a policy, so a compiled access list is valid while the stored index is the same object (R21).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest
from labkit.vault.identifiers import sha256
from labkit.vault.policies import DEFAULT_POLICY, WRAPPING_POLICY, Acl, Rule
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context

TEXTS = "policy/text/"
INDEX = "policy/index"
MAX_CACHED_ACLS = 256
MAX_TEXT_CHARACTERS = 262_144

INTERNAL = {"response-wrapping": WRAPPING_POLICY}
"""Policies that are not stored, listed, read or given to a token by a caller."""


def acl_for(ctx: Context, names: tuple[str, ...]) -> Acl:
    """Return what a token with these policies may do, compiled once for as long as no policy changes."""
    cached_lists = ctx.core.caches.access_lists
    stored = ctx.read(INDEX)
    cached = cached_lists.get(names)
    if cached is not None and cached[0] is stored and not ctx.is_taped:
        acl: Acl = cached[1]
        return acl
    acl = Acl((), root=True) if names == ("root",) else Acl(_rules(ctx, names))
    if len(cached_lists) >= MAX_CACHED_ACLS:
        cached_lists.clear()
    cached_lists[names] = (stored, acl)
    return acl


def _rules(ctx: Context, names: tuple[str, ...]) -> list[tuple[Rule, ...]]:
    storage = ctx.full_storage
    policies = (_internal(name) if name in INTERNAL else storage.decoded(TEXTS + name, _parse) for name in names)
    return [rules for rules in policies if rules is not None]


def _parse(stored: bytes) -> tuple[Rule, ...]:
    from labkit.vault.policies.reader import parse_policy  # a root token needs no policy (R24)

    return parse_policy(stored.decode())


def _internal(name: str) -> tuple[Rule, ...]:
    return _parse(INTERNAL[name].encode())


def names(ctx: Context) -> list[str]:
    """Return the names of the stored policies, sorted; ``root`` is not stored."""
    return sorted(_index(ctx))


def is_known(ctx: Context, name: str) -> bool:
    """Whether a policy of that name is stored."""
    return ctx.read(TEXTS + name) is not None


def not_assignable(name: str) -> bool:
    """Whether a policy is the service's own, which no caller may read, change or ask for."""
    return name in INTERNAL


def check(text: str) -> None:
    """Raise BadRequest for a text that is not a policy, or too long to be read in bounded time."""
    from labkit.vault.policies.language import PolicyError
    from labkit.vault.policies.reader import parse_policy

    if len(text) > MAX_TEXT_CHARACTERS:
        raise BadRequest(
            f"failed to parse policy: a text of {len(text)} characters; a policy has at most {MAX_TEXT_CHARACTERS}"
        )
    try:
        parse_policy(text)
    except PolicyError as error:
        raise BadRequest(f"failed to parse policy: {error}") from None


def read_text(ctx: Context, name: str) -> str | None:
    """Return a policy's text, or None."""
    stored = ctx.full_storage.get(TEXTS + name)
    return None if stored is None else stored.decode()


def write_text(ctx: Context, name: str, text: str) -> None:
    """Store a policy that has been parsed already."""
    index = _index(ctx)
    index[name] = sha256(text.encode()).hexdigest()[:16]
    ctx.full_storage.put(TEXTS + name, text.encode())
    ctx.full_storage.put(INDEX, encode_record(dict(sorted(index.items()))))


def delete(ctx: Context, name: str) -> None:
    """Delete a policy; a missing one is not an error."""
    index = _index(ctx)
    if index.pop(name, None) is not None:
        ctx.full_storage.delete(TEXTS + name)
        ctx.full_storage.put(INDEX, encode_record(index))


def write_default(ctx: Context) -> None:
    """Store the policy that every token has by default."""
    write_text(ctx, "default", DEFAULT_POLICY)


def _index(ctx: Context) -> dict[str, str]:
    stored = ctx.full_storage.get(INDEX)
    index: dict[str, str] = {} if stored is None else decode_record(stored)
    return index
