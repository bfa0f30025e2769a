"""Shift: a token that lives while it is renewed, and not past the end of a shift of eight hours."""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.front.vault import Vault
from labkit.lessons.machine_logins.machines import login, with_machines
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart

ROLE = "auth/cloud/role/shift"
BOUND = {"bound_resource_groups": ["web"]}
RENEWAL_MINUTES, RENEWALS = 50, 9
OUTSIDE = ("db-1", "jump-1")


class ShiftSeen(NamedTuple):
    """Whether web-1 logs in, who of another group does, and whether the token of web-1 is valid.

    That is asked of one that was never renewed at 59 and 61 minutes, and of one that was, before 8 h and after.
    ``period`` is the role's.
    """

    logs_in: bool
    let_in: tuple[str, ...]
    period: int
    at_59: bool
    at_61: bool
    before_end: bool
    after_end: bool


@KeptStart
def start() -> Vault:
    """Return a vault and its cloud, without a role for shifts."""
    return with_machines(seed=33)


def look(branch: Vault) -> ShiftSeen:
    """Let web-1 log in twice: one token is never renewed, the other one each fifty minutes."""
    left, kept = _token(branch), _token(branch)
    let_in = tuple([name for name in OUTSIDE if login(branch, name, role="shift").ok])
    role = branch.get(ROLE)
    branch.advance(f"{RENEWAL_MINUTES}m")
    branch.post("auth/token/renew-self", {}, token=kept)
    branch.advance("9m")
    at_59 = _is_valid(branch, left)
    branch.advance("2m")
    at_61 = _is_valid(branch, left)
    minutes = 61
    for number in range(2, RENEWALS + 1):
        branch.advance(f"{number * RENEWAL_MINUTES - minutes}m")
        minutes = number * RENEWAL_MINUTES
        branch.post("auth/token/renew-self", {}, token=kept)
    branch.advance(f"{8 * 60 - 10 - minutes}m")
    before_end = branch.post("auth/token/renew-self", {}, token=kept).ok
    branch.advance("20m")
    period = role.data["token_period"] if role.ok else 0
    return ShiftSeen(left != "", let_in, period, at_59, at_61, before_end, _is_valid(branch, kept))


def role_maximum(vault: Vault) -> None:
    """Limit what renewals may reach, in the role."""
    role = {"bound_resource_groups": ["web"], "token_ttl": "1h", "token_max_ttl": "8h"}
    vault.post("auth/cloud/role/shift", role)


def explicit_maximum(vault: Vault) -> None:
    """Write the end into each token."""
    role = {"bound_resource_groups": ["web"], "token_ttl": "1h", "token_explicit_max_ttl": "8h"}
    vault.post("auth/cloud/role/shift", role)


def _token(vault: Vault) -> str:
    answer = login(vault, "web-1", role="shift")
    return str((answer.auth or {}).get("client_token", ""))


def _is_valid(vault: Vault, token: str) -> bool:
    return token != "" and vault.get("auth/token/lookup-self", token=token).ok


def _role_with(**settings: Any) -> Any:
    return lambda vault: vault.post(ROLE, {**BOUND, **settings})


def _mounts_maximum(vault: Vault) -> None:
    vault.post("sys/auth/cloud/tune", {"max_lease_ttl": "30m"})
    role_maximum(vault)


SHIFT = Exercise(
    name="shift",
    title="A shift",
    goal="a token of role shift ends an hour after its last renewal, and eight hours after the login at the latest.",
    start=start,
    look=look,
    takes=("the vault",),
    conditions=(
        Condition(
            name="logs in",
            holds=lambda seen: seen.logs_in,
            says=lambda seen: "web-1 is refused with role shift",
            asks="web-1 has to log in with role shift.",
            hints=(
                'Try it: `vault.cloud.vm("web-1").login(vault, role="shift")`.',
                "A role needs a bound, and its own name.",
                '`vault.post("auth/cloud/role/shift", {"bound_resource_groups": ["web"], …})`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="keeps out",
            holds=lambda seen: not seen.let_in,
            says=lambda seen: f"let in with role shift: {', '.join(seen.let_in)}",
            asks="No machine of another group may log in with it.",
            hints=(
                'Try it: `vault.cloud.vm("jump-1").login(vault, role="shift").status`.',
                "A bound names what all who may log in share, and nobody else has.",
                '`"bound_resource_groups": ["web"]`',
            ),
        ),
        Condition(
            name="lives an hour",
            holds=lambda seen: seen.at_59,
            says=lambda seen: "a token that was never renewed is not valid at 59 minutes",
            asks="Unrenewed it has to live for an hour.",
            hints=(
                "Look at lease_duration in the answer to a login.",
                "Of several limits the shortest counts, also that of `auth/cloud/` itself.",
                "`token_ttl`",
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="and no longer",
            holds=lambda seen: not seen.at_61,
            says=lambda seen: "a token that was never renewed is still valid at 61 minutes",
            asks="Unrenewed it may not live for longer than an hour.",
            hints=(
                "Look at lease_duration in the answer to a login.",
                "How long it lives at a time, and how long in all, are two settings.",
                '`"token_ttl": "1h"`',
            ),
        ),
        Condition(
            name="renewed",
            holds=lambda seen: seen.before_end,
            says=lambda seen: "renewed each 50 minutes, it is not valid at 7 h 50 min",
            asks="Renewed in time, before each hour is over, it has to last the whole shift.",
            hints=(
                "Renew one in a vault of your own, each 50 minutes.",
                "Batch tokens cannot be renewed, and no renewal goes past the maximum.",
                "a maximum of 8 h, and the default type of token",
            ),
        ),
        Condition(
            name="ends",
            holds=lambda seen: not seen.after_end,
            says=lambda seen: (
                "renewed each 50 minutes, it is still valid after 8 h 10 min"
                + ("; of a role with a period only `token_explicit_max_ttl` ends a token" if seen.period else "")
            ),
            asks="Eight hours after the login it has to end, however often it was renewed.",
            hints=(
                "Let a vault of your own go on for 8 h 10 min.",
                "A periodic token has no end. The maximum counts from the login, not from the last renewal.",
                "`token_max_ttl` or `token_explicit_max_ttl`",
            ),
        ),
    ),
    ways={"the maximum of the role": role_maximum, "an explicit maximum": explicit_maximum},
    traps=(
        Trap(
            name="eight hours at once",
            act=_role_with(token_ttl="8h", token_max_ttl="8h"),
            refused_by="and no longer",
        ),
        Trap(name="periodic", act=_role_with(token_period="1h"), refused_by="ends"),
        Trap(
            name="periodic, with a maximum",
            act=_role_with(token_period="1h", token_max_ttl="8h"),
            refused_by="ends",
        ),
        Trap(
            name="as tokens that are made by hand call it",
            act=_role_with(token_ttl="1h", explicit_max_ttl="8h"),
            refused_by="ends",
        ),
        Trap(
            name="by location",
            act=lambda vault: vault.post(
                ROLE, {"bound_locations": "westeurope", "token_ttl": "1h", "token_max_ttl": "8h"}
            ),
            refused_by="keeps out",
        ),
        Trap(
            name="two groups",
            act=_role_with(bound_resource_groups="data,web", token_ttl="1h", token_max_ttl="8h"),
            refused_by="keeps out",
        ),
        Trap(name="no maximum", act=_role_with(token_ttl="1h"), refused_by="ends"),
        Trap(
            name="a batch token",
            act=_role_with(token_ttl="1h", token_max_ttl="8h", token_type="batch"),
            refused_by="renewed",
        ),
        Trap(name="the maximum of the mount", act=_mounts_maximum, refused_by="lives an hour"),
        Trap(name="a maximum of an hour", act=_role_with(token_ttl="1h", token_max_ttl="1h"), refused_by="renewed"),
        Trap(
            name="another role",
            act=lambda vault: vault.post(f"{ROLE}-1", {**BOUND, "token_ttl": "1h", "token_max_ttl": "8h"}),
            refused_by="logs in",
        ),
    ),
)
