"""Hiding: what is replaced by a keyed digest in an audit record, so that a known value can be found and none be read.

1. In the data of request and response every text value is hidden, at any depth; names of members, numbers and flags
   are not, nor are the members that the mount's settings exempt.
2. Tokens are hidden, and their accessors unless the device says otherwise (``hmac_accessor``).  Paths, policies,
   display names, a token's metadata and addresses are in the clear.
3. Errors are in the clear, but a text value of the request that one repeats is hidden there too.
4. A device with ``log_raw`` hides nothing.
"""

from __future__ import annotations

from typing import Any

from labkit.vault.audit.devices import Device, digest
from labkit.vault.storage.records import encode_text, to_json

MIN_HIDDEN_CHARACTERS = 4  # shorter values are parts of any sentence
MAX_ECHO_CHARACTERS = 200  # errors cut longer values off
MAX_ERROR_CHARACTERS = 4_096

TOKENS, ACCESSORS = ("client_token", "token"), ("accessor", "wrapped_accessor")


def hide(device: Device, value: Any, exempt: tuple[str, ...] = ()) -> str:
    """Return a value as JSON, with digests for its texts, but in those of its members that are exempt (rule 1)."""
    if device.log_raw:
        return to_json(value)
    if isinstance(value, dict):
        members = []
        for name, member in value.items():
            if name in exempt:
                shown = to_json(member)
            elif type(member) is str:  # as most are: a frame less for each
                shown = f'"{digest(device, member)}"'
            elif type(member) is int:
                shown = str(member)
            else:
                shown = hide(device, member)
            members.append(f"{encode_text(name)}:{shown}")
        return f"{{{','.join(members)}}}"
    if isinstance(value, str):
        return f'"{digest(device, value)}"'
    if isinstance(value, (list, tuple)):
        return f"[{','.join([hide(device, item) for item in value])}]"
    return to_json(value)


def hide_token(device: Device, text: str) -> str:
    """Return a token as the device shows it."""
    return text if device.log_raw else digest(device, text)


def hide_accessor(device: Device, accessor: str) -> str:
    """Return an accessor as the device shows it."""
    return accessor if device.log_raw or not device.hmac_accessor else digest(device, accessor)


def hide_credentials(device: Device, block: dict[str, Any]) -> dict[str, Any]:
    """Return an answer's ``auth`` or ``wrap_info`` with its tokens and accessors hidden, without what is empty."""
    shown = {name: value for name, value in block.items() if value not in (None, "", [], {})}
    for name in TOKENS:
        if name in shown:
            shown[name] = hide_token(device, shown[name])
    for name in ACCESSORS:
        if name in shown:
            shown[name] = hide_accessor(device, shown[name])
    return shown


def hide_echoes(device: Device, error: str, sent: Any) -> str:
    """Put digests for the text values of a request that an error repeats, whole or cut off, longer ones first.

    A very long error is not searched: a digest stands for all of it.
    """
    if device.log_raw:
        return error
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
