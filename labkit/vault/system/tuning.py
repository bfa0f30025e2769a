"""Changing a mount's settings: ``sys/mounts/<path>/tune`` and ``sys/auth/<path>/tune``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.durations import SECOND_NS, parse_duration
from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault.auth import user_lockout
from labkit.vault.mounts import CATALOGUE, Mount, read_table, write_table
from labkit.vault.storage.storage_view import StorageView
from labkit.vault.system.mounted import AUTH, PATH, exempt_keys, find_mount
from labkit.vault.tokens import SYSTEM_TTL_S

if TYPE_CHECKING:
    from labkit.vault.context import Context


TOKEN_TYPES = ("service", "batch", "default-service", "default-batch")
VISIBILITIES = ("", "hidden", "unauth")

NOT_HERE = (
    "passthrough_request_headers",
    "allowed_response_headers",
    "force_no_cache",
)
"""Settings of the API that this service does not have: they are ignored with a warning."""

UPGRADED = (
    "Upgrading mount from version 1 to version 2. This mount will be unavailable for a brief period and will resume "
    "service shortly."
)


class TuningRequest(NamedTuple):
    """The settings that a request changes; None leaves one as it is."""

    path: str
    default_lease_ttl: Any
    max_lease_ttl: Any
    description: str | None
    options: dict[str, str] | None
    listing_visibility: str | None
    token_type: str | None
    audit_non_hmac_request_keys: list[str] | None
    audit_non_hmac_response_keys: list[str] | None
    user_lockout_config: dict[str, Any] | None


def read_tuning(ctx: Context, path: str) -> dict[str, Any]:
    """Read a mount's settings, those in force where it has none of its own."""
    mount = find_mount(ctx, path)
    data: dict[str, Any] = {
        "default_lease_ttl": mount.default_lease_ttl_s or SYSTEM_TTL_S,
        "description": mount.description,
        "force_no_cache": False,
        "max_lease_ttl": mount.max_lease_ttl_s or SYSTEM_TTL_S,
    }
    if mount.options:
        data["options"] = dict(mount.options)
    if mount.path.startswith(AUTH):
        data["token_type"] = mount.token_type
    if mount.listing_visibility:
        data["listing_visibility"] = mount.listing_visibility
    return data | exempt_keys(mount) | user_lockout.described(mount.user_lockout, "user_lockout")


def write_tuning(ctx: Context, asked: TuningRequest) -> None:
    """Change the settings that are sent."""
    mount = find_mount(ctx, asked.path)
    if mount.kind == "system":
        raise BadRequest(f'tune of path "{mount.path}" not permitted')
    sent = {
        "default_lease_ttl": asked.default_lease_ttl,
        "max_lease_ttl": asked.max_lease_ttl,
        "listing_visibility": asked.listing_visibility,
        "token_type": asked.token_type,
        "audit_non_hmac_request_keys": asked.audit_non_hmac_request_keys,
        "audit_non_hmac_response_keys": asked.audit_non_hmac_response_keys,
    }
    changed = configured(mount, sent)
    warn_of_ignored(ctx, ctx.body)
    if asked.user_lockout_config:
        changed = _with_lockout(changed, asked.user_lockout_config)
    if asked.description is not None:
        changed = changed._replace(description=asked.description)
    if asked.options:
        changed = _with_options(ctx, changed, asked.options)
    write_table(ctx.namespace_storage, read_table(ctx.namespace_storage).with_mount(changed))


def _with_lockout(mount: Mount, config: dict[str, Any]) -> Mount:
    """Return a mount with the lock-out of users as it is sent; raise BadRequest for a kind that locks nobody out."""
    if not CATALOGUE[mount.kind, mount.version].locks_out:
        raise BadRequest(f'tuning of user lockout configuration for auth type "{mount.shown_kind}" not allowed')
    return mount._replace(user_lockout=user_lockout.tuned(mount.user_lockout, config))


def configured(mount: Mount, config: dict[str, Any]) -> Mount:
    """Return a mount with settings as they are sent; raise BadRequest for those that cannot be."""
    if config.get("user_lockout_config"):
        raise BadRequest("unable to convert given auth config information: tune user_lockout_config once it is enabled")
    default_s = _seconds(config.get("default_lease_ttl"), mount.default_lease_ttl_s)
    max_s = _seconds(config.get("max_lease_ttl"), mount.max_lease_ttl_s)
    if default_s and default_s > (max_s or SYSTEM_TTL_S):
        raise BadRequest(
            f"backend max lease TTL of {max_s or SYSTEM_TTL_S} would be less than backend default lease TTL of "
            f"{default_s}"
        )
    visibility = config.get("listing_visibility")
    if visibility is not None and visibility not in VISIBILITIES:
        raise BadRequest(f"invalid listing_visibility {visibility}")
    token_type = config.get("token_type")
    if token_type or (token_type == "" and not mount.path.startswith(AUTH)):
        _check_token_type(mount, token_type)
    return mount._replace(
        default_lease_ttl_s=default_s,
        max_lease_ttl_s=max_s,
        listing_visibility=mount.listing_visibility if visibility is None else visibility,
        token_type=token_type or mount.token_type,
        audit_non_hmac_request_keys=_keys(config, "audit_non_hmac_request_keys", mount.audit_non_hmac_request_keys),
        audit_non_hmac_response_keys=_keys(config, "audit_non_hmac_response_keys", mount.audit_non_hmac_response_keys),
    )


def _keys(config: dict[str, Any], name: str, kept: tuple[str, ...]) -> tuple[str, ...]:
    """Read names of members as sent; what is not sent stays."""
    sent = config.get(name)
    if sent is None:
        return kept
    try:
        return tuple(fields.to_comma_list(sent))
    except ValueError as error:
        raise BadRequest(f"{name}: {error}") from None


def warn_of_ignored(ctx: Context, sent: dict[str, Any]) -> None:
    """Warn of settings that were sent and have no effect here."""
    for name in NOT_HERE:
        if sent.get(name):
            ctx.warn(f"{name} was ignored: this service has no such setting")


def _seconds(sent: Any, kept_s: int) -> int:
    """Read a length as sent: ``system`` and an empty text mean the system's, what is not sent stays."""
    if sent is None:
        return kept_s
    if sent in ("", "system"):
        return 0
    try:
        nanoseconds = parse_duration(sent)
    except ValueError as error:
        raise BadRequest(str(error)) from None
    if nanoseconds < 0:
        raise BadRequest(f"cannot provide negative value '{sent}'")
    return nanoseconds // SECOND_NS


def _check_token_type(mount: Mount, token_type: Any) -> None:
    if not mount.path.startswith(AUTH):
        raise BadRequest("'token_type' can only be modified on auth mounts")
    if mount.kind == "token":
        raise BadRequest("'token_type' cannot be set for 'token' or 'ns_token' auth mounts")
    if token_type not in TOKEN_TYPES:
        raise BadRequest(f"invalid value for 'token_type': {token_type}")


def _with_options(ctx: Context, mount: Mount, options: dict[str, str]) -> Mount:
    """Merge options into a mount's: an empty value removes one; a new version of kv upgrades its data."""
    wanted = options.get("version")
    if wanted and mount.kind != "kv":
        raise BadRequest(f'secrets engine "{mount.kind}" does not allow setting a version')
    merged = {**dict(mount.options), **options}
    if not merged.get("version"):
        merged["version"] = dict(mount.options).get("version", "")
    left = tuple(sorted((name, value) for name, value in merged.items() if value))
    if wanted and wanted != mount.version:
        _upgrade(ctx, mount, wanted)
    return mount._replace(options=left)


def _upgrade(ctx: Context, mount: Mount, wanted: str) -> None:
    if mount.version == "2":
        raise BadRequest("cannot downgrade mount from version 2")
    if wanted != "2":
        raise BadRequest(f'kv has no version "{wanted}"; versions are 1 and 2')
    from labkit.vault.engines.kv.upgrade import upgrade

    upgrade(StorageView(ctx, mount.prefix), ctx.now)
    ctx.warn(UPGRADED)


FIELDS = (
    fields.anything("default_lease_ttl", "how long tokens and leases live when no other time is requested; or system"),
    fields.anything("max_lease_ttl", "how long they live at most; or system"),
    fields.text("description", "what the mount is for"),
    fields.text_mapping("options", "options to merge; an empty value removes one"),
    fields.text("listing_visibility", "unauth shows the mount to callers without a token", choices=VISIBILITIES),
    fields.text("token_type", "kind of tokens that logins give", choices=TOKEN_TYPES),
    fields.comma_list("audit_non_hmac_request_keys", "members of requests that audit records show in the clear"),
    fields.comma_list("audit_non_hmac_response_keys", "members of responses that audit records show in the clear"),
    fields.mapping(
        "user_lockout_config", "lockout_threshold, lockout_duration, lockout_counter_reset_duration, …_disable"
    ),
)

ROUTES = (
    Route("read", "mounts/<path>/tune", read_tuning, (PATH,), "top_level_data"),
    Route("write", "mounts/<path>/tune", write_tuning, Form(TuningRequest, (PATH, *FIELDS))),
    Route("read", "auth/<path>/tune", read_tuning, (PATH,), "top_level_data", "sudo"),
    Route("write", "auth/<path>/tune", write_tuning, Form(TuningRequest, (PATH, *FIELDS)), "sudo"),
)
