"""Contact sheet: every picture there is, in light, dark and grey, at three widths, to be looked at whole.

    python -m tests.pictures [folder]

It draws each picture of a failover, of a damaged pair and of a triangle into pages, and takes their screenshots with
the browser of this machine.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from labkit import Lab
from labkit.places import scenarios
from labkit.views import colours
from tests.browser import BROWSER, Browser

WIDTHS = (320, 640, 1_280)
MODES = {"light": (False, ""), "dark": (True, ""), "grey": (False, "filter:grayscale(1)")}
STYLE = "body{margin:8px;font:16px system-ui;background:var(--labkit-paper);color:var(--labkit-ink)}h2{font-size:16px}"


def pictures() -> Mapping[str, Any]:
    """Return every picture by a name of its own."""
    lab = Lab.load(scenarios() / "first" / "failover.lab.yaml")
    lab.keep_pictures()
    lab.run()
    pair = Lab.pair(seed=7)
    pair.keep_pictures()
    pair.replicate("paris", "tokyo")
    for number in range(40):
        pair["paris"].post(f"secret/data/order-{number}", {"data": {"n": number}})
    pair.run("3s")
    repair = pair["tokyo"].merkle().repair()
    other = pair.branch("what-if")
    other.crash("paris-1")
    other.run("4s")
    pair.run("4s")
    apart = pair.compare(other)
    pair.corrupt("tokyo", "subpage")
    pair.partition("paris", "tokyo")
    for number in range(10):
        pair["paris"].post(f"secret/data/late-{number}", {"data": {"n": number}})
    measures = lab.measures
    return {
        "map": lab.map(),
        "map-cut": pair.map(),
        "timeline": lab.timeline(),
        "timeline-part": lab.timeline("18s", "30s"),
        "merkle": pair["tokyo"].merkle(),
        "repair": repair,
        "compare": apart,
        "diff": pair.diff("paris", "tokyo"),
        "lag": measures.lag(),
        "bytes": measures.bytes(),
        "states": measures.states(),
        "stale-reads": measures.stale_reads(),
        "tokens": measures.survivors(),
        "why": lab.why("promotion"),
    }


def page_of(shown: Mapping[str, Any], style: str) -> str:
    """Return one page with all pictures, each below its name."""
    parts = "".join(f"<section><h2>{escape(name)}</h2>{one._repr_html_()}</section>" for name, one in shown.items())
    head = f"<title>Pictures</title><style>{colours.readers(':root')}{STYLE}body{{{style}}}</style>"
    return f'<!doctype html><html lang="en"><meta charset="utf-8">{head}<main><h1>Pictures</h1>{parts}</main></html>'


def take(folder: Path) -> list[Path]:
    """Write pages and screenshots into a folder; return the screenshots."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    shown = pictures()
    player = Lab.load(scenarios() / "first" / "failover.lab.yaml")
    player.keep_pictures()
    player.run().play().save(folder / "player.html")
    taken = []
    assert BROWSER is not None, "a contact sheet needs a browser; LABKIT_BROWSER names one"
    with Browser(BROWSER) as browser:
        for mode, (dark, style) in MODES.items():
            path = folder / f"sheet-{mode}.html"
            path.write_text(page_of(shown, style), encoding="utf-8")
            for width in WIDTHS:
                for name, address in (("sheet", path), ("player", folder / "player.html")):
                    browser.look(width, 900, dark=dark)
                    browser.open(address.as_uri())
                    if name == "player":
                        browser.evaluate("player.show(20050000)")
                    taken.append(folder / f"{name}-{mode}-{width}.png")
                    browser.picture(taken[-1])
    return taken


if __name__ == "__main__":
    for made in take(Path(sys.argv[1] if len(sys.argv) > 1 else "build/pictures")):
        print(made)
