"""Map signs: shapes and legend of what occurs, as the script has them."""

from __future__ import annotations

import re

from labkit import Lab
from labkit.views.player.map_signs import LETTERS, SHAPES, legend_of, shape_of
from labkit.views.player.recorded.carried_messages import Carried
from labkit.views.player.recorded.recording import recording_of
from labkit.views.player.style import STATIC


def test_a_message_has_a_shape_by_what_it_is_and_its_ends() -> None:
    kinds = {"a": "node", "b": "node", "c": "client"}
    rows = [
        ("c", "a", "request"),
        ("a", "b", "forwarded_request"),
        ("a", "c", "response"),
        ("a", "b", "stream"),
        ("a", "c", "x"),
    ]
    shapes = [shape_of(Carried(0, 1, source, target, what, False, 0, 1), kinds) for source, target, what in rows]

    assert shapes == [0, 0, 1, 2, 3]


def test_the_script_has_as_many_shapes_and_the_same_letters() -> None:
    script = (STATIC / "map.js").read_text(encoding="utf-8")
    letters = re.search(r"LETTERS = \{ (.*?) \}", script)
    shapes = re.search(r"SHAPES = \[(.*?)\];", script)

    assert letters
    assert shapes
    assert dict(re.findall(r'(\w+): "(.)"', letters[1])) == LETTERS
    assert len(re.findall(r'"M', shapes[1])) == len(SHAPES)


def test_a_legend_names_what_occurs_and_no_more(drilled_lab: Lab) -> None:
    quiet = Lab.pair(seed=7).run("50ms")
    recording = recording_of(quiet.queries, quiet.invariants)
    assert legend_of(recording) == ["A active", "s standby"]
    found = legend_of(recording_of(drilled_lab.queries, drilled_lab.invariants))
    assert found[:5] == ["A active", "s standby", "# sealed", "d down", "circle: request"]
    assert {"cross: lost there", "broken line: cut", "bracket: no write succeeded"} <= set(found)
    assert "‖ paused" not in found
    assert {"large: of interest, slowed down for; small: other", "2×: two there"} <= set(found)
