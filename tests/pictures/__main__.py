"""Contact sheet: every picture there is, in light, dark and grey, at three widths, to be looked at whole.

    python -m tests.pictures [folder]

It draws each picture of a failover, of a damaged pair and of eight sites into pages, and takes their screenshots, and
those of players of a failover, of two runs and of twenty sites, with the browser of this machine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from labkit import Lab
from labkit.lab.plan.blueprint import Blueprint, ClientPlan, ClusterPlan, LinkPlan, WorkloadPlan
from labkit.places import scenarios
from labkit.service.durations import MILLISECOND_NS, SECOND_NS
from labkit.views import colours
from tests.browser import BROWSER, Browser

WIDTHS = (320, 640, 1_280)
MODES = {"light": (False, ""), "dark": (True, ""), "grey": (False, "grayscale(1)")}
STYLE = "body{margin:8px;font:16px system-ui;background:var(--labkit-paper);color:var(--labkit-ink)}h2{font-size:16px}"
MOMENT_US = 20_050_000
LONG = "saint-germain-north"


class Sheet(NamedTuple):
    """A page of the contact sheet: its name, its HTML, and what is done in it before it is looked at."""

    name: str
    page: str
    script: str = ""


def failover() -> Lab:
    """The scenario of the demo, with what becomes of its trees."""
    lab = Lab.load(scenarios() / "first" / "failover.lab.yaml")
    lab.keep_pictures()
    return lab.run()


def spread(count: int) -> Lab:
    """A lab of many sites with a cluster each but for the last, which has clients; one of them is lost."""
    sites = (LONG, *[f"city-{number}" for number in range(2, count + 1)])
    near = [(one, other) for one, other in combinations(range(count), 2) if count <= 8 or other - one in (1, 2)]
    lines = tuple(
        [
            LinkPlan(between=(sites[one], sites[other]), latency_ns=(10 + (one * 7 + other * 13) % 90) * MILLISECOND_NS)
            for one, other in near
        ]
    )
    clusters = tuple([ClusterPlan(name=site, site=site) for site in sites[:-1]])
    work = tuple(
        [
            WorkloadPlan(operation=operation, every_ns=SECOND_NS // 5, keys=5, from_ns=SECOND_NS)
            for operation in ("put-secret", "get-secret")
        ]
    )
    shop = ClientPlan(name="shop", site=sites[-1], use=sites[:2], count=2, workload=work)
    lab = Lab(Blueprint(sites=sites, clusters=clusters, links=lines).with_clients(shop), seed=7)
    for site in sites[1:4]:
        lab.replicate(LONG, site)
    lab.run("3s").partition(LONG, sites[1])
    lab.run("2s").crash(LONG)
    lab[sites[1]].promote(force=True)
    return lab.run("3s")


def damaged() -> Mapping[str, Any]:
    """What two clusters show of which one is damaged and cut off."""
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
    return {
        "map-cut": pair.map(),
        "merkle": pair["tokyo"].merkle(),
        "repair": repair,
        "repair-here": pair["tokyo"].merkle().repair("subpage"),
        "compare": apart,
        "diff": pair.diff("paris", "tokyo"),
        "states": pair.measures.states(),
    }


def pictures() -> Mapping[str, Any]:
    """Return every picture by a name of its own."""
    lab = failover()
    eight, measures = spread(8), lab.measures
    return {
        "map": lab.map(),
        "map-eight": eight.map(),
        "timeline": lab.timeline(),
        "timeline-part": lab.timeline("18s", "30s"),
        "timeline-eight": eight.timeline(),
        **damaged(),
        "lag": measures.lag(),
        "bytes": measures.bytes(),
        "bytes-over-time": measures.bytes(every="1s"),
        "stale-reads": eight.measures.stale_reads(),
        "tokens": measures.survivors(),
        "why": lab.why("promotion"),
    }


def players() -> Iterable[Sheet]:
    """Return the pages of players: of a failover, asked and zoomed; of two runs; of twenty sites."""
    lab = failover()
    shown = f"player.show({MOMENT_US})"
    asked = "document.querySelector('#lost tbody tr').click(); player.zoom.by(.25)"
    other = lab.at("20s")
    other.run("30s")
    yield Sheet("player", lab.play().html, shown)
    yield Sheet("player-asked", lab.play().html, f"{shown}; {asked}")
    yield Sheet("player-beside", lab.play(beside=other).html)
    yield Sheet("player-twenty", spread(20).play().html)


def page_of(shown: Mapping[str, Any]) -> str:
    """Return one page with all pictures, each below its name."""
    parts = "".join(f"<section><h2>{escape(name)}</h2>{one._repr_html_()}</section>" for name, one in shown.items())
    head = f"<title>Pictures</title><style>{colours.readers(':root')}{STYLE}</style>"
    return f'<!doctype html><html lang="en"><meta charset="utf-8">{head}<main><h1>Pictures</h1>{parts}</main></html>'


def take(folder: Path, sheets: Iterable[Sheet], browser: Browser) -> Iterable[Path]:
    """Write pages and screenshots into a folder; return the screenshots."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for sheet in sheets:
        path = folder / f"{sheet.name}.html"
        path.write_text(sheet.page, encoding="utf-8")
        for mode, (dark, seen) in MODES.items():
            for width in WIDTHS:
                browser.look(width, 900, dark=dark)
                browser.open(path.as_uri())
                browser.evaluate(f"document.documentElement.style.filter = {seen!r}; {sheet.script}; 0")
                taken = folder / f"{sheet.name}-{mode}-{width}.png"
                browser.picture(taken)
                yield taken


def main(folder: Path) -> None:
    """Take the whole contact sheet."""
    assert BROWSER is not None, "a contact sheet needs a browser; LABKIT_BROWSER names one"
    with Browser(BROWSER) as browser:
        for made in take(folder, (Sheet("pictures", page_of(pictures())), *players()), browser):
            print(made)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/pictures"))
