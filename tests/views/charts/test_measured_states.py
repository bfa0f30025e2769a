"""Time in states as table and picture: each adds up to the run, the finding is in words."""

from __future__ import annotations

import re

import pytest

from labkit import Lab
from labkit.views.charts.measured_states import HEADINGS, WORDS, measured_states


def test_the_times_of_each_add_up_to_the_run(drilled_lab):
    frame = measured_states(drilled_lab.queries).to_frame()
    sums = frame.groupby(["kind", "name"])[["total_s", "share"]].sum()

    assert sums.total_s.to_numpy() == pytest.approx(drilled_lab.now / 1e9)
    assert sums.share.to_numpy() == pytest.approx(1.0)
    assert set(frame.index.get_level_values("kind")) == {"cluster", "sync", "connection", "node"}


def test_the_picture_says_what_the_frame_has(drilled_lab):
    measure = measured_states(drilled_lab.queries)
    for row in measure.to_frame().reset_index().to_dict("records"):
        heading = HEADINGS[row["kind"]].format(row["name"])
        said = re.split(r"\. (?=Cluster |Sync |Connection |Node )", measure.text.partition(f"{heading} – ")[2])[0]
        state = WORDS.get(row["state"], row["state"])
        assert f"{state}: {row['total_s']:.3f} s" in said, row
        assert f">{row['total_s']:.3f}<" in measure.pictures[0].svg
        assert f">{state}<" in measure.pictures[0].svg
    assert "stream-wals" not in measure.text
    down_s = float(measure.to_frame().total_s["cluster", "paris", "down"])
    assert measure.finding.startswith("paris served nobody for ")
    assert float(measure.finding.split()[4]) >= down_s - 0.001


def test_a_lab_that_was_not_run():
    lab = Lab.pair(seed=7)
    assert measured_states(lab.queries).finding == "No time has passed."
    assert measured_states(lab.run("1s").queries).finding == "Each cluster had an active node all the time."
