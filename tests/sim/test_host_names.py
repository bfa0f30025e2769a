"""Names: which are allowed in a trace, and the error text for an unknown one."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.sim.host_names import checked, unknown


@pytest.mark.parametrize("name", ["paris", "paris-1", "a.b_c", "東京"])
def test_a_name_is_handed_back(name: str) -> None:
    assert checked("site", name) == name


@pytest.mark.parametrize("name", ["", "new york", "a\tb", "a>b", "<", 7, None])
def test_a_name_that_could_be_misread_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="a site needs a name without spaces, < and >, not "):
        checked("site", name)


def test_the_nearest_name_is_offered() -> None:
    assert unknown("site", "toyko", ["paris", "tokyo"]) == "no site named toyko; nearest: tokyo"


def test_without_a_near_name_all_are_listed() -> None:
    assert unknown("host", "x", ["tokyo-1", "paris-1"]) == "no host named x; there are: paris-1, tokyo-1"
    assert unknown("host", "x", []) == "no host named x; there are: none yet"
