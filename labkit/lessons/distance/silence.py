"""Silence: two requests that stay without an answer, of which one happened."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from labkit.front.lab import Lab
from labkit.lessons.distance.line import calm_pair
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.worlds import KeptStart, is_changing
from labkit.service.silence import Silence

ONE, TWO = "secret/data/orders/one", "secret/data/orders/two"
NAMES = ("orders/one", "orders/two")


class SilenceSeen(NamedTuple):
    """Which of the two were sent to paris and met silence, what else was done to them, who leads, which are stored."""

    silent: tuple[str, ...]
    besides: tuple[str, ...]
    leader: str
    stored: tuple[str, ...]


@KeptStart
def start() -> Lab:
    """Return a calm pair."""
    return calm_pair(seed=42)


def look(branch: Lab) -> SilenceSeen:
    """Wait until paris answers again, and read both orders."""
    failed = [ask for ask in branch.ledger.failed_asks if is_changing(ask.method) and not ask.status]
    silent = {ask.path for ask in failed if ask.asker == "paris-operator"}
    acknowledged = {write.path for write in branch.ledger.writes}
    branch.heal()
    branch.run("20s")
    leader = branch["paris"].active
    return SilenceSeen(
        silent=tuple([path for path in (ONE, TWO) if path in silent]),
        besides=tuple(sorted([path for path in acknowledged if path.endswith(NAMES)])),
        leader=leader,
        stored=tuple([path for path in (ONE, TWO) if leader and branch["paris"].get(path).ok]),
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
    """Wait too short a time for an answer that is on its way, and ask a node that is dead."""
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


def _one_removed(lab: Lab) -> None:
    _both(lab)
    lab["paris"].delete("secret/metadata/orders/two")


def _region_down(lab: Lab) -> None:
    lab.crash("paris")
    for path in (ONE, TWO):
        _write(lab, path, "paris-1", "1s")


def _silent_readings(lab: Lab) -> None:
    _write(lab, ONE, "paris-1", "100us")
    lab.crash("paris-3")
    with suppress(Silence):
        lab["paris"].get(TWO, node="paris-3", timeout="1s")


def _one_at_tokyo(lab: Lab) -> None:
    _write(lab, ONE, "paris-1", "100us")
    lab.crash("tokyo")
    with suppress(Silence):
        lab["tokyo"].post(TWO, {"data": {}}, timeout="1s")


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
            holds=lambda seen: len(seen.silent) == len(NAMES),
            says=lambda seen: f"sent to paris and without an answer: {' and '.join(seen.silent) or 'none of the two'}",
            asks="Both have to be sent to paris, and stay without an answer.",
            hints=(
                "Look at what `send` returns: an answer, or the silence?",
                "A refusal is an answer. Silence comes from a node that sleeps or is dead, or from too short a wait: "
                "an answer is there within a millisecond.",
                '`lab.pause(node)` or `lab.crash(node)` and then `send` to that node, or `timeout="100us"`',
            ),
        ),
        Condition(
            name="nothing besides",
            holds=lambda seen: not seen.besides,
            says=lambda seen: f"acknowledged: {', '.join(seen.besides)}",
            asks="Nothing that was asked of the two may have been acknowledged, neither a second try nor a removal.",
            hints=(
                "Look at `lab.ledger.writes`: which paths are there?",
                "Who sends a silent request again gets an answer, and no longer knows what the first one did.",
                "send each of the two once",
            ),
        ),
        Condition(
            name="somebody leads",
            holds=lambda seen: seen.leader != "",
            says=lambda seen: "no node of paris leads any more, so nobody can say what is stored",
            asks="In the end paris has to answer, to whoever asks what is stored.",
            hints=(
                "Look at paris in `lab.map()`: which of its nodes leads?",
                "Another node leads as long as one of the three runs; one that was restarted serves nobody by itself.",
                "crash or pause one node in place of the region",
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="one of two",
            holds=lambda seen: len(seen.stored) == 1,
            says=lambda seen: f"stored in the end: {' and '.join(seen.stored) or 'none of the two'}",
            asks="One of the two has to be stored, and the other not.",
            hints=(
                "Read both paths from paris, some seconds later.",
                "What matters is whether the node that got the request still led when it took it up.",
                "Send `orders/one` to a leader that sleeps, and `lab.resume` it within a second. Send `orders/two` to "
                "a leader that sleeps, and resume it when another node leads; or to a node that is crashed.",
            ),
        ),
    ),
    ways={"a short stall and a long one": short_and_long_stall, "impatience and a dead node": impatient_and_dead},
    traps=(
        Trap(name="both happened", act=_both, refused_by="one of two"),
        Trap(name="neither happened", act=_neither, refused_by="one of two"),
        Trap(name="a refusal", act=_refused, refused_by="two silences"),
        Trap(name="one was acknowledged", act=_one_acknowledged, refused_by="two silences"),
        Trap(name="sent again", act=_sent_again, refused_by="nothing besides"),
        Trap(name="both stored and one removed", act=_one_removed, refused_by="nothing besides"),
        Trap(name="the whole region is down", act=_region_down, refused_by="somebody leads"),
        Trap(name="two readings without an answer", act=_silent_readings, refused_by="two silences"),
        Trap(name="one of them at tokyo", act=_one_at_tokyo, refused_by="two silences"),
        Trap(name="the wrong cluster", act=_wrong_cluster, refused_by="two silences"),
    ),
)
