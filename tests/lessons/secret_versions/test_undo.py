"""Exercise undo: what the colleague left, and what each mistake of a trap leaves."""

from __future__ import annotations

from labkit.lessons.secret_versions.undo import APP, GOOD, UNDO, look, start


def test_at_the_start_nothing_is_readable_and_all_versions_are_known():
    seen = look(start())

    assert (seen.status, seen.versions) == (404, ("1", "2", "3"))


def test_metadata_deleted_takes_the_numbers_along():
    vault = start()
    vault.delete("secret/metadata/app")
    vault.post(APP, {"data": GOOD})

    assert look(vault) == (200, GOOD, ("1",))
    assert "the versions 1" in UNDO.conditions[-1].says(look(vault))
