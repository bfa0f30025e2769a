"""Audit: a record of each request and one of its response, written before the answer leaves.

1. A device of type ``file`` appends lines to one of the node's simulated files.
2. In the data of request and response every text value is written as ``hmac-sha256:`` and its HMAC under the device's
   salt, and so is the token's accessor: a known value can be searched for, and none can be read.  A device with
   ``log_raw`` writes data as it is.  Paths, policies, display names and addresses are always in the clear.
3. The devices of a request's first record have its second one too, also where the request disables one, seals the
   node or joins a replication set.
4. A request is refused when every device fails to record it; while one device works, it goes on.
5. The paths in ``UNRECORDED`` have no records.  A request refused before its handler is called has only the response's;
   one refused before its route is known has both, without its data, which may be neither JSON nor text (decision C13).
6. Errors are in the clear, but a text value of the request that one repeats is written as its digest there too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.durations import format_instant
from labkit.service.errors import Internal, one_error
from labkit.service.record import NamedTuple
from labkit.service.request_path import readable
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.service.message import Response
    from labkit.vault.context import Context

DEVICES = "core/audit"

# Status endpoints, which are polled often.
UNRECORDED = ("sys/health", "sys/seal-status", "sys/leader", "sys/replication/dr/status", "sys/replication/status")


MIN_HIDDEN_CHARACTERS = 4  # shorter values are parts of any sentence
MAX_ECHO_CHARACTERS = 200  # errors cut longer values off
MAX_ERROR_CHARACTERS = 4_096


class Device(NamedTuple):
    """An enabled audit device; ``path`` ends in ``/``, ``file_path`` names one of the node's simulated files."""

    path: str
    kind: str
    description: str
    file_path: str
    salt: str
    log_raw: bool = False

    def __repr__(self) -> str:
        return f"Device({self.path})"


def decode_devices(stored: bytes) -> tuple[Device, ...]:
    """Read the stored list of devices."""
    return tuple(Device(*row) for row in decode_record(stored))


def read_devices(ctx: Context) -> tuple[Device, ...]:
    """Return the enabled devices, sorted by path."""
    return ctx.full_storage.decoded(DEVICES, decode_devices) or ()


def write_devices(ctx: Context, devices: tuple[Device, ...]) -> None:
    """Store the list of devices when the step commits."""
    ctx.full_storage.put(DEVICES, encode_record([list(device) for device in sorted(devices)]))


def digest(device: Device, text: str) -> str:
    """Return the keyed digest that stands for a text in the device's records."""
    import hmac  # it loads OpenSSL again, and most vaults have no device

    return "hmac-sha256:" + hmac.digest(bytes.fromhex(device.salt), text.encode(), "sha256").hex()


def record_request(ctx: Context) -> None:
    """Write the request's record to every device."""
    _record(ctx, "request", None)


def record_response(ctx: Context, response: Response) -> None:
    """Write the response's record to every device."""
    _record(ctx, "response", response)


def record_refusal(ctx: Context, response: Response) -> None:
    """Write the response's record of a refused request, and the request's where its route is not known (rule 5)."""
    if ctx.resolved is None and not ctx.keys.sealed:
        ctx.path, ctx.operation = readable(ctx.request.path), "unknown"
        _record(ctx, "request", None)
    _record(ctx, "response", response)


def _record(ctx: Context, kind: str, response: Response | None) -> None:
    if ctx.devices is None:
        unrecorded = ctx.keys.sealed or ctx.path in UNRECORDED or ctx.source.read(DEVICES) is None
        ctx.devices = () if unrecorded else read_devices(ctx)
    failed: list[str] = []
    for device in ctx.devices:
        line = {"time": format_instant(ctx.now), "type": kind, **_members(ctx, device, response)}
        try:
            ctx.source.append_line(device.file_path, encode_record(line))
        except OSError as error:
            failed.append(f"audit device {device.path} failed: {error}")
            ctx.observe("audit device failed", device=device.path)
    if failed and len(failed) == len(ctx.devices):
        raise Internal(one_error(f"internal error: {'; '.join(failed)}"))


def _members(ctx: Context, device: Device, response: Response | None) -> dict[str, Any]:
    members: dict[str, Any] = {}
    if response is not None and response.errors:
        error = "; ".join(response.errors)
        members["error"] = error if device.log_raw else _hide_echoes(device, error, ctx.body)
    if ctx.caller is not None:
        token = ctx.caller.token
        members["auth"] = {
            "accessor": digest(device, token.accessor),
            "display_name": token.display_name,
            "policies": list(token.policies),
            "token_policies": list(token.policies),
            "token_type": token.kind,
            "remaining_uses": token.uses,
        }
    members["request"] = _request(ctx, device)
    if response is not None:
        body = response.body or {}
        shown = {"data": body.get("data"), "warnings": body.get("warnings"), "auth": body.get("auth")}
        hidden = {name: _hide(device, value) for name, value in shown.items() if value}
        members["response"] = hidden
    return members


def _request(ctx: Context, device: Device) -> dict[str, Any]:
    mount = ctx.resolved.mount if ctx.resolved is not None else None
    operation = ("create" if ctx.is_create else "update") if ctx.operation == "write" else ctx.operation
    members: dict[str, Any] = {
        "id": ctx.request_id,
        "operation": operation,
        "namespace": {"id": ctx.namespace.id, "path": ctx.namespace.path},
        "path": ctx.path,
        "remote_address": ctx.request.remote_address,
    }
    if mount is not None:
        members |= {
            "mount_point": ctx.namespace.path + mount.path,
            "mount_type": mount.kind,
            "mount_accessor": mount.accessor,
        }
    if ctx.body:
        members["data"] = _hide(device, ctx.body)
    return members


def _hide_echoes(device: Device, error: str, sent: Any) -> str:
    """Put digests for the text values of a request that an error repeats, whole or cut off, longer ones first.

    A very long error is not searched: a digest stands for all of it.
    """
    if len(error) > MAX_ERROR_CHARACTERS:
        return digest(device, error)
    found: dict[str, str] = {}
    pending = [sent]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending += item.values()
        elif isinstance(item, (list, tuple)):
            pending += item
        elif isinstance(item, str) and len(item) >= MIN_HIDDEN_CHARACTERS:
            short = item[:MAX_ECHO_CHARACTERS]
            found |= {form: item for form in (item, item.strip(), short, repr(short)[1:-1]) if form in error}
    for form in sorted(found, key=lambda form: (-len(form), form)):
        error = error.replace(form, digest(device, found[form]))
    return error


def _hide(device: Device, value: Any) -> Any:
    if device.log_raw:
        return value
    if isinstance(value, str):
        return digest(device, value)
    if isinstance(value, dict):
        return {key: _hide(device, member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_hide(device, item) for item in value]
    return value
