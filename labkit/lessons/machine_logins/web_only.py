"""Web only: a role that lets the machines of the web shop in, and no others."""

from __future__ import annotations

from typing import NamedTuple

from labkit.cloud.development import WEST
from labkit.front.vault import Vault
from labkit.lessons.machine_logins.machines import ROLE, login, pretending, with_machines
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart

INSIDE, OUTSIDE = ("web-1", "web-2", "fleet_0"), ("db-1", "jump-1", "web-old")
PRETENDER = "db-1 that says it is web-1"


class WebOnlySeen(NamedTuple):
    """Whether the role is there, who of the shop was refused, and who else was let in."""

    role: bool
    refused: tuple[str, ...]
    let_in: tuple[str, ...]


@KeptStart
def start() -> Vault:
    """Return a vault without any role, in whose cloud another subscription has a group of the same name."""
    vault = with_machines(seed=31)
    inventory = vault.cloud.inventory
    records = inventory.subscriptions[vault.cloud.vm("db-1").subscription_id]
    inventory.add_machine("web-old", inventory.add_resource_group("web", records), WEST)
    return vault


def look(branch: Vault) -> WebOnlySeen:
    """Let six machines log in, and one of them under the name of another."""
    refused = tuple([name for name in INSIDE if not login(branch, name).ok])
    let_in = [name for name in OUTSIDE if login(branch, name).ok]
    if login(branch, "db-1", **pretending(branch)).ok:
        let_in.append(PRETENDER)
    return WebOnlySeen(branch.get(ROLE).ok, refused, tuple(let_in))


def by_group(vault: Vault) -> None:
    """Name the resource group, and the subscription that it belongs to: another one may have a group of that name."""
    shop = vault.cloud.vm("web-1").subscription_id
    vault.post("auth/cloud/role/web", {"bound_resource_groups": ["web"], "bound_subscription_ids": [shop]})


def by_identity(vault: Vault) -> None:
    """Name the identities of the machines, one by one."""
    names = ("web-1", "web-2", "fleet_0", "fleet_1")
    identities = [vault.cloud.vm(name).principal_id for name in names]
    vault.post("auth/cloud/role/web", {"bound_service_principal_ids": identities})


def _by_subscription(vault: Vault) -> None:
    vault.post(ROLE, {"bound_subscription_ids": vault.cloud.vm("web-1").subscription_id})


def _as_in_the_text(vault: Vault) -> None:
    vault.post(ROLE, {"bound_resource_groups": "web", "token_policies": "app", "token_ttl": "1h"})


def _unbounded(vault: Vault) -> None:
    vault.post(ROLE, {"token_ttl": "1h"})
    login(vault, "web-1")


WEB_ONLY = Exercise(
    name="web_only",
    title="Only the web machines",
    goal="with role web the machines web-1, web-2 and those of the scale set fleet log in, and no others.",
    start=start,
    look=look,
    takes=("the vault",),
    conditions=(
        Condition(
            name="a role",
            holds=lambda seen: seen.role,
            says=lambda seen: "there is none at auth/cloud/role/web",
            asks="There has to be a role called web.",
            hints=(
                'Read it: `vault.get("auth/cloud/role/web").status`.',
                "A role without any bound is refused: it would let everybody in.",
                '`vault.post("auth/cloud/role/web", {"bound_…": …})`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="lets in",
            holds=lambda seen: not seen.refused,
            says=lambda seen: f"refused: {', '.join(seen.refused)}",
            asks="web-1, web-2 and the machines of fleet have to be let in.",
            hints=(
                'Compare `vault.cloud.vm("web-1")` with `vm("fleet_0")`: what do they share?',
                "Every bound of a role has to fit; a `*` is a name like any other.",
                "`bound_resource_groups`",
            ),
        ),
        Condition(
            name="keeps out",
            holds=lambda seen: not seen.let_in,
            says=lambda seen: f"let in: {', '.join(seen.let_in)}",
            asks="No other machine may be let in, wherever it stands and whatever it says.",
            hints=(
                "Compare web-1 with who was let in: `.resource_group`, `.subscription_id` and `.location` of "
                "`vault.cloud.vm(name)`.",
                "A name of a group says something in its subscription only. All bounds of a role have to fit.",
                "`bound_resource_groups` and `bound_subscription_ids`, or the identities one by one",
            ),
        ),
    ),
    ways={"by group": by_group, "by identity": by_identity},
    traps=(
        Trap(
            name="by location",
            act=lambda vault: vault.post(ROLE, {"bound_locations": "westeurope"}),
            refused_by="keeps out",
        ),
        Trap(name="the role of the text", act=_as_in_the_text, refused_by="keeps out"),
        Trap(name="by subscription", act=_by_subscription, refused_by="keeps out"),
        Trap(
            name="a wildcard",
            act=lambda vault: vault.post(ROLE, {"bound_resource_groups": "*"}),
            refused_by="lets in",
        ),
        Trap(
            name="the scale set only",
            act=lambda vault: vault.post(ROLE, {"bound_scale_sets": "fleet"}),
            refused_by="lets in",
        ),
        Trap(name="no bounds", act=_unbounded, refused_by="a role"),
        Trap(
            name="another role",
            act=lambda vault: vault.post(f"{ROLE}-1", {"bound_resource_groups": "web"}),
            refused_by="a role",
        ),
    ),
)
