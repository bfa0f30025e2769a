"""Replication causes: why a secondary lost its primary, compares, fetches or streams, and what its nodes observed.

1. A state change follows the answer of the same item; that answer follows what made the secondary ask.
2. A secondary asks by guard when it connects, when entries or questions were lost, and when contents or roots differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.lab.causes.explanation import BEGINNING, NOT_RECORDED, TIME, Cause, CauseStep, Effect
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.fault_table import FAULTS, SLOW
from labkit.service.durations import SECOND_NS

LOST_KINDS = ("entries_lost", "entries_unknown", "question_lost", "stream_gap", "stream_forgotten")
DAMAGE_KINDS = ("contents_differ", "roots_differ")
MADE_IT_ASK = (*LOST_KINDS, *DAMAGE_KINDS, "generation_gone", "replication_disconnected", "primary_announced")
BACK = tuple([fault.name for fault in FAULTS if fault.reconnects])
WINDOW_NS = 16 * SECOND_NS


def mode(run: RecordedRun, number: int) -> Cause:
    """A cluster's replication mode or state changed."""
    _, at_ns, cluster, its_mode, state = run.rows[number]
    because, before = "", run.last("mode", number, cluster=cluster)
    moved = run.last("observed", number, node=run.nodes_of(cluster), what="sync_state")
    if moved is not None and run.at_ns(moved) == at_ns:
        fields = dict(run.rows[moved][4])
        because = fields["because"] if fields["after"] == state else ""
    if its_mode == "secondary" and because in MOVES:
        words, follow = MOVES[because]
        step = CauseStep(at_ns, words.format(cluster=cluster), number)
        if follow == "guard":
            return Cause(step, ("observed", run.last("observed", number, what="missing_guard")))
        return Cause(step, ("mode", before) if follow == "mode" else asks(run, number, cluster))
    step = CauseStep(at_ns, f"{cluster} is {its_mode}, {state}".removesuffix(", "), number)
    return by_trigger(run, number, step, run.nodes_of(cluster))


MOVES = {
    "guard missing": ("{cluster} begins to compare its Merkle tree with its primary's (merkle-diff)", "guard"),
    "roots differ": ("{cluster} begins to compare its Merkle tree with its primary's (merkle-diff)", "asks"),
    "conflicts": ("{cluster} fetches what differs (merkle-sync)", "mode"),
    "keys applied": ("{cluster} holds what it fetched, and follows the stream (stream-wals)", "mode"),
    "empty diff": ("{cluster} finds no key that differs, and follows the stream (stream-wals)", "mode"),
    "guard found": ("{cluster} goes on with the stream (stream-wals): its primary knows the state it is in", "asks"),
}


def asks(run: RecordedRun, number: int, cluster: str) -> Effect | None:
    """Return what made a secondary ask its primary by guard before a row: the last such thing."""
    nodes = run.nodes_of(cluster)
    for before in run.facts_before(number):
        row = run.rows[before]
        if row[0] == "observed" and row[2] in nodes and row[3] in MADE_IT_ASK:
            if row[3] != "replication_disconnected" or dict(row[4])["failures"] == 1:
                return "observed", before
        elif row[:1] + row[2:3] == ("leader", cluster) or row[:1] + row[2:] == ("mode", cluster, "secondary", "idle"):
            return row[0], before
    return None


def by_trigger(run: RecordedRun, number: int, step: CauseStep, hosts: tuple[str, ...]) -> Cause:
    """A row that follows a request, a fault, or a change of the leader at the same instant."""
    found = run.trigger(number, hosts)
    if found is not None:
        return Cause(step, ("fault" if run.rows[found][0] == "fault" else "request", found))
    led = run.last("leader", number, node=hosts)
    if led is not None and run.at_ns(led) == run.at_ns(number) > 0:
        return Cause(step, ("leader", led))
    return Cause(step, None, BEGINNING if run.at_ns(number) == 0 else TIME)


def by_its_item(run: RecordedRun, number: int) -> Cause:
    """What a node observed of a request, a fault or a timer while it worked on that."""
    _, at_ns, node, what, fields = run.rows[number]
    said = ", ".join(f"{name} {value}" for name, value in fields)
    step = CauseStep(at_ns, f"{node}: {_said(what)}{f' ({said})' if said else ''}", number)
    return by_trigger(run, number, step, (node,))


def _sealed(run: RecordedRun, number: int) -> Cause:
    _, at_ns, node, _, fields = run.rows[number]
    joined = run.last("mode", number, cluster=run.nodes[node], mode="secondary", state="idle")
    step = CauseStep(at_ns, f"{node} is sealed: {dict(fields).get('reason', 'it was asked to')}", number)
    if joined is not None and "joined" in step.sentence:
        return Cause(step, ("mode", joined))
    return by_trigger(run, number, step, (node,))


def _stepped_down(run: RecordedRun, number: int) -> Cause:
    _, at_ns, node, _, fields = run.rows[number]
    reason, led = dict(fields)["reason"], run.last("leader", number, cluster=run.nodes[node])
    step = CauseStep(at_ns, f"{node} ceases to lead: {reason}", number)
    if led is not None and run.rows[led][3] != node:
        return Cause(step, ("leader", led))
    return by_trigger(run, number, step, (node,))


def _disconnected(run: RecordedRun, number: int) -> Cause:
    """A secondary lost its primary: heartbeats were not answered, or the primary refused it."""
    _, at_ns, node, _, fields = run.rows[number]
    reason, failures = dict(fields)["reason"], dict(fields)["failures"]
    again = f", for the {failures}th time in a row" if failures > 3 else "" if failures == 1 else ", once more"
    step = CauseStep(at_ns, f"{node} has no connection to its primary{again}: {reason}", number)
    refusal = run.trigger(number, (node,))
    if refusal is not None and run.rows[refusal][0] == "message":
        return Cause(step, _refused_by(run, refusal, reason))
    rows = [
        row for row in run.messages(run.between(at_ns - WINDOW_NS, at_ns)) if row < number and _is_of(run, row, node)
    ]
    asked = [row for row in rows if run.rows[row][3] == node]
    peer = run.rows[asked[-1]][4] if asked else ""
    for verb, host in (("pause", peer), ("impersonate", peer), ("impersonate", node)):  # its answers come to that one
        found = run.faults.on_node(verb, host, number)
        if found is not None:
            return Cause(step, ("fault", found))
    lost = [row for row in rows if run.rows[row][7] == "lost"]
    if lost:
        return Cause(step, ("lost", lost[-1]))
    ways = ((run.site_of(node), run.site_of(peer)), (run.site_of(peer), run.site_of(node))) if peer else ()
    slow = [found for way in ways if (found := run.faults.on_line(SLOW, way, number)) is not None]
    return Cause(step, ("fault", min(slow))) if slow else Cause(step, None, NOT_RECORDED)


def _is_of(run: RecordedRun, row: int, node: str) -> bool:
    """Whether a message is between a node and one of another cluster."""
    source, target = run.rows[row][3:5]
    clusters = {run.nodes.get(source), run.nodes.get(target)}
    return node in (source, target) and None not in clusters and len(clusters) == 2


def _refused_by(run: RecordedRun, refusal: int, reason: str) -> Effect | None:
    """Return why the node that refused a secondary did so."""
    _, sent_ns, _, node, *_ = run.rows[refusal]
    cluster, before = run.nodes.get(node, ""), run.between(sent_ns, sent_ns).stop
    if "asked to" in reason:
        return "request", refusal
    if reason == "sealed":
        return "not serving", (node, refusal)
    if reason.startswith(
        ("not a primary but", "the challenge was not made by this authority")
    ):  # each promotion has one
        found = run.last("mode", before, cluster=cluster)
        return None if found is None else ("mode", found)
    if "revoked" in reason:
        return _revoked(run, cluster, refusal)
    if reason.startswith("the challenge is over"):  # a clock was set while it was on its way
        found = run.faults.last(("skew", "correct"), (node, run.rows[refusal][4]), refusal)
        return None if found is None else ("fault", found)
    if reason.startswith("no connection of that id"):  # whoever leads now began without connections
        upstream = cluster or run.queries.progress.upstream(run.nodes.get(run.rows[refusal][4], ""), run.at_ns(refusal))
        led, changed = run.last("leader", before, cluster=upstream), run.last("mode", before, cluster=upstream)
        if led is None:
            return None
        return ("mode", changed) if changed is not None and changed > led else ("leader", led)
    found = run.last("leader", before, cluster=cluster)
    if found is not None and run.rows[found][3] != node:
        return "leader", found
    return ("not serving", (node, refusal)) if node in run.nodes else None


def _revoked(run: RecordedRun, cluster: str, before: int) -> Effect | None:
    """Return what took the activations of a cluster's secondaries: a revocation, or the end of its replication set."""
    revoked = run.last("observed", before, node=run.nodes_of(cluster), what="secondary_revoked")
    ended = run.last("mode", before, cluster=cluster, mode="disabled")
    if revoked is None and ended is None:
        return None
    return ("mode", ended) if ended is not None and (revoked or -1) < ended else ("observed", revoked)


def _connected(run: RecordedRun, number: int) -> Cause:
    _, at_ns, node, _, fields = run.rows[number]
    step = CauseStep(at_ns, f"{node} is connected to {dict(fields)['address']}", number)
    effect = asks(run, number, run.nodes[node])
    if effect is None or effect[0] != "observed":
        return Cause(step, effect, "" if effect else NOT_RECORDED)
    back = run.last("fault", number, verb=BACK)
    return Cause(step, ("fault", back) if back is not None and back > effect[1] else effect)


def _guard_missing(run: RecordedRun, number: int) -> Cause:
    _, at_ns, node, _, _ = run.rows[number]
    cluster = run.nodes[node]
    upstream = run.queries.progress.upstream(cluster, at_ns)
    effect = asks(run, number, cluster)
    if effect is not None and effect[0] == "mode":
        words = f"{cluster} begins to follow {upstream}, whose journal has no entry with the state that {cluster} is in"
        return Cause(CauseStep(at_ns, words, number), effect)
    behind, kept = run.queries.lag(upstream, cluster, at_ns).entries, _backlog(run, upstream)
    why = f"{cluster} is {behind:g} entries behind, and {upstream} keeps the last {kept}"
    if not kept < behind < float("inf"):
        why = f"{upstream} has no entry with the state that {cluster} is in"
    step = CauseStep(at_ns, f"the guard of {cluster} is not found: {why}", number)
    return Cause(step, effect, "" if effect else NOT_RECORDED)


def _backlog(run: RecordedRun, cluster: str) -> int:
    names = [plan.name for plan in run.queries.blueprint.clusters]
    return run.queries.blueprint.cluster(cluster).backlog_entries if cluster in names else 0


def _lost_on_the_way(run: RecordedRun, number: int) -> Cause:
    """Something of the stream, or a question, did not arrive."""
    _, at_ns, node, what, fields = run.rows[number]
    since = run.last("observed", number, node=node, what=("stream_wals", "guard_found", "replication_connected"))
    said = ", ".join(f"{name} {value}" for name, value in fields)
    step = CauseStep(at_ns, f"{node} finds that something did not arrive: {_said(what)} ({said})", number)
    rpc = dict(fields).get("rpc", "stream")
    for row in run.messages(range(since or 0, number), what=rpc, fate="lost"):
        if node in run.rows[row][3:5]:
            return Cause(step, ("lost", row))
    return Cause(step, None, NOT_RECORDED)


def _damaged(run: RecordedRun, number: int) -> Cause:
    """Roots or contents differ: what was altered on purpose on one of the two sides."""
    _, at_ns, node, what, fields = run.rows[number]
    cluster = run.nodes[node]
    sides = (cluster, run.queries.progress.upstream(cluster, at_ns))
    advice = dict(fields).get("advice", "")
    standing = [row for side in sides if side for row in _unmended(run, side, number)]
    several = f", after {len(standing)} damages, any of which would do" if len(standing) > 1 else ""
    said = f"{node} reports {_said(what)}{f': {advice}' if advice else ''}{several}"
    step = CauseStep(at_ns, said, number)
    if standing:
        return Cause(step, ("fault", max(standing)))
    before = run.last("mode", number, cluster=cluster)
    return Cause(step, None, NOT_RECORDED) if before is None else Cause(step, ("mode", before))


def _unmended(run: RecordedRun, cluster: str, number: int) -> list[int]:
    """Return the damages of a cluster since it was last reindexed, at a row."""
    mended = run.last("observed", number, node=run.nodes_of(cluster), what="reindexed")
    return run.faults.every(("corrupt",), (cluster,), range(mended or 0, number))


def _announced(run: RecordedRun, number: int) -> Cause:
    _, at_ns, node, _, fields = run.rows[number]
    host = dict(fields)["address"].removeprefix("https://").split(":")[0]
    step = CauseStep(at_ns, f"{host} announces itself to {node} as the primary's active node", number)
    led = run.last("leader", number, node=host)
    return Cause(step, None, NOT_RECORDED) if led is None else Cause(step, ("leader", led))


def _refused_upstream(run: RecordedRun, number: int) -> Cause:
    _, at_ns, node, _, fields = run.rows[number]
    reason = dict(fields)["reason"]
    step = CauseStep(at_ns, f"{node} does not get into connection with its primary: {reason}", number)
    message = run.trigger(number, (node,))
    if message is None or run.rows[message][0] == "fault":
        return by_trigger(run, number, step, (node,))
    peer = run.rows[message][3]
    impostor = run.faults.on_node("impersonate", peer.removesuffix("-impostor"), number)
    return Cause(step, ("request", message) if impostor is None else ("fault", impostor))


def _refused_message(run: RecordedRun, number: int) -> Cause:
    """A message that a node took from nobody: an impostor's, or one that a host sent that may not."""
    _, at_ns, node, what, fields = run.rows[number]
    said = dict(fields)
    source = said.get("source") or run.rows[run.trigger(number, (node,)) or number][3]
    step = CauseStep(at_ns, f"{node}: {_said(what)} of {source}: {said['reason']}", number)
    impostor = run.faults.on_node("impersonate", source.removesuffix("-impostor"), number)
    revoked = _revoked(run, run.nodes[node], number) if "revoked" in said["reason"] and node in run.nodes else None
    if impostor is None and revoked is None:
        return by_trigger(run, number, step, (node,))
    return Cause(step, ("fault", impostor) if impostor is not None else revoked)


def _compared(run: RecordedRun, number: int) -> Cause:
    _, at_ns, node, what, fields = run.rows[number]
    said = ", ".join(f"{name} {value}" for name, value in fields)
    step = CauseStep(at_ns, f"{node}: {_said(what)} ({said})", number)
    found = run.last("mode", number, cluster=run.nodes[node])
    effect = asks(run, number, run.nodes[node]) if what == "guard_found" else None
    return Cause(step, effect or (("mode", found) if found is not None else None), NOT_RECORDED)


def _moved(run: RecordedRun, number: int) -> Cause:
    """A state of the secondary's side changed: the cluster's mode says so at the same instant."""
    _, at_ns, node, _, fields = run.rows[number]
    for row in run.between(at_ns, at_ns):
        if row > number and run.rows[row] == ("mode", at_ns, run.nodes[node], "secondary", dict(fields)["after"]):
            return mode(run, row)
    return by_its_item(run, number)


def _reindexed(run: RecordedRun, number: int) -> Cause:
    cause, begun = (
        by_its_item(run, number),
        run.last("observed", number, node=run.rows[number][2], what="reindex_started"),
    )
    return cause if begun is None else Cause(cause.step, ("observed", begun))


def _corrupted(run: RecordedRun, number: int) -> Cause:
    _, at_ns, node, _, fields = run.rows[number]
    said = dict(fields)
    words = f"the index of {node} is damaged ({said['layer']})"
    if said["layer"] == "storage":
        words = f"the value at {said['key']} in the store of {node} is altered"
    return Cause(CauseStep(at_ns, words, number), ("fault", number + 1))


def _forwarding_lost(run: RecordedRun, number: int) -> Cause:
    _, at_ns, node, _, fields = run.rows[number]
    step = CauseStep(at_ns, f"{node} gives up what it forwarded to {dict(fields)['node']}: another node leads", number)
    led = run.last("leader", number, cluster=run.nodes[node])
    return Cause(step, None, NOT_RECORDED) if led is None else Cause(step, ("leader", led))


def _said(what: str) -> str:
    return what.replace("_", " ")


OBSERVED: dict[str, Callable[[RecordedRun, int], Cause]] = {
    "sealed": _sealed,
    "stepped down": _stepped_down,
    "replication_disconnected": _disconnected,
    "replication_connected": _connected,
    "missing_guard": _guard_missing,
    **dict.fromkeys(LOST_KINDS, _lost_on_the_way),
    **dict.fromkeys((*DAMAGE_KINDS, "merkle_loop", "generation_gone"), _damaged),
    "primary_announced": _announced,
    "upstream_refused": _refused_upstream,
    **dict.fromkeys(("merkle_diff", "merkle_sync", "merkle_diff_empty", "guard_found", "stream_wals"), _compared),
    **dict.fromkeys(("message refused", "connection_refused"), _refused_message),
    "sync_state": _moved,
    **dict.fromkeys(("reindex_stage", "reindexed", "reindex_differences"), _reindexed),
    "corrupted": _corrupted,
    "forwarding lost": _forwarding_lost,
}

RULES: dict[str, Callable[[RecordedRun, Any], Cause]] = {"mode": mode}
