"""Stall: a leader that sleeps through its lease, and wakes with a write in its hands."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.two_primaries.split import pair_with_orders
from labkit.lessons.worlds import KeptStart
from labkit.service.durations import SECOND_NS
from labkit.service.silence import Silence

LATE = "secret/data/orders/late"
LEADER, STEPPED_DOWN = "paris-1", "stepped down"


class StallSeen(NamedTuple):
    """What the trace shows of the stall, and what paris holds of the late order; instants are -1 where nothing was.

    ``handed`` counts the requests that reached the leader while it slept; ``opens``: the late order can be read.
    """

    paused: tuple[str, ...]
    paused_ns: int
    taken_over_ns: int
    resumed_ns: int
    refused_ns: int
    versions: int
    opens: bool
    handed: int

    @property
    def slept_s(self) -> float:
        """How long the leader was paused, in seconds."""
        return max(self.resumed_ns - self.paused_ns, 0) / SECOND_NS


@KeptStart
def start() -> Lab:
    """Return a calm pair, in which paris-1 leads paris."""
    return pair_with_orders(seed=63)


def look(branch: Lab) -> StallSeen:
    """Read the trace, and the late order from whoever leads now."""
    trace = branch.trace
    paused = trace.select("fault", verb="pause")
    leaders = [event for event in trace.select("leader", cluster="paris") if event.node != LEADER]
    resumed = trace.select("fault", verb="resume", target=LEADER)
    refused = trace.select("observed", node=LEADER, what=STEPPED_DOWN)
    paused_ns = next((event.at_ns for event in paused if event.target == LEADER), -1)
    resumed_ns = resumed[-1].at_ns if resumed else -1
    asked = trace.select("message", source="paris-operator", target=LEADER, what="request")
    branch.run("10s")
    found = branch["paris"].get(LATE.replace("data", "metadata"))
    return StallSeen(
        paused=tuple([event.target for event in paused]),
        paused_ns=paused_ns,
        taken_over_ns=leaders[0].at_ns if leaders else -1,
        resumed_ns=resumed_ns,
        refused_ns=refused[-1].at_ns if refused else -1,
        versions=len(found.data["versions"]) if found.ok else 0,
        opens=branch["paris"].get(LATE).ok,
        handed=sum(paused_ns < event.at_ns < resumed_ns for event in asked),
    )


def _woke(seen: StallSeen) -> str:
    if seen.handed:
        return "paris-1 woke with a request in its hands that it refused by itself, as one without a valid token"
    return "paris-1 woke with nothing to commit, and went on as a standby"


def remark(seen: StallSeen) -> str:
    """Say by what the late write was refused."""
    after_s = (seen.taken_over_ns - seen.paused_ns) / SECOND_NS
    return (
        f"Another node led {after_s:.1f} s after the pause, when the lease of paris-1, its time to lead, had ended: a "
        "new term. When paris-1 woke, its write came with the number of the old term, and was refused for that. Nobody "
        "heard it: you had stopped waiting, so `lab.timeline()` counts your request as in doubt. What shows it is "
        '`lab.trace.select("observed", node="paris-1", what="stepped down")`.'
    )


def stall_short(lab: Lab) -> None:
    """Stall the leader for five seconds with a write that it has not read yet, wake it, and send the write again."""
    lab.pause("paris-1")
    try:
        lab["paris"].request("POST", LATE, {"data": {"item": "rope"}}, _token(lab), node="paris-1", timeout="1s")
    except TimeoutError:
        lab.run("4s")
    lab.resume("paris-1")
    lab.run("5s")
    lab["paris"].post(LATE, {"data": {"item": "rope"}})


def stall_long(lab: Lab) -> None:
    """Stall the leader for a minute; the write is sent again, to the new leader, before the old one wakes."""
    lab.pause("paris-1")
    lab.run("30s")
    try:
        lab["paris"].request("POST", LATE, {"data": {"item": "rope"}}, _token(lab), node="paris-1", timeout="10s")
    except TimeoutError:
        lab["paris"].post(LATE, {"data": {"item": "rope"}})
    lab.run("20s")
    lab.resume("paris-1")


def _token(lab: Lab) -> dict[str, str]:
    """Return the header that a request to one node needs."""
    return {"X-Vault-Token": lab["paris"].root_token}


def _write_to(lab: Lab, node: str = LEADER, timeout: str = "1s") -> None:
    try:
        lab["paris"].request("POST", LATE, {"data": {"item": "rope"}}, _token(lab), node=node, timeout=timeout)
    except Silence:
        return


def _crash(lab: Lab) -> None:
    lab.crash(LEADER)
    _write_to(lab)
    lab.run("5s")
    lab.restart(LEADER)
    lab["paris"].post(LATE, {"data": {"item": "rope"}})


def _standby(lab: Lab) -> None:
    lab.pause("paris-2")
    _write_to(lab, node="paris-2")
    lab.run("5s")
    lab.resume("paris-2")


def _too_short(lab: Lab) -> None:
    lab.pause(LEADER)
    _write_to(lab, timeout="500ms")
    lab.resume(LEADER)
    lab.run("5s")


def _cut_off(lab: Lab) -> None:
    lab.isolate("paris")
    lab.run("5s")
    lab.heal()
    lab["paris"].post(LATE, {"data": {"item": "rope"}})


def _no_write(lab: Lab) -> None:
    lab.pause(LEADER)
    lab.run("5s")
    lab.resume(LEADER)
    lab.run("5s")
    lab["paris"].post(LATE, {"data": {"item": "rope"}})


def _no_token(lab: Lab) -> None:
    lab.pause(LEADER)
    with suppress(Silence):
        lab["paris"].request("POST", LATE, {"data": {"item": "rope"}}, node=LEADER, timeout="1s")
    lab.run("5s")
    lab.resume(LEADER)
    lab.run("5s")
    lab["paris"].post(LATE, {"data": {"item": "rope"}})


def _never_woken(lab: Lab) -> None:
    lab.pause(LEADER)
    _write_to(lab)
    lab.run("5s")
    lab["paris"].post(LATE, {"data": {"item": "rope"}})


def _not_again(lab: Lab) -> None:
    lab.pause(LEADER)
    _write_to(lab)
    lab.run("5s")
    lab.resume(LEADER)
    lab.run("5s")


def _twice_again(lab: Lab) -> None:
    stall_short(lab)
    lab["paris"].post(LATE, {"data": {"item": "rope"}})


def _deleted(lab: Lab) -> None:
    stall_short(lab)
    lab["paris"].delete(LATE)


def _other_cluster(lab: Lab) -> None:
    lab.pause("tokyo-1")
    lab.run("5s")
    lab.resume("tokyo-1")
    lab["paris"].post(LATE, {"data": {"item": "rope"}})


STALL = Exercise(
    name="stall",
    title="The late commit",
    goal="paris-1 stalls, another node takes over, paris-1 wakes with a write to orders/late in its hands and is "
    "refused; in the end orders/late is stored exactly once.",
    start=start,
    look=look,
    remark=remark,
    conditions=(
        Condition(
            name="the leader stalls",
            holds=lambda seen: seen.paused_ns >= 0,
            says=lambda seen: f"paused so far: {', '.join(seen.paused) or 'no node'}",
            asks="The node that leads paris has to stall: it is not dead, and it is not cut off.",
            hints=(
                'Look at `lab["paris"].active`.',
                "A crash ends a process and what it held. A stalled one goes on where it stood.",
                '`lab.pause("paris-1")`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="taken over",
            holds=lambda seen: seen.taken_over_ns >= 0,
            says=lambda seen: f"paris-1 was stalled for {seen.slept_s:.1f} s, and no other node led paris",
            asks="Another node of paris has to lead before paris-1 wakes.",
            hints=(
                'Look at `lab["paris"].active` while paris-1 is stalled.',
                "A leader holds a lease, its time to lead; until that ends no other node may lead.",
                '`lab.run("5s")` between `pause` and `resume`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="awake",
            holds=lambda seen: seen.resumed_ns > seen.taken_over_ns,
            says=lambda seen: "paris-1 is still stalled" if seen.resumed_ns < 0 else "paris-1 woke too early",
            asks="paris-1 has to wake after the other node took over.",
            hints=(
                "Look in `lab.timeline()` at what paris-1 is now.",
                "As long as it sleeps it can do no harm, and nothing is shown.",
                '`lab.resume("paris-1")`',
            ),
        ),
        Condition(
            name="refused",
            holds=lambda seen: seen.refused_ns >= seen.resumed_ns,
            says=_woke,
            asks="paris-1 has to find a write when it wakes, and be refused.",
            hints=(
                'Look at `lab.trace.select("observed", node="paris-1")`: does it step down?',
                "A write that was sent to a stalled node waits there, with its token. You wait in vain, and that "
                "raises TimeoutError.",
                '`lab["paris"].request("POST", path, body, {"X-Vault-Token": lab["paris"].root_token}, node="paris-1", '
                'timeout="1s")` while it is stalled',
            ),
        ),
        Condition(
            name="stored once",
            holds=lambda seen: seen.versions == 1 and seen.opens,
            says=lambda seen: (
                "orders/late was stored, and is deleted"
                if seen.versions == 1
                else f"paris holds {seen.versions} versions of orders/late"
            ),
            asks="In the end orders/late has to be stored exactly once, and to open.",
            hints=(
                "Read `secret/metadata/orders/late` from paris.",
                "Silence says nothing of what happened: read first, then decide whether to send again.",
                '`lab["paris"].post("secret/data/orders/late", …)`, once',
            ),
        ),
    ),
    ways={"a short stall": stall_short, "a long stall, sent again meanwhile": stall_long},
    traps=(
        Trap(name="a crash", act=_crash, refused_by="the leader stalls"),
        Trap(name="a standby stalls", act=_standby, refused_by="the leader stalls"),
        Trap(name="the wrong cluster", act=_other_cluster, refused_by="the leader stalls"),
        Trap(name="the network is cut", act=_cut_off, refused_by="the leader stalls"),
        Trap(name="too short", act=_too_short, refused_by="taken over"),
        Trap(name="never woken", act=_never_woken, refused_by="awake"),
        Trap(name="no write", act=_no_write, refused_by="refused"),
        Trap(name="a write without a token", act=_no_token, refused_by="refused"),
        Trap(name="never sent again", act=_not_again, refused_by="stored once"),
        Trap(name="stored, and deleted", act=_deleted, refused_by="stored once"),
        Trap(name="sent again twice", act=_twice_again, refused_by="stored once"),
    ),
)
