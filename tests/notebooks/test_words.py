"""Words of ``labkit help words``: in lessons 00 to 09, read in their order, each is explained where it comes first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from labkit.lessons.catalogue import LESSONS, plan
from labkit.places import notebooks
from labkit.reference import entries

EVERYDAY = frozenset({"mark", "step"})
"""Lessons use these only as everybody does: a mark on a version or to search by, a step that somebody takes."""


def terms() -> list[str]:
    """Every word of the page, one by one."""
    return list(entries("words"))


def texts_of(number: str) -> Iterator[str]:
    """What a reader reads in a lesson after its first cell: its texts, questions and tasks, without what is code."""
    asked = {f'here.predict("{one.name}"': one.asks for one in plan(number).questions}
    asked |= {f'here.check("{one.name}"': one.goal for one in plan(number).exercises}
    cells = json.loads((notebooks() / plan(number).file).read_text(encoding="utf-8"))["cells"]
    for cell in cells[1:]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield re.sub(r"`[^`]*`", "", source)
        yield from (said for call, said in asked.items() if cell["cell_type"] == "code" and call in source)


def pattern(term: str) -> re.Pattern[str]:
    """A word in any of its forms: promote, promoted, promotion; entry, entries."""
    stem = term.removesuffix("e").removesuffix("y")
    return re.compile(rf"\b{re.escape(stem)}\w{{0,4}}\b", re.IGNORECASE)


def unexplained(texts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The words that first come in a text which sets none of their forms in bold, with the name of that text."""
    found, left = [], {term: pattern(term) for term in terms() if term not in EVERYDAY}
    for name, text in texts:
        bold = " | ".join(re.findall(r"\*\*(.+?)\*\*", text))
        for term, form in list(left.items()):
            if form.search(text):
                del left[term]
                if not form.search(bold):
                    found.append((term, name))
    return found


def test_a_word_is_explained_where_it_comes_first():
    assert unexplained((number, text) for number in LESSONS for text in texts_of(number)) == []


def test_a_word_that_is_not_explained_is_found():
    texts = [("a", "Two **nodes** of one cluster."), ("b", "A **cluster** is promoted. **That** lag **is** long.")]

    assert unexplained(texts) == [("cluster", "a"), ("lag", "b"), ("promote", "b")]
    assert set(terms()) >= EVERYDAY
