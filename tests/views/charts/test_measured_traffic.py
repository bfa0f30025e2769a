"""Bytes on the wire as table and picture: the sums are those of the trace, the finding is in words."""

from __future__ import annotations

from labkit import Lab
from labkit.views.charts.measured_traffic import measured_traffic


def test_the_frame_adds_up_to_the_trace(drilled_lab):
    measure = measured_traffic(drilled_lab.queries)
    frame, messages = measure.to_frame(), drilled_lab.trace.select("message")

    assert frame.size_bytes.sum() == sum(message.size_bytes for message in messages)
    assert frame.messages.sum() == len(messages)
    assert frame.loc["heartbeats"].size_bytes.sum() == sum(m.size_bytes for m in messages if m.what == "echo")


def test_the_picture_says_what_the_frame_has(drilled_lab):
    measure = measured_traffic(drilled_lab.queries)
    totals = measure.to_frame().groupby("mechanism")[["size_bytes", "messages", "lost_bytes"]].sum()

    for mechanism, row in totals.iterrows():
        assert f"{mechanism}: {row.size_bytes:,} bytes in {row.messages:,} message" in measure.text
        assert not row.lost_bytes or f"{row.lost_bytes:,} of them lost" in measure.text
    assert measure.finding.startswith(f"{totals.size_bytes.sum():,} bytes in {totals.messages.sum():,} messages")


def test_a_lab_in_which_nothing_was_sent():
    measure = measured_traffic(Lab.pair(seed=7).queries)
    assert measure.finding == "No message was sent."
    assert measure.to_frame().empty
    assert "No message was sent." in measure.pictures[0].svg
