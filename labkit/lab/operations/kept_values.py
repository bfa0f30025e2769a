"""Kept values: what an operator keeps of answers under names, and how ``$(name)`` stands for one in a request.

1. A name is what a step kept, or what an operator has of a cluster: ``paris.root``, its root token, ``paris.share.1``,
   its first key share; with ``former`` between, ``tokyo.former.share.1``, what it had before it became a secondary.
   Of a cloud operators have what a login method is configured with, ``cloud.tenant_id``, and ``cloud.web-1.token``.
2. A text that is only ``$(name)`` stands for the value as it is; within a text a value stands as text.
3. A kept value is a secret: in every text that a reader sees its name stands for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

REFERENCE = re.compile(r"\$\(([^()]*)\)")
MISTAKEN = re.compile(r"\$\{([^{}]*)\}")
MIN_MASKED_CHARACTERS = 6
"""A shorter text hides nothing, and its name would stand within words."""

MISSING: Any = object()
"""What ``member`` returns where there is nothing."""


class UnknownValue(LookupError):
    """A name under which nothing is kept."""


def references(value: Any) -> list[str]:
    """Return the names that a request refers to, in keys too; each as often as it stands there."""
    return [name for text in texts_with_names(value) for name in REFERENCE.findall(text)]


def mistaken(value: Any) -> list[str]:
    """Return the names in ``${name}``, which stands for nothing."""
    return [name for text in texts_with_names(value) for name in MISTAKEN.findall(text)]


def texts_with_names(value: Any) -> list[str]:
    """Return the texts of a request, its keys too, in which a name may stand."""
    kind = type(value)
    if kind is str:
        return [value] if "$" in value else []
    return [] if kind is int or kind is bool else [text for text in _texts(value, keys=True) if "$" in text]


def filled(value: Any, known: Mapping[str, Any]) -> Any:
    """Return a value with what is kept in place of each reference; raise UnknownValue."""
    if isinstance(value, str):
        whole = REFERENCE.fullmatch(value)
        if whole is not None:
            return _kept(whole[1], known)
        return REFERENCE.sub(lambda found: str(_kept(found[1], known)), value)
    if isinstance(value, Mapping):
        return {filled_text(key, known): filled(inner, known) for key, inner in value.items()}
    return [filled(inner, known) for inner in value] if isinstance(value, list | tuple) else value


def filled_text(text: str, known: Mapping[str, Any]) -> str:
    """Return a text with what is kept in place of each reference; raise UnknownValue."""
    return REFERENCE.sub(lambda found: str(_kept(found[1], known)), text)


def masked(text: str, known: Mapping[str, Any]) -> str:
    """Return a text in which the name of each kept value stands for the value."""
    secrets = [(secret, name) for name, value in known.items() for secret in _texts(value)]
    for secret, name in sorted(secrets, key=lambda pair: (-len(pair[0]), pair[1])):
        if len(secret) >= MIN_MASKED_CHARACTERS:
            text = text.replace(secret, f"$({name})")
    return text


def member(body: Any, path: str) -> Any:
    """Return what an answer has at a path such as ``data.keys.0``; MISSING for nothing."""
    for name in path.split("."):
        if isinstance(body, dict) and name in body:
            body = body[name]
        elif isinstance(body, list | tuple) and name.isascii() and name.isdigit() and int(name) < len(body):
            body = body[int(name)]
        else:
            return MISSING
    return body


def _kept(name: str, known: Mapping[str, Any]) -> Any:
    if name not in known:
        raise UnknownValue(f"nothing is kept under the name {name!r}; kept are: {', '.join(known) or 'none'}")
    return known[name]


def _texts(value: Any, keys: bool = False) -> list[str]:
    found: list[str] = []
    _add_texts(value, keys, found)
    return found


def _add_texts(value: Any, keys: bool, found: list[str]) -> None:
    kind = type(value)
    if kind is str:
        found.append(value)
    elif kind is list or kind is tuple:
        for inner in value:
            _add_texts(inner, keys, found)
    elif kind is dict or (kind is not int and kind is not bool and isinstance(value, Mapping)):
        for key, inner in value.items():
            if keys and isinstance(key, str):
                found.append(key)
            if type(inner) is str:
                found.append(inner)
            elif inner is not None:
                _add_texts(inner, keys, found)
