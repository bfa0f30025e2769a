"""Five reasons: be refused in five ways that the lesson did not show, each known to the audit file by another name."""

from __future__ import annotations

from typing import NamedTuple

from labkit.front.vault import Vault
from labkit.lessons.machine_logins.machines import (
    AUDIT,
    LOGIN,
    ROLE,
    five_tries,
    forged,
    login,
    reasons,
    unread,
    with_machines,
)
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart

WANTED = 5
SHOWN = ("algorithm", "audience", "expired", "machine_claim", "resource_group")
"""The reasons of the five logins in the lesson."""
BOUND = {"bound_resource_groups": ["web"]}


class FiveReasonsSeen(NamedTuple):
    """Which reasons the audit file has, new ones and those of the lesson.

    Then how many logins passed, whether the role is as it was, and how many were refused before any check.
    """

    new: tuple[str, ...]
    shown: tuple[str, ...]
    passed: int
    same_role: bool
    unread: int = 0


@KeptStart
def start() -> Vault:
    """Return a vault with role web, for the machines of that group."""
    vault = with_machines(seed=32)
    vault.post(ROLE, BOUND)
    return vault


def look(branch: Vault) -> FiveReasonsSeen:
    """Read the audit file, the tokens that logins made, and the role."""
    listed = branch.list("auth/token/accessors")
    paths = [
        branch.post("auth/token/lookup-accessor", {"accessor": accessor}).data["path"]
        for accessor in (listed.data["keys"] if listed.ok else [])
    ]
    role, begun = branch.get(ROLE), start().get(ROLE)
    found = sorted(set(reasons(branch)))
    new, shown = ([one for one in found if (one in SHOWN) is known] for known in (False, True))
    return FiveReasonsSeen(
        tuple(new), tuple(shown), paths.count(LOGIN), role.ok and role.data == begun.data, unread(branch)
    )


def by_claims(vault: Vault) -> None:
    """Five tokens of web-1, each with one claim that does not fit."""
    web, later = vault.cloud.vm("web-1"), 4_000_000_000
    for claims in ({"nbf": later}, {"iat": later}, {"iss": "https://example.org"}, {"tid": "another"}, {"oid": None}):
        web.login(vault, role="web", jwt=vault.cloud.mint("web-1", claims=claims))


def by_header_and_place(vault: Vault) -> None:
    """Three headers, a signature that was altered, and a machine that says it belongs to a scale set."""
    web = vault.cloud.vm("web-1")
    for headers in ({"kid": None}, {"kid": "another"}, {"typ": "another"}):
        web.login(vault, role="web", jwt=vault.cloud.mint("web-1", headers=headers))
    web.login(vault, role="web", jwt=web.token()[:-8] + "AAAAAAAA")
    web.login(vault, role="web", vmss_name="fleet")


def _as_in_the_text(vault: Vault) -> None:
    five_tries(vault)


def _forged_lines(vault: Vault) -> None:
    login(vault, "db-1")
    line = (vault.files.read(AUDIT) or b"").splitlines()[-1]
    for reason in (b"early", b"issuer", b"tenant", b"no_key", b"type"):
        vault.files.append(AUDIT, line.replace(b"resource_group", reason) + b"\n")


def _one_reason(vault: Vault) -> None:
    for number in range(WANTED):
        forged(vault, claims={"nbf": 4_000_000_000 + number})


def _malformed(vault: Vault) -> None:
    for text in ("", "x", "a.b", "a.b.c", "....."):
        login(vault, "web-1", jwt=text)


def _four_and_another_role(vault: Vault) -> None:
    for claims in ({"nbf": 4_000_000_000}, {"tid": "x"}, {"iss": "x"}, {"oid": None}):
        forged(vault, claims=claims)
    login(vault, "web-1", role="none")


def _four(vault: Vault) -> None:
    for claims in ({"exp": 1}, {"aud": "mail"}, {"nbf": 4_000_000_000}, {"tid": "x"}, {"iss": "x"}, {"oid": None}):
        forged(vault, claims=claims)


def _honest_too(vault: Vault) -> None:
    login(vault, "web-1")
    by_claims(vault)


def _role_changed(vault: Vault) -> None:
    by_claims(vault)
    vault.post(ROLE, {"bound_resource_groups": "data"})
    login(vault, "web-1")


def _role_deleted(vault: Vault) -> None:
    by_claims(vault)
    vault.delete(ROLE)


def _other_refusals(vault: Vault) -> None:
    for path in ("secret/data/a", "sys/mounts", "auth/cloud/role/web", "sys/audit", "transit/keys/a"):
        vault.post(path, {}, token="hvs.nothing")
    forged(vault, claims={"exp": 1})


def _four_and_another(vault: Vault) -> None:
    for claims in ({"nbf": 4_000_000_000}, {"tid": "x"}, {"iss": "x"}, {"oid": None}):
        forged(vault, claims=claims)
    vault.get("secret/data/a", token="hvs.nothing")


def _so_far(seen: FiveReasonsSeen) -> str:
    said = f"{len(seen.new)} so far: {', '.join(seen.new) or 'none'}"
    if seen.unread:
        said += f"; {seen.unread} more never came to a check, as their error has no `permission denied`"
    return f"{said}; known from the lesson: {', '.join(seen.shown)}" if seen.shown else said


FIVE_REASONS = Exercise(
    name="five_reasons",
    title="Five ways to be refused",
    goal="the audit file has five different reasons after permission denied beside those of the lesson, no login "
    "passed, and role web is as it was.",
    start=start,
    look=look,
    takes=("the vault",),
    conditions=(
        Condition(
            name="nobody passed",
            holds=lambda seen: seen.passed == 0,
            says=lambda seen: (
                f"{seen.passed} login{'s' if seen.passed > 1 else ''} passed, and may use what the role gives"
            ),
            asks="No login may pass. What it got can be revoked (`auth/token/revoke`), or the exercise begun again.",
            hints=(
                "Look at the status of each of your logins.",
                "An honest token of a machine that is meant is let in.",
                "begin again, and leave the honest login out",
            ),
        ),
        Condition(
            name="five reasons",
            holds=lambda seen: len(seen.new) >= WANTED,
            says=_so_far,
            asks="Five different reasons have to stand after `permission denied` in the audit file, beside those of "
            "the lesson.",
            hints=(
                'Read `vault.files.lines["audit.log"]`: what stands at the end of each `error`?',
                "Each check has its own reason. What cannot be read as a token, or names a role that is not there, "
                "never comes to a check.",
                '`vm("web-1").login(vault, role="web", jwt=vault.cloud.mint("web-1", …))`, with another `iss`, `tid`, '
                "`nbf`, `iat` or `kid`, or without `oid`",
            ),
        ),
        Condition(
            name="same role",
            holds=lambda seen: seen.same_role,
            says=lambda seen: "role web is gone or was changed",
            asks="The role has to stay as it was.",
            hints=(
                'Read `vault.get("auth/cloud/role/web").data`, now and in a new start.',
                "Who changes the rule is not refused by it.",
                "begin again, and change tokens only",
            ),
        ),
    ),
    ways={"by claims": by_claims, "by header and place": by_header_and_place},
    traps=(
        Trap(name="the five of the text", act=_as_in_the_text, refused_by="five reasons"),
        Trap(name="lines that nobody asked for", act=_forged_lines, refused_by="five reasons"),
        Trap(name="one reason five times", act=_one_reason, refused_by="five reasons"),
        Trap(name="malformed tokens", act=_malformed, refused_by="five reasons"),
        Trap(name="four new reasons", act=_four, refused_by="five reasons"),
        Trap(name="a role that is not there", act=_four_and_another_role, refused_by="five reasons"),
        Trap(name="refusals that are no logins", act=_other_refusals, refused_by="five reasons"),
        Trap(name="four, and a refusal that is not a login", act=_four_and_another, refused_by="five reasons"),
        Trap(name="an honest login too", act=_honest_too, refused_by="nobody passed"),
        Trap(name="the role changed", act=_role_changed, refused_by="same role"),
        Trap(name="the role deleted", act=_role_deleted, refused_by="same role"),
    ),
)
