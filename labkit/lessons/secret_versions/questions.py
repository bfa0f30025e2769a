"""Questions: which check-and-set passes after a delete, and what an undelete brings back."""

from __future__ import annotations

from labkit.front.vault import Vault
from labkit.lessons.plan import Question
from labkit.lessons.worlds import branched

WRITTEN, DESTROYED = "secret/data/app", "secret/data/old"
HIGHEST = 3


def _states(vault: Vault, path: str) -> dict[str, dict[str, object]]:
    found = vault.get(path.replace("data", "metadata", 1))
    versions: dict[str, dict[str, object]] = found.data["versions"] if found.ok else {}
    return versions


def lacks_delete(vault: Vault) -> str:
    """Say what is missing before a check-and-set after a delete can be tried."""
    versions = _states(vault, WRITTEN)
    if not versions or not versions[max(versions, key=int)]["deletion_time"]:
        return "In this vault secret/data/app is not written and deleted yet: run the cell above first."
    if len(versions) > 1:
        return f"In this vault secret/data/app was written {len(versions)} times, not once: run the cell above."
    return ""


def passing_cas(vault: Vault) -> int:
    """Return the lowest value that lets the next write pass, each tried in a branch."""
    passed = [cas for cas in range(HIGHEST + 1) if _status_with(vault, cas) == 200]
    return passed[0] if passed else -1


def why_cas(vault: Vault) -> str:
    """Explain what check-and-set compares with."""
    tried = ", ".join(f"cas={cas} answers {_status_with(vault, cas)}" for cas in range(HIGHEST + 1))
    latest = max(_states(vault, WRITTEN), key=int)
    return (
        f"Each tried in a copy of this vault: {tried}. The latest version is still number {latest}; a delete hides "
        "its data, and takes no number back. What `cas` names is the version that you have seen, not the one you make."
    )


def lacks_undelete(vault: Vault) -> str:
    """Say what is missing before a destroyed version can be read again."""
    first = _states(vault, DESTROYED).get("1")
    if first is None or not first["destroyed"]:
        return "In this vault version 1 of secret/data/old is not destroyed yet: run the cell above first."
    return ""


def what_is_read(vault: Vault) -> str:
    """Return what a read of the destroyed version gives, after an undelete in a branch."""
    branch = branched(vault)
    branch.post("secret/undelete/old", {"versions": [1]})
    answer = branch.get(f"{DESTROYED}?version=1")
    return "its data" if answer.ok and answer.data["data"] is not None else "no data"


def why_no_data(vault: Vault) -> str:
    """Explain the difference between hidden and removed."""
    branch = branched(vault)
    undelete = branch.post("secret/undelete/old", {"versions": [1]}).status
    read = branch.get(f"{DESTROYED}?version=1").status
    return (
        f"The undelete answers {undelete}, and a read after it answers {read}. Delete marks a version; destroy removes "
        "its bytes. Undelete takes the mark away, and there is nothing left below it."
    )


def _status_with(vault: Vault, cas: int) -> int:
    body = {"options": {"cas": cas}, "data": {"user": "eve"}}
    status: int = branched(vault).post(WRITTEN, body).status
    return status


CAS = Question(
    name="cas",
    world=Vault,
    asks="A secret is written once and deleted. Which value of `cas` lets the next write pass?",
    least=0,
    most=HIGHEST,
    measure=passing_cas,
    needs=lacks_delete,
    why=why_cas,
    replies={
        0: "0 is for a secret that was never written. A deleted one was: its number is still there.",
        2: "2 is the version that the write would make. What is compared is the one before it.",
    },
    otherwise="That version was never written here.",
)
UNDELETE = Question(
    name="undelete",
    world=Vault,
    asks="Version 1 is destroyed. Then it is undeleted, which is not refused. What does a read of version 1 give?",
    choices=("its data", "no data"),
    measure=what_is_read,
    needs=lacks_undelete,
    why=why_no_data,
    replies={
        "its data": "It would be so if destroy only marked a version, as delete does. One hides, the other removes."
    },
    otherwise="",
)
