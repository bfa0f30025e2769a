"""Message causes: why a message was lost or late, why a request stayed without an answer, and who asked for what.

1. What is lost at once met a cut or a host that was down; what is lost later was on its way when one came, and was
   lost then; what a line loses, it loses when it is sent.
2. An answer is sent when its request arrives, or after the answer to what was forwarded.
3. A root is a fault with the step of the scenario that it was, or a request of an operator or a client.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.lab.causes.explanation import BEGINNING, FAULT, NOT_RECORDED, OPERATOR, WORK, Cause, CauseStep
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.fault_table import CUT, LOSE, NAMED, SLOW
from labkit.service.durations import in_seconds
from labkit.sim.network import Message
from labkit.sim.network_faults import FLAPPING

FETCHES = ("request", "bootstrap_request")
CLOUD_CALL_FAILED = "cloud call failed"
"""What a node observes of a call of the cloud."""


def seconds(at_ns: int) -> str:
    """Return an instant in words."""
    return f"{in_seconds(at_ns)} s"


def fault(run: RecordedRun, number: int) -> Cause:
    """A fault: a root, unless a flapping line or a commit that was to be cut short brought it about."""
    _, at_ns, verb, target, detail = run.rows[number]
    words = NAMED[verb].cause.format(target=target, detail=detail)
    earlier, by_step = None, number > 0 and run.rows[number - 1][0] == "step"
    if detail == FLAPPING:
        earlier = run.last("fault", number, verb=("flap", "steady"), target=target)
    elif verb == "crash" and not by_step:
        earlier = run.last("fault", number, verb=("crash", "crash in commit"), target=target)
    if earlier is not None and run.rows[earlier][2] in ("flap", "crash in commit"):
        return Cause(CauseStep(at_ns, words, number), ("fault", earlier))
    return Cause(CauseStep(at_ns, f"{words}{who(run, number)}", number), None, FAULT)


def who(run: RecordedRun, number: int) -> str:
    """Say which step of a scenario was in progress at a row, or that it was done by hand."""
    step = run.step_at(number)
    return ", by hand" if step is None else f", step {run.rows[step][2]}: {run.rows[step][3]}"


def request(run: RecordedRun, number: int) -> Cause:
    """Who asked for what a message led to: it is followed back, answer by answer, to an operator or a client."""
    while True:
        _, sent_ns, _, source, target, what, *_ = run.rows[number]
        if source in run.operators:
            sentence = f"an operator sends {target} the request that led to it{who(run, number)}"
            return Cause(CauseStep(sent_ns, sentence, number), None, OPERATOR)
        if source in run.clients:
            return Cause(CauseStep(sent_ns, f"{source} sends {target} a request", number), None, WORK)
        before = run.sent_for(number)
        if before is None and what in FETCHES:
            before = run.earlier_try(number)
        if before is None:
            return _of_itself(run, number)
        number = before


def _of_itself(run: RecordedRun, number: int) -> Cause:
    """A message that a timer sent: an impostor's, a new leader's, or what a node sends while it is what it is."""
    _, sent_ns, _, source, target, what, *_ = run.rows[number]
    before, cluster = run.between(sent_ns, sent_ns).stop, run.nodes.get(source, "")
    step = CauseStep(sent_ns, f"{source} sends {target} a message ({what}) by a timer of its own", number)
    impostor = run.faults.on_node("impersonate", source.removesuffix("-impostor"), number)
    if impostor is not None and source.endswith("-impostor"):
        return Cause(step, ("fault", impostor))
    led, changed = run.last("leader", before, cluster=cluster), run.last("mode", before, cluster=cluster)
    if changed is not None and what != "announcement":
        return Cause(step, ("mode", changed))
    return Cause(step, None, BEGINNING) if led is None else Cause(step, ("leader", led))


def lost(run: RecordedRun, number: int) -> Cause:
    """A lost message: the crash or the cut that took it, or the line that loses some."""
    _, sent_ns, at_ns, source, target, what, *_ = run.rows[number]
    ends = (run.site_of(source), run.site_of(target))
    name = f"the message ({what}) from {source} to {target}"
    down = [run.faults.on_node("crash", host, number) for host in (source, target)]
    cut = run.faults.on_line(CUT, ends, number)
    if sent_ns == at_ns and (down[0] is not None or down[1] is not None):
        host, found = (target, down[1]) if down[1] is not None else (source, down[0])
        return _lost(at_ns, f"{name} is lost: {host} is down", number, found)
    if sent_ns == at_ns and cut is not None:
        return _lost(at_ns, f"{name} is lost: the line is cut", number, cut)
    hit = run.faults.hit((source, target), ends, range(run.between(sent_ns, sent_ns).start, number))
    if hit is not None:
        why = f"{run.rows[hit][3]} goes down" if run.rows[hit][2] == "crash" else "the line is cut"
        lost_ns = run.at_ns(hit)
        return _lost(lost_ns, f"{name}, sent at {seconds(sent_ns)}, is lost on its way: {why}", number, hit)
    losing = run.faults.on_line(LOSE, ends, number)
    if losing is not None:
        return _lost(sent_ns, f"{name} is lost: the line loses some", number, losing)
    sentence = f"{name} is lost: between {ends[0]} and {ends[1]} some are, as the lab was built"
    return Cause(CauseStep(sent_ns, sentence, number), None, BEGINNING)


def _lost(at_ns: int, sentence: str, number: int, by: int | None) -> Cause:
    return Cause(CauseStep(at_ns, sentence, number), ("fault", by))


def late(run: RecordedRun, number: int) -> Cause:
    """A message that came too late: the line was made slower, or is so long."""
    _, _, at_ns, source, target, what, *_ = run.rows[number]
    return _slow(
        run, number, f"the message ({what}) from {source} to {target} is sent, and arrives at {seconds(at_ns)} only"
    )


def _slow(run: RecordedRun, number: int, sentence: str) -> Cause:
    _, sent_ns, _, source, target, *_ = run.rows[number]
    ends = (run.site_of(source), run.site_of(target))
    for kind in (SLOW, LOSE):
        found = run.faults.on_line(kind, ends, number)
        if found is not None:
            return Cause(CauseStep(sent_ns, sentence, number), ("fault", found))
    return Cause(CauseStep(sent_ns, f"{sentence}: the line is so long", number), None, BEGINNING)


def _not_there(run: RecordedRun, number: int, end_ns: int) -> Cause:
    """A message that was not there at an instant: lost before that, or late."""
    _, sent_ns, _, source, target, what, _, fate = run.rows[number]
    impostor = run.faults.on_node("impersonate", target, number)
    if fate != "lost" and impostor is not None and run.site_of(source) != run.site_of(target):
        sentence = f"the message ({what}) from {source} comes to the impostor in the place of {target}"
        return Cause(CauseStep(sent_ns, sentence, number), ("fault", impostor))
    if fate != "lost":
        return late(run, number)
    cause = lost(run, number)
    if cause.step.at_ns <= end_ns:  # what took it came before that
        return cause
    return _slow(
        run, number, f"the message ({what}) from {source} to {target} is sent, and is not there by {seconds(end_ns)}"
    )


def under_way(run: RecordedRun, message: Message) -> Cause:
    """A message that has not arrived up to now, whose answer somebody gave up."""
    source, target = message.source, message.target
    sentence = f"the message ({message.what}) from {source} to {target} is sent, and has not arrived up to now"
    step, ends = CauseStep(message.sent_ns, sentence, None), (run.site_of(source), run.site_of(target))
    for kind in (SLOW, LOSE, CUT):
        found = run.faults.on_line(kind, ends, len(run.rows))
        if found is not None:
            return Cause(step, ("fault", found))
    return Cause(step, None, BEGINNING)


def silence(run: RecordedRun, asked: tuple[int, int]) -> Cause:
    """Why the request of a row was not answered until an instant."""
    number, end_ns = asked
    _, _, at_ns, source, node, _, _, fate = run.rows[number]
    if fate == "lost" or at_ns > end_ns:
        return _not_there(run, number, end_ns)
    taken_ns = _taken_ns(run, number, end_ns)
    answer = _answer(run, number, taken_ns)
    if answer is not None:
        return _not_there(run, answer, end_ns)
    held = _held_up(run, number, end_ns)
    if held is not None:
        return held
    flying = run.under_way(node, "response", taken_ns)
    if flying is not None and flying.target == source:
        return under_way(run, flying)
    until = run.between(0, end_ns).stop
    kind = "forwarded_request" if node in run.nodes else "request"  # any other is a balancer
    onward = next(run.messages(range(number, len(run.rows)), source=node, what=kind, sent_ns=taken_ns), None)
    stopped = run.faults.last(("crash", "pause"), (node,), until)
    if stopped is not None and stopped > number:
        verb = "goes down" if run.rows[stopped][2] == "crash" else "stands still"
        sentence = f"{node} has the request of {source}, and {verb} before it answers"
        return Cause(CauseStep(run.at_ns(stopped), sentence, number), ("fault", stopped))
    if onward is not None:
        back = _answer(run, onward, _taken_ns(run, onward, end_ns))
        handed = None if back is None else _handed_on(run, back, source, end_ns)
        if handed is not None:
            return _not_there(run, handed, end_ns)
        sentence = f"{node} has sent the request of {source} on to {run.rows[onward][4]}, and waits"
        return Cause(CauseStep(end_ns, sentence, number), ("silence", (onward, end_ns)))
    sentence = f"{node} has the request of {source}, and has not answered it by {seconds(end_ns)}"
    failed = run.last("observed", until, node=node, what=CLOUD_CALL_FAILED)
    if failed is not None and failed > number:
        return Cause(CauseStep(end_ns, sentence, number), ("observed", failed))
    return Cause(CauseStep(at_ns, sentence, number), None, NOT_RECORDED)


def _handed_on(run: RecordedRun, answer: int, asker: str, end_ns: int) -> int | None:
    """The answer to an asker, which a node sent when it got that of the node that it asked; None where it got none."""
    _, _, at_ns, _, node, _, _, fate = run.rows[answer]
    if fate == "lost" or at_ns > end_ns:
        return None
    rows = range(answer, len(run.rows))
    return next(run.messages(rows, source=node, target=asker, what="response", sent_ns=at_ns), None)


def _held_up(run: RecordedRun, number: int, end_ns: int) -> Cause | None:
    """Why a request that arrived is worked on by nobody until an instant; None where it is."""
    _, _, at_ns, source, node, *_ = run.rows[number]
    still = run.faults.on_node("pause", node, number)
    if still is not None:
        sentence = f"the request of {source} waits at {node}, whose process stands still"
        return Cause(CauseStep(at_ns, sentence, number), ("fault", still))
    impostor = run.faults.on_node("impersonate", node, number)
    if impostor is not None and run.site_of(source) != run.site_of(node):
        sentence = f"the request of {source} comes to the impostor in the place of {node}, who answers nothing"
        return Cause(CauseStep(at_ns, sentence, number), ("fault", impostor))
    if run.waits(number, end_ns):
        sentence = f"the request of {source} waits at {node} until those before it are served"
        return Cause(CauseStep(at_ns, sentence, number), None, WORK)
    return None


def _taken_ns(run: RecordedRun, number: int, end_ns: int) -> int:
    """When the request of a row was worked on: as it arrived, or after those before it; not one that a pause held."""
    _, _, at_ns, _, node, *_ = run.rows[number]
    taken_ns = run.taken_ns(number)
    held = taken_ns is None or taken_ns > end_ns or run.faults.on_node("pause", node, number) is not None
    return at_ns if taken_ns is None or held else taken_ns


def _answer(run: RecordedRun, number: int, taken_ns: int) -> int | None:
    """The answer that was sent when a request was worked on; None when it was sent later, or never."""
    _, _, _, source, node, what, *_ = run.rows[number]
    kind = "forwarded_answer" if what == "forwarded_request" else "response"
    rows = range(number, len(run.rows))
    return next(run.messages(rows, source=node, target=source, what=kind, sent_ns=taken_ns), None)


RULES: dict[str, Callable[[RecordedRun, Any], Cause]] = {
    "fault": fault,
    "request": request,
    "lost": lost,
    "late": late,
    "under way": under_way,
    "silence": silence,
}
