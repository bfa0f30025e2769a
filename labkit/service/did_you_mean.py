"""Did you mean: the known name that is most similar to a mistyped one, by the standard library's difflib."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MAX_CHARACTERS = 64
MIN_LIKENESS = 0.66  # one wrong letter of three is a slip, two of five are another word


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to a word; None when none is similar enough.

    Upper and lower case are equal, and so are a space, a hyphen and an underscore.
    """
    names = {_normalised(name): name for name in known}
    similar = get_close_matches(_normalised(word), names, n=1, cutoff=MIN_LIKENESS)
    return names[similar[0]] if similar else None


def _normalised(word: str) -> str:
    return word[:MAX_CHARACTERS].casefold().replace("_", "-").replace(" ", "-")
