"""Stored policies of each namespace: their texts, and compiled access lists.

A policy has one record: its text, stored by name.  A compiled access list is valid while the stored texts are the same
objects, which are looked at once the store counted a deciding write (R21).
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

from labkit.service.errors import BadRequest
from labkit.vault.mounts import ROOT, Namespace
from labkit.vault.policies import DEFAULT_POLICY, ROOT_ACCESS, ROOT_ONLY, WRAPPING_POLICY
from labkit.vault.storage.storage_view import StorageView

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.policies.access_list import Access
    from labkit.vault.policies.rules import Rule

TEXTS = "policy/text/"
OLD_INDEX = "policy/index"
"""Where earlier versions kept the names once more: nobody reads it, and the first change of a policy deletes it."""

MAX_CACHED_ACLS = 256
MAX_TEXT_CHARACTERS = 262_144

INTERNAL = {"response-wrapping": WRAPPING_POLICY}
"""Policies that are not stored or listed, and that no caller writes or gives to a token."""


def acl_for(ctx: Context, names: tuple[str, ...], namespace: Namespace = ROOT) -> Access:
    """Return what a token with these policies of a namespace may do, compiled once for as long as none changes.

    In a step that has writes the texts are compared each time, and nothing is kept: what such a step sees is what is
    stored at no other time.
    """
    storage = StorageView(ctx, namespace.prefix)
    if ctx.is_taped:
        return _compiled(storage, names)
    cached_lists, key = ctx.core.caches.access_lists, (namespace.id, *names)
    cached, as_of = cached_lists.get(key), ctx.core.storage.deciding_writes
    if cached is not None and cached[0] == as_of and not ctx.writes:
        known: Access = cached[2]
        return known
    texts = tuple([ctx.read(f"{namespace.prefix}{TEXTS}{name}") for name in names])
    same = cached is not None and all(map(is_, texts, cached[1]))
    acl: Access = cached[2] if cached is not None and same else _compiled(storage, names)
    if ctx.writes:
        return acl
    if len(cached_lists) >= MAX_CACHED_ACLS and key not in cached_lists:
        cached_lists.clear()
    cached_lists[key] = (as_of, texts, acl)
    return acl


def _compiled(storage: StorageView, names: tuple[str, ...]) -> Access:
    if names == ROOT_ONLY:
        return ROOT_ACCESS
    from labkit.vault.policies.access_list import Acl  # root needs no rules (R24)

    return Acl(_rules(storage, names))


def _rules(storage: StorageView, names: tuple[str, ...]) -> list[tuple[Rule, ...]]:
    policies = (_internal(name) if name in INTERNAL else storage.decoded(TEXTS + name, _parse) for name in names)
    return [rules for rules in policies if rules is not None]


def _parse(stored: bytes) -> tuple[Rule, ...]:
    from labkit.vault.policies.policy_text import parse_policy  # a root token needs no policy (R24)

    return parse_policy(stored.decode())


def _internal(name: str) -> tuple[Rule, ...]:
    return _parse(INTERNAL[name].encode())


def names(ctx: Context) -> list[str]:
    """Return the names of the stored policies, sorted; ``root`` is not stored."""
    return sorted(ctx.namespace_storage.folder(TEXTS).keys())


def is_known(ctx: Context, name: str) -> bool:
    """Whether a policy of that name is stored."""
    return ctx.read(ctx.namespace.prefix + TEXTS + name) is not None


def unknown(ctx: Context, names: tuple[str, ...]) -> list[str]:
    """Return those of some names of which no policy is stored; ``root`` needs none."""
    folder, read = ctx.namespace.prefix + TEXTS, ctx.read if ctx.writes else ctx.source.read
    return [name for name in names if name != "root" and read(folder + name) is None]


def not_assignable(name: str) -> bool:
    """Whether a policy is the service's own, which no caller may change or ask for."""
    return name in INTERNAL


def own_text(name: str) -> str | None:
    """Return the text of a policy of the service's own, which is stored nowhere, or None."""
    return INTERNAL.get(name)


def check(text: str) -> None:
    """Raise BadRequest for a text that is not a policy, or too long to be read in bounded time."""
    from labkit.vault.policies.blocks import PolicyError
    from labkit.vault.policies.policy_text import parse_policy

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
    stored = ctx.namespace_storage.get(TEXTS + name)
    return None if stored is None else stored.decode()


def write_text(ctx: Context, name: str, text: str) -> None:
    """Store a policy that has been parsed already."""
    _put(ctx.namespace_storage, name, text)
    _drop_index(ctx)


def delete(ctx: Context, name: str) -> None:
    """Delete a policy; a missing one is not an error."""
    if is_known(ctx, name):
        ctx.namespace_storage.delete(TEXTS + name)
        _drop_index(ctx)


def write_default(storage: StorageView) -> None:
    """Store the policy that every token has by default, in the storage of a namespace that has no policy yet."""
    _put(storage, "default", DEFAULT_POLICY)


def _put(storage: StorageView, name: str, text: str) -> None:
    storage.put(TEXTS + name, text.encode())


def _drop_index(ctx: Context) -> None:
    """Delete what an earlier version kept beside the texts; whether it opens does not matter."""
    key = ctx.namespace.prefix + OLD_INDEX
    if ctx.read(key) is not None:
        ctx.write(key, None)
