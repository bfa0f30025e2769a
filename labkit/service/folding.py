"""Folding: names in any case, so that two are the same only where both their small and their capital letters are.

Clouds compare names character by character, by capital letters; ``str.lower`` takes the Kelvin sign for a k, and
``str.upper`` ß for SS.  What differs under either is another name here.
"""

from __future__ import annotations


def folded(name: str) -> str:
    """Return the form that is equal for names which differ in case only."""
    if name.isascii():
        return name.lower()
    return "".join([_folded(character) for character in name])


def _folded(character: str) -> str:
    lower = character.lower()
    return lower if len(lower) == 1 and lower.upper() == character.upper() else character
