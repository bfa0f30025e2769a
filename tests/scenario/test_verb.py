"""A verb describes a step in a few words, and names what a text may be."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.scenario.verb import FAULT, Parameter, Verb, cluster_parameter, known_as


def test_a_step_is_described_by_its_words_in_order():
    verb = Verb("move", FAULT, "", (cluster_parameter("goes", "old", "from"), Parameter("force", bool, "", "by force")))

    assert verb.describe({"old": "paris", "force": True}) == "move from paris by force"
    assert verb.describe({"old": "paris", "force": False}) == "move from paris"
    assert verb.parameters[0].required


def test_a_text_is_one_of_those_that_are_known():
    check: Any = known_as("a colour", ("red", "blue")).func
    assert check("red") == "red"
    with pytest.raises(ValueError, match=r"expected a colour, got 'rod' — did you mean 'red'\?"):
        check("rod")
