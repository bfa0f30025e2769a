"""Bar: how far a search is, and what is left, where a terminal shows it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def bar(total: int, doing: str, unit: str) -> Iterator[Callable[..., Any]]:
    """Show a bar; what it gives is called with how much more is done, one unless given."""
    from tqdm import tqdm

    shown = sys.stderr.isatty()
    growing: Any = tqdm(total=total, desc=doing, unit=unit, file=sys.stderr, leave=False, disable=not shown)
    try:
        yield growing.update
    finally:
        growing.close()
