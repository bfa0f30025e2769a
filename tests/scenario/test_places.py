"""Places: where what is written in a file stands, found when it is asked for."""

from __future__ import annotations

import pickle
from copy import deepcopy

from labkit.scenario.documents.yaml_positions import parse
from labkit.scenario.places import Places
from labkit.scenario.problems import FilePosition

SOURCE = b"""\
timeline:
  - {do: crash, target: paris, at: 2s}
  - {do: heal}
expect:
  lost: {at most: 1}
  invariants: {one primary: held}
always:
  - {roots: equal, name: same}
"""


def test_a_step_its_instant_an_expectation_and_a_rule_have_places() -> None:
    places = Places(parse(SOURCE, "places"))

    assert places["step 1"] == FilePosition(2, 5, 1)
    assert places["step 1 at"] == FilePosition(2, 36, 2)
    assert places["step 2 at"] == places["step 2"]
    assert places["lost"] == FilePosition(5, 3, 4)
    assert places["one primary"] == FilePosition(6, 16, 11)
    assert places.get("step 3") is None
    assert "invariants" not in places


def test_a_copy_of_them_has_all_places_and_no_document() -> None:
    places = Places(parse(SOURCE, "places"))

    for copied in (pickle.loads(pickle.dumps(places)), deepcopy(places)):
        assert type(copied) is dict
        assert copied == dict(places)
        assert len(copied) == len(places) > 6
