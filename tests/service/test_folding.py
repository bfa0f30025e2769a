"""Folding: which names are the same in any case."""

from __future__ import annotations

import sys

import pytest

from labkit.service.folding import folded


@pytest.mark.parametrize(
    ("one", "other"), [("Kitchen", "kITCHEN"), ("ГРУППА", "группа"), ("ÀÉ", "àé"), ("Ж", "ж"), ("", "")]
)
def test_names_that_differ_in_case_only_are_the_same(one, other) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("\u212aitchen", "kitchen"), ("\u017fet", "set"), ("stra\u00dfe", "strasse"), ("\u0130d", "id"), ("\u2126", "ω")],
)
def test_names_that_only_look_the_same_are_others(one, other) -> None:
    assert folded(one) != folded(other)


@pytest.mark.slow
def test_no_character_is_folded_into_one_that_differs_in_small_or_capital_letters() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        small = folded(character)
        assert small == character or (small.lower(), small.upper()) == (character.lower(), character.upper())
        assert folded(small) == small
