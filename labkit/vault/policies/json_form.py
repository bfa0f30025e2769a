"""The JSON form of policies: objects give the blocks that HCL gives; a list of objects is its key once for each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from labkit.vault.policies.blocks import (
    MAX_DEPTH,
    Block,
    Item,
    Listing,
    Literal,
    PolicyError,
    Source,
    Value,
    check_surrogates,
)


class _Members(tuple[Any, ...]):
    """The members of a JSON object in order, repeated ones too."""


def read_json(source: Source) -> Block:
    """Read JSON; members of the top-level ``path`` become items of two keys, as ``path "x" { }`` is in HCL."""
    import json

    def number(text: str) -> Literal:
        return Literal("NUMBER" if text.lstrip("-").isdigit() else "FLOAT", text, 0)

    hooks: dict[str, Any] = {"parse_int": number, "parse_float": number, "parse_constant": number}
    try:
        document = json.loads(source.text, object_pairs_hook=_Members, **hooks)
    except json.JSONDecodeError:
        # Without the parser's own message and place: they differ between Pythons.
        raise PolicyError("the text begins like JSON, but is not JSON") from None
    except RecursionError:
        raise PolicyError(f"nested deeper than {MAX_DEPTH} levels") from None
    # The strings of the text come in the order in which the document is walked, which gives each key's place.
    strings = (match.start() for match in re.finditer(r'"(?:[^"\\]|\\.)*"', source.text))
    items: list[Item] = []
    for item in _json_block(source, document, strings, 0, 1).items:
        if item.keys == ("path",) and isinstance(item.value, Block):
            items += [Item(("path", *inner.keys), inner.value, inner.at) for inner in item.value.items]
        else:
            items.append(item)
    return Block(tuple(items), 0)


def _json_block(source: Source, members: _Members, strings: Iterator[int], at: int, depth: int) -> Block:
    items: list[Item] = []
    for key, member in members:
        place = next(strings)
        check_surrogates(source, key, place)
        value = _json_value(source, member, strings, place, depth)
        blocks = value.values if isinstance(value, Listing) else ()
        if blocks and all(isinstance(block, Block) for block in blocks):
            items += [Item((key,), block, place) for block in blocks]
        else:
            items.append(Item((key,), value, place))
    return Block(tuple(items), at)


def _json_value(source: Source, value: Any, strings: Iterator[int], at: int, depth: int) -> Value:
    """Return the value of a parsed one; ``at`` is the place of the key before it, as it has none of its own."""
    if depth > MAX_DEPTH:
        raise source.error(at, f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, _Members):
        return _json_block(source, value, strings, at, depth + 1)
    if isinstance(value, Literal):
        return value._replace(at=at)
    if isinstance(value, list):
        return Listing(tuple([_json_value(source, part, strings, at, depth + 1) for part in value]), at)
    if isinstance(value, str):
        at = next(strings)
        check_surrogates(source, value, at)
        return Literal("STRING", value, at)
    return Literal("STRING", "", at) if value is None else Literal("BOOL", "true" if value else "false", at)
