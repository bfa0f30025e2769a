"""Questions: what a rotation does to rows that are there, and whether a raised minimum can be lowered."""

from __future__ import annotations

from labkit.front.vault import Vault
from labkit.lessons.kept_keys.rows import rows_of
from labkit.lessons.plan import Question
from labkit.lessons.worlds import branched

ROWS = 100
CONFIG, DECRYPT = "transit/keys/rows/config", "transit/decrypt/rows"


def lacks_rotation(vault: Vault) -> str:
    """Say what is missing before the rows can be counted."""
    if len(rows_of(vault)) < ROWS:
        return f"In this vault the table has {len(rows_of(vault))} rows: run the cell above first."
    if vault.get("transit/keys/rows").data["latest_version"] < 2:
        return "The key is not rotated yet: run the cell above first."
    return ""


def under_second(vault: Vault) -> int:
    """Return how many rows of the table are under version 2."""
    return sum(row.startswith("vault:v2:") for row in rows_of(vault))


def why_rows_stay(vault: Vault) -> str:
    """Explain what a rotation changes."""
    versions = sorted(vault.get("transit/keys/rows").data["keys"])
    return (
        f"The key has the versions {' and '.join(versions)}, and {under_second(vault)} of {len(rows_of(vault))} rows "
        "are under version 2. A rotation adds a version for what is encrypted from then on. The service does not "
        "know which texts are your rows, not even where it keeps them in a secret; `rewrap` moves one when you send it."
    )


def after_lowering(vault: Vault) -> str:
    """Return what an old row gives when the minimum was raised and lowered again, in a branch."""
    statuses = _statuses(vault)
    return "its plaintext" if statuses[2] == 200 else "a refusal"


def why_lowered(vault: Vault) -> str:
    """Explain the difference between a minimum and a trim."""
    raised, moved, lowered, trimmed = _statuses(vault)
    return (
        f"With the minimum at 2 the old text answers {raised}, the same text rewrapped {moved}; lowered to 1 again, "
        f"the old text answers {lowered}. A minimum is a rule that can be taken back. `trim` removes the old version "
        f"itself: after it the minimum cannot be lowered ({trimmed}), and no text of version 1 opens any more."
    )


def _statuses(vault: Vault) -> tuple[int, int, int, int]:
    branch, old = branched(vault), rows_of(vault)[0]
    moved = branch.post("transit/rewrap/rows", {"ciphertext": old}).data["ciphertext"]
    branch.post(CONFIG, {"min_decryption_version": 2})
    raised = branch.post(DECRYPT, {"ciphertext": old}).status
    rewrapped = branch.post(DECRYPT, {"ciphertext": moved}).status
    branch.post(CONFIG, {"min_decryption_version": 1})
    lowered = branch.post(DECRYPT, {"ciphertext": old}).status
    branch.post(CONFIG, {"min_decryption_version": 2, "min_encryption_version": 2})
    branch.post("transit/keys/rows/trim", {"min_available_version": 2})
    return raised, rewrapped, lowered, branch.post(CONFIG, {"min_decryption_version": 1}).status


ROTATED = Question(
    name="rotated",
    world=Vault,
    asks=f"A table has {ROWS} rows, all encrypted under version 1 of a key. The key is rotated. How many rows are "
    "under version 2 then?",
    least=0,
    most=ROWS,
    measure=under_second,
    needs=lacks_rotation,
    why=why_rows_stay,
    replies={
        ROWS: "All would be under it if a rotation encrypted again. To the service your table is a text like others.",
        1: "One would be under it if a row were written after the rotation. None is written here: the table stays.",
    },
    otherwise="Who knows which texts are rows, and who was asked to change them?",
)
LOWERED = Question(
    name="lowered",
    world=Vault,
    asks="The least version that may decrypt is set to 2, and an old row is refused. Then it is set to 1 again. What "
    "does the old row give?",
    choices=("its plaintext", "a refusal"),
    measure=after_lowering,
    needs=lacks_rotation,
    why=why_lowered,
    replies={
        "a refusal": "It would be refused if the minimum removed version 1. A minimum forbids and removes nothing."
    },
    otherwise="",
)
