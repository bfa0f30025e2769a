"""Silence: two requests that stay without an answer, of which one happened."""

from __future__ import annotations

from typing import NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.distance.line import calm_pair
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart
from labkit.service.silence import Silence

ONE, TWO = "secret/data/orders/one", "secret/data/orders/two"


class SilenceSeen(NamedTuple):
    """How many writes are in doubt, which of the two were acknowledged, and which are stored."""

    in_doubt: int
    acknowledged: tuple[str, ...]
    stored: tuple[str, ...]


@KeptStart
def start() -> Lab:
    """Return a calm pair."""
    return calm_pair(seed=42)


def look(branch: Lab) -> SilenceSeen:
    """Wait until paris answers again, and read both orders."""
    in_doubt = branch.ledger.in_doubt - start().ledger.in_doubt
    acknowledged = {write.path for write in branch.ledger.writes}
    branch.heal()
    branch.run("20s")
    return SilenceSeen(
        in_doubt=in_doubt,
        acknowledged=tuple([path for path in (ONE, TWO) if path in acknowledged]),
        stored=tuple([path for path in (ONE, TWO) if branch["paris"].get(path).ok]),
    )


def short_and_long_stall(lab: Lab) -> None:
    """Stall the leader twice: once it wakes as the leader, once after another took over."""
    for path, rest in (("secret/data/orders/one", "1s"), ("secret/data/orders/two", "8s")):
        leader = lab["paris"].active
        lab.pause(leader)
        try:
            token = {"X-Vault-Token": lab["paris"].root_token}
            lab["paris"].request("POST", path, {"data": {}}, token, node=leader, timeout="500ms")
        except TimeoutError:
            lab.run(rest)
        lab.resume(leader)
        lab.run("5s")


def impatient_and_dead(lab: Lab) -> None:
    """Wait too short for an answer that is on its way, and ask a node that is dead."""
    for path, node, wait in (
        ("secret/data/orders/one", "paris-1", "100us"),
        ("secret/data/orders/two", "paris-3", "1s"),
    ):
        if node == "paris-3":
            lab.crash(node)
        try:
            token = {"X-Vault-Token": lab["paris"].root_token}
            lab["paris"].request("POST", path, {"data": {}}, token, node=node, timeout=wait)
        except TimeoutError:
            lab.run("1s")


def _write(lab: Lab, path: str, node: str, timeout: str) -> None:
    token = {"X-Vault-Token": lab["paris"].root_token}
    try:
        lab["paris"].request("POST", path, {"data": {}}, token, node=node, timeout=timeout)
    except Silence:
        lab.run("1s")


def _both(lab: Lab) -> None:
    for path in (ONE, TWO):
        _write(lab, path, "paris-1", "100us")


def _neither(lab: Lab) -> None:
    lab.crash("paris-3")
    for path in (ONE, TWO):
        _write(lab, path, "paris-3", "1s")


def _refused(lab: Lab) -> None:
    _write(lab, ONE, "paris-1", "100us")
    lab["tokyo"].post(TWO, {"data": {}})


def _one_acknowledged(lab: Lab) -> None:
    lab["paris"].post(ONE, {"data": {}})
    lab.crash("paris-3")
    _write(lab, TWO, "paris-3", "1s")


def _sent_again(lab: Lab) -> None:
    impatient_and_dead(lab)
    lab["paris"].post(ONE, {"data": {}})


def _wrong_cluster(lab: Lab) -> None:
    lab.crash("tokyo")
    for path in (ONE, TWO):
        try:
            lab["tokyo"].post(path, {"data": {}}, timeout="1s")
        except Silence:
            lab.run("1s")


SILENCE = Exercise(
    name="silence",
    title="Two silences",
    goal="orders/one and orders/two were both sent and stayed without an answer; one of them is stored, the other "
    "is not.",
    start=start,
    look=look,
    conditions=(
        Condition(
            name="two silences",
            holds=lambda seen: seen.in_doubt >= 2,
            says=lambda seen: f"the ledger has {seen.in_doubt} write{'' if seen.in_doubt == 1 else 's'} in doubt",
            asks="Two writes have to stay without an answer.",
            hints=(
                "Look at `lab.ledger`: what is in doubt?",
                "A refusal is an answer. Silence comes from a node that sleeps or is dead, or from waiting too short.",
                "`lab.pause(node)` and a request with `node=` and `timeout=`; it raises TimeoutError",
            ),
        ),
        Condition(
            name="not acknowledged",
            holds=lambda seen: not seen.acknowledged,
            says=lambda seen: f"acknowledged: {', '.join(seen.acknowledged)}",
            asks="Neither of the two may have been acknowledged, not even later.",
            hints=(
                "Look at `lab.ledger.writes`: which paths are there?",
                "Who sends a silent request again gets an answer, and no longer knows what the first one did.",
                "send each of the two once",
            ),
        ),
        Condition(
            name="one of two",
            holds=lambda seen: len(seen.stored) == 1,
            says=lambda seen: f"stored in the end: {' and '.join(seen.stored) or 'none of the two'}",
            asks="One of the two has to be stored, and the other not.",
            hints=(
                "Read both paths from paris, some seconds later.",
                "What matters is whether the request reached a leader that was still one.",
                "wake one leader within a second, another one after its lease",
            ),
        ),
    ),
    ways={"a short stall and a long one": short_and_long_stall, "impatience and a dead node": impatient_and_dead},
    traps=(
        Trap(name="both happened", act=_both, refused_by="one of two"),
        Trap(name="neither happened", act=_neither, refused_by="one of two"),
        Trap(name="a refusal", act=_refused, refused_by="two silences"),
        Trap(name="one was acknowledged", act=_one_acknowledged, refused_by="two silences"),
        Trap(name="sent again", act=_sent_again, refused_by="not acknowledged"),
        Trap(name="the wrong cluster", act=_wrong_cluster, refused_by="one of two"),
    ),
)
