"""How long a token lives: the rules that creation, login and renewal share (spec, Shared token fields).

1. The effective maximum is the smallest of the mount's, the role's and the token's explicit one.
2. A periodic token gets its period again at each renewal; only an explicit maximum ends it.
3. Any other token gets what was asked for, else the role's time, else the mount's default, and never lives beyond its
   issue plus the effective maximum.
4. What is cut short is reported in a warning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.service.durations import SECOND_NS, format_short, parse_duration
from labkit.service.errors import BadRequest
from labkit.vault.tokens import SYSTEM_TTL_S

if TYPE_CHECKING:
    from labkit.vault.mounts import Mount


PAST_THE_MAX = "past the max TTL, cannot renew"


class TtlLimits(NamedTuple):
    """What limits a token's life, in seconds, 0 for none; the mount's two are never 0."""

    mount_default_s: int = SYSTEM_TTL_S
    mount_max_s: int = SYSTEM_TTL_S
    ttl_s: int = 0
    max_ttl_s: int = 0
    explicit_max_ttl_s: int = 0
    period_s: int = 0


def mount_limits(
    mount: Mount, ttl_s: int = 0, max_ttl_s: int = 0, explicit_max_ttl_s: int = 0, period_s: int = 0
) -> TtlLimits:
    """Return what limits a token that comes from a mount: what the mount says, else the system, and further limits."""
    max_s = mount.max_lease_ttl_s or SYSTEM_TTL_S
    default_s = mount.default_lease_ttl_s or SYSTEM_TTL_S
    return TtlLimits(default_s if default_s < max_s else max_s, max_s, ttl_s, max_ttl_s, explicit_max_ttl_s, period_s)


def no_role(name: str) -> BadRequest:
    """Return the refusal to renew a token whose role was deleted."""
    return BadRequest(f'original token role "{name}" could not be found, not renewing')


def grant_s(limits: TtlLimits, asked_s: int, age_ns: int, warn: Callable[[str], None]) -> int:
    """Return how many seconds a token gets from now on; ``age_ns`` is the time since its issue, 0 for a new one.

    Raises BadRequest when its longest possible life is over already.
    """
    default_s, max_ttl_s, ttl_s, roles_max_s, explicit_s, period_s = limits
    if roles_max_s and roles_max_s < max_ttl_s:
        max_ttl_s = roles_max_s
    if explicit_s and explicit_s < max_ttl_s:
        max_ttl_s = explicit_s
    if not period_s:
        granted_s = asked_s or ttl_s or default_s
        if not age_ns and granted_s <= max_ttl_s:
            return granted_s
        return _cut(granted_s, max_ttl_s, age_ns, warn)
    granted_s = period_s
    if granted_s > max_ttl_s:
        warn(
            f'period of "{format_short(granted_s)}" exceeded the effective max_ttl of "{format_short(max_ttl_s)}"; '
            "period value is capped accordingly"
        )
        granted_s = max_ttl_s
    return _cut(granted_s, explicit_s, age_ns, warn) if explicit_s else granted_s


def _cut(granted_s: int, max_ttl_s: int, age_ns: int, warn: Callable[[str], None]) -> int:
    left_s = (max_ttl_s * SECOND_NS - age_ns) // SECOND_NS
    if left_s <= 0:
        raise BadRequest(PAST_THE_MAX)
    if granted_s <= left_s:
        return granted_s
    warn(
        f'TTL of "{format_short(granted_s)}" exceeded the effective max_ttl of "{format_short(left_s)}"; '
        "TTL value is capped accordingly"
    )
    return left_s


def asked_seconds(value: Any, field: str) -> int:
    """Read a duration as whole seconds, 0 when it was not sent; raise BadRequest for garbage or a negative one."""
    if value is None or (not value and not isinstance(value, (dict, list))):
        return 0
    try:
        nanoseconds = parse_duration(value)
    except ValueError as error:
        raise BadRequest(str(error)) from None
    if nanoseconds < 0:
        raise BadRequest(f"{field} must be positive")
    return nanoseconds // SECOND_NS
