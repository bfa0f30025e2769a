"""Lab views: a lab shows itself by the names that a notebook uses; what the pictures say is tested with them."""

from __future__ import annotations

from labkit.lab.lab_views import LabViews


def test_the_pictures_are_drawn_from_what_the_lab_is_now(calm):
    class Shown(LabViews):
        queries = calm.queries

    shown = Shown()

    assert shown.map().description == calm.map().description
    assert shown.timeline().description == calm.timeline().description
    assert shown.timeline("1s", "2s").description == calm.timeline("1s", "2s").description
    assert repr(shown.measures) == repr(calm.measures)
