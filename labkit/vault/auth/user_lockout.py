"""User lock-out: who gives wrong credentials too often is refused for a while, whatever comes next.

1. Failures are counted per alias and mount, each within a while of the one before; the one that reaches the threshold
   locks the alias, counted from then on.  Unknown names, missing members and wrong addresses are not counted.
2. Failures of a locked alias are not counted.  A success ends the count; a new password, or a user who is made again,
   does not end a lock.
3. The count is state of the active node (R3): it is not stored, and ends with its leadership.  The lock is stored with
   what the namespace has of its own, and replicated; it is written even when the login is refused (R4).
4. What the mount says is read when a login is judged: 0 means what every mount has that says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS, parse_duration
from labkit.service.errors import BadRequest, Forbidden
from labkit.service.record import NamedTuple
from labkit.vault.identifiers import sha256
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.mounts import Mount

LOCKED = "locked-users/"
DENIED = "permission denied"

THRESHOLD = 5
WHILE_S = 900
MAX_THRESHOLD = 2**64 - 1

MAX_COUNTED = 65_536
"""How many aliases a node counts failures of; those that failed first are forgotten first."""


class LockoutConfig(NamedTuple):
    """What a mount was tuned to, 0 for what every mount has: failures, and lengths in seconds."""

    threshold: int = 0
    duration_s: int = 0
    counter_reset_s: int = 0
    disable: int = 0


class LockedAlias(NamedTuple):
    """A locked alias, and when it failed last, in nanoseconds since the epoch."""

    alias: str
    failed_ns: int


def config_of(mount: Mount | None) -> LockoutConfig:
    """Return what is in force at a mount."""
    chosen = LockoutConfig(*(mount.user_lockout if mount is not None else ()))
    return LockoutConfig(
        chosen.threshold or THRESHOLD, chosen.duration_s or WHILE_S, chosen.counter_reset_s or WHILE_S, chosen.disable
    )


def check(ctx: Context, alias: str) -> None:
    """Raise Forbidden for an alias that is locked now."""
    config = config_of(ctx.mount)
    if config.disable:
        return
    locked = ctx.namespace_storage.decoded(place_of(ctx.mount.accessor, alias), decode_locked)
    if locked is not None and not ctx.is_past(ends_ns(locked, config)):
        report(ctx, "locked_out")
        raise Forbidden(DENIED)


def fail(ctx: Context, alias: str) -> None:
    """Count a failure, and lock the alias with the one that reaches the threshold (rule 1)."""
    config = config_of(ctx.mount)
    if config.disable:
        return
    counted, key = ctx.core.login_failures, _counted_as(ctx, alias)
    count, last_ns = counted.pop(key, (0, 0))
    count = count + 1 if count and not ctx.is_past(last_ns + config.counter_reset_s * SECOND_NS) else 1
    if len(counted) >= MAX_COUNTED:
        del counted[next(iter(counted))]
    counted[key] = (count, ctx.now)
    if count >= config.threshold:
        record = encode_record(LockedAlias(alias, ctx.now))
        ctx.write_even_if_refused(key, ctx.encrypt(key, record))
        ctx.observe("user locked out", mount=ctx.mount.path)


def succeed(ctx: Context, alias: str) -> None:
    """End the count of an alias, and what is left of an old lock."""
    ctx.core.login_failures.pop(_counted_as(ctx, alias), None)
    place = place_of(ctx.mount.accessor, alias)
    if ctx.namespace_storage.get(place) is not None:
        ctx.namespace_storage.delete(place)


def unlock(ctx: Context, accessor: str, alias: str) -> None:
    """End the lock and the count of an alias of a mount; one that is not there is ignored."""
    place = place_of(accessor, alias)
    ctx.core.login_failures.pop(ctx.namespace_storage.prefix + place, None)
    if ctx.namespace_storage.get(place) is not None:
        ctx.namespace_storage.delete(place)


def report(ctx: Context, reason: str) -> None:
    """Say to audit and trace why a login is refused; the answer does not."""
    ctx.audit_reason = reason
    ctx.observe("login refused", mount=ctx.mount.path, reason=reason)


def ends_ns(locked: LockedAlias, config: LockoutConfig) -> int:
    """Return when a lock ends, in nanoseconds since the epoch."""
    return locked.failed_ns + config.duration_s * SECOND_NS


def place_of(accessor: str, alias: str) -> str:
    """Return where a namespace keeps the lock of an alias of a mount."""
    return f"{LOCKED}{accessor}/{sha256(alias.encode()).hexdigest()}"


def decode_locked(stored: bytes) -> LockedAlias:
    """Read the record of a locked alias."""
    return LockedAlias(*decode_record(stored))


def _counted_as(ctx: Context, alias: str) -> str:
    """Return what failures of an alias are counted under: where its lock is stored."""
    return ctx.namespace_storage.prefix + place_of(ctx.mount.accessor, alias)


def tuned(kept: tuple[int, ...], sent: dict[str, Any]) -> tuple[int, ...]:
    """Return a mount's configuration with what is sent of it; raise BadRequest for what cannot be."""
    changes: dict[str, int] = {}
    if sent.get("lockout_threshold") is not None:
        changes["threshold"] = _threshold(sent["lockout_threshold"])
    for name, field in (("lockout_duration", "duration_s"), ("lockout_counter_reset_duration", "counter_reset_s")):
        if sent.get(name) is not None:
            changes[field] = _seconds(sent[name])
    disable = sent.get("lockout_disable")
    if disable is not None:
        if not isinstance(disable, bool):
            raise BadRequest("unable to convert given user lockout config information")
        changes["disable"] = int(disable)
    return tuple(LockoutConfig(*kept)._replace(**changes)) if changes else kept


def _threshold(sent: Any) -> int:
    text = str(sent) if type(sent) is int else sent
    if not isinstance(text, str):
        raise BadRequest("unable to convert given user lockout config information")
    if not (text.isascii() and text.isdigit() and len(text) < 21 and int(text) <= MAX_THRESHOLD):
        raise BadRequest(
            f'unable to parse user lockout threshold: strconv.ParseUint: parsing "{text[:80]}": invalid syntax'
        )
    return int(text)


def _seconds(sent: Any) -> int:
    if sent in ("", "system"):
        return 0
    try:
        nanoseconds = parse_duration(sent)
    except ValueError as error:
        raise BadRequest(str(error)) from None
    if nanoseconds < 0:
        raise BadRequest(f"cannot provide negative value '{sent}'")
    return nanoseconds // SECOND_NS


def described(kept: tuple[int, ...], prefix: str) -> dict[str, Any]:
    """Lay out a mount's configuration; nothing where none was ever set."""
    if not kept:
        return {}
    config = LockoutConfig(*kept)
    return {
        f"{prefix}_counter_reset_duration": config.counter_reset_s,
        f"{prefix}_disable": bool(config.disable),
        f"{prefix}_duration": config.duration_s,
        f"{prefix}_threshold": config.threshold,
    }
