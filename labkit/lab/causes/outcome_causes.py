"""Outcome causes: how an operation ended, why a write is lost, what a promotion followed, why a rule broke.

1. An attempt that ends by its time was sent exactly that long before; one that ends by an answer ends with it.
2. A lost write was committed when its answer was sent, and pushed at that instant: what became of that push is why.
3. The fault of a promotion is the ledger's (decision D14).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.lab.causes.condition_causes import broken_condition, connection
from labkit.lab.causes.explanation import BEGINNING, NOT_RECORDED, OPERATOR, WORK, WRITTEN, Cause, CauseStep, Effect
from labkit.lab.causes.fault_history import MAKING, NO_CHANGE
from labkit.lab.causes.message_causes import seconds, who
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.causes.refusal_causes import MISMATCH
from labkit.lab.causes.replication_causes import by_trigger
from labkit.lab.fault_table import CUT, LOSE
from labkit.lab.invariants import NO_LOSS, ONE_PRIMARY, ONLY_LEADER, ROOTS, WITHIN_LAG
from labkit.lab.invariants.rules import CATCHING_UP
from labkit.lab.plan.workload_operations import WITHOUT_BODY
from labkit.lab.records.ledger import Write
from labkit.lab.records.loss_and_outage import Promotion
from labkit.lab.wire.addresses import CLOUD_HOST
from labkit.lab.wire.messages import HEADER_BYTES
from labkit.lab.wire.reports import UNKNOWN
from labkit.service.durations import in_seconds

CUTTING = (*MAKING[CUT], *MAKING[LOSE])
"""Faults that take a cluster's way to others, and leave its service."""

ENDING = ("fault", "mode", "observed")
"""Kinds of rows that may end a cluster's service, the likeliest first."""

MAX_LOOKED_AT = 200  # lost writes that one answer looks at
HELD_BACK = {"impersonate": "whose place an impostor has", "pause": "which stands still"}
"""{fault by which a node takes in nothing that reaches it: what is said of the node}."""


def outcome(run: RecordedRun, number: int) -> Cause:
    """How a client's operation ended."""
    event = run.event(number)
    work = f"{event.client}: {event.operation} {event.path}, begun at {seconds(event.started_ns)},"
    answer = run.trigger(number, (event.client,))
    if event.outcome == "answered":
        step = CauseStep(event.at_ns, f"{work} is answered by {event.cluster}", number)
        return Cause(step, None if answer is None else ("request", answer), WORK)
    if not event.attempts:
        step = CauseStep(event.at_ns, f"{work} is refused: its machine got no token of the cloud", number)
        return Cause(step, *_without_token(run, number))
    if event.outcome != UNKNOWN:
        step = CauseStep(event.at_ns, f"{work} is refused with {event.status}", number)
        if answer is None:
            return Cause(step, None, NOT_RECORDED)
        if _is_by_version(run, event, answer):
            return Cause(step, ("overtaken", (event.client, event.path.removeprefix("/v1/"), answer)))
        return Cause(step, ("refusal", (event.client, event.status, answer)))
    tries = "" if event.attempts == 1 else f", {event.attempts} attempts"
    step = CauseStep(event.at_ns, f"{work} is in doubt: it may have happened or not{tries}", number)
    return Cause(step, *_silent_attempt(run, number, answer))


def _is_by_version(run: RecordedRun, event: Any, answer: int) -> bool:
    """Whether a refused operation named the version that it replaces, and it is for this that no version was made."""
    if event.status != MISMATCH or run.rows[answer][3] not in run.nodes:
        return False
    changed = run.last("mode", answer, cluster=run.nodes[run.rows[answer][3]])
    by_version = any(work.cas and work.operation == event.operation for work in run.clients[event.client].workload)
    return by_version and (changed is None or run.rows[changed][3] != "secondary")


def _without_token(run: RecordedRun, number: int) -> tuple[Effect | None, str]:
    """Return what was done to the machines' endpoint of the cloud before a login."""
    done = run.last("observed", number, node=CLOUD_HOST, what="cloud outage")
    return (None, NOT_RECORDED) if done is None else (("observed", done), "")


def _silent_attempt(run: RecordedRun, number: int, answer: int | None) -> tuple[Effect | None, str]:
    """Return what to explain of an operation that an attempt without an answer left unknown."""
    event, timeout_ns = run.event(number), run.clients[run.rows[number][3]].timeout_ns
    sent_ns = event.started_ns if answer is not None else event.at_ns - timeout_ns
    if answer is not None and event.attempts == 1:
        node = run.rows[answer][3]
        lost = run.last("observed", number, node=node, what="forwarding lost")
        return (None, NOT_RECORDED) if lost is None else (("observed", lost), "")
    asked = _request_of(run, event, sent_ns)
    if asked is not None:
        return ("silence", (asked, sent_ns + timeout_ns)), ""
    flying = run.under_way(event.client, "request", sent_ns)
    return (None, NOT_RECORDED) if flying is None else (("under way", flying), "")


def _request_of(run: RecordedRun, event: Any, sent_ns: int) -> int | None:
    """Return the request that a client's operation sent at an instant; None while it is on its way."""
    rows = range(run.between(sent_ns, sent_ns).start, len(run.rows))
    for row in run.messages(rows, source=event.client, what="request", sent_ns=sent_ns):
        if event.operation in WITHOUT_BODY or run.rows[row][6] > HEADER_BYTES:  # a check of health has no body
            return row
    return None


def promotion(run: RecordedRun, taken: Promotion) -> Cause:
    """A secondary was promoted: what ended the service of the primary before it."""
    rows = run.between(taken.at_ns, taken.at_ns)
    row = next((row for row in rows if run.rows[row][:4] == ("mode", taken.at_ns, taken.survivor, "primary")), None)
    by = run.trigger(row, run.nodes_of(taken.survivor)) if row is not None else None
    how = "" if by is None else who(run, by)
    step = CauseStep(taken.at_ns, f"{taken.survivor} is promoted, as an operator asked{how}", row)
    if taken.fault_ns == taken.at_ns:
        return Cause(step, None if by is None else ("request", by), OPERATOR)
    return Cause(step, ("outage", taken))


def outage(run: RecordedRun, taken: Promotion) -> Cause:
    """What ended an old primary's service, or its shipping to the survivor."""
    old = taken.old_primary or taken.survivor
    rows = [row for row in run.between(taken.fault_ns, taken.fault_ns) if run.rows[row][0] in ENDING]
    for cluster in (old, taken.survivor):
        names = {cluster, *run.nodes_of(cluster), run.queries.site_of(cluster)}
        for kind in ENDING:
            for row in rows:
                target = str(run.rows[row][3 if kind == "fault" else 2])
                if run.rows[row][0] == kind and names & set(target.replace("<> ", "").replace("> ", "").split(" ")):
                    return Cause(_ended(taken, old, run.rows[row]), (kind, row))
    elsewhere = next((row for row in rows if run.rows[row][0] == "fault"), None)  # a site that the way leads through
    if elsewhere is None:
        said = f"{old} serves no more, or ships nothing to {taken.survivor} any more"
        return Cause(CauseStep(taken.fault_ns, said, None), None, NOT_RECORDED)
    return Cause(_ended(taken, old, run.rows[elsewhere]), ("fault", elsewhere))


def _ended(taken: Promotion, old: str, row: Any) -> CauseStep:
    """What a fault or a change of role took from an old primary: its service, or its way to the survivor."""
    if row[0] == "fault" and row[2] in CUTTING:
        return CauseStep(taken.fault_ns, f"nothing of {old} reaches {taken.survivor} any more", None)
    return CauseStep(taken.fault_ns, f"{old} serves no more", None)


def recovery(run: RecordedRun, taken: Promotion) -> Cause:
    """How long it took from the fault to the first write that the survivor acknowledged."""
    first = run.ledger.first_after(taken)
    until_ns = taken.at_ns - taken.fault_ns
    if first is None:
        after = f"{in_seconds(until_ns)} s after the fault" if until_ns else "which followed no fault"
        sentence = f"{taken.survivor} has acknowledged no write since its promotion, {after}"
        return Cause(CauseStep(taken.at_ns, sentence, None), ("promotion", taken))
    whole, rest = in_seconds(first.at_ns - taken.fault_ns), in_seconds(first.at_ns - taken.at_ns)
    sentence = (
        f"the first write after the promotion, of {first.client}, is acknowledged: {whole} s after the fault,"
        f" of which {in_seconds(until_ns)} s until {taken.survivor} was promoted and {rest} s from then on"
    )
    rows = run.between(first.at_ns, first.at_ns)
    row = next((row for row in rows if run.rows[row][0] == "outcome"), None)
    return Cause(CauseStep(first.at_ns, sentence, row), ("promotion", taken))


def lost_write(run: RecordedRun, write: Write) -> Cause:
    """Why an acknowledged write is lost: what became of the entry that held it."""
    taken = next(found for found in run.ledger.promotions if found.lost(write))
    old, survivor, at = write.committed.cluster, taken.survivor, seconds(write.at_ns)
    answers = run.messages(run.between(write.at_ns, write.at_ns), target=write.client, fate="delivered")
    answer = next((row for row in answers if run.nodes.get(run.rows[row][3]) == old), None)
    name = f"the write of {write.client} to {write.path}, acknowledged by {old} at {at}"
    if write.committed.commit >= taken.next_commit:
        sentence = f"{name}, is lost: {survivor} was promoted before that"
        return Cause(CauseStep(max(write.at_ns, taken.at_ns), sentence, answer), ("promotion", taken))
    pushed = _push_of(run, answer, survivor)
    sentence = f"{survivor} is promoted without {name}, which is lost"
    if pushed is not None and run.rows[pushed][7] == "lost":
        return Cause(CauseStep(taken.at_ns, sentence, answer), ("lost", pushed))
    if pushed is not None:
        _, sent_ns, arrived_ns, source, target, *_ = run.rows[pushed]
        sentence += (
            f": what holds it is sent by {source} at {seconds(sent_ns)} and reaches {target} at {seconds(arrived_ns)}"
        )
        held = _held_back(run, pushed) if arrived_ns <= taken.at_ns else None
        if held is not None:
            sentence += f", {HELD_BACK[run.rows[held][2]]}"
        return Cause(
            CauseStep(taken.at_ns, sentence, pushed), ("promotion", taken) if held is None else ("fault", held)
        )
    gone = run.last("observed", len(run.rows), node=run.nodes_of(survivor), what="replication_disconnected")
    step = CauseStep(taken.at_ns, sentence, answer)
    return Cause(step, ("promotion", taken) if gone is None or run.at_ns(gone) > taken.at_ns else ("observed", gone))


def losses(run: RecordedRun, taken: Promotion) -> Cause:
    """All writes that a promotion lost, grouped by what became of them; the chain goes on from the last that was sent.

    Of very many the first and the last are looked at.
    """
    lost = run.ledger.lost(taken)
    looked_at = lost if len(lost) <= MAX_LOOKED_AT else [*lost[: MAX_LOOKED_AT // 2], *lost[-MAX_LOOKED_AT // 2 :]]
    groups: dict[str, list[Write]] = {}
    for write in looked_at:
        groups.setdefault(_became(run, taken, write), []).append(write)
    said = "; ".join(f"{len(its)} {became}, {_when(its)}" for became, its in groups.items())
    among = f"; of {len(looked_at)} of them: " if len(looked_at) < len(lost) else ": "
    point = f"{len(lost)} acknowledged writes are lost by the promotion of {taken.survivor}{among}{said}"
    on_the_way = [write for write in looked_at if write.committed.commit < taken.next_commit]
    at_ns = max(taken.at_ns, looked_at[-1].at_ns)
    return Cause(CauseStep(at_ns, point, None), ("lost write", (on_the_way or looked_at)[-1]))


def _became(run: RecordedRun, taken: Promotion, write: Write) -> str:
    """Say what became of the entry that held a lost write."""
    if write.committed.commit >= taken.next_commit:
        return f"acknowledged by {write.committed.cluster} after it"
    effect = lost_write(run, write).effect
    if effect is None or effect[0] == "promotion":
        return "on the way then"
    if effect[0] == "fault":
        return "held back where it arrived"
    return "lost on the way" if effect[0] == "lost" else "not sent, as there was no connection"


def _when(writes: list[Write]) -> str:
    first, last = seconds(writes[0].at_ns), seconds(writes[-1].at_ns)
    return f"at {first}" if first == last else f"from {first} to {last}"


def failed_step(run: RecordedRun, number: int) -> Cause:
    """A step of a scenario: what it met when it failed, else whoever wrote it."""
    _, at_ns, its_number, text, status = run.rows[number]
    step = CauseStep(at_ns, f"step {its_number}, {text}: {status}", number)
    begun = run.last("step", number, number=its_number, status="begins")
    since_ns = run.at_ns(begun) if begun is not None else at_ns
    met = [ask for ask in run.ledger.failed_asks if since_ns <= ask.at_ns <= at_ns]
    if status != "failed" or not met:
        return Cause(step, None, WRITTEN)
    return Cause(step, ("failed ask", met[-1]))


def note(run: RecordedRun, number: int) -> Cause:
    """A remark for the reader: of the runbook that was under way."""
    _, at_ns, text = run.rows[number]
    return Cause(CauseStep(at_ns, f"an operator notes: {text}{who(run, number)}", number), None, OPERATOR)


def _push_of(run: RecordedRun, answer: int | None, survivor: str) -> int | None:
    """Return the push of what a request committed whose answer this is."""
    if answer is None:
        return None
    _, sent_ns, _, node, *_ = run.rows[answer]
    rows = range(run.between(sent_ns, sent_ns).start, len(run.rows))
    sent = run.messages(rows, source=node, what="stream", sent_ns=sent_ns)
    return next((row for row in sent if run.nodes.get(run.rows[row][4]) == survivor), None)


def _held_back(run: RecordedRun, pushed: int) -> int | None:
    """Return the fault by which a node takes in nothing that reaches it."""
    node = run.rows[pushed][4]
    found = (run.faults.on_node(verb, node, pushed) for verb in HELD_BACK)
    return next((number for number in found if number is not None), None)


def violation(run: RecordedRun, number: int) -> Cause:
    """A rule was broken."""
    _, at_ns, name, _, detail = run.rows[number]
    step = CauseStep(at_ns, f"the rule {name!r} is broken: {detail}", number)
    if name in BROKEN:
        return BROKEN[name](run, number, step)
    return broken_condition(run, number, step) or _any_rule(run, number, step)


def _any_rule(run: RecordedRun, number: int, step: CauseStep) -> Cause:
    hosts = (*run.nodes, *run.clients, *run.operators)
    if run.trigger(number, hosts) is not None:
        return by_trigger(run, number, step, hosts)
    found = _last_change(run, number, ("fault", "leader", "mode"))
    return Cause(step, None, BEGINNING) if found is None else Cause(step, (run.rows[found][0], found))


def _last_change(run: RecordedRun, number: int, kinds: tuple[str, ...]) -> int | None:
    """Return the last row of these kinds; a fault that changed nothing is none."""
    for before in run.facts_before(number):
        kind, *_, detail = run.rows[before]
        if kind in kinds and not (kind == "fault" and detail.endswith(NO_CHANGE)):
            return before
    return None


def _stands_still(run: RecordedRun, number: int, step: CauseStep) -> Cause:
    """A secondary does not catch up: what became of its connection last."""
    cluster = run.rows[number][4].partition(" ")[0]
    effect = connection(run, number, cluster)
    return _any_rule(run, number, step) if effect is None else Cause(step, effect)


def _two_primaries(run: RecordedRun, number: int, step: CauseStep) -> Cause:
    """Two clusters accept writes: the later one was promoted beside the other, or the other came back."""
    detail, at_ns = run.rows[number][4], run.at_ns(number)
    names = tuple(detail.split(" accept ")[0].split(" and "))
    apart = run.last("mode", number, cluster=detail.split(" ")[0], mode="disabled")
    if " is disabled and took " in detail and apart is not None:
        return Cause(step, ("mode", apart))
    rows = range(run.between(at_ns, at_ns).stop)
    modes = [row for row in rows if run.rows[row][0] == "mode" and run.rows[row][2] in names]
    later = max((row for row in modes if run.rows[row][3] == "primary"), default=None)
    if later is None:
        return _any_rule(run, number, step)
    if run.at_ns(later) == at_ns:
        others = [name for name in names if name != run.rows[later][2]]
        sentence = f"{step.sentence}: {run.rows[later][2]} becomes primary while {' and '.join(others)} serves as one"
        return Cause(step._replace(sentence=sentence), ("mode", later))
    return Cause(step, ("came back", (number, later)))


def came_back(run: RecordedRun, asked: tuple[int, int]) -> Cause:
    """A primary that was out of service when another was promoted serves again."""
    number, later = asked
    cluster = run.rows[later][2]
    found = _last_change(run, number, ("fault", "leader", "observed"))
    words = "the other one is in service again"
    at_ns = run.at_ns(number) if found is None else run.at_ns(found)
    step = CauseStep(at_ns, f"{words}, still a primary: {cluster} was promoted while it was out of service", found)
    return Cause(step, ("mode", later))


def _planned(run: RecordedRun, number: int, step: CauseStep) -> Cause:
    taken = next((found for found in run.ledger.promotions if found.at_ns == step.at_ns), None)
    if taken is None:
        return Cause(step, None, NOT_RECORDED)
    lost = [write for write in run.ledger.lost(taken) if write.at_ns <= step.at_ns]
    return Cause(step, ("lost write", lost[-1]) if lost else ("promotion", taken))


def _overtaken(run: RecordedRun, number: int, step: CauseStep) -> Cause:
    cluster = step.sentence.split(" in ")[-1].split(" under ")[0]
    led = run.last("leader", number, cluster=cluster)
    return Cause(step, None, NOT_RECORDED) if led is None else Cause(step, ("leader", led))


def _damage(run: RecordedRun, number: int, step: CauseStep) -> Cause:
    found = run.last("fault", number, verb="corrupt")
    overtaken = run.last("invariant", number, name=ONLY_LEADER)
    if found is None and overtaken is not None:  # what it wrote is in one store, and in no journal
        return Cause(step, ("invariant", overtaken))
    return _any_rule(run, number, step) if found is None else Cause(step, ("fault", found))


BROKEN: dict[str, Callable[[RecordedRun, int, CauseStep], Cause]] = {
    ONE_PRIMARY: _two_primaries,
    NO_LOSS: _planned,
    WITHIN_LAG: _planned,
    ONLY_LEADER: _overtaken,
    ROOTS: _damage,
    CATCHING_UP: _stands_still,
}

RULES: dict[str, Callable[[RecordedRun, Any], Cause]] = {
    "outcome": outcome,
    "promotion": promotion,
    "outage": outage,
    "recovery": recovery,
    "lost write": lost_write,
    "losses": losses,
    "step": failed_step,
    "note": note,
    "invariant": violation,
    "came back": came_back,
}
