"""Style: what the player's page looks like, and where its style and its scripts lie; it needs nothing else."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from labkit.views import colours

STATIC = Path(__file__).parent.parent / "static" / "player"


@cache
def style(*, has_trees: bool = True) -> str:
    """Return the style of the page: the colours of its theme, and its own, without comments."""
    names = ("player", "trees") if has_trees else ("player",)
    rules = "\n".join((STATIC / f"{name}.css").read_text(encoding="utf-8") for name in names)
    own = shortened(re.sub(r"/\*.*?\*/\s*", "", rules, flags=re.DOTALL))
    return f"{colours.readers(':root')}\n{colours.CLASSES}\n{own}"


def shortened(rules: str) -> str:
    """Return rules without the spaces and semicolons that say nothing."""
    return re.sub(r"\s*([{};,>])\s*|(?<=:) ", r"\1", rules).replace(";}", "}").strip()
