"""The everyday part tries fewer examples of a property, the whole suite and the mutants all of them."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.examples import EVERYDAY, WHOLE, examples, share


@pytest.fixture
def profile(request):
    """A profile in force for one test."""
    before = settings.get_current_profile_name()
    settings.load_profile(request.param)
    yield settings().max_examples
    settings.load_profile(before)


@pytest.mark.parametrize(
    ("profile", "tried"), [(WHOLE, (100, 600, 10, 10)), (EVERYDAY, (25, 150, 5, 2))], indirect=["profile"]
)
def test_a_profile_says_how_many_examples_are_tried(profile, tried):
    assert (profile, examples(600), examples(10), examples(10, fewest=1)) == tried


def test_the_part_that_is_run_chooses_the_profile(pytestconfig):
    everyday = pytestconfig.getoption("markexpr") == "not slow"
    chosen = pytestconfig.getoption("--hypothesis-profile")

    assert settings.get_current_profile_name() == (chosen or (EVERYDAY if everyday else WHOLE))


@pytest.mark.parametrize("count", [1, 5, 10, 12, 13, 1000])
def test_a_share_is_never_more_and_never_next_to_nothing(count):
    assert min(count, 5) <= share(count) <= count
