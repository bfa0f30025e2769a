"""Surviving tokens and leases: which tokens that were valid at an old primary are valid at the cluster that took over.

1. Both stores are looked at once, at the promotion, by the survivor's keys and clock: what an old primary that goes on
   revokes or issues later is not seen.
2. Valid is a stored token that has not expired and has uses left.  A record that does not open is not valid.
3. Batch tokens are stored nowhere: they stay valid wherever the keys and the token that they come from are.
4. What has a lease here is a token that has an end: a lease survives with its token.
"""

from __future__ import annotations

from typing import NamedTuple

from labkit.vault.core import Core
from labkit.vault.storage import Storage
from labkit.vault.storage.barrier import BarrierError
from labkit.vault.token_record import IDS, Token, decode_token


class TokenSurvival(NamedTuple):
    """What became of tokens at one promotion: how many were valid before, and are valid at the survivor.

    ``lost`` were valid at the old primary only.  ``valid_again`` are valid at the survivor only: the old primary had
    ended them, and that had not arrived.  ``leases_before`` and ``leases_survived`` count those that have an end.
    """

    at_ns: int
    survivor: str
    old_primary: str
    planned: bool
    valid_before: int
    survived: int
    lost: int
    valid_again: int
    leases_before: int
    leases_survived: int


Valid = dict[str, bool]
"""Valid tokens by their stored names, and whether each has a lease."""

Counts = tuple[int, int, int, int, int, int]


def survival(before: Valid, after: Valid) -> Counts:
    """Return how many tokens were valid before, survived, were lost, and are valid again; and the leases."""
    survived = before.keys() & after.keys()
    leases = sum(before.values()), sum(before[name] for name in survived)
    return len(before), len(survived), len(before) - len(survived), len(after) - len(survived), *leases


def valid_tokens(store: Storage, core: Core) -> Valid:
    """Return the tokens that a store holds and that are valid by a node's keys and clock."""
    now_ns = core.now()
    found = ((name, _valid(store.get(IDS + name), IDS + name, core, now_ns)) for name in store.list(IDS))
    return {name: bool(token.expires_ns) for name, token in found if token is not None}


def _valid(stored: bytes | None, key: str, core: Core, now_ns: int) -> Token | None:
    if stored is None:
        return None
    try:
        token = decode_token(core.keys.decrypt(key, stored))
    except (BarrierError, ValueError, LookupError, TypeError):
        return None
    return token if token.uses >= 0 and (not token.expires_ns or now_ns < token.expires_ns) else None
