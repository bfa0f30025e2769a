"""An explanation: its steps in order, as text and as HTML that shows texts as they are."""

from __future__ import annotations

from labkit.lab.causes.explanation import FAULT, NOT_RECORDED, OPERATOR, ROOTS, CauseStep, Explanation, Root

STEPS = (CauseStep(2_500_000_000, "b follows <a>", 7), CauseStep(1_000_000_000, "a", None))


def test_it_reads_from_the_effect_to_the_root():
    found = Explanation(STEPS, FAULT, Root(FAULT, "crash", ("paris-1",)))

    assert str(found) == "1. 2.500 s  b follows <a>  [row 7]\n2. 1.000 s  a\nroot: a fault, at 1.000 s: a"
    assert found.root == STEPS[-1]
    assert repr(found) == "Explanation(2 steps, root: fault at 1.000 s)"


def test_as_html_it_is_a_numbered_list_with_escaped_texts():
    html = Explanation(STEPS, OPERATOR, Root(OPERATOR, "", ()))._repr_html_()

    assert html.count("<li") == 2
    assert "b follows &lt;a&gt; <small>row 7</small>" in html
    assert html.endswith("root: an operator asked, at 1.000 s: a</p>")


def test_every_origin_has_its_words():
    assert NOT_RECORDED in ROOTS
    assert len(set(ROOTS.values())) == len(ROOTS) == 7


def test_the_end_of_a_fault_is_not_called_one():
    found = Explanation(STEPS, FAULT, Root(FAULT, "restart", ("paris-1",)))

    assert found.said == "a fault was undone, at 1.000 s: a"
