"""Token fields: what a role of any auth method says of the tokens that it gives (spec, Shared token fields).

A field that was written by its old name is shown under both, until it is written by the new one only; the new name
wins where both are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.durations import format_short
from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.vault.auth.lifetime import TtlLimits, mount_limits

if TYPE_CHECKING:
    from labkit.vault.mounts import Mount

DEFAULT_TYPE = "default"
TYPES = (DEFAULT_TYPE, "service", "batch")

OLD_NAMES = {
    "policies": "token_policies",
    "ttl": "token_ttl",
    "max_ttl": "token_max_ttl",
    "period": "token_period",
    "num_uses": "token_num_uses",
}
"""The spelling of peers (decision A8), and the one deprecated by the API itself, ``policies``."""


class TokenFields(NamedTuple):
    """What a role says of its tokens; lengths in seconds, 0 for none."""

    token_ttl: int = 0
    token_max_ttl: int = 0
    token_policies: tuple[str, ...] = ()
    token_bound_cidrs: tuple[str, ...] = ()
    token_explicit_max_ttl: int = 0
    token_no_default_policy: bool = False
    token_num_uses: int = 0
    token_period: int = 0
    token_type: str = DEFAULT_TYPE


EXPLICIT_MAX_TTL = fields.duration("token_explicit_max_ttl", "longest life of a token, whatever a renewal allows")
PERIOD = fields.duration("token_period", "what a renewal sets a token's life to")
BOUND_CIDRS = fields.comma_list("token_bound_cidrs", "blocks of addresses that a token may be used from")
NO_DEFAULT_POLICY = fields.flag("token_no_default_policy", "whether the policy default is left out")
NUM_USES = fields.integer("token_num_uses", "how often a token may be used; 0 is without limit")

TTL = fields.duration("token_ttl", "how long a token lives, and again after a renewal")
MAX_TTL = fields.duration("token_max_ttl", "longest life of a token, with all renewals")
POLICIES = fields.comma_list("token_policies", "policies of the tokens")

FIELDS = (
    TTL,
    MAX_TTL,
    POLICIES,
    BOUND_CIDRS,
    EXPLICIT_MAX_TTL,
    NO_DEFAULT_POLICY,
    NUM_USES,
    PERIOD,
    fields.text("token_type", "kind of the tokens; default is the mount's", choices=TYPES),
)

OLD_POLICIES = fields.comma_list("policies", "deprecated name of token_policies")
OLD_TTL = fields.duration("ttl", "token_ttl, as peers call it")
OLD_MAX_TTL = fields.duration("max_ttl", "token_max_ttl, as peers call it")
OLD_PERIOD = fields.duration("period", "token_period, as peers call it")
OLD_NUM_USES = fields.integer("num_uses", "token_num_uses, as peers call it")
OLD_BOUND_CIDRS = fields.comma_list("bound_cidrs", "token_bound_cidrs, as peers call it")

OLD_FIELDS = (OLD_POLICIES, OLD_TTL, OLD_MAX_TTL, OLD_PERIOD, OLD_NUM_USES)
"""The fields of ``OLD_NAMES``."""


def settle_old_names(sent: dict[str, Any], names: Mapping[str, str], kept: tuple[str, ...]) -> tuple[str, ...]:
    """Put the new names in place of the old ones that were sent; return the old names that the role shows from now on.

    ``kept`` are those that it showed; one ends when its field is written by the new name only.  Policies that come by
    their old name are cleaned, as at the paths of policies.
    """
    shown = dict.fromkeys(kept)
    for old, name in names.items():
        value = sent.pop(old, None)
        if value is not None:
            sent.setdefault(name, cleaned(value) if name == "token_policies" else value)
            shown[old] = None
        elif name in sent:
            shown.pop(old, None)
    return tuple(sorted(shown))


def role_limits(mount: Mount, given: TokenFields) -> TtlLimits:
    """Return what limits a renewed token: its mount, and its role as it is now (an explicit maximum is the token's)."""
    return mount_limits(mount, ttl_s=given.token_ttl, max_ttl_s=given.token_max_ttl, period_s=given.token_period)


def check(chosen: TokenFields, mount: TtlLimits, warn: Callable[[str], None]) -> None:
    """Raise BadRequest for what no token of a mount can keep; warn of a longest life that the mount cuts."""
    check_members(chosen)
    longest = format_short(mount.mount_max_s)
    if chosen.token_period > mount.mount_max_s:
        raise BadRequest(
            f"'token_period' of \"{format_short(chosen.token_period)}\" is longer than the mount's maximum of "
            f'"{longest}"'
        )
    check_blocks(chosen.token_bound_cidrs)
    if chosen.token_max_ttl > mount.mount_max_s:
        warn(
            f'token_max_ttl of "{format_short(chosen.token_max_ttl)}" is longer than the mount\'s maximum of '
            f'"{longest}": tokens end at that'
        )


def check_members(chosen: TokenFields) -> None:
    """Raise BadRequest for what no token can keep, whatever its mount says; addresses are not judged."""
    if chosen.token_num_uses < 0:
        raise BadRequest("'token_num_uses' cannot be negative")
    if chosen.token_type not in TYPES:
        raise BadRequest(f"invalid 'token_type' value \"{chosen.token_type}\"; expected one of {', '.join(TYPES)}")
    if chosen.token_ttl > chosen.token_max_ttl > 0:
        raise BadRequest("'token_ttl' cannot be greater than 'token_max_ttl'")
    no_batch = "'token_type' cannot be 'batch' or 'default_batch' when set to generate"
    if chosen.token_type == "batch" and chosen.token_period:
        raise BadRequest(f"{no_batch} periodic tokens")
    if chosen.token_type == "batch" and chosen.token_num_uses:
        raise BadRequest(f"{no_batch} tokens with limited use count")


def shown_members(record: TokenFields, old_names: tuple[str, ...], names: Mapping[str, str]) -> dict[str, Any]:
    """Return what a role shows of its tokens: every field, and under their old names those that say anything."""
    shown: dict[str, Any] = {name: as_list(value) for name, value in zip(record._fields, record, strict=True)}
    return shown | {old: shown[names[old]] for old in old_names if shown[names[old]]}


def as_list(value: Any) -> Any:
    """Return a tuple as a list, and any other value as it is."""
    return list(value) if isinstance(value, tuple) else value


def as_tuple(value: Any) -> Any:
    """Return a list as a tuple, and any other value as it is."""
    return tuple(value) if isinstance(value, list) else value


def cleaned(names: list[str] | tuple[str, ...], *, default: bool = False) -> tuple[str, ...]:
    """Return policy names in lower case, sorted, each once; ``root`` replaces the rest."""
    found = {name.strip().lower() for name in names} - {""}
    if "root" in found:
        return ("root",)
    if default:
        found.add("default")
    return tuple(sorted(found))


def check_blocks(blocks: tuple[str, ...]) -> None:
    """Raise BadRequest for a text that is not a block of addresses."""
    if not blocks:
        return
    from ipaddress import ip_network

    for block in blocks:
        try:
            ip_network(block, strict=False)
        except ValueError:
            raise BadRequest(
                f'error parsing bound CIDRs: "{block}" is neither an address nor a block like 10.0.0.0/8'
            ) from None
