"""Lease counts: how many leases there may be.

Leases are counted from the tokens themselves, whoever asks for one more.  Batch tokens are none, and are refused with
the rest; root tokens and the service's own wrapping tokens are never refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import TooMany, one_error
from labkit.vault import leases
from labkit.vault.quotas.rules import LeaseCount, place_of, rule_for, rules_in_force

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.token_record import Token

EXCEEDED = "lease count quota exceeded"


def check(ctx: Context, token: Token) -> None:
    """Raise TooMany for one lease more than there may be."""
    rules = rules_in_force(ctx).lease_counts
    if not rules or token.is_root or token.policies == ("response-wrapping",) or ctx.resolved is None:
        return
    rule = rule_for(rules, place_of(ctx))
    if rule is not None and count(ctx, rule) >= rule.max_leases:
        raise TooMany(one_error(EXCEEDED))


def count(ctx: Context, rule: LeaseCount) -> int:
    """Return how many leases there are that a rule is about."""
    namespace, mount, suffix = rule.scope
    start, whole = mount + suffix.removesuffix("*"), not suffix.endswith("*") and bool(suffix)
    total = 0
    for (own, _, path), digests in leases.index_of(ctx).by_path.items():
        inside = own == namespace or (rule.inheritable and not mount and own.startswith(namespace))
        if inside and (path == start if whole else path.startswith(start)):
            total += len(digests)
    return total
