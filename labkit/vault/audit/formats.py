"""Formats: an audit record as a line, in JSON or in JSONx, the XML spelling of JSON."""

from __future__ import annotations

from typing import Any

from labkit.vault.audit.devices import Device
from labkit.vault.storage.records import decode_record

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;", "\n": "&#xA;", "\r": "&#xD;"}
_ESCAPES |= {"\t": "&#x9;"}


def to_line(device: Device, record: str) -> bytes:
    """Return a record, which is JSON, as the line that a device writes, behind the device's prefix."""
    line = record.encode()
    if device.format == "jsonx":
        line = to_jsonx(decode_record(line)).encode()
    return device.prefix.encode() + line if device.prefix else line


def to_jsonx(record: dict[str, Any]) -> str:
    """Return the members of a record as JSONx elements, sorted by name, without one around them all."""
    return "".join([_element(record[name], name) for name in sorted(record)])


def _element(value: Any, name: str | None = None) -> str:
    named = "" if name is None else f' name="{_escape(name)}"'
    if value is None:
        return f"<json:null{named} />"
    if isinstance(value, bool):
        return f"<json:boolean{named}>{'true' if value else 'false'}</json:boolean>"
    if isinstance(value, (int, float)):
        return f"<json:number{named}>{value}</json:number>"
    if isinstance(value, str):
        return f"<json:string{named}>{_escape(value)}</json:string>"
    if isinstance(value, dict):
        members = [_element(value[name], name) for name in sorted(value)]  # to_jsonx would be a frame more per level
        return f"<json:object{named}>{''.join(members)}</json:object>"
    return f"<json:array{named}>{''.join([_element(item) for item in value])}</json:array>"


def _escape(text: str) -> str:
    return "".join([_ESCAPES.get(character) or _allowed(character) for character in text])


def _allowed(character: str) -> str:
    """Return a character, or the mark of a missing one where XML has no form for it."""
    return character if character >= " " and character not in "\ufffe\uffff" else "\ufffd"
