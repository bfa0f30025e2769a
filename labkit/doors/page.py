"""Page: what a browser gets at ``/``: plain HTML, style sheets and scripts, which ask the door they came from.

They are the same for everybody and hold no state: what the page shows and does is behind the guard (``control``).  The
page may load nothing from elsewhere, and no other page may frame it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from labkit.doors.http_exchange import Answer
from labkit.views.player.script import MODULES
from labkit.views.player.style import STATIC, style

FOLDER = Path(__file__).with_name("static")

SCRIPTS = ("page", "asking", "forms", "run_view")
FILES = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    **{f"/{name}.js": (f"{name}.js", "text/javascript") for name in SCRIPTS},
}
PLAYER_FILES = {f"/player/{name}.js": name for name in MODULES}
PLAYER_STYLE = "/player.css"

POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; style-src 'self' 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Pictures bring styles of their own, and images as data."""


def page_file(path: str) -> Answer | None:
    """Return the file of the page that has a path, its own or one of the player's; None where there is none."""
    if path in FILES or path in PLAYER_FILES or path == PLAYER_STYLE:
        return _read(path)
    return None


@cache
def _read(path: str) -> Answer:
    if path in FILES:
        name, kind = FILES[path]
        return _answer(kind, (FOLDER / name).read_bytes())
    if path == PLAYER_STYLE:
        return _answer("text/css", style().encode())
    return _answer("text/javascript", (STATIC / f"{PLAYER_FILES[path]}.js").read_bytes())


def _answer(kind: str, content: bytes) -> Answer:
    headers = {
        "Content-Type": f"{kind}; charset=utf-8",
        "Cache-Control": "no-store",
        "Content-Security-Policy": POLICY,
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return Answer(200, headers, content)
