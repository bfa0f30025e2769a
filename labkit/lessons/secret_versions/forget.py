"""Forget: at most three versions, each gone an hour after it was written, without any further call."""

from __future__ import annotations

from typing import NamedTuple

from labkit.front.vault import Vault
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart

SESSION = "secret/data/session"
WRITES = 5


class ForgetSeen(NamedTuple):
    """Which versions an hour did not forget, and what became of five more writes: how many versions remain, and what a
    read answers a minute before their hour and a minute after.  ``for_all``: the engine has settings, for every secret.
    """

    left: tuple[str, ...]
    versions: int
    before: int
    after: int
    for_all: bool = False


@KeptStart
def start() -> Vault:
    """Return a vault in which nothing is limited, and nothing written."""
    return Vault.dev(seed=13)


def look(branch: Vault) -> ForgetSeen:
    """Wait an hour; then write five times, also where a write needs cas, and read before and after another hour."""
    for_all = branch.get("secret/config").data != start().get("secret/config").data
    branch.advance("61m")
    known = branch.get("secret/metadata/session")
    versions = list(known.data["versions"]) if known.ok else []
    left = tuple([number for number in versions if branch.get(f"{SESSION}?version={number}").ok])
    latest = known.data["current_version"] if known.ok else 0
    for number in range(1, WRITES + 1):
        branch.post(SESSION, {"data": {"n": number}, "options": {"cas": latest + number - 1}})
    found = branch.get("secret/metadata/session")
    readable = [row for row in found.data["versions"].values() if not row["destroyed"]] if found.ok else []
    branch.advance("59m")
    before = branch.get(SESSION).status
    branch.advance("2m")
    return ForgetSeen(left, len(readable), before, branch.get(SESSION).status, for_all)


def remark(seen: ForgetSeen) -> str:
    """Say of a setting of the engine how far it reaches."""
    if not seen.for_all:
        return ""
    return "What you set at `secret/config` holds for every secret below `secret/`; metadata limits one secret only."


def limit_the_key(vault: Vault) -> None:
    """Set both limits on the one secret."""
    vault.post("secret/metadata/session", {"max_versions": 3, "delete_version_after": "1h"})


def limit_the_engine(vault: Vault) -> None:
    """Set both limits for everything below secret/."""
    vault.post("secret/config", {"max_versions": 3, "delete_version_after": "3600s"})


def limit_and_require_cas(vault: Vault) -> None:
    """Set both limits, and let no write pass that does not name the version before it."""
    vault.post("secret/config", {"cas_required": True})
    vault.post("secret/metadata/session", {"max_versions": 3, "delete_version_after": "1h", "cas_required": True})


def _above_the_engine(vault: Vault) -> None:
    vault.post("secret/config", {"delete_version_after": "30m"})
    limit_the_key(vault)


def _limited_too_late(vault: Vault) -> None:
    vault.post(SESSION, {"data": {"n": 0}})
    limit_the_key(vault)


def _destroyed(vault: Vault) -> None:
    vault.post(SESSION, {"data": {"n": 0}})
    vault.put("secret/destroy/session", {"versions": [1]})


def _by_hand(vault: Vault) -> None:
    vault.advance("1h")
    vault.delete(SESSION)
    vault.post("secret/metadata/session", {"max_versions": 3})


FORGET = Exercise(
    name="forget",
    title="What forgets by itself",
    goal="of secret/data/session at most three versions are kept, and each can be read for an hour and no longer.",
    start=start,
    look=look,
    remark=remark,
    takes=("the vault",),
    conditions=(
        Condition(
            name="three",
            holds=lambda seen: seen.versions <= 3,
            says=lambda seen: f"after {WRITES} more writes {seen.versions} versions are kept",
            asks="At most three versions may be kept.",
            hints=(
                "Write five times in a vault of your own, and read the metadata.",
                "The number of versions is a setting of the secret, or of all below `secret/`, at `secret/config`.",
                '`vault.post("secret/metadata/session", {"max_versions": …})`',
            ),
        ),
        Condition(
            name="an hour",
            holds=lambda seen: seen.after == 404,
            says=lambda seen: f"61 minutes after the last write a read answers {seen.after}",
            asks="An hour after it was written, a version may no longer be readable.",
            hints=(
                'Look at deletion_time in the metadata, after a write, or use `vault.advance("61m")`.',
                "A limit of versions does not know time; what is deleted by hand is a call.",
                "`delete_version_after`",
            ),
        ),
        Condition(
            name="what was there",
            holds=lambda seen: not seen.left,
            says=lambda seen: (
                f"61 minutes later version {', '.join(seen.left)} can still be read, whatever is set now; "
                '`here.start("forget")` begins again'
            ),
            asks="No version may be readable for longer, also none that was there before the setting.",
            hints=(
                "Read `secret/metadata/session`: which deletion_time has each version?",
                "A setting holds for what is written after it. It changes no version that is there already.",
                'begin again with `here.start("forget")`, and limit before you write',
            ),
        ),
        Condition(
            name="not sooner",
            holds=lambda seen: seen.before == 200,
            says=lambda seen: f"59 minutes after the last write a read answers {seen.before}",
            asks="For an hour after it was written the latest version has to be readable.",
            hints=(
                "Look at deletion_time in the metadata: how long after the write is it?",
                "Where the secret and `secret/config` both have a time, the shorter one counts.",
                '`{"delete_version_after": "1h"}`, and none that is shorter on `secret/config`',
            ),
        ),
    ),
    ways={
        "on the secret": limit_the_key,
        "on the engine": limit_the_engine,
        "with cas": limit_and_require_cas,
    },
    traps=(
        Trap(
            name="versions only",
            act=lambda vault: vault.post("secret/metadata/session", {"max_versions": 3}),
            refused_by="an hour",
        ),
        Trap(
            name="time only",
            act=lambda vault: vault.post("secret/metadata/session", {"delete_version_after": "1h"}),
            refused_by="three",
        ),
        Trap(name="deleted by hand", act=_by_hand, refused_by="an hour"),
        Trap(name="deleted at once", act=lambda vault: vault.delete(SESSION), refused_by="three"),
        Trap(name="a time above that of the engine", act=_above_the_engine, refused_by="not sooner"),
        Trap(
            name="another secret",
            act=lambda vault: vault.post("secret/metadata/app", {"max_versions": 3, "delete_version_after": "1h"}),
            refused_by="three",
        ),
        Trap(name="destroyed", act=_destroyed, refused_by="three"),
        Trap(name="limited after the write", act=_limited_too_late, refused_by="what was there"),
    ),
)
