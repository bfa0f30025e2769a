"""Five reasons: be refused in five ways, each of which the audit file knows by another name."""

from __future__ import annotations

from typing import NamedTuple

from labkit.front.vault import Vault
from labkit.lessons.machine_logins.machines import ROLE, forged, login, reasons, with_machines
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart

WANTED = 5
BOUND = {"bound_resource_groups": ["web"]}


class FiveReasonsSeen(NamedTuple):
    """Which reasons the audit file has, how many logins passed, and whether the role is as it was."""

    reasons: tuple[str, ...]
    passed: int
    same_role: bool


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
    found = tuple(sorted(set(reasons(branch))))
    return FiveReasonsSeen(found, paths.count("auth/cloud/login"), role.ok and role.data == begun.data)


def as_in_the_text(vault: Vault) -> None:
    """Two machines that are not meant, and three tokens that do not fit."""
    web, other = vault.cloud.vm("web-1"), vault.cloud.vm("db-1")
    other.login(vault, role="web")
    other.login(vault, role="web", vm_name="web-1", resource_group_name="web", subscription_id=web.subscription_id)
    changes = ({"claims": {"exp": 1}}, {"claims": {"aud": "mail"}}, {"headers": {"alg": "none"}})
    for change in changes:
        web.login(vault, role="web", jwt=vault.cloud.mint("web-1", **change))


def tokens_only(vault: Vault) -> None:
    """Five tokens of web-1 itself, each with something else wrong."""
    web = vault.cloud.vm("web-1")
    wrong = ({"exp": 1}, {"nbf": 4_000_000_000}, {"iss": "https://example.org"}, {"aud": "mail"}, {"oid": None})
    for claims in wrong:
        web.login(vault, role="web", jwt=vault.cloud.mint("web-1", claims=claims))


def _one_reason(vault: Vault) -> None:
    for number in range(WANTED):
        forged(vault, claims={"exp": number + 1})


def _malformed(vault: Vault) -> None:
    for text in ("", "x", "a.b", "a.b.c", "....."):
        login(vault, "web-1", jwt=text)


def _four(vault: Vault) -> None:
    for claims in ({"exp": 1}, {"aud": "mail"}, {"iss": "x"}, {"oid": None}):
        forged(vault, claims=claims)


def _honest_too(vault: Vault) -> None:
    login(vault, "web-1")
    as_in_the_text(vault)


def _role_changed(vault: Vault) -> None:
    tokens_only(vault)
    vault.post(ROLE, {"bound_resource_groups": "data"})
    login(vault, "web-1")


def _role_deleted(vault: Vault) -> None:
    as_in_the_text(vault)
    vault.delete(ROLE)


def _other_refusals(vault: Vault) -> None:
    for path in ("secret/data/a", "sys/mounts", "auth/cloud/role/web", "sys/audit", "transit/keys/a"):
        vault.post(path, {}, token="hvs.nothing")
    forged(vault, claims={"exp": 1})


FIVE_REASONS = Exercise(
    name="five_reasons",
    title="Five ways to be refused",
    goal="the audit file has five different reasons of refused logins, no login passed, and role web is as it was.",
    start=start,
    look=look,
    takes=("the vault",),
    conditions=(
        Condition(
            name="five reasons",
            holds=lambda seen: len(seen.reasons) >= WANTED,
            says=lambda seen: f"{len(seen.reasons)} so far: {', '.join(seen.reasons) or 'none'}",
            asks="Five different reasons have to be in the audit file.",
            hints=(
                'Read `vault.files.read("audit.log")`: how does each refused record end?',
                "Each check has its own reason. What cannot be read as a token at all never comes to a check.",
                '`vault.cloud.mint("web-1", claims={…})` and `vm("web-1").login(vault, role="web", jwt=…)`',
            ),
        ),
        Condition(
            name="nobody passed",
            holds=lambda seen: seen.passed == 0,
            says=lambda seen: f"{seen.passed} login passed, and its token is valid",
            asks="No login may pass.",
            hints=(
                "Look at the status of each of your logins.",
                "An honest token of a machine that is meant is let in.",
                "begin again, and leave the honest login out",
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
    ways={"machines and tokens": as_in_the_text, "tokens only": tokens_only},
    traps=(
        Trap(name="one reason five times", act=_one_reason, refused_by="five reasons"),
        Trap(name="malformed tokens", act=_malformed, refused_by="five reasons"),
        Trap(name="four reasons", act=_four, refused_by="five reasons"),
        Trap(name="refusals that are no logins", act=_other_refusals, refused_by="five reasons"),
        Trap(name="an honest login too", act=_honest_too, refused_by="nobody passed"),
        Trap(name="the role changed", act=_role_changed, refused_by="same role"),
        Trap(name="the role deleted", act=_role_deleted, refused_by="same role"),
    ),
)
