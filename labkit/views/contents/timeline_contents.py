"""Timeline contents: what became of each cluster and node, what lagged, what clients were answered; and all in words.

1. Everything comes from trace, ledger and recorded lag; the same records give the same contents.
2. Each cluster's and each node's time is covered once, from the first instant that is shown to the last.
3. Every fault, step, promotion and broken rule is a mark; none is left out.  A step that is a fault is one with it.
4. Operations are counted in slices of a round length that begin at a multiple of it, so a slice keeps its count while
   time goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from labkit.cloud.failures import ENDPOINTS
from labkit.lab.cloud_fault_table import OBSERVED
from labkit.lab.fault_table import NAMED
from labkit.lab.measures.state_spans import Span, rows_of, spans_of
from labkit.lab.wire.addresses import CLOUD_HOST
from labkit.lab.wire.reports import ANSWERED, REFUSED, UNKNOWN
from labkit.service.durations import SECOND_NS, format_duration
from labkit.trace import FaultEvent, Trace
from labkit.views.state_words import MODES as MODE_WORDS
from labkit.views.state_words import NO_ACTIVE_NODE, STATES, out_of_service
from labkit.views.time_axis import round_slice_ns

if TYPE_CHECKING:
    from labkit.lab.records.lag import Lag
    from labkit.lab.records.loss_and_outage import RecoveryLedger

BEGUN = "begins"
MAX_COLUMNS = 100
NOT_PASSED_ON = ("request", "response", "forged")
"""What hosts outside of all clusters send that is not replication."""

SILENT_NS = 7 * SECOND_NS // 2  # an upstream sends a heartbeat a second
BEHIND_S = 1.0

MODES = {"primary": "promoted", "secondary": "demoted", "disabled": "disabled"}
STOPPED = ("down", "sealed", "paused")


class Records(NamedTuple):
    """What a timeline is worked out from; ``lags`` gives how far each secondary was behind at an instant."""

    trace: Trace
    ledger: RecoveryLedger
    clusters: Mapping[str, tuple[str, ...]]
    lags: Callable[[int], Mapping[str, Lag]]


class Window(NamedTuple):
    """The stretch of time that is shown."""

    start_ns: int
    end_ns: int


class Column(NamedTuple):
    """The outcomes of operations in one slice of time, and the lost writes that were acknowledged in it."""

    from_ns: int
    answered: int
    refused: int
    in_doubt: int
    lost: int


class TimelineMark(NamedTuple):
    """Something that happened at an instant: fault, undoing, step, role, rule or note."""

    at_ns: int
    what: str
    words: str


class TimelineContents(NamedTuple):
    """Everything that a timeline says; ``lags`` are stretches in which a secondary was behind or heard nothing."""

    window: Window
    clusters: tuple[tuple[str, tuple[str, ...]], ...]
    spans: tuple[Span, ...]
    nodes: tuple[Span, ...]
    lags: tuple[Span, ...]
    slice_ns: int
    columns: tuple[Column, ...]
    marks: tuple[TimelineMark, ...]


def contents_of(records: Records, window: Window) -> TimelineContents:
    """Return what a timeline says of a stretch of time."""
    bars, nodes = spans_of(records.trace, records.clusters, window.end_ns)
    slice_ns = round_slice_ns(window.end_ns - window.start_ns, MAX_COLUMNS)
    return TimelineContents(
        window,
        tuple(records.clusters.items()),
        tuple(_clip(bars, window)),
        tuple(_clip(nodes, window)),
        tuple(_clip(_lags(records, window, bars, slice_ns), window)),
        slice_ns,
        _columns(records, window, slice_ns),
        tuple(sorted(mark for mark in marks_of(records) if window.start_ns <= mark.at_ns <= window.end_ns)),
    )


def _clip(spans: Iterable[Span], window: Window) -> Iterable[Span]:
    """Return spans as far as they are in the window."""
    for span in spans:
        from_ns, to_ns = max(span.from_ns, window.start_ns), min(span.to_ns, window.end_ns)
        if from_ns < to_ns:
            yield span._replace(from_ns=from_ns, to_ns=to_ns)


# ---- lag


def _lags(records: Records, window: Window, bars: list[Span], slice_ns: int) -> Iterable[Span]:
    """Return when each secondary heard nothing of its upstream, and when it was behind though it did."""
    heard = heard_by(records.trace, records.clusters)
    for name in records.clusters:
        silent = list(_silences(records, name, [bar for bar in bars if bar.row == name], heard[name]))
        yield from silent
        behind: list[tuple[int, Lag]] = []
        for at_ns in range(-(-window.start_ns // slice_ns) * slice_ns, window.end_ns + slice_ns, slice_ns):
            lag = records.lags(min(at_ns, window.end_ns)).get(name)
            hears = not any(span.from_ns <= at_ns <= span.to_ns for span in silent)
            if lag is not None and hears and BEHIND_S <= lag.seconds < inf:
                behind.append((min(at_ns, window.end_ns), lag))
            elif behind:
                yield _behind(name, behind, slice_ns)
                behind = []
        if behind:
            yield _behind(name, behind, slice_ns)


def heard_by(trace: Trace, clusters: Mapping[str, tuple[str, ...]]) -> dict[str, list[int]]:
    """Return for each cluster when its nodes got messages from nodes of others, or what balancers pass on of them."""
    cluster_of = {node: name for name, nodes in clusters.items() for node in nodes}
    found: dict[str, list[int]] = {name: [] for name in clusters}
    for _, _, at_ns, source, target, what, _, fate in rows_of(trace, ("message",)):
        to = cluster_of.get(str(target))
        if to is None or fate != "delivered":
            continue
        origin = cluster_of.get(str(source), to if what in NOT_PASSED_ON else "")
        if origin != to:
            found[to].append(at_ns)
    return found


def _silences(records: Records, name: str, bars: list[Span], heard: list[int]) -> Iterable[Span]:
    """Return the stretches in which a secondary that follows somebody heard nothing."""
    for bar in bars:
        if bar.what != "secondary":
            continue
        times = [bar.from_ns, *(at_ns for at_ns in heard if bar.from_ns < at_ns < bar.to_ns), bar.to_ns]
        for from_ns, to_ns in pairwise(times):
            if to_ns - from_ns < SILENT_NS:
                continue
            lag = records.lags(to_ns - 1).get(name)
            if lag is not None:
                words = f"hears nothing for {(to_ns - from_ns) / SECOND_NS:.1f} s"
                yield Span(name, from_ns, to_ns, "silent", f"{words}{_entries(lag.entries)}")


def _behind(name: str, found: list[tuple[int, Lag]], slice_ns: int) -> Span:
    entries, seconds = max(lag.entries for _, lag in found), max(lag.seconds for _, lag in found)
    words = f"up to {seconds:.1f} s{_entries(entries)}"
    return Span(name, max(0, found[0][0] - slice_ns), found[-1][0], "behind", words)


def _entries(count: float) -> str:
    return f", {count:g} entr{'ies' if count != 1 else 'y'} behind" if 0 < count < inf else ""


# ---- operations


def _columns(records: Records, window: Window, slice_ns: int) -> tuple[Column, ...]:
    first, last = window.start_ns // slice_ns, max(window.start_ns, window.end_ns - 1) // slice_ns
    counts = [[0, 0, 0, 0] for _ in range(first, last + 1)]
    kinds = {ANSWERED: 0, REFUSED: 1, UNKNOWN: 2}
    happened = [(operation.at_ns, kinds[operation.outcome]) for operation in records.ledger.operations]
    for at_ns, kind in [*happened, *((write.at_ns, 3) for write in records.ledger.lost())]:
        if window.start_ns <= at_ns <= window.end_ns:
            counts[min(at_ns // slice_ns, last) - first][kind] += 1
    return tuple([Column((first + number) * slice_ns, *count) for number, count in enumerate(counts)])


# ---- marks


def marks_of(records: Records) -> Iterable[TimelineMark]:
    """Return a mark for everything that happened, kind by kind."""
    faults = [*_fault_marks(records), *_cloud_marks(records)]
    yield from faults
    seen = {(mark.at_ns, mark.words) for mark in faults}
    verbs = {(event.at_ns, event.verb) for event in records.trace.select("fault")}
    for step in records.trace.select("step", status=BEGUN):
        if step.text == "note" or (step.at_ns, step.text) in seen:  # the note itself is a mark
            continue
        if not is_one_with_a_fault(step.at_ns, step.text, verbs):
            yield TimelineMark(step.at_ns, "step", step.text)
    cluster_of = {node: name for name, nodes in records.clusters.items() for node in nodes}
    for done in records.trace.select("observed", what="reindexed"):
        yield TimelineMark(done.at_ns, "note", f"reindexed {cluster_of.get(done.node, done.node)}")
    modes = dict.fromkeys(records.clusters, "disabled")
    for event in records.trace.select("mode"):
        before, modes[event.cluster] = modes.get(event.cluster, "disabled"), event.mode
        if before not in ("disabled", event.mode):
            yield TimelineMark(event.at_ns, "role", f"{event.cluster} {MODES.get(event.mode, event.mode)}")
    for broken in records.trace.select("invariant"):
        yield TimelineMark(broken.at_ns, "rule", f"rule {broken.verdict}: {broken.name}")
    for note in records.trace.select("note"):
        yield TimelineMark(note.at_ns, "note", note.text)


def is_one_with_a_fault(at_ns: int, text: str, faults: Collection[tuple[int, str]]) -> bool:
    """Whether a step is a fault that happened as it began: its text begins with the fault's verb."""
    return any(at_ns == fault_ns and f"{text} ".startswith(f"{verb} ") for fault_ns, verb in faults)


def _fault_marks(records: Records) -> Iterable[TimelineMark]:
    """Return a mark for each fault; what hit nodes at one instant is one mark, all of a cluster have its name."""
    groups: dict[tuple[int, str], list[FaultEvent]] = {}
    for event in records.trace.select("fault"):
        groups.setdefault((event.at_ns, event.verb), []).append(event)
    for (at_ns, verb), events in groups.items():
        what = "undoing" if NAMED[verb].undoes else "fault"
        targets = list(dict.fromkeys(event.target for event in events))
        for name, nodes in records.clusters.items():
            if len(nodes) > 1 and set(nodes) <= set(targets):
                targets = [name, *(target for target in targets if target not in nodes)]
        joined = " and ".join(", ".join(targets).rsplit(", ", 1))
        layers = ": " + ", ".join(dict.fromkeys(event.detail for event in events)) if verb == "corrupt" else ""
        yield TimelineMark(at_ns, what, f"{verb} {joined}{layers}".rstrip())


def _cloud_marks(records: Records) -> Iterable[TimelineMark]:
    """Return a mark for each fault of the cloud, by endpoint; one of all endpoints names none."""
    groups: dict[tuple[int, str, str], list[str]] = {}
    for event in records.trace.select("observed", node=CLOUD_HOST):
        if event.what in OBSERVED and OBSERVED[event.what].mark:
            fields = dict(event.fields)
            length_ns = fields.get("delay_ns", fields.get("ahead_ns", 0))
            shown = f"-{format_duration(-length_ns)}" if length_ns < 0 else format_duration(length_ns)
            groups.setdefault((event.at_ns, event.what, shown), []).append(fields.get("endpoint", ""))
    for (at_ns, what, shown), endpoints in groups.items():
        kind, words = "undoing" if OBSERVED[what].undoes else "fault", OBSERVED[what].mark
        for endpoint in [""] if set(ENDPOINTS) <= set(endpoints) else dict.fromkeys(endpoints):
            yield TimelineMark(at_ns, kind, words.format(shown) + (f" at {endpoint}" if endpoint else ""))


# ---- in words


class TimelineFact(NamedTuple):
    """A row of what a timeline shows: its stretch or instant in seconds, of what kind, whose, and a sentence."""

    from_s: float
    to_s: float
    kind: str
    name: str
    said: str


def facts_of(contents: TimelineContents) -> list[TimelineFact]:
    """Return what a timeline shows as rows."""
    window = contents.window
    facts = [_fact(span, "cluster", _describe_span(span)) for span in contents.spans]
    facts += [_fact(span, "node", _describe_span(span, window)) for span in contents.nodes if span.what in STOPPED]
    for span in contents.lags:
        verb = "" if span.what == "silent" else "is behind, "
        words = f"from {_s(span.from_ns)} to {_s(span.to_ns)} {span.row} {verb}{span.detail}"
        facts.append(_fact(span, "lag", words))
    for mark in contents.marks:
        at_s = mark.at_ns / SECOND_NS
        facts.append(TimelineFact(at_s, at_s, mark.what, "", f"at {_s(mark.at_ns)} {mark.words}"))
    names = ("answered", "refused", "in_doubt", "lost")
    counts = [sum(getattr(column, name) for column in contents.columns) for name in names]
    words = "operations: {} answered, {} refused, {} in doubt; {} acknowledged writes were lost".format(*counts)
    facts.append(TimelineFact(window.start_ns / SECOND_NS, window.end_ns / SECOND_NS, "operations", "", words))
    return facts


def describe(contents: TimelineContents) -> str:
    """Describe in words what a timeline shows."""
    return "; ".join([fact.said for fact in facts_of(contents)]) + "."


def _fact(span: Span, kind: str, said: str) -> TimelineFact:
    return TimelineFact(span.from_ns / SECOND_NS, span.to_ns / SECOND_NS, kind, span.row, said)


def _describe_span(span: Span, window: Window | None = None) -> str:
    """Say what a row was, and given the window until when; a cluster is something else from its next span on."""
    until = f" to {_s(span.to_ns)}" if window is not None and span.to_ns < window.end_ns else ""
    what, detail = out_of_service(MODE_WORDS.get(span.what, span.what), STATES.get(span.detail, span.detail))
    verb = "has" if what == NO_ACTIVE_NODE else "is"
    return f"from {_s(span.from_ns)}{until} {span.row} {verb} {what}{f' ({detail})' if detail else ''}"


def _s(at_ns: int) -> str:
    return f"{at_ns / SECOND_NS:.1f} s"
