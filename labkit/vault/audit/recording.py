"""Recording: which requests have audit records, on which devices, and what becomes of one that cannot be written.

1. Every request has both records, a refused one too; those to the paths in ``UNRECORDED``, and those to a sealed node,
   have none.  One that is refused before its route is known is recorded without its data, which may be neither JSON nor
   text (decision C13); one refused before its handler is called has the reason in both.
2. The devices of a request's first record have its second one too, also where the request disables one, seals the
   node or joins a replication set; what filters look at is the same in both.
3. A request is refused when every device that was to have a record fails to write it; while one device works, it goes
   on (decision C10).  What a filter leaves out has not failed.
4. A device that is the ``fallback`` has what no other one's filter let through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.service.errors import Internal, one_error
from labkit.service.request_path import readable
from labkit.vault.audit import UNRECORDED, filters
from labkit.vault.audit.devices import DISCARD, Device, read_devices
from labkit.vault.audit.formats import to_line
from labkit.vault.audit.records import Facts, lay_out

if TYPE_CHECKING:
    from labkit.service.message import Response
    from labkit.vault.context import Context


def record_request(ctx: Context) -> None:
    """Write the request's record to every device; raise Internal when none of them can."""
    if _find_devices(ctx):
        _write(ctx, "request", None)


def record_response(ctx: Context, response: Response) -> None:
    """Write the response's record to the devices that have the request's; raise Internal when none of them can."""
    if ctx.devices:
        _write(ctx, "response", response)


def record_refusal(ctx: Context, response: Response) -> None:
    """Write the response's record of a refused request, and before it the request's where it has none yet (rule 1)."""
    if ctx.devices is None:
        if ctx.resolved is None and not ctx.keys.sealed:
            ctx.path, ctx.operation = readable(ctx.request.path), "unknown"
        if _find_devices(ctx):
            _write(ctx, "request", response)
    record_response(ctx, response)


def _find_devices(ctx: Context) -> bool:
    """Settle which devices have this request's records; return whether there are any."""
    devices = () if ctx.keys.sealed or ctx.path in UNRECORDED else read_devices(ctx)
    ctx.audited = Facts(ctx) if devices else None
    ctx.devices = _chosen(ctx, devices)
    return bool(ctx.devices)


def _chosen(ctx: Context, devices: tuple[Device, ...]) -> tuple[Device, ...]:
    """Return the devices that have the records: all, where no filter lets only some through (rule 4)."""
    for device in devices:
        if device.filter is not None or device.fallback:
            return _let_through(ctx, devices)
    return devices


def _let_through(ctx: Context, devices: tuple[Device, ...]) -> tuple[Device, ...]:
    """Return the devices whose filter lets the records through, else the fallback."""
    properties = ctx.audited.properties(ctx)
    chosen = [
        device
        for device in devices
        if not device.fallback and (device.filter is None or filters.passes(device.filter, properties))
    ]
    return tuple(chosen or [device for device in devices if device.fallback])


def _write(ctx: Context, kind: str, response: Response | None) -> None:
    facts, devices, failed = ctx.audited, ctx.devices or (), []
    facts.begin(ctx, kind, response)
    for device in devices:
        if device.sink == DISCARD:
            continue
        try:
            ctx.source.append_line(device.sink, to_line(device, lay_out(ctx, facts, device)))
        except OSError as error:
            failed.append(f"audit device {device.path} failed: {error}")
            ctx.observe("audit device failed", device=device.path)
    if failed and len(failed) == len(devices):
        raise Internal(one_error(f"internal error: {'; '.join(failed)}"))
