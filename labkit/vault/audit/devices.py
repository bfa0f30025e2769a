"""Audit devices: what kinds there are, how one is set up, and where it writes.

1. Every device writes lines to a *sink*, one of the node's simulated files: a device of kind ``file`` to the one with
   its path, a socket to ``tcp://HOST:PORT``, syslog to ``syslog://FACILITY/TAG``.  So what any of them wrote can be
   read, and any of them can be made to fail.  What the node is given as its files decides where lines really go.
2. The devices are one stored record; local ones have a record of their own, in the local tree.  The first is stored
   while there is a device of either kind.
3. ``discard`` as a file's path writes nothing, and cannot fail.
4. A device has its salt ready as a key, and keeps what its records show of callers.  Both are gone with its decoded
   record (R22): when a device is enabled or disabled, and when the node is sealed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC

from labkit.service import fields
from labkit.service.durations import parse_duration
from labkit.service.errors import BadRequest
from labkit.service.record import NamedTuple
from labkit.vault.audit import filters
from labkit.vault.mounts import AUDIT_DEVICES
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context

LOCAL_DEVICES = "local/core/audit"

FORMATS = ("json", "jsonx")
SOCKET_KINDS = ("tcp", "udp", "unix")
DISCARD = "discard"

COMMON = ("elide_list_responses", "fallback", "filter", "format", "hmac_accessor", "log_raw", "prefix")

KINDS = {
    "file": ("file_path", "mode", "path"),
    "socket": ("address", "socket_type", "write_timeout"),
    "syslog": ("facility", "tag"),
}
"""{kind: names of its own options}; those of ``COMMON`` are every kind's."""

_MODE = re.compile(r"(?:0o?)?[0-7]{3,4}|0", re.ASCII)


class Device(NamedTuple):
    """An enabled device: ``path`` ends in ``/``, ``sink`` is what it writes to; the rest is what its options mean.

    ``keyed`` is the salt as a key; ``callers`` has what is shown of a caller by the hash of its token (``records``).
    """

    path: str
    kind: str
    description: str
    options: tuple[tuple[str, str], ...]
    salt: str
    local: bool
    keyed: HMAC
    callers: dict[str, Any]
    sink: str = ""
    log_raw: bool = False
    hmac_accessor: bool = True
    elides_lists: bool = False
    fallback: bool = False
    prefix: str = ""
    format: str = "json"
    filter: filters.Filter | None = None

    def __repr__(self) -> str:
        return f"Device({self.path})"


def make_device(row: list[Any]) -> Device:
    """Return the device of a stored row: path, kind, description, options, salt, and whether it is local.

    Raises BadRequest for options that cannot be.
    """
    path, kind, description, pairs, salt, local = row
    options = dict(pairs)
    form = options.get("format") or "json"
    if form not in FORMATS:
        raise BadRequest(f"unknown format type {form!r}; there is {' and '.join(FORMATS)}")
    text = options.get("filter", "")
    return Device(
        path,
        kind,
        description,
        tuple(sorted(options.items())),
        salt,
        local,
        HMAC(bytes.fromhex(salt), SHA256()),
        {},
        _sink(kind, options),
        _switch(options, "log_raw"),
        _switch(options, "hmac_accessor", "true"),
        _switch(options, "elide_list_responses"),
        _switch(options, "fallback"),
        options.get("prefix", ""),
        form,
        filters.parse(text) if text else None,
    )


def _switch(options: dict[str, str], name: str, default: str = "") -> bool:
    try:
        return fields.to_flag(options.get(name, default))
    except ValueError as error:
        raise BadRequest(f"option {name}: {error}") from None


def _sink(kind: str, options: dict[str, str]) -> str:
    """Return the name of what a device writes to; raise BadRequest where its options do not say it."""
    if kind == "file":
        path = options.get("file_path") or options.get("path") or ""
        if not path:
            raise BadRequest("file_path is required")
        mode = options.get("mode", "0600")
        if not _MODE.fullmatch(mode):
            raise BadRequest(f"option mode: {mode!r} is not a file's mode in octal digits, such as 0600")
        return path
    if kind == "syslog":
        return f"syslog://{options.get('facility') or 'AUTH'}/{options.get('tag') or 'vault'}"
    address = options.get("address", "")
    if not address:
        raise BadRequest("address is required")
    socket = options.get("socket_type") or "tcp"
    if socket not in SOCKET_KINDS:
        raise BadRequest(f"option socket_type: expected {', '.join(SOCKET_KINDS)}, not {socket!r}")
    try:
        patience_ns = parse_duration(options.get("write_timeout", "2s"))
    except ValueError as error:
        raise BadRequest(f"option write_timeout: {error}") from None
    if patience_ns < 0:
        raise BadRequest("option write_timeout: it cannot be negative")
    return f"{socket}://{address}"


def decode_devices(stored: bytes) -> tuple[Device, ...]:
    """Read a stored list of devices."""
    return tuple([make_device(row) for row in decode_record(stored)])


def read_devices(ctx: Context) -> tuple[Device, ...]:
    """Return the enabled devices, sorted by path."""
    storage = ctx.full_storage
    shared = storage.decoded(AUDIT_DEVICES, decode_devices)
    if shared is None:
        return ()
    local = storage.decoded(LOCAL_DEVICES, decode_devices)
    return tuple(sorted((*shared, *local), key=_path_of)) if local else shared


def _path_of(device: Device) -> str:
    return device.path


def write_devices(ctx: Context, devices: tuple[Device, ...]) -> None:
    """Store the devices when the step commits (rule 2)."""
    storage = ctx.full_storage
    for key, local in ((AUDIT_DEVICES, False), (LOCAL_DEVICES, True)):
        rows = [list(device[:6]) for device in sorted(devices, key=_path_of) if device.local == local]
        if rows or (devices and not local):
            storage.put(key, encode_record(rows))
        else:
            storage.delete(key)


def digest(device: Device, text: str) -> str:
    """Return the keyed digest that stands for a text in the device's records."""
    keyed = device.keyed.copy()
    keyed.update(text.encode())
    return "hmac-sha256:" + keyed.finalize().hex()
