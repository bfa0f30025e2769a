"""Page: what a browser gets at ``/``: plain HTML, a style sheet and one script, which asks the door it came from.

They are the same for everybody and hold no state: what the page shows and does is behind the guard (``control``).  The
page may load nothing from elsewhere, and no other page may frame it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from labkit.doors.http_exchange import Answer

FOLDER = Path(__file__).with_name("static")

FILES = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}

POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; style-src 'self' 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Pictures bring styles of their own, and images as data."""


def page_file(path: str) -> Answer | None:
    """Return the file of the page that has a path; None where there is none."""
    return _read(*FILES[path]) if path in FILES else None


@cache
def _read(name: str, kind: str) -> Answer:
    headers = {
        "Content-Type": f"{kind}; charset=utf-8",
        "Cache-Control": "no-store",
        "Content-Security-Policy": POLICY,
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return Answer(200, headers, (FOLDER / name).read_bytes())
