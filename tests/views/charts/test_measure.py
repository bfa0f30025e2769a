"""A measure: its frame has the same columns and types whatever was counted, its table is whole and escaped."""

from __future__ import annotations

import pytest
from IPython.core.formatters import DisplayFormatter

from labkit.trace import Trace
from labkit.views.charts.measure import (
    FLAG,
    MAX_ROWS,
    REAL,
    TEXT,
    WHOLE,
    Measure,
    MeasuredColumn,
    needs_trace,
)
from labkit.views.picture import Picture

COLUMNS = (
    MeasuredColumn("name", TEXT, "whose it is", True),
    MeasuredColumn("count", WHOLE, "how many"),
    MeasuredColumn("time_s", REAL, "how long"),
    MeasuredColumn("stale", FLAG, "whether <it> is"),
)
PICTURE = Picture(9, 9, "Bytes", "Nothing.", ())


def measure(*rows: tuple, columns: tuple[MeasuredColumn, ...] = COLUMNS) -> Measure:
    return Measure("bytes", "Nothing was found.", columns, rows, (PICTURE, PICTURE))


@pytest.mark.parametrize("rows", [(), (("a", 1, 0.5, True), ("b", 2**40, float("inf"), False))])
def test_the_types_are_those_of_the_columns_with_rows_and_without(rows):
    frame = measure(*rows).to_frame()

    assert (frame.index.name, str(frame.index.dtype)) == ("name", "string")
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == {
        "count": "int64",
        "time_s": "float64",
        "stale": "bool",
    }
    assert [tuple(row) for row in frame.reset_index().itertuples(index=False)] == list(rows)


@pytest.mark.parametrize("rows", [(), (("a", 1, 0.5, True),)])
def test_an_index_of_several_columns(rows):
    columns = (COLUMNS[0], COLUMNS[1]._replace(is_index=True), *COLUMNS[2:])
    frame = measure(*rows, columns=columns).to_frame()

    assert list(frame.index.names) == ["name", "count"]
    assert [str(kind) for kind in frame.index.to_frame().dtypes] == ["string", "int64"]
    assert len(frame) == len(rows)


def test_it_shows_its_pictures_the_table_and_what_the_columns_say():
    html = measure(("<b>", 1, 0.25, True))._repr_html_()

    assert html.count("<svg") == 2
    assert "bytes as a table: 1 row<" in html
    assert "<td>&lt;b&gt;</td><td>1</td><td>0.250</td><td>True</td>" in html
    assert "<code>stale</code>: whether &lt;it&gt; is" in html
    assert 'scope="col"' in html


def test_a_long_table_is_cut_and_says_so():
    html = measure(*[("a", number, 0.0, False) for number in range(MAX_ROWS + 7)])._repr_html_()

    assert html.count("<tr>") == MAX_ROWS + 1
    assert "and 7 more rows" in html


def test_it_says_what_was_found():
    found = measure()
    assert repr(found) == "Measure(bytes: Nothing was found.)"
    assert found.text == "Nothing.\nNothing."
    assert DisplayFormatter().format(found)[0] == {"text/html": found._repr_html_(), "text/plain": repr(found)}


def test_a_lab_without_a_trace_is_refused():
    trace = Trace()
    assert needs_trace(trace, "bytes") is trace
    with pytest.raises(ValueError, match=r"measures\.bytes\(\): expected a lab that keeps a trace, got one with trace"):
        needs_trace(Trace(enabled=False), "bytes")
