"""Stale reads as table and picture."""

from __future__ import annotations

from labkit import Lab
from labkit.lab.measures.stale_reads import stale_reads
from labkit.views.charts.measured_reads import measured_reads


def test_the_frame_has_every_stale_reading(drilled_lab):
    frame = measured_reads(drilled_lab.queries).to_frame()
    judged = stale_reads(drilled_lab.ledger)

    assert len(frame) == len(judged.stale) > 0
    assert (frame.behind_s > 0).all()
    assert (frame.index >= frame.started_s).all()
    assert list(frame.path) == [read.path for read in judged.stale]
    assert set(frame.cluster) == {"tokyo"}


def test_the_picture_says_what_the_frame_has(drilled_lab):
    measure = measured_reads(drilled_lab.queries)
    judged, frame = stale_reads(drilled_lab.ledger), measure.to_frame()
    count, stale = len(judged.times_ns), len(frame)

    assert measure.finding == f"{stale} of {count} reads were stale, the furthest {frame.behind_s.max():.3f} s behind."
    assert f"reads: {count}, {stale} of them stale" in measure.text
    assert f"how far behind: up to {frame.behind_s.max():.3f} s" in measure.text


def test_none_was_stale_or_none_was_read():
    lab = Lab.pair(seed=7)
    assert measured_reads(lab.queries).finding == "No reading of a secret was answered."
    lab["paris"].post("secret/data/a", {"data": {"x": 1}})
    lab["paris"].get("secret/data/a")
    measure = measured_reads(lab.queries)
    assert measure.finding == "None of 1 reads was stale."
    assert "how far behind" not in measure.text
    assert measure.to_frame().empty


def test_one_was_stale():
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.partition("paris", "tokyo")
    lab["paris"].post("secret/data/a", {"data": {"x": 1}})
    lab.crash("paris")
    lab["tokyo"].promote(force=True)
    lab["tokyo"].get("secret/data/a")
    assert measured_reads(lab.queries).finding.startswith("1 of 1 reads was stale, the furthest ")
