"""Audit devices: ``sys/audit``, and ``sys/audit-hash`` to find a known value in their records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.durations import format_instant
from labkit.service.errors import BadRequest
from labkit.service.routing import Route
from labkit.vault import audit
from labkit.vault.audit import Device, read_devices, write_devices
from labkit.vault.storage.records import encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context

KINDS = ("file",)
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
    if local:
        ctx.warn("local was ignored: devices belong to the cluster")
    chosen = options or {}
    file_path = chosen.get("file_path") or chosen.get("path") or ""
    if not file_path:
        raise BadRequest("file_path is required")
    salt = ctx.entropy(SALT_BYTES).hex()
    device = Device(full, type, description or "", file_path, salt, _switch(chosen, "log_raw"))
    _try(ctx, device)
    write_devices(ctx, (*devices, device))


def _switch(options: dict[str, str], name: str) -> bool:
    try:
        return fields.to_flag(options.get(name, ""))
    except ValueError as error:
        raise BadRequest(f"option {name}: {error}") from None


def _try(ctx: Context, device: Device) -> None:
    """Write the device's first record; one that cannot be written would refuse every request from now on."""
    request = {"id": ctx.request_id, "operation": "update", "path": "sys/audit/test"}
    line = {"time": format_instant(ctx.now), "type": "request", "request": request}
    try:
        ctx.source.append_line(device.file_path, encode_record(line))
    except OSError as error:
        raise BadRequest(f"sanity check failed; unable to open {device.file_path} for writing: {error}") from None


def disable(ctx: Context, path: str) -> None:
    """Disable a device; what it wrote stays."""
    full = path.strip("/") + "/"
    devices = read_devices(ctx)
    left = tuple(device for device in devices if device.path != full)
    if len(left) != len(devices):
        write_devices(ctx, left)


def hash_input(ctx: Context, path: str, input: str | None) -> dict[str, Any]:  # noqa: A002 - the field's own name
    """Return the digest under which a device's records show a value."""
    full = path.strip("/") + "/"
    if not input:
        raise BadRequest('the "input" parameter is empty')
    for device in read_devices(ctx):
        if device.path == full:
            return {"hash": audit.digest(device, input)}
    raise BadRequest(f"unknown audit backend {full!r}")


def _describe(device: Device) -> dict[str, Any]:
    options = {"file_path": device.file_path} | ({"log_raw": "true"} if device.log_raw else {})
    return {
        "path": device.path,
        "type": device.kind,
        "description": device.description,
        "options": options,
        "local": False,
    }


PATH = fields.path("path", "name of the device")
ENABLE_FIELDS = (
    PATH,
    fields.text("type", "kind of the device", choices=KINDS),
    fields.text("description", "what it is for"),
    fields.text_mapping("options", "file_path; log_raw=true writes values as they are"),
    fields.flag("local", "ignored"),
)

ROUTES = (
    Route("read", "audit", list_devices, (), "top_level_data", "sudo"),
    Route("write", "audit/<path>", enable, ENABLE_FIELDS, "sudo"),
    Route("delete", "audit/<path>", disable, (PATH,), "sudo"),
    Route(
        "write", "audit-hash/<path>", hash_input, (PATH, fields.text("input", "the value to hash")), "top_level_data"
    ),
)
