"""Explore: in a notebook, for drawn labs or one's own, which stays as it is."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.hunt import explore
from labkit.hunt.exploration import Exploration
from labkit.hunt.explore import with_own_names
from labkit.hunt.shrinking.handing_over import FoundFile


def test_a_careless_operator_makes_two_primaries_and_the_file_shows_it(careless: Exploration):
    (group,) = [group for group in careless.groups if group.signature.roles == ("survivor",)]
    file = careless.file_of(group)

    assert file is not None
    assert file.steps == 2
    assert "promote" in file.text


def test_a_lab_of_ones_own_is_explored_and_stays():
    lab = Lab.pair(seed=3)
    before = lab.trace.digest()
    found = explore(lab, 2)

    assert (len(found.seeds), lab.trace.digest()) == (2, before)
    assert found.exit_code == 0
    assert all("paris" in str(found.plan.beginning) for _ in found.seeds)


def test_no_two_files_have_one_name():
    file = FoundFile("x.lab.yaml", "", 1, 1)
    found = with_own_names([file, None, file, file._replace(name="y.lab.yaml"), file])

    assert [one and one.name for one in found] == ["x.lab.yaml", None, "x-2.lab.yaml", "y.lab.yaml", "x-3.lab.yaml"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"lab": "first/failover"}, "lab: expected a lab, or None for drawn ones, got"),
        ({"seeds": 0}, "seeds: expected a number of seeds from 1 to 9,999,999, got 0"),
        ({"seeds": True}, "seeds: expected"),
        ({"operator": "lazy"}, "operator: expected an operator, got"),
    ],
)
def test_what_is_wrong_is_said(given, said):
    with pytest.raises(ValueError, match=said):
        explore(**given)
