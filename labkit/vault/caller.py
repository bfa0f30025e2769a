"""Caller: who makes a request, as its token says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.record import NamedTuple
from labkit.vault.mounts import ROOT

if TYPE_CHECKING:
    from labkit.vault.mounts import Namespace
    from labkit.vault.policies.access_list import Access
    from labkit.vault.token_record import Token


class Caller(NamedTuple):
    """The caller: its token's record, the hash it is stored under, what its policies allow, and its namespace."""

    token: Token
    digest: str
    acl: Access
    namespace: Namespace = ROOT

    def __repr__(self) -> str:
        return f"Caller({self.token.display_name})"
