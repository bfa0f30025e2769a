"""Back: the region that was lost returns, and becomes the primary again; nothing is wiped, nothing is lost."""

from __future__ import annotations

from typing import NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.safe_order.writers import PAIR
from labkit.lessons.worlds import KeptStart, mode_said
from labkit.service.durations import SECOND_NS
from labkit.service.silence import Silence

SETTLING, ORDERS = "10s", "secret/data/orders"
ALONE = (4, 5)
"""The orders that tokyo took while paris was dark."""
SECONDARY = "sys/replication/dr/secondary"


class BackSeen(NamedTuple):
    """What a branch showed after it settled."""

    modes: dict[str, str]
    powered: bool
    broken_s: float
    missing: list[str]
    given_up: int
    follows: bool
    left: list[str]


@KeptStart
def start() -> Lab:
    """Return a pair whose region paris was lost: tokyo was promoted and took two more orders; paris has no power."""
    lab = Lab.pair(seed=82)
    lab.replicate("paris", "tokyo")
    for number in (1, 2, 3):
        lab["paris"].post(f"{ORDERS}/{number}", {"data": {"item": f"rope {number}"}})
    lab.run("5s")
    lab.crash("paris")
    lab.run("10s")
    lab["tokyo"].promote()
    for number in ALONE:
        lab["tokyo"].post(f"{ORDERS}/{number}", {"data": {"item": f"rope {number}"}})
    lab.run("5s")
    return lab


def look(branch: Lab) -> BackSeen:
    """Let the branch settle; ask paris for the orders of meanwhile, and whom it feeds."""
    branch.run(SETTLING)
    broken = branch.trace.select("invariant", name="one primary")
    left = [event.cluster for event in branch.trace.select("mode", mode="disabled")]
    return BackSeen(
        modes={name: branch[name].mode for name in PAIR},
        powered=branch["paris"].active != "",
        broken_s=broken[0].at_ns / SECOND_NS if broken else 0,
        missing=[path for path in _acknowledged(branch) if not _has(branch, path)],
        given_up=len(branch.ledger.lost()),
        follows=("paris", "tokyo") in branch.queries.streaming_pairs() and branch["paris"].root == branch["tokyo"].root,
        left=left,
    )


def _acknowledged(branch: Lab) -> list[str]:
    """Return the orders that tokyo took meanwhile, and each secret that was acknowledged since, by whomever."""
    begun = len(start().ledger.writes)
    later = [write.path for write in list(branch.ledger.writes)[begun:] if write.committed.version]
    return [f"{ORDERS}/{number}" for number in ALONE] + sorted(
        {path for path in later if path.startswith("secret/data/")}
    )


def _has(branch: Lab, path: str) -> bool:
    try:
        return branch["paris"].get(path, timeout="2s").ok
    except Silence:
        return False


def fence_by_the_network(lab: Lab) -> None:
    """Start the old primary where nobody reaches it, let it step down, and only then let it in."""
    lab.isolate("paris")
    lab.restart("paris")
    lab["paris"].unseal()
    lab["paris"].demote()
    lab.heal()
    lab["paris"].repoint("tokyo")
    lab.run("5s")
    lab.failover("tokyo", "paris")


def fence_by_a_pause(lab: Lab) -> None:
    """Let nobody be primary while the old one starts; it steps down before the new one goes on."""
    lab["tokyo"].demote()
    lab.restart("paris")
    lab["paris"].unseal()
    lab["paris"].demote()
    lab["tokyo"].promote()
    lab["paris"].repoint("tokyo")
    while lab.lag("tokyo", "paris").entries:
        lab.run("100ms")
    lab["tokyo"].demote()
    while lab.lag("tokyo", "paris").entries:
        lab.run("100ms")
    lab["paris"].promote()
    lab["tokyo"].repoint("paris")


def _fenced(lab: Lab) -> None:
    """Start paris alone, and let it step down."""
    lab.isolate("paris")
    lab.restart("paris")
    lab["paris"].unseal()
    lab["paris"].demote()
    lab.heal()


def _not_fenced(lab: Lab) -> None:
    lab.restart("paris")
    lab["paris"].unseal()
    lab["paris"].demote()
    lab["paris"].repoint("tokyo")
    lab.run("5s")
    lab.failover("tokyo", "paris")


def _written_again(lab: Lab) -> None:
    lab["tokyo"].demote()
    lab.restart("paris")
    lab["paris"].unseal()
    for number in ALONE:
        lab["paris"].post(f"{ORDERS}/{number}", {"data": {"item": f"rope {number}"}})
    lab["tokyo"].repoint("paris")
    lab.run("5s")


def _wiped(lab: Lab) -> None:
    lab.isolate("paris")
    lab.restart("paris")
    lab["paris"].unseal()
    lab["paris"].disable()
    lab.heal()
    lab.replicate("tokyo", "paris")
    lab.failover("tokyo", "paris")


def _old_history(lab: Lab) -> None:
    lab["tokyo"].demote()
    lab.restart("paris")
    lab["paris"].unseal()
    lab["tokyo"].repoint("paris")


def _written_alone(lab: Lab) -> None:
    lab.isolate("paris")
    lab.restart("paris")
    lab["paris"].unseal()
    lab["paris"].post(f"{ORDERS}/9", {"data": {"item": "rope 9"}})
    lab["paris"].demote()
    lab.heal()
    lab["paris"].repoint("tokyo")
    lab.run("5s")
    lab.failover("tokyo", "paris")


def _left_alone(lab: Lab) -> None:
    _fenced(lab)
    lab["paris"].repoint("tokyo")
    lab.run("5s")
    lab["tokyo"].demote()
    lab.run("1s")
    lab["paris"].promote()


def _token_from_before(lab: Lab) -> None:
    _fenced(lab)
    lab["paris"].repoint("tokyo")
    lab.run("5s")
    body = {"id": "tokyo-again"}
    made = lab["tokyo"].post("sys/replication/dr/primary/secondary-token", body).wrap_info or {}
    lab["tokyo"].demote()
    lab.run("1s")
    lab["paris"].promote()
    proof = lab["tokyo"].operation_token()
    lab["tokyo"].post(f"{SECONDARY}/update-primary", {"dr_operation_token": proof, "token": made["token"]}, token="")


def _follows_only(lab: Lab) -> None:
    _fenced(lab)
    lab["paris"].repoint("tokyo")


BACK = Exercise(
    name="back",
    title="There and back",
    goal="paris is the primary again and has every order, tokyo follows it, no cluster was taken out of replication, "
    "and at no instant did both take writes.",
    start=start,
    look=look,
    conditions=(
        Condition(
            name="power",
            holds=lambda seen: seen.powered,
            says=lambda seen: "no node of paris leads",
            asks="paris has to be running and unsealed.",
            hints=(
                "Look at paris in `lab.map()`.",
                "A node starts sealed: it needs power, and then key shares.",
                '`lab.restart("paris")`, then `lab["paris"].unseal()`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="never two",
            holds=lambda seen: not seen.broken_s,
            says=lambda seen: f"both took writes at {seen.broken_s:.2f} s",
            asks="At no instant may both take writes.",
            hints=(
                "What was paris when it lost power, and what is it when it wakes?",
                "paris does not know that it was replaced. It has to step down before anybody reaches it, or before "
                "tokyo goes on.",
                '`lab.isolate("paris")` before the restart; `lab.heal()` after `lab["paris"].demote()`',
            ),
        ),
        Condition(
            name="primary again",
            holds=lambda seen: seen.modes["paris"] == "primary",
            says=lambda seen: " and ".join(f"{name} is {mode_said(seen.modes[name])}" for name in PAIR),
            asks="In the end paris has to be the primary.",
            hints=(
                'Look at `lab["paris"].mode`.',
                "Two moves: first paris follows tokyo, then the primary moves as planned.",
                '`lab["paris"].repoint("tokyo")`, then `lab.failover("tokyo", "paris")`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="every order",
            holds=lambda seen: not seen.missing,
            says=lambda seen: f"acknowledged, and not in paris: {', '.join(seen.missing)}",
            asks="paris has to have the orders that tokyo took meanwhile, and whatever was acknowledged since.",
            hints=(
                "Read orders/4 from paris and from tokyo, after each step.",
                "Who follows whom decides whose history goes on. What the follower has of its own is given up for "
                'good: then `here.start("back")` begins again.',
                '`lab["paris"].repoint("tokyo")` while tokyo is the primary',
            ),
        ),
        Condition(
            name="one history",
            holds=lambda seen: not seen.given_up,
            says=lambda seen: (
                f"paris has every order, and {seen.given_up} writes that tokyo acknowledged are given up: what you "
                "wrote again is another history"
            ),
            asks="The history of tokyo has to go on, with what it acknowledged; a copy by hand begins another one.",
            hints=(
                "Look at `lab.ledger.lost()` in the end.",
                "Who copies by hand copies what they know of. A cluster that follows takes everything.",
                '`lab["paris"].repoint("tokyo")` while tokyo is the primary, and then `lab.failover("tokyo", "paris")`',
            ),
        ),
        Condition(
            name="followed",
            holds=lambda seen: seen.follows,
            says=lambda seen: f"tokyo is {mode_said(seen.modes['tokyo'])}, and does not stream what paris writes",
            asks="tokyo has to follow paris, so that the next disaster finds a copy.",
            hints=(
                'Look at `lab["tokyo"].status()`.',
                "A cluster that stepped down follows nobody, and the token with which one joins works once.",
                '`lab["tokyo"].repoint("paris")`, which asks for a token of its own',
            ),
        ),
        Condition(
            name="nothing wiped",
            holds=lambda seen: not seen.left,
            says=lambda seen: f"replication was disabled at {', '.join(seen.left)}: everything was copied again",
            asks="No cluster may be taken out of replication: whoever joins again is wiped, and everything is sent.",
            hints=(
                'Look in `lab.trace.select("mode")` for `disabled`.',
                "A cluster that steps down keeps what it has; only what differs is sent.",
                "`demote()` and `repoint()` in place of `disable()` and `replicate()`",
            ),
        ),
    ),
    ways={"fenced by the network": fence_by_the_network, "fenced by a pause": fence_by_a_pause},
    traps=(
        Trap(name="repair the wrong cluster", act=lambda lab: lab["tokyo"].demote(), refused_by="power"),
        Trap(name="the wrong cluster", act=_follows_only, refused_by="primary again"),
        Trap(name="started among the others", act=_not_fenced, refused_by="never two"),
        Trap(name="the old history goes on", act=_old_history, refused_by="every order"),
        Trap(name="written to it while it is cut off", act=_written_alone, refused_by="every order"),
        Trap(name="written again by hand", act=_written_again, refused_by="one history"),
        Trap(name="tokyo left alone", act=_left_alone, refused_by="followed"),
        Trap(name="a token from before the move", act=_token_from_before, refused_by="followed"),
        Trap(name="disable, and enable again", act=_wiped, refused_by="nothing wiped"),
    ),
)
