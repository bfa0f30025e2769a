"""Exercise retire: rows under version 1 at the start, what a minimum raised too early takes, what only a trim does."""

from __future__ import annotations

from labkit.lessons.judging import judge
from labkit.lessons.kept_keys.retire import RETIRE, ROWS, look, one_by_one, start, under_a_new_key
from labkit.lessons.kept_keys.rows import TABLE, rows_of
from labkit.lessons.said import NOT_YET, RIGHT


def test_at_the_start_every_row_opens_and_old_ones_too():
    assert look(start()) == (ROWS, ROWS, ROWS, True, True, "")


def test_a_minimum_before_the_rows_are_moved_takes_them_all():
    vault = start()
    vault.post("transit/keys/rows/rotate")
    vault.post("transit/keys/rows/config", {"min_decryption_version": 2})

    assert look(vault) == (ROWS, 0, 0, False, True, "")
    vault = start()
    one_by_one(vault)
    assert look(vault) == (ROWS, ROWS, ROWS, False, False, "")


def test_rows_in_another_order_open_in_the_wrong_places():
    vault = start()
    one_by_one(vault)
    vault.post(TABLE, {"data": {"rows": rows_of(vault)[::-1]}})

    assert judge(RETIRE, (vault,))[1:3] == (
        "in their places",
        f"0 of the {ROWS} rows open to the text of their own place",
    )


def test_a_trim_needs_both_minimums_first():
    """What the last hint says."""
    vault = start()
    vault.post("transit/keys/rows/rotate")
    trim = {"min_available_version": 2}
    vault.post("transit/keys/rows/config", {"min_decryption_version": 2})
    assert vault.post("transit/keys/rows/trim", trim).status == 400
    vault.post("transit/keys/rows/config", {"min_encryption_version": 2})
    assert vault.post("transit/keys/rows/trim", trim).ok


def test_a_backup_of_a_key_that_was_deleted_and_made_again_is_found_as_it_would_open_old_rows():
    vault = start()
    old = rows_of(vault)[0]
    vault.post("transit/keys/rows/config", {"exportable": True, "allow_plaintext_backup": True})
    backup = vault.get("transit/backup/rows").data["backup"]
    under_a_new_key(vault)
    judged = judge(RETIRE, (vault,))

    assert (judged.outcome, judged.condition) == (NOT_YET, "never read out")
    assert judged.seen.startswith("the key was read out at transit/backup/rows, and a copy with version 1")
    vault.post("transit/restore/copy", {"backup": backup})
    assert vault.post("transit/decrypt/copy", {"ciphertext": old}).ok


def test_a_backup_that_was_refused_is_no_copy():
    vault = start()
    assert vault.get("transit/backup/rows").status >= 400
    one_by_one(vault)

    assert judge(RETIRE, (vault,)).outcome == RIGHT


def test_a_key_that_may_be_backed_up_is_refused_as_its_copy_would_open_old_rows():
    vault = start()
    old = rows_of(vault)[0]
    vault.post("transit/keys/rows/config", {"exportable": True, "allow_plaintext_backup": True})
    backup = vault.get("transit/backup/rows").data["backup"]
    one_by_one(vault)

    assert judge(RETIRE, (vault,)).condition == "never read out"
    vault.post("transit/restore/copy", {"backup": backup})
    assert vault.post("transit/decrypt/copy", {"ciphertext": old}).ok
