"""Merkle explorer: a cluster's index level by level in a notebook: trees, pages, the chosen page's subpages, its keys.

1. It shows what the picture beside it shows, of the same instant; ``static/merkle.js`` draws it and moves in it.
2. A page is sent when it is asked for.  Where the lab has gone on since, or a question is malformed, a note says so.
3. The picture is what is exported, and what shows where widgets do not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from labkit.service.durations import in_seconds
from labkit.views import colours
from labkit.views.contents.merkle_contents import Cell, ChosenPage, MerkleContents, describe

Look = Callable[[tuple[str, int]], MerkleContents]
STATIC = Path(__file__).with_name("static")
STATES = ("damaged", "differs", "pending")

STYLE = (
    colours.variables(".labkit-merkle")
    + """
.labkit-merkle{color:var(--labkit-ink);max-width:46rem;font-family:ui-sans-serif,system-ui,sans-serif;font-size:14px}
.labkit-merkle p{margin:4px 0}
.labkit-merkle .title{font-weight:600}
.labkit-merkle .legend{color:var(--labkit-faint);white-space:pre-wrap;font-size:13px}
.labkit-merkle .up{cursor:pointer;text-decoration:underline}
.labkit-merkle .live{min-height:1.4em}
.labkit-merkle .board{overflow:auto;max-height:34rem;padding:3px}
.labkit-merkle [role=row]{display:flex}
.labkit-merkle .cell{box-sizing:border-box;border:1px solid var(--labkit-faint);cursor:pointer;margin:0 -1px -1px 0}
.labkit-merkle .pages .cell,.labkit-merkle .subpages .cell{flex:0 0 24px;width:24px;height:24px;line-height:22px;
text-align:center}
.labkit-merkle .trees .cell{flex:1 1 0;padding:8px}
.labkit-merkle .keys .cell{flex:1 1 auto;padding:4px 8px;overflow-wrap:anywhere}
.labkit-merkle small{display:block;color:var(--labkit-faint);font-size:12px;overflow-wrap:anywhere}
.labkit-merkle .differs{border-style:dashed;border-color:var(--labkit-primary);font-weight:700;
background:repeating-linear-gradient(135deg,transparent 0 5px,var(--labkit-panel) 5px 10px)}
.labkit-merkle .damaged{border:2px solid var(--labkit-down);font-weight:700}
.labkit-merkle .cell:focus{outline:3px solid var(--labkit-primary);outline-offset:-1px}
"""
)


class MerkleExplorer(anywidget.AnyWidget):
    """One index at one instant, and the page that was asked for last; ``look`` gives what it says with another page."""

    _esm = STATIC / "merkle.js"
    _css = STYLE
    index = traitlets.Dict().tag(sync=True)
    page = traitlets.Dict().tag(sync=True)
    note = traitlets.Unicode().tag(sync=True)

    def __init__(self, contents: MerkleContents, look: Look) -> None:
        super().__init__(index=index_of(contents), page=page_of(contents))
        self._at_ns, self._look = contents.at_ns, look
        self.on_msg(self._on_message)

    def _on_message(self, _: Any, asked: Any, buffers: Any) -> None:
        """Answer the front end: it asks for a page of a tree."""
        try:
            contents = self._look((asked["tree"], asked["page"]))
        except (LookupError, TypeError, ValueError) as error:
            self._say(str(error))
            return
        if contents.at_ns != self._at_ns:
            then_s, now_s = in_seconds(self._at_ns), in_seconds(contents.at_ns)
            self._say(f"this is the index at {then_s} s, and the lab is at {now_s} s: show it again")
        else:
            self.page = page_of(contents)

    def bundle(self) -> dict[str, Any]:
        """Return what shows it in a notebook with widgets."""
        made: Any = self._repr_mimebundle_()
        return dict(made[0] if isinstance(made, tuple) else made)

    def _say(self, note: str) -> None:
        self.note = ""  # so that the same note is sent again
        self.note = note


def index_of(contents: MerkleContents) -> dict[str, Any]:
    """Return what the explorer shows of an index: the trees with those of their pages that are not empty."""
    beside = f" beside {contents.other}'s" if contents.other else ""
    trees = [
        {
            "name": tree.name,
            "digest": tree.root,
            "leaves": sum(page.leaves for page in tree.pages),
            "states": [name for name, holds in (("damaged", tree.damaged), ("differs", tree.differs)) if holds],
            "pages": _cells(tree.pages),
        }
        for tree in contents.subtrees
    ]
    title = f"Merkle index of {contents.cluster}{beside} at {in_seconds(contents.at_ns)} s"
    return {"title": title, "summary": describe(contents), "cluster": contents.cluster, "trees": trees}


def page_of(contents: MerkleContents) -> dict[str, Any]:
    """Return what the explorer shows of the chosen page; nothing while none is chosen."""
    chosen: ChosenPage | None = contents.chosen
    if chosen is None:
        return {}
    compared = bool(contents.other)
    leaves = [
        {
            "name": leaf.name,
            "subpage": leaf.subpage,
            "here": leaf.here,
            "there": leaf.there,
            "compared": compared,
            "differs": compared and leaf.here != leaf.there,
        }
        for leaf in chosen.leaves
    ]
    return {"tree": chosen.tree, "number": chosen.number, "subpages": _cells(chosen.subpages), "leaves": leaves}


def _cells(cells: tuple[Cell, ...]) -> list[list[Any]]:
    """Return the cells that are not empty as number, leaves and names of states, damage first."""
    found = [(cell, [name for name in STATES if getattr(cell, name)]) for cell in cells]
    return [[cell.number, cell.leaves, states] for cell, states in found if cell.leaves or states]
