"""The front of what is counted: each measure by name, with what it found."""

from __future__ import annotations

import pytest
from IPython.core.formatters import DisplayFormatter

from labkit import Lab
from labkit.lab.plan.blueprint import pair
from labkit.views.charts.measure import Measure
from labkit.views.charts.measures import Measures

NAMES = ("bytes", "lag", "stale_reads", "survivors", "states")


def test_each_measure_is_called_by_its_name(drilled_lab):
    for name in NAMES:
        measure = getattr(drilled_lab.measures, name)()
        assert isinstance(measure, Measure)
        assert measure.name == name


def test_it_shows_what_each_found(drilled_lab):
    measures = drilled_lab.measures
    assert isinstance(measures, Measures)
    bundle = DisplayFormatter().format(measures)[0]
    for name in NAMES:
        finding = getattr(measures, name)().finding
        assert f"{name}: {finding}" in bundle["text/plain"]
        assert finding in bundle["text/html"]
        assert f"lab.measures.{name}()" in bundle["text/html"]


def test_every_frame_keeps_its_types_in_a_lab_where_nothing_happened(drilled_lab):
    empty = Lab.pair(seed=7)
    for name in NAMES:
        there, here = (getattr(lab.measures, name)().to_frame() for lab in (drilled_lab, empty))
        assert dict(there.dtypes) == dict(here.dtypes)
        assert list(there.index.names) == list(here.index.names)
        assert list(there.index.to_frame().dtypes) == list(here.index.to_frame().dtypes)


def test_every_column_says_what_it_is_and_times_and_sizes_have_units(drilled_lab):
    for name in NAMES:
        for column in getattr(drilled_lab.measures, name)().columns:
            assert column.meaning
            assert column.kind != "float64" or column.name.endswith(("_s", "share", "entries")), column.name


def test_a_branch_and_a_restored_lab_have_them_too(drilled_lab):
    for lab in (Lab.restore(drilled_lab.snapshot()), drilled_lab.branch("what-if")):
        for name in NAMES:
            assert getattr(lab.measures, name)() == getattr(drilled_lab.measures, name)()


@pytest.mark.parametrize("name", ["bytes", "states"])
def test_what_is_made_from_the_trace_is_refused_without_one(name):
    lab = Lab(pair(), trace=False)
    with pytest.raises(ValueError, match="expected a lab that keeps a trace"):
        getattr(lab.measures, name)()
    assert repr(lab.measures)


def test_stretches_of_a_length(drilled_lab):
    measures = drilled_lab.measures
    seconds = int(drilled_lab.now / 1e9)
    assert list(measures.lag("1s").to_frame().loc["tokyo"].index)[-1] <= seconds + 1
    by_second = measures.bytes(every="1s").to_frame()
    assert by_second.size_bytes.sum() == measures.bytes().to_frame().size_bytes.sum()
    assert set(by_second.index.get_level_values("from_s")) <= set(map(float, range(seconds + 1)))
    assert measures.lag(2) == measures.lag("2s")
    assert "most in 1 s: " in measures.bytes(every="1s")._repr_html_()
    assert "most in 10 s: " in measures.bytes(every="10s")._repr_html_()
    assert "most in 10 s: " not in measures.bytes(every="1ms")._repr_html_()


@pytest.mark.parametrize("every", [0, "0s", -1, -0.5, 1e-9, "soon", True, [], "1ns"])
def test_a_stretch_that_cannot_be_is_refused(drilled_lab, every):
    for measure in (drilled_lab.measures.bytes, drilled_lab.measures.lag):
        with pytest.raises(ValueError, match="every: expected a duration"):
            measure(every)


def test_what_needs_no_trace_is_there_without_one():
    lab = Lab(pair(), trace=False)
    lab.replicate("paris", "tokyo")
    lab.crash("paris")
    lab["tokyo"].promote()
    assert "survived at tokyo" in lab.measures.survivors().finding
    assert len(lab.measures.lag().rows) > 0
    assert lab.measures.stale_reads().rows == ()
