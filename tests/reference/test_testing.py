"""The guide to testing: each of its snippets is a test file that passes in a project of its own."""

from __future__ import annotations

import re

import pytest

from labkit.reference import page
from tests.front import test_pytest_plugin
from tests.front.test_pytest_plugin import Play

pytest_plugins = ["pytester"]

keeper, play = test_pytest_plugin.keeper, test_pytest_plugin.play  # fixtures

SNIPPETS = re.findall(r"(?ms)^```python\n(.*?)^```$", page("testing"))


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_a_snippet_is_a_test_that_passes(
    snippet: str,
    play: Play,  # before pytester: what it keeps is forgotten otherwise
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(snippet)

    play("-W", "ignore::DeprecationWarning").assert_outcomes(passed=snippet.count("def test_"))


def test_there_are_snippets() -> None:
    assert len(SNIPPETS) == 7
