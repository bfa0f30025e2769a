"""Rate limits: how many requests of one client are answered in an interval.

1. Requests are counted per client address, in windows that begin with a client's first request.  A client that sent one
   too many is refused until ``block_interval`` is over, where there is one; one that ends later than that was begun by
   a clock that was ahead, and is over.
2. What was counted is state of the node (R3): it is not stored, shared or replicated, and ends with the process.  It
   counts for the rule as it stands: a changed one begins at nothing.
3. A limit is judged before the token: a refused request costs no use, and is recorded only where that is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS
from labkit.service.errors import TooMany
from labkit.vault.quotas.rules import Quotas, RateLimit, place_of, rule_for, rules_in_force

if TYPE_CHECKING:
    from labkit.vault.context import Context

MAX_CLIENTS = 4_096
"""How many clients a rule counts; those whose window is over are forgotten first, then the oldest."""

Count = tuple[int, int, int, int]
"""When a client's first window began, the number of the present one, its requests, and until when it is refused."""

EXCEEDED = "rate limit quota exceeded"


def check(ctx: Context) -> None:
    """Count a request; raise TooMany for one more than its client may send (rules 1 and 3)."""
    in_force = rules_in_force(ctx)
    rule = rule_for(in_force.rate_limits, place_of(ctx))
    quotas, path = in_force.quotas, ctx.namespace.path + ctx.path
    if rule is None or is_exempt(quotas.exempt, path):
        return
    allowed, headers = _count(ctx, rule)
    if quotas.answers_headers:
        ctx.answer_headers = {**(ctx.answer_headers or {}), **headers}
    if not allowed:
        if not quotas.records_refusals:
            ctx.devices = ()
        raise TooMany(f'request path "{path}": {EXCEEDED}')


def is_exempt(exempt: tuple[str, ...], path: str) -> bool:
    """Whether a path begins with an exempt one; the longest that it begins with counts, and ``!`` makes it none."""
    best, found = -1, False
    for entry in exempt:
        prefix = entry.removeprefix("!")
        if len(prefix) > best and path.startswith(prefix):
            best, found = len(prefix), not entry.startswith("!")
    return found


def _count(ctx: Context, rule: RateLimit) -> tuple[bool, dict[str, str]]:
    """Count a request of a client; return whether it is allowed, and the headers that say so."""
    now, address = ctx.now, ctx.request.remote_address
    clients = _clients(ctx, rule)
    began_ns, window, used, blocked_ns = clients.get(address) or (now, 0, 0, 0)
    if _is_refused(blocked_ns, rule, now):
        return False, {"Retry-After": _seconds(blocked_ns - now)}
    length_ns = rule.interval_s * SECOND_NS
    present = (now - began_ns) // length_ns
    if present != window:
        window, used = present, 0
    allowed, resets_ns = used < rule.requests, began_ns + (window + 1) * length_ns
    if allowed:
        used += 1
    elif rule.block_interval_s:
        blocked_ns = now + rule.block_interval_s * SECOND_NS
    clients[address] = (began_ns, window, used, blocked_ns)
    headers = {
        "X-Ratelimit-Limit": str(rule.requests),
        "X-Ratelimit-Remaining": str(rule.requests - used),
        "X-Ratelimit-Reset": _seconds(resets_ns - now),
    }
    if not allowed:
        headers["Retry-After"] = _seconds((blocked_ns if rule.block_interval_s else resets_ns) - now)
    return allowed, headers


def _is_refused(blocked_ns: int, rule: RateLimit, now: int) -> bool:
    return 0 < blocked_ns - now <= rule.block_interval_s * SECOND_NS


def _seconds(nanoseconds: int) -> str:
    return str(-(-nanoseconds // SECOND_NS))


def _clients(ctx: Context, rule: RateLimit) -> dict[str, Count]:
    """Return what was counted for a rule, by address, with room for one more."""
    counted = ctx.core.rate_counts
    key = (rule.scope.path, *rule[2:])
    known, clients = counted.get(rule.name) or (key, {})
    if known != key:
        clients = {}
    counted[rule.name] = (key, clients)
    if len(clients) >= MAX_CLIENTS and ctx.request.remote_address not in clients:
        _make_room(clients, rule, ctx.now)
    return clients


def _make_room(clients: dict[str, Count], rule: RateLimit, now: int) -> None:
    length_ns = rule.interval_s * SECOND_NS
    for address, (began_ns, window, _, blocked_ns) in list(clients.items()):
        if not _is_refused(blocked_ns, rule, now) and (now - began_ns) // length_ns != window:
            del clients[address]
    if len(clients) >= MAX_CLIENTS:
        del clients[next(iter(clients))]


def drop_unused(counted: dict[str, Any], quotas: Quotas) -> None:
    """Forget what was counted for rules that are deleted."""
    for name in [name for name in counted if all(rule.name != name for rule in quotas.rate_limits)]:
        del counted[name]
