"""Surviving tokens: which tokens that were valid at an old primary are valid at the cluster that took over.

1. Both stores are looked at once, at the promotion, by the survivor's keys and clock: what an old primary that goes on
   revokes or issues later is not seen.
2. Valid is a stored token that has not expired and has uses left.  A record that does not open is not valid.
3. Batch tokens are stored nowhere: they stay valid wherever the keys and the token that they come from are.
4. Tokens are all that has a lease here.
"""

from __future__ import annotations

from typing import NamedTuple

from labkit.vault.core import Core
from labkit.vault.storage import Storage
from labkit.vault.storage.barrier import BarrierError
from labkit.vault.token_record import IDS, decode_token


class TokenSurvival(NamedTuple):
    """What became of tokens at one promotion: how many were valid before, and are valid at the survivor.

    ``lost`` were valid at the old primary only.  ``valid_again`` are valid at the survivor only: the old primary had
    ended them, and that had not arrived.
    """

    at_ns: int
    survivor: str
    old_primary: str
    planned: bool
    valid_before: int
    survived: int
    lost: int
    valid_again: int


def survival(valid_before: frozenset[str], valid_after: frozenset[str]) -> tuple[int, int, int, int]:
    """Return how many tokens were valid before, survived, were lost, and are valid again."""
    survived = len(valid_before & valid_after)
    return len(valid_before), survived, len(valid_before) - survived, len(valid_after) - survived


def valid_tokens(store: Storage, core: Core) -> frozenset[str]:
    """Return the stored names of the tokens that a store holds and that are valid by a node's keys and clock."""
    now_ns = core.now()
    return frozenset(name for name in store.list(IDS) if _is_valid(store.get(IDS + name), IDS + name, core, now_ns))


def _is_valid(stored: bytes | None, key: str, core: Core, now_ns: int) -> bool:
    if stored is None:
        return False
    try:
        token = decode_token(core.keys.decrypt(key, stored))
    except (BarrierError, ValueError, LookupError, TypeError):
        return False
    return token.uses >= 0 and (not token.expires_ns or now_ns < token.expires_ns)
