"""Runbooks: what an operator does step by step, every step a request of the API.

1. A runbook is a generator over nothing but its arguments and the answers it gets: it yields what it wants done
   (``runbook_effects``), and returns a sentence.
2. What is kept of one that runs is its name, arguments and answers; it can be played again to where it stands (R2).
3. RunbookError says why it cannot go on; nothing is undone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from labkit.lab.operations.operation_tokens import (
    DELETE_TOKEN,
    DR,
    decode,
    deleting,
    generate_token,
    kept_text,
    operation_token,
)
from labkit.lab.operations.operator_requests import ask
from labkit.lab.operations.patience import POLL_NS, Patience
from labkit.lab.operations.runbook_effects import (
    AdoptCredentials,
    Ask,
    LookUpClusters,
    LookUpCredentials,
    LookUpNodes,
    Note,
    Pause,
    Runbook,
    RunbookError,
    Steps,
    Wanted,
    check,
)
from labkit.lab.wire.addresses import host_of
from labkit.service.durations import SECOND_NS
from labkit.service.errors import FORWARDING_LOST
from labkit.service.message import Body

AGAIN = "~"  # between a cluster's name and a number, in an id of a cluster that has one already
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "LIST")
MAX_IDLE_NS = 120 * SECOND_NS
MAX_CATCH_UP_IDLE_NS = 30 * SECOND_NS  # a secondary notices a silent primary after 15 s, and compares then
MAX_ARRIVAL_POLLS = 60  # 15 s, more than anything under way takes


def enable_primary(cluster: str) -> Runbook:
    """Make a cluster a disaster-recovery primary."""
    check((yield Ask(cluster, "POST", DR + "primary/enable", {})), f"enable {cluster} as primary")
    yield from _wait_for(cluster, "primary", "running")
    return f"{cluster} is a DR primary"


def enable_secondary(cluster: str, primary: str, token: str = "", address: str = "") -> Runbook:
    """Issue an activation token on the primary and enable the other cluster with it, then open its standbys.

    A cluster that replicates already is refused before anything is issued: a new token would revoke the one it uses.
    ``token`` such as ``$(activation)`` is one that is kept; ``address`` is where it is unwrapped, unless where it says.
    """
    mode = (yield from _status(cluster))["mode"]
    if mode != "disabled":
        raise RunbookError(
            f"enable {cluster} as secondary of {primary}: {cluster} is a {mode} already; "
            f"{'repoint it, or disable it first' if mode == 'secondary' else 'demote or disable it first'}"
        )
    body: Body = {"primary_api_addr": address} if address else {}
    body["token"] = (yield from kept_text(token)) if token else (yield from _activation_token(primary, cluster))
    keys = yield LookUpCredentials(cluster)
    answer = yield Ask(cluster, "POST", DR + "secondary/enable", body, token=keys.root_token)
    check(answer, f"enable {cluster} as secondary of {primary}")
    yield AdoptCredentials(cluster, primary)
    yield from _wait_for(cluster, "secondary", "stream-wals")
    yield from unseal(cluster)
    return f"{cluster} streams from {primary}"


def replicate(primary: str, secondary: str) -> Runbook:
    """Enable replication by the API's own calls: primary enable, secondary token, secondary enable.

    A cluster that is a primary already gets one more secondary.
    """
    if (yield from _status(primary))["mode"] != "primary":
        yield from enable_primary(primary)
    return (yield from enable_secondary(secondary, primary))


def promote(cluster: str = "", force: bool = False, furthest_ahead: Sequence[str] = ()) -> Runbook:
    """Generate an operation token from key shares, promote the secondary with it, and delete the token.

    In place of a cluster several may be named, of which the one ``furthest_ahead`` is promoted.
    """
    cluster = cluster or (yield from _furthest(furthest_ahead))
    token = yield from generate_token(cluster)
    yield from deleting(cluster, token, _promote(cluster, {"dr_operation_token": token, "force": force}))
    return f"{cluster} is the primary now"


def _furthest(clusters: Sequence[str]) -> Generator[Wanted, Any, str]:
    """Return the secondary that has the newest entry of their primary, the first of equals; who is silent is none.

    One that came level by a comparison names no entry until it streams the next: equal roots say that it is equal.
    """
    entries, roots, sets = dict[str, int](), dict[str, str](), set[str]()
    for name in clusters:
        data: Body = (yield Ask(name, "GET", DR + "status")).data or {}
        if data.get("mode") == "secondary":
            entries[name], roots[name] = data.get("last_remote_wal", 0), data.get("merkle_root", "")
            sets.add(data["cluster_id"])
    among = f"promote the furthest ahead of {' and '.join(clusters)}"
    if not entries:
        raise RunbookError(f"{among}: none of them answers as a secondary; nothing was changed")
    if len(sets) > 1:
        raise RunbookError(f"{among}: they belong to different replication sets; nothing was changed")
    ahead = max(entries, key=lambda name: entries[name])
    chosen = next(name for name in entries if name == ahead or (roots[name] and roots[name] == roots[ahead]))
    yield Note("promote: " + ", ".join(f"{name} has entry {entry}" for name, entry in entries.items()))
    return chosen


def _promote(cluster: str, body: Body) -> Steps:
    patience = Patience(MAX_IDLE_NS)
    while True:
        answer = yield Ask(cluster, "POST", DR + "secondary/promote", body)
        if answer.status != 503 or answer.code == FORWARDING_LOST:
            break
        pause_ns = patience.pause_ns((yield from _status(cluster)))
        if not pause_ns:
            raise RunbookError(f"promote {cluster}: answered 503: {'; '.join(answer.errors)}; it {patience.why}")
        yield Pause(pause_ns)
    check(answer, f"promote {cluster}")
    yield from _wait_for(cluster, "primary", "running")


def demote(cluster: str) -> Runbook:
    """Make a primary a secondary without an upstream."""
    check((yield Ask(cluster, "POST", DR + "primary/demote", {})), f"demote {cluster}")
    yield from _wait_for(cluster, "secondary", "idle")
    return f"{cluster} is a secondary without a primary"


def repoint(cluster: str, to: str) -> Runbook:
    """Give a secondary another primary: an activation token of a fresh id there, update-primary here.

    The ids that it has there already are revoked once it streams: until then it may follow with one of them.
    """
    ids = (yield from _status(to)).get("known_secondaries", ())
    known = [name for name in ids if name.partition(AGAIN)[0] == cluster]
    token = yield from generate_token(cluster)
    yield from deleting(cluster, token, _repoint(cluster, to, token, known))
    return f"{cluster} streams from {to}"


def _repoint(cluster: str, to: str, token: str, known: list[str]) -> Steps:
    fresh = min({cluster, *(f"{cluster}{AGAIN}{number}" for number in range(2, len(known) + 2))} - {*known})
    body = {"dr_operation_token": token, "token": (yield from _activation_token(to, fresh))}
    answer = yield Ask(cluster, "POST", DR + "secondary/update-primary", body)
    if answer.status >= 300 and answer.code != FORWARDING_LOST:
        yield Ask(to, "POST", DR + "primary/revoke-secondary", {"id": fresh})
    check(answer, f"point {cluster} at {to}")
    yield from _wait_for(cluster, "secondary", "stream-wals")
    for name in known:
        check((yield Ask(to, "POST", DR + "primary/revoke-secondary", {"id": name})), f"revoke {name}")


def failover(old: str, new: str) -> Runbook:
    """Move the primary as planned: demote the old, wait until the new is level, promote it, re-point the others.

    It waits before the demotion too, until the new one has what the old one had at the start, since a demoted primary
    ships nothing more than what is under way, and until neither is being reindexed, which may find damage that only the
    old one can mend.  Whoever else followed the old one follows the new one afterwards.
    """
    before, other = yield from _check_pair(old, new)
    for name, status in ((old, before), (new, other)):
        if status.get("reindex_in_progress"):
            yield Note(f"failover: waiting until {name} is reindexed")
            yield from _wait_for_reindex(name)
    yield Note(f"failover: waiting until {new} has entry {before['last_wal']} of {old}")
    yield from _catch_up(old, new, before)
    yield Note(f"failover: demoting {old}")
    yield from _leaving(f"{old} may be demoted, {new} was not promoted", demote(old))
    root = (yield from _status(old))["merkle_root"]
    left = (
        f"{old} is demoted and takes no writes, {new} was not promoted; promote {old} again, or {new} and lose the rest"
    )
    yield Note(f"failover: {old} is demoted; waiting until {new} is level with it")
    yield from _leaving(left, _wait_for_root(new, root, old))
    yield Note(f"failover: {new} is level; promoting it")
    yield from _leaving(left, promote(new))
    clusters = yield LookUpClusters()
    followers = {name.partition(AGAIN)[0] for name in before["known_secondaries"]}
    others = [name for name in clusters if name in followers and name != new]
    for name in (old, *others):
        yield from _leaving(f"{new} is the primary, but {name} does not follow it yet", repoint(name, new))
    return f"{new} is the primary now; from it stream: {', '.join((old, *others))}"


def disable(cluster: str) -> Runbook:
    """Take a cluster out of replication, whatever it is in it."""
    mode = ((yield Ask(cluster, "GET", DR + "status")).data or {}).get("mode")
    if mode == "primary":
        answer = yield Ask(cluster, "POST", DR + "primary/disable", {})
    else:
        token = yield from generate_token(cluster)
        answer = yield Ask(cluster, "POST", DR + "secondary/disable", {"dr_operation_token": token})
        if not answer.ok:
            yield Ask(cluster, "POST", DELETE_TOKEN, {"dr_operation_token": token})
    check(answer, f"disable replication on {cluster}")
    return f"{cluster} stands alone"


def reindex(cluster: str, diff: bool = False, force: bool = False, skip_flush: bool = False) -> Runbook:
    """Make a cluster's Merkle index again from what its store holds, and wait until that is in use."""
    body: Body = {"diff": diff, "force": force, "skip_flush": skip_flush}
    if (yield from _status(cluster))["mode"] != "secondary":
        yield from _reindex(cluster, "sys/replication/reindex", body)
    else:
        token = yield from generate_token(cluster)
        body["dr_operation_token"] = token
        yield from deleting(cluster, token, _reindex(cluster, DR + "secondary/reindex", body))
    return f"{cluster} is reindexed"


def _reindex(cluster: str, path: str, body: Body) -> Steps:
    check((yield Ask(cluster, "POST", path, body)), f"reindex {cluster}")
    yield from _wait_for_reindex(cluster)


def _wait_for_reindex(cluster: str) -> Steps:
    """Wait until a cluster's new index is in use; give up when it makes no progress."""
    patience = Patience(MAX_IDLE_NS)
    while True:
        data: Body = (yield Ask(cluster, "GET", DR + "status")).data or {}
        if data.get("mode") == "disabled":
            raise RunbookError(f"reindex {cluster}: its replication was disabled before the end; it keeps no index now")
        if data and not data.get("reindex_in_progress"):
            return
        pause_ns = patience.pause_ns(data)
        if not pause_ns:
            break
        yield Pause(pause_ns)
    raise RunbookError(
        f"reindex {cluster}: no progress for {patience.idle_s} s (stage {data.get('reindex_stage', 'unknown')}); "
        "its next active node begins again"
    )


def unseal(cluster: str, node: str = "") -> Runbook:
    """Give every sealed node of a cluster (or the one that is named) as many key shares as it wants."""
    keys = yield LookUpCredentials(cluster)
    opened = 0
    names = [node] if node else (yield LookUpNodes(cluster))
    for name in names:
        status = yield Ask(cluster, "GET", "sys/seal-status", node=name)
        if not status.body or not status.body.get("sealed"):
            continue
        for share in keys.unseal_keys[: status.body["t"]]:
            check((yield Ask(cluster, "POST", "sys/unseal", {"key": share}, node=name)), f"unseal {name}")
        opened += 1
    return f"{opened} node{'s' if opened != 1 else ''} of {cluster} unsealed"


def seal(cluster: str) -> Runbook:
    """Seal a cluster's active node."""
    check((yield Ask(cluster, "POST", "sys/seal", {})), f"seal {cluster}")
    return f"the active node of {cluster} is sealed"


def _activation_token(primary: str, secondary: str) -> Runbook:
    """Ask the primary for an activation token; an id that is still known from an earlier life is revoked first."""
    body = {"id": secondary}
    answer = yield Ask(primary, "POST", DR + "primary/secondary-token", body)
    if answer.status == 400:
        check((yield Ask(primary, "POST", DR + "primary/revoke-secondary", body)), f"revoke {secondary}")
        answer = yield Ask(primary, "POST", DR + "primary/secondary-token", body)
    return str(check(answer, f"issue an activation token for {secondary} on {primary}").wrap_info["token"])


def _status(cluster: str) -> Generator[Wanted, Any, dict[str, Any]]:
    """Ask a cluster for its replication status."""
    answer = yield Ask(cluster, "GET", DR + "status")
    return dict(check(answer, f"ask {cluster} for its replication status").data or {})


def _check_pair(old: str, new: str) -> Generator[Wanted, Any, tuple[dict[str, Any], dict[str, Any]]]:
    """Return the statuses of the old primary and of the new one, when that is a secondary of it."""
    before, other = (yield from _status(old)), (yield from _status(new))
    if before["mode"] != "primary" or other["mode"] != "secondary" or before["cluster_id"] != other["cluster_id"]:
        others = " of another set" if before["mode"] == "primary" and other["mode"] == "secondary" else ""
        raise RunbookError(
            f"failover from {old} to {new}: expected a primary and a secondary of it, "
            f"got {old} {before['mode']} and {new} {other['mode']}{others}; nothing was changed"
        )
    return before, other


def _catch_up(old: str, new: str, before: dict[str, Any]) -> Steps:
    """Wait until a secondary streams and has what its primary had before; give up when it makes no progress."""
    patience, nodes = Patience(MAX_CATCH_UP_IDLE_NS), (yield LookUpNodes(old))
    while True:
        data = yield from _status(new)
        if _follows_another(data, nodes):
            raise RunbookError(
                f"failover from {old} to {new}: {new} follows another primary, not {old}; nothing was changed"
            )
        reached = data.get("last_remote_wal", 0)
        streams = (data.get("state"), data.get("connection_state")) == ("stream-wals", "ready")
        # what arrived by comparison is in no entry that was streamed: equal roots say so as well
        if streams and (
            reached >= before["last_wal"] or data["merkle_root"] == (yield from _status(old))["merkle_root"]
        ):
            return
        pause_ns = patience.pause_ns(data)
        if not pause_ns:
            break
        yield Pause(pause_ns)
    raise RunbookError(
        f"failover from {old} to {new}: {new} has entry {reached} of {before['last_wal']} and {patience.why} "
        f"(state {data.get('state')}, connection {data.get('connection_state')}); "
        "nothing was changed"
    )


def _wait_for_root(cluster: str, root: str, of: str) -> Steps:
    """Wait until a cluster has the Merkle root of another; give up when nothing arrives from that one any more."""
    idle, seen, nodes = 0, "", (yield LookUpNodes(of))
    while idle < MAX_ARRIVAL_POLLS:
        data = yield from _status(cluster)
        found = data.get("merkle_root", "")
        if found == root:
            return
        if _follows_another(data, nodes):
            raise RunbookError(f"{cluster} did not become level with {of}: it follows another primary now")
        idle, seen = (0, found) if found != seen else (idle + 1, seen)
        yield Pause(POLL_NS)
    raise RunbookError(
        f"{cluster} did not become level with {of}: nothing has arrived for 15 s, and their roots differ "
        "(is one damaged? merkle_check says so, and reindex ends it)"
    )


def _follows_another(data: dict[str, Any], nodes: tuple[str, ...]) -> bool:
    """Whether a secondary is connected to a primary whose nodes are not these."""
    peers = data.get("primaries", ()) if data.get("connection_state") == "ready" else ()
    return any(peer["api_address"] and host_of(peer["api_address"]) not in nodes for peer in peers)


def _leaving(left: str, steps: Runbook | Steps) -> Steps:
    """Go through steps; an error says too what state it leaves."""
    try:
        yield from steps
    except RunbookError as error:
        raise RunbookError(f"{error}; {left}") from error


def _wait_for(cluster: str, mode: str, state: str) -> Steps:
    """Ask for the status until mode and state are reached; give up when nothing moves any more."""
    patience = Patience(MAX_IDLE_NS)
    while True:
        data: Body = (yield Ask(cluster, "GET", DR + "status")).data or {}
        if data.get("mode") == mode and data.get("state") == state:
            return
        pause_ns = patience.pause_ns(data)
        if not pause_ns:
            break
        yield Pause(pause_ns)
    raise RunbookError(
        f"{cluster} did not become {mode} in state {state}, and {patience.why}; "
        f"it is {data.get('mode')} in state {data.get('state')}"
    )


RUNBOOKS: dict[str, Callable[..., Runbook]] = {
    "ask": ask,
    "enable-primary": enable_primary,
    "enable-secondary": enable_secondary,
    "replicate": replicate,
    "promote": promote,
    "demote": demote,
    "repoint": repoint,
    "failover": failover,
    "disable": disable,
    "reindex": reindex,
    "unseal": unseal,
    "seal": seal,
    "operation-token": operation_token,
    "decode": decode,
}
