"""An answer's body as it may be shown: texts, and the names of what it holds, never a value."""

from __future__ import annotations

from typing import Any

MAX_SHOWN_CHARACTERS, MAX_SHOWN_NAMES = 160, 12


def shown(body: Any) -> list[tuple[str, str]]:
    """Return what may be shown of a body: the first error, or the first warning, and the names of the data."""
    body = body if isinstance(body, dict) else {}
    texts = [(name, body.get(f"{name}s")) for name in ("error", "warning")]
    rows = [(name, _short(text[0])) for name, text in texts if isinstance(text, list) and text][:1]
    members = [(name, body.get(name)) for name in ("data", "auth", "wrap_info")]
    rows += [(name, masked(member)) for name, member in members if member is not None]
    return rows if rows or body in ({}, {"errors": []}) else [("body", masked(body))]


def table(rows: list[tuple[str, str]], body: Any) -> str:
    """Return an HTML table of rows (name, text), then of what may be shown of a body."""
    from html import escape

    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows + shown(body))
    return f"<table>{cells}</table>"


def masked(value: Any) -> str:
    """Show the names of an object and of the objects in it, every value as dots."""
    if not isinstance(value, dict):
        return "…"
    names = [
        f"{_short(name)}: {{{_names(member)}}}" if isinstance(member, dict) and member else f"{_short(name)}: …"
        for name, member in list(value.items())[:MAX_SHOWN_NAMES]
    ]
    return "{" + ", ".join(names + ["…"] * (len(value) > MAX_SHOWN_NAMES)) + "}"


def _names(members: dict[str, Any]) -> str:
    names = [f"{_short(name)}: …" for name in list(members)[:MAX_SHOWN_NAMES]]
    return ", ".join(names + ["…"] * (len(members) > MAX_SHOWN_NAMES))


def _short(text: Any) -> str:
    shown = " ".join(str(text).split())
    return shown if len(shown) <= MAX_SHOWN_CHARACTERS else shown[:MAX_SHOWN_CHARACTERS] + "…"
