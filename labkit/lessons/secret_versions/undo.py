"""Undo: a colleague destroyed one version and deleted two; what was written last is to be the latest again."""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.front.vault import Vault
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart

APP = "secret/data/app"
GOOD = {"user": "ada", "limit": "30"}
LEFT = ("2", "3")
VERSIONS = ({"user": "ada"}, {"user": "ada", "limit": "3O"}, GOOD)


class UndoSeen(NamedTuple):
    """What a read of the secret answers, its data, which versions there are, and which of those left are gone."""

    status: int
    data: Any
    versions: tuple[str, ...]
    gone: tuple[str, ...]


@KeptStart
def start() -> Vault:
    """Return a vault with three versions, of which the first is destroyed and the others deleted."""
    vault = Vault.dev(seed=12)
    for data in VERSIONS:
        vault.post(APP, {"data": data})
        vault.advance("24h")
    vault.put("secret/destroy/app", {"versions": [1]})
    vault.post("secret/delete/app", {"versions": [2, 3]})
    return vault


def look(branch: Vault) -> UndoSeen:
    """Read the secret and its metadata."""
    found, metadata = branch.get(APP), branch.get("secret/metadata/app")
    versions = metadata.data["versions"] if metadata.ok else {}
    gone = tuple([number for number in LEFT if number not in versions or versions[number]["destroyed"]])
    return UndoSeen(found.status, found.data["data"] if found.ok else None, tuple(versions), gone)


def undelete_it(vault: Vault) -> None:
    """Take the mark off the last version."""
    vault.post("secret/undelete/app", {"versions": [3]})


def write_it_again(vault: Vault) -> None:
    """Read what the last version held, and write it as a new one."""
    vault.post("secret/undelete/app", {"versions": [3]})
    good = vault.get("secret/data/app?version=3").data["data"]
    vault.post("secret/data/app", {"data": good})


def _second(vault: Vault) -> None:
    vault.post("secret/undelete/app", {"versions": [2]})
    vault.post(APP, {"data": vault.get(f"{APP}?version=2").data["data"]})


def _second_destroyed(vault: Vault) -> None:
    undelete_it(vault)
    vault.put("secret/destroy/app", {"versions": [2]})


def _third_destroyed(vault: Vault) -> None:
    vault.put("secret/destroy/app", {"versions": [3]})
    vault.post(APP, {"data": GOOD})


def _metadata_first(vault: Vault) -> None:
    undelete_it(vault)
    good = vault.get(APP).data["data"]
    vault.delete("secret/metadata/app")
    vault.post(APP, {"data": good})


def _for_good(seen: UndoSeen) -> str:
    gone = " and ".join(seen.gone)
    are = f"s {gone} are" if len(seen.gone) > 1 else f" {gone} is"
    return f'; version{are} removed for good here, `here.start("undo")` begins again' if gone else ""


def _named(versions: tuple[str, ...]) -> str:
    return f"version{'s' if len(versions) > 1 else ''} {', '.join(versions)}" if versions else "no version"


UNDO = Exercise(
    name="undo",
    title="Undo what a colleague did",
    goal="what was written last to secret/data/app before the colleague came is its latest version again, and no "
    "version is removed.",
    start=start,
    look=look,
    takes=("the vault",),
    conditions=(
        Condition(
            name="readable",
            holds=lambda seen: seen.status == 200,
            says=lambda seen: f"a read of secret/data/app answers {seen.status}{_for_good(seen)}",
            asks="A read of secret/data/app has to give its latest version.",
            hints=(
                "Read `secret/metadata/app`: what is said of each version?",
                "A deleted version is hidden, and can be shown again; a destroyed one cannot.",
                '`vault.post("secret/undelete/app", {"versions": [...]})`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="good",
            holds=lambda seen: seen.data == GOOD,
            says=lambda seen: "the latest version does not hold what version 3 held",
            asks="It has to hold what was written last before the colleague came.",
            hints=(
                "Which version was the latest before anything was deleted?",
                "An older version is older contents: what is readable need not be right.",
                "undelete version 3",
            ),
        ),
        Condition(
            name="history",
            holds=lambda seen: {"1", "2", "3"} <= set(seen.versions) and not seen.gone,
            says=lambda seen: f"the metadata names {_named(seen.versions)}{_for_good(seen)}",
            asks="All three versions have to stay, whatever became of them.",
            hints=(
                "Read `secret/metadata/app`: how many versions are there?",
                "Deleting metadata removes everything below a path, and its numbers begin again.",
                "leave the metadata as it is",
            ),
        ),
    ),
    ways={"undelete": undelete_it, "write it again": write_it_again},
    traps=(
        Trap(
            name="undelete the second",
            act=lambda vault: vault.post("secret/undelete/app", {"versions": [2]}),
            refused_by="readable",
        ),
        Trap(
            name="undelete what is destroyed",
            act=lambda vault: vault.post("secret/undelete/app", {"versions": [1]}),
            refused_by="readable",
        ),
        Trap(
            name="destroy the third too",
            act=lambda vault: vault.put("secret/destroy/app", {"versions": [3]}),
            refused_by="readable",
        ),
        Trap(
            name="another path",
            act=lambda vault: vault.post("secret/data/app2", {"data": GOOD}),
            refused_by="readable",
        ),
        Trap(name="what the second held", act=_second, refused_by="good"),
        Trap(
            name="what the first held",
            act=lambda vault: vault.post(APP, {"data": VERSIONS[0]}),
            refused_by="good",
        ),
        Trap(name="the second destroyed", act=_second_destroyed, refused_by="history"),
        Trap(name="the third destroyed, and written by hand", act=_third_destroyed, refused_by="history"),
        Trap(name="the metadata first", act=_metadata_first, refused_by="history"),
    ),
)
