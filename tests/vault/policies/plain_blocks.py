"""Blocks as plain values, and the words that a text is refused with."""

from __future__ import annotations

from typing import Any

from labkit.vault.policies.blocks import Block, Listing, PolicyError, Source, Value
from labkit.vault.policies.language import parse


def read(text: str) -> list[tuple[tuple[str, ...], Any]]:
    """The items of a text as plain values: text, flag, ("number", text), list, or items again."""
    return members(parse(Source(text)))


def members(block: Block) -> list[tuple[tuple[str, ...], Any]]:
    return [(item.keys, plain(item.value)) for item in block.items]


def plain(value: Value) -> Any:
    if isinstance(value, Block):
        return members(value)
    if isinstance(value, Listing):
        return [plain(part) for part in value.values]
    if value.kind == "BOOL":
        return value.text == "true"
    return ("number", value.text) if value.kind in ("NUMBER", "FLOAT") else value.text


def numbers(**written: str) -> list[tuple[tuple[str, ...], Any]]:
    return [((name,), ("number", text)) for name, text in written.items()]


def refusal(text: str) -> str:
    """The words that a text is refused with; empty when it is read."""
    try:
        parse(Source(text))
    except PolicyError as error:
        return str(error)
    return ""
