"""What programs import of labkit.testing is what the front room offers for tests."""

from __future__ import annotations

import pytest

import labkit
from labkit import testing
from labkit.front import testing as offered


@pytest.mark.parametrize("name", testing.__all__)
def test_each_name_is_the_front_rooms(name: str) -> None:
    assert getattr(testing, name) is getattr(offered, name)


def test_it_is_an_attribute_of_the_package_too() -> None:
    assert labkit.testing is testing
