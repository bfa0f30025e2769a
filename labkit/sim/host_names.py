"""Names of sites and hosts: which are allowed, and the error text for an unknown one."""

from __future__ import annotations

from collections.abc import Iterable


def checked(kind: str, name: str) -> str:
    """The name itself, when it may be used in a trace; ValueError for one that is empty or holds spaces."""
    if not isinstance(name, str) or not name or any(character.isspace() or character in "<>" for character in name):
        raise ValueError(f"a {kind} needs a name without spaces, < and >, not {name!r}")
    return name


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """The text of the error for a name that is not among the known ones; it names the most similar one."""
    from difflib import get_close_matches  # needed for errors only

    names = sorted(known)
    near = get_close_matches(str(name), names, n=1)
    if near:
        return f"no {kind} named {name}; nearest: {near[0]}"
    return f"no {kind} named {name}; there are: {', '.join(names) or 'none yet'}"
