"""What is said: the same words as text and as HTML, with a sign beside the outcome; tables of equal rows."""

from __future__ import annotations

import pytest

from labkit.lessons.said import NOT_YET, GivenText, RowTable, Said, table


class Drawn:
    """Stands for a picture."""

    def __repr__(self) -> str:
        return "Drawn(a line)"

    def _repr_html_(self) -> str:
        return "<svg></svg>"


def test_text_and_page_say_the_same():
    said = Said(NOT_YET, ("n < 2", "try `post(1 < 2)`"), Drawn())

    assert repr(said) == "NOT YET: n < 2\n  try `post(1 < 2)`\n  Drawn(a line)"
    page = said._repr_html_()
    assert "<strong>△ not yet</strong>: n &lt; 2" in page
    assert "<code>post(1 &lt; 2)</code>" in page
    assert page.endswith("<svg></svg></section>")


def test_an_odd_backtick_is_text():
    assert "a ` b" in Said("sealed", ("a ` b",))._repr_html_()


def test_a_table_is_aligned_and_its_head_is_marked():
    shown = table("Answers", [{"cluster": "paris", "answers": 200}, {"cluster": "x", "answers": "<none>"}])

    assert repr(shown) == "Answers\ncluster  answers\nparis    200\nx        <none>"
    assert '<th scope="col" style="text-align:left">cluster</th>' in shown._repr_html_()
    assert ">&lt;none&gt;</td>" in shown._repr_html_()
    assert ">Answers</caption>" in shown._repr_html_()


def test_only_a_long_word_is_broken_where_a_page_ends():
    page = table("Paths", [{"a": "secret/data/orders/1", "b": "some short words in a row"}])._repr_html_()

    assert '<td style="text-align:left;overflow-wrap:anywhere">secret/data/orders/1</td>' in page
    assert '<td style="text-align:left">some short words in a row</td>' in page


def test_rows_of_other_columns_are_refused():
    with pytest.raises(ValueError, match="rows: expected rows with the columns a"):
        RowTable("x", [{"a": 1}, {"b": 1}])


def test_a_table_without_rows_is_its_title():
    assert repr(RowTable("Nothing", [])) == "Nothing\n"


def test_a_text_that_is_handed_out_is_shown_as_it_stands():
    given = GivenText("a: <b>\n  c: 1")

    assert repr(given) == given == "a: <b>\n  c: 1"
    assert given._repr_html_() == '<pre tabindex="0"><code>a: &lt;b&gt;\n  c: 1</code></pre>'
    assert f"{given}\n" == "a: <b>\n  c: 1\n"
