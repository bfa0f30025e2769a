"""How many entries each part of a lab's state has, those inside them included."""

from __future__ import annotations

from collections import Counter
from typing import Any

from labkit import Lab


def entries(lab: Lab, named: int, without: tuple[str, ...] = ()) -> Counter[str]:
    """Count them by the names of the parts inside one another, at most ``named`` below a part; leave some parts out."""
    found: Counter[str] = Counter()

    def count(value: Any, name: str, depth: int) -> None:
        if isinstance(value, dict | list | tuple):
            found[name] += len(value)
            rows = value.items() if isinstance(value, dict) else [("", each) for each in value]
            for key, inner in rows:
                count(inner, f"{name}.{key}" if depth and key else name, depth - bool(key))

    for part, state in lab.snapshot().state.items():
        if part not in without:
            count(state, part, named)
    return found
