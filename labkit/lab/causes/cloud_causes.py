"""Cloud causes: which fault of the cloud, or of a clock, a refused login or a failed call of the cloud came of.

1. What was done to the cloud is recorded by its host, and is a root like any other fault.
2. A fault is named only while it stands, and only where it ends calls, or tokens, as this one ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from labkit.lab.causes.explanation import FAULT, NOT_RECORDED, Cause, CauseStep, Effect
from labkit.lab.causes.message_causes import CLOUD_CALL_FAILED, who
from labkit.lab.causes.recorded_run import MAX_FETCH_NS, RecordedRun
from labkit.lab.causes.replication_causes import by_its_item
from labkit.lab.cloud_fault_table import OBSERVED as DONE_TO_CLOUD
from labkit.lab.fault_table import SLOW
from labkit.lab.wire.addresses import CLOUD_HOST
from labkit.service.durations import SECOND_NS, format_duration

ENDPOINTS_OF = {"login": ("discovery", "keys", "token"), "management": ("compute",), "graph": ("directory",)}
"""Which endpoints the cloud's hosts have."""

LOGIN_REFUSED, UNKNOWN_KEY, BY_CLOCK = "login refused", "unknown_key", ("expired", "early", "issued_later")
KEYS_CHANGED = ("key unpublished", "key set held", "key revoked", "keys rolled")
COOLDOWN_NS = 300 * SECOND_NS  # by then an unknown key has made a node fetch the keys again


def done_to_cloud(run: RecordedRun, number: int) -> Cause:
    """What was done to the cloud: a root."""
    _, at_ns, _, what, fields = run.rows[number]
    said = {name.removesuffix("_ns"): _shown(name, value) for name, value in fields}
    words = DONE_TO_CLOUD[what].cause.format(**said)
    return Cause(CauseStep(at_ns, f"{words}{who(run, number)}", number), None, FAULT)


def _shown(name: str, value: Any) -> str:
    if not name.endswith("_ns"):
        return str(value)
    return f"-{format_duration(-value)}" if value < 0 else format_duration(value)


def login_refused(run: RecordedRun, number: int) -> Cause:
    """Why a node refused a login: the reason that it recorded, and what made an honest token look so."""
    said, found = by_its_item(run, number), _reason_for(run, number)
    return said if found is None else Cause(said.step, found)


def _reason_for(run: RecordedRun, number: int) -> Effect | None:
    _, at_ns, node, _, fields = run.rows[number]
    reason, stands = dict(fields)["reason"], _standing(run, number)
    if reason == UNKNOWN_KEY:
        changed = [row for row in stands if run.rows[row][3] in KEYS_CHANGED and _may_be_unknown(run, row, at_ns)]
        return ("observed", changed[-1]) if changed else None
    if reason in BY_CLOCK:
        wrong = [row for row in stands if run.rows[row][3] == "cloud clock"]
        skewed = run.faults.on_node("skew", node, number)
        if wrong and dict(run.rows[wrong[-1]][4])["ahead_ns"]:
            return "observed", wrong[-1]
        if skewed is not None:
            return "fault", skewed
    return None


def _may_be_unknown(run: RecordedRun, row: int, at_ns: int) -> bool:
    """Whether a node may not know the key that signs since then: one that was published before is fetched in time."""
    return run.rows[row][3] != "keys rolled" or at_ns - run.at_ns(row) <= COOLDOWN_NS


def call_failed(run: RecordedRun, number: int) -> Cause:
    """Why a node's call of the cloud failed: what was done to the cloud, or what became of the message."""
    _, at_ns, node, _, fields = run.rows[number]
    failed = dict(fields)
    came = f"answered {failed['status']}" if failed["status"] else "did not answer"
    step = CauseStep(at_ns, f"{node} asked {failed['host']}, which {came}", number)
    done = _done_to(run, number, failed["host"], failed["status"])
    if done is not None:
        return Cause(step, ("observed", done))
    rows = range(run.between(at_ns - MAX_FETCH_NS, at_ns).start, len(run.rows))
    sent = [row for row in run.messages(rows, source=node, target=CLOUD_HOST) if run.rows[row][1] < at_ns]
    if failed["status"]:
        return Cause(step, None, NOT_RECORDED)
    if sent:
        return Cause(step, ("silence", (max(sent, key=lambda row: run.rows[row][1]), at_ns)))
    slow = run.faults.on_line(SLOW, (run.site_of(node), run.site_of(CLOUD_HOST)), number)  # it is still on its way
    return Cause(step, None, NOT_RECORDED) if slow is None else Cause(step, ("fault", slow))


def _done_to(run: RecordedRun, before: int, host: str, status: int) -> int | None:
    """Return what was done to this part of the cloud, ends calls so, and stands; None where nothing was."""
    endpoints = ENDPOINTS_OF.get(host.partition(".")[0], ())
    for number in _standing(run, before):
        what, done = run.rows[number][3], dict(run.rows[number][4])
        endpoint = "token" if what == "secrets spread" and done["delay_ns"] else done.get("endpoint")
        if endpoint in endpoints and done.get("status", DONE_TO_CLOUD[what].status) == status:
            return number
    return None


def _standing(run: RecordedRun, before: int) -> list[int]:
    """Return what was done to the cloud before a row and was not undone, in order."""
    stands: dict[tuple[Any, ...], int] = {}
    for number in _done_before(run, before):
        what, fields = run.rows[number][3], dict(run.rows[number][4])
        endpoint, undoes = fields.get("endpoint"), DONE_TO_CLOUD[what].undoes
        for undone in undoes:
            stands = {key: row for key, row in stands.items() if key[:2] != (undone.name, endpoint)}
        if endpoint is None:
            stands[what, endpoint] = number  # the last of them holds
        elif not undoes:
            stands.setdefault((what, endpoint, fields.get("status")), number)
    return sorted(stands.values())


def _done_before(run: RecordedRun, before: int) -> Iterator[int]:
    for number in run.facts:
        if number >= before:
            return
        row = run.rows[number]
        if row[0] == "observed" and row[2] == CLOUD_HOST and row[3] in DONE_TO_CLOUD:
            yield number


OBSERVED: dict[str, Callable[[RecordedRun, int], Cause]] = {
    LOGIN_REFUSED: login_refused,
    CLOUD_CALL_FAILED: call_failed,
}
