"""Fencing: a stale leader is stopped at the store, by the leadership term that each commit carries."""

from __future__ import annotations


class StaleTerm(RuntimeError):
    """A node that has lost the leadership tried to commit."""


def check_term(term: int, newest: int) -> None:
    """Raise StaleTerm for a term below the newest one claimed."""
    if term < newest:
        raise StaleTerm(f"term {term} is over: a newer leader claimed term {newest}")
