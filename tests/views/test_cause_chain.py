"""Cause chain: the graph, the table and the words say what the explanation says."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from labkit import Lab
from labkit.lab.causes.explanation import Explanation
from labkit.views.cause_chain import COLUMNS, CauseChain, of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def chain(drilled_lab: Lab) -> CauseChain:
    return drilled_lab.why("promotion")


def test_it_is_the_explanation(drilled_lab: Lab, chain: CauseChain) -> None:
    plain = super(Lab, drilled_lab).why("promotion")
    assert isinstance(chain, Explanation)
    assert (chain, str(chain)) == (plain, str(plain))
    assert str(chain.without_rows()) == str(plain.without_rows())


def test_table_and_words_say_each_step(chain: CauseChain) -> None:
    frame = chain.to_frame()
    assert list(frame.columns) == list(COLUMNS)
    assert [*frame.said] == [step.sentence for step in chain.steps]
    assert [*frame.row] == ["" if step.row is None else step.row for step in chain.steps]
    words = chain.picture.description
    assert all(f"{number}. {step}" in words for number, step in enumerate(chain.steps, 1))
    assert words.endswith(f"root: {chain.said}.")


def test_the_graph_has_each_event_an_arrow_between_two_and_one_root(chain: CauseChain) -> None:
    svg = ElementTree.fromstring(chain.picture.svg)
    count = len(chain.steps)

    assert count > 1
    assert len(list(svg.iter(f"{SVG}circle"))) == count + 1
    assert len(list(svg.iter(f"{SVG}polygon"))) == count - 1
    said = " ".join(one.text or "" for one in svg.iter(f"{SVG}text"))
    for step in chain.steps:
        assert f"{step.at_ns / 1e9:.3f} s {step.sentence}" in " ".join(said.split())


def test_one_step_alone_is_drawn_too(chain: CauseChain) -> None:
    alone = of(chain._replace(steps=chain.steps[:1]))
    svg = ElementTree.fromstring(alone.picture.svg)
    assert (len(list(svg.iter(f"{SVG}circle"))), len(list(svg.iter(f"{SVG}polygon")))) == (2, 0)


def test_a_notebook_has_the_graph_and_the_sentences_and_a_file_its_table(chain: CauseChain, tmp_path: Path) -> None:
    assert "<svg" in chain._repr_html_()
    assert "<ol>" in chain._repr_html_()
    chain.save(tmp_path / "why.html")
    page = (tmp_path / "why.html").read_text(encoding="utf-8")
    assert page.count("<tr>") == len(chain.steps) + 1
    assert '<h1 class="unseen">What led to' in page, "the picture has its title in view"
