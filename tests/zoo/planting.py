"""Planting: a mistake replaces functions while something runs; the code stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

PROVE, EXPLORE, FILE = "prove", "explore", "one file"
"""What finds a mistake: a search, a campaign, or one scenario file of this folder."""

Replaced = tuple[Any, str, Any]
"""An object, or a dict, the name of what is replaced in it, and what stands there meanwhile."""


class Mistake(NamedTuple):
    """One mistake: what it is, what is replaced, what finds it, and what breaks.

    ``rule`` is the standing rule that has to break, of ``prove`` the property as it is printed.  One with ``harmless``
    is a control: what breaks in its campaign is an accusation of the rules.
    """

    about: str
    replaced: tuple[Replaced, ...]
    finder: str = EXPLORE
    rule: str = ""
    harmless: str = ""


@contextmanager
def planted(mistake: Mistake) -> Iterator[None]:
    """Make a mistake for a while."""
    before = [(home, name, _get(home, name)) for home, name, _ in mistake.replaced]
    _replace(mistake.replaced)
    try:
        yield
    finally:
        _replace(before)


def _get(home: Any, name: str) -> Any:
    return home[name] if isinstance(home, dict) else vars(home).get(name, getattr(home, name))


def _replace(rows: Sequence[Replaced]) -> None:
    for home, name, value in rows:
        if isinstance(home, dict):
            home[name] = value
        else:
            setattr(home, name, value)
