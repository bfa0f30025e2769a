"""Logins: the primary moves while the cloud is away; held tokens go on, and logins come back with the cloud."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from labkit.front.lab import Lab
from labkit.lab.plan.blueprint import CloudPlan, pair
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart, mode_said
from labkit.service.durations import SECOND_NS
from labkit.service.silence import Silence

ROLE, ACCESSORS, RENEWAL = "auth/cloud/role/web", "auth/token/accessors", "auth/token/renew-accessor"
BOUND = {"bound_resource_groups": ["web"], "token_policies": ["app"], "token_ttl": "2m", "token_max_ttl": "2h"}
HOLDERS, OTHERS = ("web-1", "web-2"), ("db-1", "job-1")
ENDPOINTS = ("discovery", "keys")
OUTAGE_MINUTES, ASKED_AGAIN = 10, "5m"


class LoginsSeen(NamedTuple):
    """What a branch showed when the outage was over: tokyo's mode, held tokens, and who logs in there.

    ``opened`` are machines of other groups and the roles that let them in.  ``two_s`` is when both clusters first took
    writes.
    """

    mode: str
    two_s: float
    mended: bool
    held: int
    renewals_lost: int
    status: int
    says: str
    opened: tuple[tuple[str, str], ...]


@KeptStart
def start() -> Lab:
    """Return a pair beside a cloud that is away: web-1 and web-2 logged in at paris just before."""
    lab = pair_and_cloud(seed=83)
    for name in HOLDERS:
        lab.cloud.vm(name).login(lab["paris"], role="web")
    lab.run("5s")
    for endpoint in ENDPOINTS:
        lab.cloud_outage(endpoint)
    return lab


def pair_and_cloud(seed: int) -> Lab:
    """Return a pair that replicates, and a cloud at a third place whose machines of the group web may log in."""
    lab = Lab(replace(pair(), cloud=CloudPlan(site="lisbon")), seed)
    lab.replicate("paris", "tokyo")
    paris = lab["paris"]
    paris.post("sys/auth/cloud", {"type": "cloud"})
    paris.post("auth/cloud/config", lab.cloud.config)
    paris.post("sys/policies/acl/app", {"policy": 'path "secret/data/app" { capabilities = ["read"] }'})
    paris.post("secret/data/app", {"data": {"user": "ada"}})
    paris.post(ROLE, BOUND)
    return lab


def look(branch: Lab) -> LoginsSeen:
    """Let the outage end, with one question that still fails; then look at held tokens, and let two machines log in."""
    begun = start()
    ends_ns = begun.now + OUTAGE_MINUTES * 60 * SECOND_NS
    known = begun["paris"].list(ACCESSORS).data["keys"]
    recovered = branch.trace.select("observed", what="cloud recovered")
    if branch.now < ends_ns:
        branch.run(until=ends_ns / SECOND_NS)
    mode = branch["tokyo"].mode
    held = sum(_is_held(branch, accessor) for accessor in known)
    broken = branch.trace.select("invariant", name="one primary")
    branch.cloud_recover()
    branch.run(ASKED_AGAIN)  # who asked for keys in vain does not ask at once again
    branch.cloud.fail_next("discovery", 503)
    status, says = _login(branch, "web-1", "web")
    _add_a_neighbour(branch)
    roles = (branch["tokyo"].list("auth/cloud/role").data or {}).get("keys", [])
    return LoginsSeen(
        mode=mode,
        two_s=broken[0].at_ns / SECOND_NS if broken else 0,
        mended=any(event.at_ns < ends_ns for event in recovered),
        held=held,
        renewals_lost=sum(write.path == RENEWAL for write in branch.ledger.lost()),
        status=status,
        says=says,
        opened=tuple([(name, role) for role in roles for name in OTHERS if _login(branch, name, role)[0] == 200]),
    )


def _add_a_neighbour(branch: Lab) -> None:
    """Add a machine of another group to the subscription of web-1: db-1 is of another subscription, too."""
    inventory, beside = branch.cloud.inventory, branch.cloud.vm("web-1").record
    shared = inventory.subscriptions[beside.group.subscription_id]
    inventory.add_machine(OTHERS[1], inventory.add_resource_group("jobs", shared), beside.location)


def _login(branch: Lab, machine: str, role: str) -> tuple[int, str]:
    """Let a machine log in at tokyo; return the status, 0 without an answer, and what it says."""
    try:
        answer = branch.cloud.vm(machine).login(branch["tokyo"], role=role)
    except Silence:
        return 0, "no answer"
    return answer.status, " ".join("; ".join(answer.errors).split())


def _is_held(branch: Lab, accessor: str) -> bool:
    """Whether a machine's token, or none of a machine's, still is what it was."""
    found = branch["tokyo"].post("auth/token/lookup-accessor", {"accessor": accessor})
    return found.ok and found.data["path"] == "auth/cloud/login"


def renew_all(lab: Lab, cluster: str, increment: str) -> None:
    """Renew every token that may be renewed, by its accessor: nobody sees the token itself."""
    for accessor in lab[cluster].list("auth/token/accessors").data["keys"]:
        lab[cluster].post("auth/token/renew-accessor", {"accessor": accessor, "increment": increment})


def renew_there(lab: Lab) -> None:
    """Move the primary, and renew the tokens that machines hold at tokyo, for longer than the outage."""
    lab.failover("paris", "tokyo")
    renew_all(lab, "tokyo", "30m")


def wait_with_the_move(lab: Lab) -> None:
    """Stay at paris and renew each minute, until the cloud is back; then move the primary."""
    for _ in range(11):
        renew_all(lab, "paris", "2m")
        lab.run("1m")
    lab.failover("paris", "tokyo")


def _moves_only(lab: Lab) -> None:
    lab.failover("paris", "tokyo")


def _changes_the_role(lab: Lab) -> None:
    lab["paris"].post(ROLE, {**BOUND, "token_ttl": "1h"})
    lab.failover("paris", "tokyo")


def _mends_the_cloud(lab: Lab) -> None:
    lab.cloud_recover()
    renew_there(lab)


def _renews_once(lab: Lab) -> None:
    lab.failover("paris", "tokyo")
    renew_all(lab, "tokyo", "5m")


def _revokes(lab: Lab) -> None:
    renew_there(lab)
    for accessor in lab["tokyo"].list(ACCESSORS).data["keys"]:
        if _is_held(lab, accessor):
            lab["tokyo"].post("auth/token/revoke-accessor", {"accessor": accessor})


def _root_tokens(lab: Lab) -> None:
    lab.failover("paris", "tokyo")
    for _ in HOLDERS:
        lab["tokyo"].post("auth/token/create", {"policies": ["root"]})


def _no_retries(lab: Lab) -> None:
    lab["paris"].post("auth/cloud/config", {**lab.cloud.config, "max_retries": 0})
    renew_there(lab)


def _no_bounds(lab: Lab) -> None:
    lab["paris"].post(ROLE, {**BOUND, "bound_resource_groups": [], "bound_locations": ["westeurope", "northeurope"]})
    renew_there(lab)


def _whole_subscription(lab: Lab) -> None:
    all_of_it = lab.cloud.vm("web-1").subscription_id
    lab["paris"].post(ROLE, {**BOUND, "bound_resource_groups": [], "bound_subscription_ids": [all_of_it]})
    renew_there(lab)


def _one_more_role(lab: Lab) -> None:
    lab["paris"].post("auth/cloud/role/all", {**BOUND, "bound_resource_groups": ["web", "data"]})
    renew_there(lab)


def _two_primaries(lab: Lab) -> None:
    lab["tokyo"].promote()
    renew_all(lab, "tokyo", "30m")


def _on_the_line(lab: Lab) -> None:
    renew_all(lab, "paris", "30m")
    lab.crash("paris")
    lab["tokyo"].promote()


def _held_said(seen: LoginsSeen) -> str:
    lost = seen.renewals_lost
    on_the_line = (
        f"; {lost} acknowledged renewals were on the line when tokyo was promoted, and are lost" if lost else ""
    )
    return (
        f"{OUTAGE_MINUTES} minutes after the start {seen.held} of the {len(HOLDERS)} tokens that machines hold are "
        f"valid at tokyo{on_the_line}"
    )


LOGINS = Exercise(
    name="logins",
    title="The cloud is away",
    goal="tokyo is the primary, the tokens that web-1 and web-2 hold were valid all the time, and when the cloud is "
    f"back, {OUTAGE_MINUTES} minutes after the start, the machines of the group web log in at tokyo, and no others.",
    start=start,
    look=look,
    conditions=(
        Condition(
            name="moved",
            holds=lambda seen: seen.mode == "primary",
            says=lambda seen: f"tokyo is {mode_said(seen.mode)}",
            asks="tokyo has to be the primary.",
            hints=(
                "Look at tokyo in `lab.map()`.",
                "That the cloud is away does not hinder a move: clusters do not need it for that.",
                '`lab.failover("paris", "tokyo")`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="never two",
            holds=lambda seen: not seen.two_s,
            says=lambda seen: f"both clusters took writes at {seen.two_s:.2f} s",
            asks="At no instant may both clusters take writes.",
            hints=(
                "Look at paris in `lab.map()`.",
                "A promotion stops nobody: paris has to step down first, or to be lost.",
                '`lab.failover("paris", "tokyo")`',
            ),
        ),
        Condition(
            name="the outage",
            holds=lambda seen: not seen.mended,
            says=lambda seen: "somebody ended the outage before its time",
            asks=f"The cloud is not yours to mend: it comes back {OUTAGE_MINUTES} minutes after the start.",
            hints=(
                "Which of your steps is done to the cloud?",
                "You operate two clusters. What can be done there so that nothing depends on the cloud meanwhile?",
                "leave out `lab.cloud_recover()` until then",
            ),
        ),
        Condition(
            name="held tokens",
            holds=lambda seen: seen.held == len(HOLDERS),
            says=_held_said,
            asks="The tokens of web-1 and web-2 have to be valid until the cloud is back.",
            hints=(
                "Look at `ttl` in `auth/token/lookup-accessor` of each accessor, and at how long the outage takes.",
                "Who holds a token needs no cloud to renew it. Another role or another token does not help the "
                "machine that holds this one.",
                '`POST auth/token/renew-accessor` with `"increment": "30m"`, for each of `LIST auth/token/accessors`; '
                "that of the root token answers 400, as it has no end",
            ),
        ),
        Condition(
            name="logins come back",
            holds=lambda seen: seen.status == 200,
            says=lambda seen: (
                "the cloud is back, its first answer fails once, and a login is answered "
                f"{seen.status}: {seen.says[:120]}"
            ),
            asks="When the cloud is back, web-1 has to log in at tokyo, even if its first answer fails.",
            hints=(
                f"Read what the login is answered, then `{ROLE}` and `auth/cloud/config` at tokyo.",
                "What asks another service asks again when it failed. That is a setting.",
                "leave the role and `max_retries` as they are",
            ),
        ),
        Condition(
            name="no others",
            holds=lambda seen: not seen.opened,
            says=lambda seen: (
                f"{seen.opened[0][0]}, a machine that is not of the group web, logs in with the role "
                + seen.opened[0][1]
            ),
            asks="No machine of another group may log in, with whatever role: neither db-1 nor one in the "
            "subscription of web-1.",
            hints=(
                "Read `auth/cloud/role/` and the name of that role at tokyo.",
                "What is opened in an emergency stays open after it.",
                "leave `bound_resource_groups` as it is",
            ),
        ),
    ),
    ways={"renew at the new primary": renew_there, "wait with the move": wait_with_the_move},
    traps=(
        Trap(name="the wrong cluster", act=lambda lab: renew_all(lab, "paris", "30m"), refused_by="moved"),
        Trap(name="two primaries", act=_two_primaries, refused_by="never two"),
        Trap(name="mends the cloud", act=_mends_the_cloud, refused_by="the outage"),
        Trap(name="moves, and waits", act=_moves_only, refused_by="held tokens"),
        Trap(name="renews for too short", act=_renews_once, refused_by="held tokens"),
        Trap(name="another role for tokens to come", act=_changes_the_role, refused_by="held tokens"),
        Trap(name="revokes them", act=_revokes, refused_by="held tokens"),
        Trap(name="root tokens in their place", act=_root_tokens, refused_by="held tokens"),
        Trap(name="asks the cloud once only", act=_no_retries, refused_by="logins come back"),
        Trap(name="a role with wider bounds", act=_no_bounds, refused_by="no others"),
        Trap(name="a role for the whole subscription", act=_whole_subscription, refused_by="no others"),
        Trap(name="one more role", act=_one_more_role, refused_by="no others"),
        Trap(name="renewed, and not waited for", act=_on_the_line, refused_by="held tokens"),
    ),
)
