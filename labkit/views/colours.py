"""Colours: what each state is drawn in, for light and dark pages, and the style that switches between the two.

1. Elements name a colour, such as ``primary`` or ``ink``, and never a value.
2. Each colour of a state can be read on the page and on a panel, and bears text in the colour ``on``: 4.5 to 1 or more.
3. Any two states are at least 25 apart (CIE76), for normal sight and three kinds of colour blindness; in grey two with
   the same pattern (``looks``) are 20 apart in lightness.
4. Colour repeats what a letter, a pattern or a word says already.
"""

from __future__ import annotations

STATES = ("primary", "secondary", "disabled", "sealed", "down")

LIGHT = {
    "paper": "#ffffff",
    "panel": "#f4f6f9",
    "ink": "#1f2933",
    "faint": "#52606d",
    "on": "#ffffff",
    "primary": "#0534ed",
    "secondary": "#0b272b",
    "disabled": "#6a6d78",
    "sealed": "#4a2802",
    "down": "#de1c02",
}
DARK = {
    "paper": "#111111",
    "panel": "#1b2027",
    "ink": "#e8edf2",
    "faint": "#a9b4c0",
    "on": "#111111",
    "primary": "#45a7fb",
    "secondary": "#e3fdf6",
    "disabled": "#8f8d9c",
    "sealed": "#fec614",
    "down": "#f0564a",
}

# A notebook says which theme it has; everywhere else the reader's system does.
DARK_PAGES = ('[data-jp-theme-light="false"]', '[data-vscode-theme-kind="vscode-dark"]')
LIGHT_PAGES = ('[data-jp-theme-light="true"]', '[data-vscode-theme-kind="vscode-light"]')


def variables(element: str) -> str:
    """Return the style that gives an element, named by a selector, every colour as a variable, for its page's theme."""
    page_light, page_dark = (",".join(f"{page} {element}" for page in pages) for pages in (LIGHT_PAGES, DARK_PAGES))
    return f"{readers(element)}\n{page_light}{_values(LIGHT)}\n{page_dark}{_values(DARK)}"


def readers(element: str) -> str:
    """Return the style that gives an element every colour as a variable, for a page that its reader's system themes."""
    return f"{element}{_values(LIGHT)}\n@media (prefers-color-scheme:dark){{{element}{_values(DARK)}}}"


def _values(theme: dict[str, str]) -> str:
    return "{" + "".join(f"--labkit-{name}:{value};" for name, value in theme.items()) + "}"


CLASSES = "\n".join(
    (
        *(f"svg.labkit .fill-{name}{{fill:var(--labkit-{name})}}" for name in LIGHT),
        *(f"svg.labkit .line-{name}{{stroke:var(--labkit-{name})}}" for name in LIGHT),
        ".labkit-picture{overflow-x:auto}",
        ".labkit-picture>svg.labkit{display:block;width:100%;height:auto;max-width:var(--widest);min-width:var(--least)}",
    )
)
STYLE = f"{variables('svg.labkit')}\n{CLASSES}"


def fill(name: str) -> str:
    """Return the attributes of an element that is filled with a colour; the value serves where styles do not."""
    return f'class="fill-{name}" fill="{LIGHT[name]}"'


def stroke(name: str) -> str:
    """Return the attributes of an element that is drawn in a colour and not filled."""
    return f'class="line-{name}" fill="none" stroke="{LIGHT[name]}"'


def both(inside: str, border: str) -> str:
    """Return the attributes of an element that is filled with one colour and has a border in another."""
    return f'class="fill-{inside} line-{border}" fill="{LIGHT[inside]}" stroke="{LIGHT[border]}"'
