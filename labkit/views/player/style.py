"""Style: what the player's page looks like, and where its style and its scripts lie; it needs nothing else."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from labkit.views import colours

STATIC = Path(__file__).parent.parent / "static" / "player"


@cache
def style() -> str:
    """Return the style of the page: the colours of its theme, and its own."""
    lines = (STATIC / "player.css").read_text(encoding="utf-8").splitlines()
    own = "\n".join(line.strip() for line in lines if not line.startswith("/*"))
    own = re.sub(
        r" (?=[{}])|(?<=[{:;,]) ", "", own
    )  # a space before a colon belongs to a selector, one after it to none
    return f"{colours.readers(':root')}\n{colours.CLASSES}\n{own}"
