"""Metadata of a secret id: what a request sends as one text, a JSON object of strings or ``name=value`` pairs."""

from __future__ import annotations

from json import JSONDecoder

from labkit.service.errors import BadRequest
from labkit.service.limits import is_text

INVALID = "failed to parse metadata: failed to parse the input: "


def parse_metadata(text: str) -> dict[str, str]:
    """Return the names and values of a text; raise BadRequest for one that holds anything else."""
    text = text.strip()
    if not text:
        return {}
    found = _read_object(text)
    return dict(map(_read_pair, filter(None, map(str.strip, text.split(","))))) if found is None else found


def _read_object(text: str) -> dict[str, str] | None:
    """Return the members of a JSON object of strings; None for any other text."""
    if text[0] != "{":
        return None
    try:
        found = JSONDecoder().decode(text)
    except (ValueError, RecursionError):
        return None
    return found if all(is_text(part) for member in found.items() for part in member) else None


def _read_pair(pair: str) -> tuple[str, str]:
    name, equals, value = pair.partition("=")
    name, value = name.strip(), value.strip()
    if not equals or "=" in value:
        raise BadRequest(f"{INVALID}invalid <key,value> format")
    if not (name and value):
        raise BadRequest(f'{INVALID}invalid <key,value> pair: key: "{name}" value: "{value}"')
    return name, value
