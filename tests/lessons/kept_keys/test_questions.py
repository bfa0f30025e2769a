"""Both predictions of lesson 02: what is measured, what is missing before, and the numbers of the explanations."""

from __future__ import annotations

import pytest

from labkit import Vault
from labkit.lessons.kept_keys.questions import LOWERED, ROTATED, ROWS
from labkit.lessons.kept_keys.rows import rows_of, with_rows


@pytest.fixture
def vault() -> Vault:
    made = with_rows(seed=2, count=ROWS)
    assert "not rotated yet" in ROTATED.needs(made)
    made.post("transit/keys/rows/rotate")
    return made


def test_a_rotation_leaves_every_row_where_it_is(vault):
    assert "0 rows" in ROTATED.needs(Vault.dev(seed=2))
    assert ROTATED.needs(vault) == LOWERED.needs(vault) == ""
    assert ROTATED.measure(vault) == 0
    assert "versions 1 and 2, and 0 of 100 rows" in ROTATED.why(vault)
    assert set(ROTATED.replies) == {100, 1}


def test_a_minimum_can_be_taken_back_and_a_trim_cannot(vault):
    rows = rows_of(vault)

    assert LOWERED.measure(vault) == "its plaintext"
    said = LOWERED.why(vault)
    assert "the old text answers 400, the same text rewrapped 200" in said
    assert "the old text answers 200" in said
    assert "cannot be lowered (400)" in said
    assert rows_of(vault) == rows
    assert vault.get("transit/keys/rows").data["min_decryption_version"] == 1, "only branches were changed"
