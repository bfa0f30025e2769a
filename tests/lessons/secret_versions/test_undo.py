"""Exercise undo: what the colleague left, and what each mistake of a trap leaves."""

from __future__ import annotations

from labkit.lessons.secret_versions.undo import APP, GOOD, UNDO, UndoSeen, look, start


def test_at_the_start_nothing_is_readable_and_all_versions_are_known():
    seen = look(start())

    assert (seen.status, seen.versions) == (404, ("1", "2", "3"))


def test_what_is_gone_is_said_of_one_version_and_of_two():
    seen = UndoSeen(200, GOOD, ("1",), ("2", "3"))
    (history,) = [one for one in UNDO.conditions if one.name == "history"]

    assert history.says(seen).startswith("the metadata names version 1; versions 2 and 3 are removed for good here")
    assert "; version 3 is removed" in history.says(seen._replace(versions=("1", "2", "3"), gone=("3",)))


def test_metadata_deleted_takes_the_numbers_along():
    vault = start()
    vault.delete("secret/metadata/app")
    vault.post(APP, {"data": GOOD})

    assert look(vault) == (200, GOOD, ("1",), ("2", "3"))
    assert "the metadata names version 1;" in UNDO.conditions[-1].says(look(vault))


def test_what_is_removed_for_good_is_said_to_be():
    vault = start()
    assert "begins again" not in UNDO.conditions[0].says(look(vault))
    vault.put("secret/destroy/app", {"versions": [3]})

    assert "version 3 is removed for good here" in UNDO.conditions[0].says(look(vault))
    vault.put("secret/destroy/app", {"versions": [2]})
    assert "versions 2 and 3 are removed for good here" in UNDO.conditions[0].says(look(vault))


def test_it_was_written_on_three_days():
    versions = start().get("secret/metadata/app").data["versions"].values()

    assert len({row["created_time"][:10] for row in versions}) == 3
