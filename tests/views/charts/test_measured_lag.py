"""Lag over time as table and picture."""

from __future__ import annotations

from math import inf

from labkit import Lab
from labkit.views.charts.measured_lag import measured_lag


def test_the_frame_has_what_the_lab_says(drilled_lab):
    frame = measured_lag(drilled_lab.queries).to_frame()
    last = frame.loc["paris"].iloc[-1]
    lag = drilled_lab.lag("tokyo", "paris")

    assert (last.upstream, last.entries, last.behind_s) == ("tokyo", *lag)
    assert set(frame.index.get_level_values("secondary")) == {"paris", "tokyo"}
    rows = frame.loc["tokyo"].reset_index().to_dict("records")
    assert rows[-1]["behind_s"] > 1, "what it was behind when it was promoted"
    for row in rows[:-1]:
        then = drilled_lab.queries.lag(row["upstream"], "tokyo", round(row["at_s"] * 1e9))
        assert (row["entries"], row["behind_s"]) == tuple(then)
        assert row["max_entries"] >= row["entries"]


def test_the_picture_says_what_the_frame_has(drilled_lab):
    measure = measured_lag(drilled_lab.queries)
    frame = measure.to_frame()
    for name in ("paris", "tokyo"):
        own = frame.loc[name]
        known = own[own.max_behind_s < inf]
        assert f"{name}: seconds behind: up to {known.max_behind_s.max():.3f} s" in measure.text
        assert f"{name}: entries behind: up to {known.max_entries.max():,.0f}, " in measure.text
        assert "hatched: no complete state" in measure.text
    furthest = frame[frame.max_behind_s < inf].max_behind_s.max()
    assert f"{furthest:.3f} s by " in measure.finding
    assert "× crash paris" in measure.text


def test_stretches_of_a_length_change_the_table_only(drilled_lab):
    usual, finer = measured_lag(drilled_lab.queries), measured_lag(drilled_lab.queries, 50_000_000)
    assert len(finer.rows) > len(usual.rows)
    assert finer.pictures == usual.pictures


def test_nobody_follows_or_nobody_was_behind():
    lab = Lab.pair(seed=7)
    assert measured_lag(lab.queries).finding == "No cluster followed another."
    assert measured_lag(lab.queries).to_frame().empty
    lab.run("1s")
    assert measured_lag(lab.queries).finding == "No cluster followed another."
