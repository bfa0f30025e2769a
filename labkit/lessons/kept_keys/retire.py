"""Retire: version 1 of a key is to be of no use any more, and no row may be lost."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from labkit.front.vault import Vault
from labkit.lessons.kept_keys.rows import TABLE, base64_of, opened, rows_of, with_rows
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart

ROWS, AUDIT = 20, "audit.log"
READ_OUT = re.compile(r"transit/(?:backup|(?:byok-)?export/[^/]+)/rows(?:/.*)?")
"""Paths that give the key away, in a form that can be used elsewhere."""


class RetireSeen(NamedTuple):
    """How many rows there are, how many open to a text of the table, and how many to that of their place.

    Then whether a text of version 1 opens, as things are and with the least minimum that the service takes.
    ``leaves`` says how the key itself leaves the service, or has left it since the start; empty where it does not.
    """

    rows: int
    known: int
    right: int
    old_opens: bool
    opens_again: bool
    leaves: str


@KeptStart
def start() -> Vault:
    """Return a vault whose table has twenty rows under version 1; an audit file keeps what is asked of it."""
    vault = with_rows(seed=21, count=ROWS)
    vault.put("sys/audit/file", {"type": "file", "options": {"file_path": AUDIT}})
    return vault


def look(branch: Vault) -> RetireSeen:
    """Open every row in order, and a text of version 1 that was kept elsewhere; then lower the minimum again."""
    found = [opened(branch, row) for row in rows_of(branch)]
    texts = [base64_of(f"row {number}") for number in range(ROWS)]
    right = sum(text == wanted for text, wanted in zip(found, texts, strict=False))
    old = rows_of(start())[0]
    old_opens = opened(branch, old) is not None
    branch.post("transit/keys/rows/config", {"min_decryption_version": 1})
    known = sum(text in texts for text in found)
    return RetireSeen(len(found), known, right, old_opens, opened(branch, old) is not None, _leaves(branch))


def _leaves(branch: Vault) -> str:
    """Say how the key can leave the service, or that it did: a key that is made again knows nothing of a backup."""
    key = branch.get("transit/keys/rows")
    if key.ok and (key.data["exportable"] or key.data["allow_plaintext_backup"]):
        return "the key may be exported or backed up"
    records = map(json.loads, (branch.files.read(AUDIT) or b"").splitlines())
    answers = [row["request"]["path"] for row in records if row["type"] == "response" and "error" not in row]
    taken = [path for path in answers if READ_OUT.fullmatch(path)]
    return f"the key was read out at {taken[-1]}" if taken else ""


def one_by_one(vault: Vault) -> None:
    """Rotate, move each row, and only then forbid version 1 and remove it."""
    vault.post("transit/keys/rows/rotate")
    rows = vault.get("secret/data/rows").data["data"]["rows"]
    moved = [vault.post("transit/rewrap/rows", {"ciphertext": row}).data["ciphertext"] for row in rows]
    vault.post("secret/data/rows", {"data": {"rows": moved}})
    vault.post("transit/keys/rows/config", {"min_decryption_version": 2, "min_encryption_version": 2})
    vault.post("transit/keys/rows/trim", {"min_available_version": 2})


def as_a_batch(vault: Vault) -> None:
    """Move all rows by one request."""
    vault.post("transit/keys/rows/rotate")
    rows = vault.get("secret/data/rows").data["data"]["rows"]
    items = [{"ciphertext": row} for row in rows]
    found = vault.post("transit/rewrap/rows", {"batch_input": items}).data["batch_results"]
    vault.post("secret/data/rows", {"data": {"rows": [row["ciphertext"] for row in found]}})
    vault.post("transit/keys/rows/config", {"min_decryption_version": 2, "min_encryption_version": 2})
    vault.post("transit/keys/rows/trim", {"min_available_version": 2})


def under_a_new_key(vault: Vault) -> None:
    """Open each row, delete the key, and encrypt under a new one of that name."""
    items = [{"ciphertext": row} for row in vault.get("secret/data/rows").data["data"]["rows"]]
    found = vault.post("transit/decrypt/rows", {"batch_input": items}).data["batch_results"]
    vault.post("transit/keys/rows/config", {"deletion_allowed": True})
    vault.delete("transit/keys/rows")
    items = [{"plaintext": row["plaintext"]} for row in found]
    moved = vault.post("transit/encrypt/rows", {"batch_input": items}).data["batch_results"]
    vault.post("secret/data/rows", {"data": {"rows": [row["ciphertext"] for row in moved]}})


def open_and_close(vault: Vault) -> None:
    """Decrypt each row and encrypt it again, which shows the plaintext to whoever does it; then trim."""
    vault.post("transit/keys/rows/rotate")
    moved = []
    for row in vault.get("secret/data/rows").data["data"]["rows"]:
        plaintext = vault.post("transit/decrypt/rows", {"ciphertext": row}).data["plaintext"]
        moved.append(vault.post("transit/encrypt/rows", {"plaintext": plaintext}).data["ciphertext"])
    vault.post("secret/data/rows", {"data": {"rows": moved}})
    vault.post("transit/keys/rows/config", {"min_decryption_version": 2, "min_encryption_version": 2})
    vault.post("transit/keys/rows/trim", {"min_available_version": 2})


def _raise_minimum(vault: Vault) -> None:
    vault.post("transit/keys/rows/config", {"min_decryption_version": 2, "min_encryption_version": 2})


def _minimum_first(vault: Vault) -> None:
    vault.post("transit/keys/rows/rotate")
    _raise_minimum(vault)


def _trim_first(vault: Vault) -> None:
    _minimum_first(vault)
    vault.post("transit/keys/rows/trim", {"min_available_version": 2})


def _rewrap_only(vault: Vault) -> None:
    vault.post("transit/keys/rows/rotate")
    moved = [vault.post("transit/rewrap/rows", {"ciphertext": row}).data["ciphertext"] for row in rows_of(vault)]
    vault.post(TABLE, {"data": {"rows": moved}})


def _minimum_only(vault: Vault) -> None:
    _rewrap_only(vault)
    _raise_minimum(vault)


def _reversed(vault: Vault) -> None:
    as_a_batch(vault)
    vault.post(TABLE, {"data": {"rows": rows_of(vault)[::-1]}})


def _swapped(vault: Vault) -> None:
    as_a_batch(vault)
    first, second, *others = rows_of(vault)
    vault.post(TABLE, {"data": {"rows": [second, first, *others]}})


def _dropped(vault: Vault) -> None:
    as_a_batch(vault)
    vault.post(TABLE, {"data": {"rows": rows_of(vault)[:-1]}})


def _backed_up(vault: Vault) -> None:
    vault.post("transit/keys/rows/config", {"exportable": True, "allow_plaintext_backup": True})
    vault.get("transit/backup/rows")
    as_a_batch(vault)


def _made_again(vault: Vault) -> None:
    vault.post("transit/keys/rows/config", {"exportable": True, "allow_plaintext_backup": True})
    vault.get("transit/backup/rows")
    under_a_new_key(vault)


def _exported(vault: Vault) -> None:
    vault.post("transit/keys/rows/config", {"exportable": True})
    vault.get("transit/export/encryption-key/rows/1")
    under_a_new_key(vault)


def _new_key(vault: Vault) -> None:
    found = [opened(vault, row) for row in rows_of(vault)]
    items = [{"plaintext": text} for text in found]
    moved = vault.post("transit/encrypt/other", {"batch_input": items}).data["batch_results"]
    vault.post(TABLE, {"data": {"rows": [row["ciphertext"] for row in moved]}})
    vault.post("transit/keys/rows/rotate")
    _raise_minimum(vault)


RETIRE = Exercise(
    name="retire",
    title="Retire a version",
    goal="every row of secret/data/rows opens to its text with the key rows, in its place, and nothing that version 1 "
    "encrypted ever opens again.",
    start=start,
    look=look,
    takes=("the vault",),
    conditions=(
        Condition(
            name="no row is missing",
            holds=lambda seen: seen.rows == ROWS,
            says=lambda seen: f"the table has {seen.rows} rows",
            asks=f"The table has to have its {ROWS} rows.",
            hints=(
                "Count the rows in `secret/data/rows`, now and in a new start.",
                "A table is written whole: what you leave out is gone.",
                "write the list of all rewrapped rows",
            ),
        ),
        Condition(
            name="all rows open",
            holds=lambda seen: seen.known == seen.rows,
            says=lambda seen: f"{seen.known} of {ROWS} rows open to a text of the table",
            asks="Every row has to open, with the key rows.",
            hints=(
                "Look at the beginning of each row: which version does it name?",
                "What is under a version that may not decrypt is lost to you. Rotate, then move, and forbid last.",
                '`vault.post("transit/rewrap/rows", …)` before the minimum is raised',
            ),
        ),
        Condition(
            name="in their places",
            holds=lambda seen: seen.right == seen.known,
            says=lambda seen: f"{seen.right} of the {ROWS} rows open to the text of their own place",
            asks="Every row has to open to its own text, in its own place.",
            hints=(
                "Decrypt the first row, now and in a new start.",
                "A row that is moved to another version stays in its place of the list.",
                "write the rewrapped rows in the order in which you read them",
            ),
        ),
        Condition(
            name="retired",
            holds=lambda seen: not seen.old_opens,
            says=lambda seen: "a row that somebody copied before still opens",
            asks="What version 1 encrypted may not open any more.",
            hints=(
                "Keep one of the old rows, and try to decrypt it in the end.",
                "A rotation adds a version. The old one goes on until it is forbidden or removed.",
                '`vault.post("transit/keys/rows/config", {"min_decryption_version": 2})`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="for good",
            holds=lambda seen: not seen.opens_again,
            says=lambda seen: "with the minimum lowered to 1 again, a row that somebody copied before opens",
            asks="It may not open again, whatever becomes of the settings.",
            hints=(
                "Lower the minimum again, and decrypt an old row.",
                "A minimum is a rule that can be taken back. What is removed cannot be.",
                "`min_encryption_version` and `min_decryption_version` in `transit/keys/rows/config`, then "
                '`vault.post("transit/keys/rows/trim", {"min_available_version": 2})`',
            ),
        ),
        Condition(
            name="never read out",
            holds=lambda seen: not seen.leaves,
            says=lambda seen: (
                f'{seen.leaves}, and a copy with version 1 could be restored; `here.start("retire")` begins again'
            ),
            asks="Version 1 may not leave the service: a copy elsewhere is out of reach.",
            hints=(
                "Did you take a backup? Read `transit/keys/rows`: what do exportable and allow_plaintext_backup say?",
                "What is removed from the service, or deleted there, goes on in a copy of the key that is restored.",
                "leave `exportable` and `allow_plaintext_backup` as they are in a new start",
            ),
        ),
    ),
    ways={
        "one by one": one_by_one,
        "as a batch": as_a_batch,
        "open and close": open_and_close,
        "under a new key": under_a_new_key,
    },
    traps=(
        Trap(
            name="rotate only",
            act=lambda vault: vault.post("transit/keys/rows/rotate"),
            refused_by="retired",
        ),
        Trap(name="rewrap only", act=_rewrap_only, refused_by="retired"),
        Trap(name="the minimum first", act=_minimum_first, refused_by="all rows open"),
        Trap(name="trim first", act=_trim_first, refused_by="all rows open"),
        Trap(name="a minimum only", act=_minimum_only, refused_by="for good"),
        Trap(name="two rows swapped", act=_swapped, refused_by="in their places"),
        Trap(name="the rows reversed", act=_reversed, refused_by="in their places"),
        Trap(name="a row dropped", act=_dropped, refused_by="no row is missing"),
        Trap(name="backed up before", act=_backed_up, refused_by="never read out"),
        Trap(name="backed up, deleted and made again", act=_made_again, refused_by="never read out"),
        Trap(name="exported, deleted and made again", act=_exported, refused_by="never read out"),
        Trap(name="a new key", act=_new_key, refused_by="all rows open"),
    ),
)
