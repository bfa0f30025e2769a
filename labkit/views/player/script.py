"""Script: the modules of a player's page as one script, which is short."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from labkit.views.player.shortening import short_properties, shortened
from labkit.views.player.style import STATIC

MODULES = (
    *("run", "words", "pace", "map", "controls", "timeline", "trees", "answer", "beside", "space_time", "zoom"),
    "player",
)
OWN = (
    *("message", "ends", "root", "shown", "words", "unheard", "happened", "sendings", "bySending", "longest", "steps"),
    *("heights", "byWay", "askCounts", "counts", "lately", "waiting", "heading", "facts", "onPoint", "messageAt"),
    *("earlier", "carries", "source", "places", "parted", "client", "others", "lineOf", "lanes", "note", "one", "loss"),
    *("nodes", "put", "xOf", "brush", "said", "mark", "hide"),
)
"""The properties that only the script has: none is in the data of a page, and none is a browser's."""
DATA = (
    *("happenings", "kinds", "messages", "clusters", "operations", "interesting", "losses", "gaps", "hosts", "asks"),
    *("silences", "silent", "again", "carried", "paths", "whats", "ways", "sentences", "stage", "pace", "sites"),
)
"""The keys of a page's data that are short in a page: none is a browser's, and the script names none by a text."""
START = "startPlayer"
"""What the page calls: it keeps its name."""


def modules(left_out: Iterable[str] = ()) -> str:
    """Return the modules, each after those that it imports from, without their imports and exports."""
    kept = (name for name in MODULES if name not in set(left_out))
    return "\n".join(_by_itself((STATIC / f"{name}.js").read_text(encoding="utf-8")) for name in kept)


def _by_itself(module: str) -> str:
    return re.sub(r"^(?:import|export) \{[^}]*\}[^;]*;\n?", "", module, flags=re.MULTILINE)


@cache
def script(left_out: frozenset[str] = frozenset()) -> str:
    """Return the modules as one script without comments and spaces, whose variables and own properties are short."""
    return shortened(modules(left_out), {START}, OWN + DATA)


@cache
def short_keys(left_out: frozenset[str] = frozenset()) -> dict[str, str]:
    """Return what the script of a page calls the keys of its data."""
    names = short_properties(modules(left_out), OWN + DATA)
    return {name: names[name] for name in DATA}
