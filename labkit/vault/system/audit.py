"""Audit devices: ``sys/audit``, and ``sys/audit-hash`` to find a known value in their records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest
from labkit.service.routing import Route
from labkit.vault.audit.devices import (
    COMMON,
    DISCARD,
    KINDS,
    Device,
    digest,
    make_device,
    read_devices,
    write_devices,
)
from labkit.vault.audit.formats import to_line
from labkit.vault.audit.records import test_record

if TYPE_CHECKING:
    from labkit.vault.context import Context

SALT_BYTES = 32


def list_devices(ctx: Context) -> dict[str, Any]:
    """List the enabled devices."""
    return {device.path: _describe(device) for device in read_devices(ctx)}


def enable(
    ctx: Context,
    path: str,
    type: str | None,  # noqa: A002 - the field's own name
    description: str | None,
    options: dict[str, str] | None,
    local: bool | None,
) -> None:
    """Enable a device, once a first record could be written to it."""
    full = path.strip("/") + "/"
    if not type:
        raise BadRequest("backend type must be specified as a string")
    if type not in KINDS:
        raise BadRequest(f"unknown backend type: {type!r}; there is {', '.join(KINDS)}")
    devices = read_devices(ctx)
    if any(device.path == full for device in devices):
        raise BadRequest("path already in use")
    chosen = options or {}
    known = {*COMMON, *KINDS[type]}
    if ignored := sorted(set(chosen) - known):
        ctx.warn(f"options that a device of type {type} does not have were ignored: {', '.join(ignored)}")
    pairs = [[name, value] for name, value in sorted(chosen.items()) if name in known]
    device = make_device([full, type, description or "", pairs, ctx.entropy(SALT_BYTES).hex(), bool(local)])
    _check_fallback(devices, device)
    _try(ctx, device)
    write_devices(ctx, (*devices, device))


def _check_fallback(devices: tuple[Device, ...], device: Device) -> None:
    if device.fallback and device.filter is not None:
        raise BadRequest("cannot configure a fallback device with a filter: it has what no filter lets through")
    if device.fallback and any(other.fallback for other in devices):
        raise BadRequest("a fallback device is enabled already; there can be one")


def _try(ctx: Context, device: Device) -> None:
    """Write the device's first record; one that cannot be written would refuse every request from now on."""
    if device.sink == DISCARD:
        return
    try:
        ctx.source.append_line(device.sink, to_line(device, test_record(ctx, "sys/audit/test")))
    except OSError as error:
        raise BadRequest(f"sanity check failed; unable to open {device.sink} for writing: {error}") from None


def disable(ctx: Context, path: str) -> None:
    """Disable a device; what it wrote stays."""
    full = path.strip("/") + "/"
    devices = read_devices(ctx)
    left = tuple([device for device in devices if device.path != full])
    if len(left) != len(devices):
        write_devices(ctx, left)


def hash_input(ctx: Context, path: str, input: str | None) -> dict[str, Any]:  # noqa: A002 - the field's own name
    """Return the digest under which a device's records show a value."""
    full = path.strip("/") + "/"
    if not input:
        raise BadRequest('the "input" parameter is empty')
    for device in read_devices(ctx):
        if device.path == full:
            return {"hash": digest(device, input)}
    raise BadRequest(f"unknown audit backend {full!r}")


def _describe(device: Device) -> dict[str, Any]:
    return {
        "path": device.path,
        "type": device.kind,
        "description": device.description,
        "options": dict(device.options),
        "local": device.local,
    }


PATH = fields.path("path", "name of the device")
ENABLE_FIELDS = (
    PATH,
    fields.text("type", "kind of the device", choices=tuple(KINDS)),
    fields.text("description", "what it is for"),
    fields.text_mapping(
        "options",
        "file: file_path, mode; socket: address, socket_type, write_timeout; syslog: facility, tag; each: "
        "format, prefix, log_raw, hmac_accessor, elide_list_responses, filter, fallback",
    ),
    fields.flag("local", "whether it belongs to this cluster and its disaster-recovery secondaries only"),
)

ROUTES = (
    Route("read", "audit", list_devices, (), "top_level_data", "sudo"),
    Route("write", "audit/<path>", enable, ENABLE_FIELDS, "sudo"),
    Route("delete", "audit/<path>", disable, (PATH,), "sudo"),
    Route(
        "write", "audit-hash/<path>", hash_input, (PATH, fields.text("input", "the value to hash")), "top_level_data"
    ),
)
