"""The front door: the promised names, and a clear answer for any other."""

from __future__ import annotations

import pytest

import labkit


def test_the_front_door_offers_what_it_promises():
    names = {name: getattr(labkit, name).__name__ for name in labkit.__all__}

    assert names == {**{name: name for name in labkit.__all__}, "testing": "labkit.testing"}


def test_a_missing_name_is_refused_with_the_names_there_are():
    with pytest.raises(
        AttributeError, match="no attribute 'Valut'; it offers Cloud, Lab, Request, Response, Vault, testing"
    ):
        labkit.Valut  # noqa: B018 - the look-up itself is what is tested
