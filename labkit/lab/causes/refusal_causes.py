"""Refusal causes: why a node refused a client's or an operator's request, or left it without an answer."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import shorten
from typing import Any

from labkit.lab.causes.cloud_causes import LOGIN_REFUSED
from labkit.lab.causes.explanation import NOT_RECORDED, OPERATOR, WORK, Cause, CauseStep, Effect
from labkit.lab.causes.message_causes import CLOUD_CALL_FAILED
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.records.ledger import FailedAsk, Write
from labkit.lab.wire.addresses import CLOUD_HOST
from labkit.lab.wire.reports import UNKNOWN

MAX_REASON = 160
SAYS_WHY = ("upstream_refused", "connection_refused", LOGIN_REFUSED, CLOUD_CALL_FAILED)
"""What a node observes when it refuses a request for that reason."""

UNANSWERED = "no answer in time"
BEHIND, SECONDARY, FAULTY, MISMATCH = 412, (400, 472), 500, 400
CHECK_AND_SET = "check-and-set parameter did not match"
NOT_SERVED = (307, 429, 473, 503)


def refusal(run: RecordedRun, asked: tuple[str, int, int]) -> Cause:
    """Why a node refused somebody with a status, in the answer of a row."""
    asker, status, answer = asked
    _, sent_ns, _, node, *_ = run.rows[answer]
    if node in run.balancers:
        return _refused_in_front(run, asked)
    cluster = run.nodes.get(node, "")
    step = CauseStep(sent_ns, f"{node} answers {asker} with {status}", answer)
    changed = run.last("mode", answer, cluster=cluster)
    if status == BEHIND:
        return Cause(step, ("behind", (asker, cluster, answer)))
    if status in SECONDARY and changed is not None and run.rows[changed][3] == "secondary":
        return Cause(step, ("mode", changed))
    if status in NOT_SERVED:
        return Cause(step, ("not serving", (node, answer)))
    damaged = _damage_behind(run, cluster, answer) if status == FAULTY else None
    if damaged is not None:
        return Cause(step, ("observed", damaged))
    return Cause(step, None, WORK if asker in run.clients else OPERATOR)


def _refused_in_front(run: RecordedRun, asked: tuple[str, int, int]) -> Cause:
    """Why a load balancer refused somebody: so did the node that it asked, or none behind it was in service."""
    asker, status, answer = asked
    _, sent_ns, _, front, *_ = run.rows[answer]
    words = f"{front} answers {asker} with {status}"
    handed = next(run.messages(run.between(sent_ns, sent_ns), target=front, what="response", fate="delivered"), None)
    if handed is not None:
        return Cause(CauseStep(sent_ns, words, answer), ("refusal", (front, status, handed)))
    first = run.nodes_of(run.balancers[front].use[0])[0]
    step = CauseStep(sent_ns, f"{words}: no node behind it is in service", answer)
    return Cause(step, ("not serving", (first, answer)))


def overtaken(run: RecordedRun, asked: tuple[str, str, int]) -> Cause:
    """Why a write by check-and-set was refused, in the answer of a row: the write that came first."""
    asker, path, answer = asked
    found = _written_before(run, path, answer)
    if found is None:
        _, sent_ns, _, node, *_ = run.rows[answer]
        words = f"{node} answers {asker} with {MISMATCH}: another version is current"
        return Cause(CauseStep(sent_ns, words, answer), None, WORK if asker in run.clients else OPERATOR)
    write, made = found
    who, number = "an operator" if write.client in run.operators else write.client, write.committed.version
    did = f"makes version {number} of {path}" if number else f"deletes {path} with all its versions"
    return Cause(CauseStep(_made_ns(run, made), f"{who} {did} first", made), ("request", made))


def _written_before(run: RecordedRun, path: str, answer: int) -> tuple[Write, int] | None:
    """Return the write that made the version which a node had when it refused another, and the row of its answer.

    None where nobody was answered for that version: then it is not known whose it is.
    """
    _, sent_ns, _, node, *_ = run.rows[answer]
    cluster, histories = run.nodes[node], run.ledger.histories
    versions = [made.commit for made in run.ledger.read_log.versions if made.path == path]
    known = {write.committed.commit: write for write in run.ledger.writes if write.committed.commit in set(versions)}
    for commit in reversed(versions):
        write = known.get(commit)
        if write is None:
            return None
        made = _answer_to(run, write)
        itself = write.committed
        held = itself.cluster == cluster or histories.holds(cluster, commit, itself.history)
        if made is not None and held and _made_ns(run, made) <= sent_ns and made != answer:
            return write, made
    return None


def _answer_to(run: RecordedRun, write: Write) -> int | None:
    """Return the row of the message by which a write was acknowledged."""
    rows = run.between(write.at_ns, write.at_ns)
    return next(run.messages(rows, target=write.client, what="response", fate="delivered"), None)


def _made_ns(run: RecordedRun, answer: int) -> int:
    """When a node answered a write: who forwarded it answers later."""
    before = run.sent_for(answer)
    forwarded = before is not None and run.rows[before][3] in run.nodes
    at_ns: int = run.rows[before if before is not None and forwarded else answer][1]
    return at_ns


def behind(run: RecordedRun, asked: tuple[str, str, int]) -> Cause:
    """Why a cluster has not reached the index that somebody has seen: what it was promoted without."""
    asker, cluster, answer = asked
    at_ns: int = run.rows[answer][1]
    promoted = [found for found in run.ledger.promotions if found.survivor == cluster and found.at_ns <= at_ns]
    sentence = f"{asker} has seen a later state than {cluster} is in"
    if not promoted:
        return Cause(CauseStep(at_ns, sentence, None), None, NOT_RECORDED)
    lost = [write for write in run.ledger.lost(promoted[-1]) if write.client == asker and write.at_ns <= at_ns]
    if not lost:
        return Cause(CauseStep(at_ns, sentence, None), ("promotion", promoted[-1]))
    return Cause(
        CauseStep(at_ns, f"{sentence}: its own write, which {cluster} never got", None), ("lost write", lost[-1])
    )


def failed_ask(run: RecordedRun, asked: FailedAsk) -> Cause:
    """Why an operator's request was refused, or stayed without an answer."""
    at_ns, asker, path, how, status, reason, node, _method = asked
    cluster, reason = run.operators[asker], shorten(reason.split("; ")[0], MAX_REASON, placeholder=" …")
    name = f"an operator's request for {path} at {cluster}"
    if status:
        rows = run.between(at_ns, at_ns)
        answer = next(run.messages(rows, source=node, target=asker), None)
        step = CauseStep(at_ns, f"{name} is refused with {status}: {reason}", answer)
        if answer is None:
            return Cause(step, None, OPERATOR)
        return Cause(step, *_why_refused(run, asked, answer))
    step = CauseStep(at_ns, f"{name} is {how}: {reason}", None)
    sent = [row for row in run.messages(range(len(run.rows)), source=asker, target=node) if run.rows[row][1] <= at_ns]
    if node and sent:
        return Cause(step, ("silence", (sent[-1], at_ns)))
    return Cause(step, ("not serving", (run.nodes_of(cluster)[0], run.between(at_ns, at_ns).stop - 1)))


def _why_refused(run: RecordedRun, asked: FailedAsk, answer: int) -> tuple[Effect | None, str]:
    """Return what led to a refusal: what the node observed then, its state, or a call of its own that failed."""
    sent_ns = run.rows[answer][1]
    given_up = run.last("observed", answer, node=asked.node, what="forwarding lost")
    if asked.outcome == UNKNOWN and given_up is not None:
        return ("observed", given_up), ""
    said = run.last("observed", answer, node=asked.node, what=SAYS_WHY)
    said = said if said is not None and run.at_ns(said) == sent_ns else None
    if said is not None:
        return ("observed", said), ""
    fetched = _last_fetch(run, asked, answer)
    if fetched is not None and run.rows[fetched][7] == "lost":
        return ("lost", fetched), ""
    if fetched is not None and UNANSWERED in asked.reason:
        return ("silence", (fetched, sent_ns)), ""
    damaged = _damage_behind(run, run.operators[asked.asker], answer, asked.reason) if asked.status == FAULTY else None
    if damaged is not None:
        return ("observed", damaged), ""
    if CHECK_AND_SET in asked.reason:
        return ("overtaken", (asked.asker, asked.path, answer)), ""
    if asked.status in (BEHIND, *NOT_SERVED, *SECONDARY):
        return ("refusal", (asked.asker, asked.status, answer)), ""
    return ("request", answer), ""


def _last_fetch(run: RecordedRun, asked: FailedAsk, answer: int) -> int | None:
    """Return the last call that a node made for a request, one that was lost before others; None where it made none."""
    patient = UNANSWERED in asked.reason  # requests may have come since then
    begun_ns, answered_ns = 0 if patient else _begun_ns(run, asked, answer), run.rows[answer][1]
    rows = run.messages(range(len(run.rows)), source=asked.node)  # one that is late stands behind the answer
    made = [row for row in rows if _is_fetch(run, row) and begun_ns <= run.rows[row][1] < answered_ns]
    return max(made, key=lambda row: (run.rows[row][7] == "lost" and not patient, run.rows[row][1]), default=None)


def _is_fetch(run: RecordedRun, row: int) -> bool:
    """Whether a message is a request of a node to another cluster or the cloud, made for a request of its own."""
    return run.rows[row][5] in ("request", "bootstrap_request") and run.rows[row][4] in (*run.nodes, CLOUD_HOST)


def _begun_ns(run: RecordedRun, asked: FailedAsk, answer: int) -> int:
    """When the request that was refused arrived at the node."""
    came = list(run.messages(range(answer), source=asked.asker, target=asked.node, fate="delivered"))
    return run.at_ns(came[-1]) if came else run.at_ns(answer)


def _damage_behind(run: RecordedRun, cluster: str, answer: int, reason: str = "") -> int | None:
    """Return the last damage to a store before an answer that has to do with it; None where there was none.

    A refusal that an operator got names the key; the damage may have been another cluster's, whose value was fetched.
    """
    nodes, elsewhere = run.nodes_of(cluster), None
    for before in run.facts_before(answer):
        row = run.rows[before]
        if row[0] != "observed" or row[3] != "corrupted":
            continue
        said = dict(row[4])
        if said["layer"] == "storage" and (not reason or said["key"] in reason):
            if row[2] in nodes:
                return before
            elsewhere = before if elsewhere is None and reason else elsewhere
    return elsewhere


RULES: dict[str, Callable[[RecordedRun, Any], Cause]] = {
    "refusal": refusal,
    "overtaken": overtaken,
    "behind": behind,
    "failed ask": failed_ask,
}
