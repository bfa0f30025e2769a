"""Shown names: what completion offers of the things that users hold, which is what the pages of help list."""

from __future__ import annotations

from collections.abc import Iterable


def shown(kind: str, names: Iterable[str]) -> list[str]:
    """Keep those names that are for users of such a thing, such as ``Lab``, and those of Python itself."""
    from labkit.reference.python_examples import EXAMPLES

    return [name for name in names if name in EXAMPLES[kind] or (name.startswith("__") and name.endswith("__"))]
