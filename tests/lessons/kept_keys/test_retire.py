"""Exercise retire: rows under version 1 at the start, and what a minimum raised too early takes."""

from __future__ import annotations

from labkit.lessons.kept_keys.retire import ROWS, look, one_by_one, start


def test_at_the_start_every_row_opens_and_old_ones_too():
    assert look(start()) == (ROWS, ROWS, True)


def test_a_minimum_before_the_rows_are_moved_takes_them_all():
    vault = start()
    vault.post("transit/keys/rows/rotate")
    vault.post("transit/keys/rows/config", {"min_decryption_version": 2})

    assert look(vault) == (ROWS, 0, False)
    vault = start()
    one_by_one(vault)
    assert look(vault) == (ROWS, ROWS, False)
