"""Report tables: the verdict of a run as tables of a page: what was measured, then each rule with what it says.

1. A row leads to what shows it, where something that happened does: it names the place of that in the player's list.
2. What a rule says, and when it is judged, is what its declaration says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from labkit.lab.invariants import NO_LOSS, ONE_PRIMARY, ROOTS, RULES, WITHIN_LAG
from labkit.service.durations import in_seconds
from labkit.views.player.recorded.happenings import FAULT, MODE, OUTAGE, RULE, TREES

if TYPE_CHECKING:
    from labkit.lab.invariants import Invariants
    from labkit.scenario.measures import VerdictRow
    from labkit.scenario.verdict import Verdict
    from labkit.views.player.recorded.happenings import RunEvent
    from labkit.views.player.recorded.recording import Recording

TEXTS = {rule.name: rule for rule in RULES}
NOT_JUDGED = "does not apply"
LEADS = "A row that names an instant leads there."


def verdict_table(verdict: Verdict, recording: Recording) -> str:
    """Return what was measured, as a table that stands for itself: each row has its name as its header."""
    rows = [row for row in verdict.rows if row.key not in TEXTS]
    cells = ((row.expected, f"{row.measured}{_outage(recording, row)}", row.status) for row in rows)
    shown = [_place(recording, row) for row in rows]
    body = _rows([escape(row.what) for row in rows], cells, shown, recording.happenings)
    heads = ("what", "expected", "measured", "verdict", "shown at")
    return _table(heads, body, f"{verdict.summary}. {LEADS if any(at >= 0 for at in shown) else ''}".strip(), "verdict")


def _outage(recording: Recording, row: VerdictRow) -> str:
    """Say from when a recovery time counts, and for how long no write succeeded, which began before the fault."""
    if row.key != "rto" or not row.measured[:1].isdigit() or not recording.gaps:
        return ""
    gap = recording.gaps[-1]
    return f" from the fault on; no write succeeded for {in_seconds(gap.to_ns - gap.from_ns)} s"


def rules_table(verdict: Verdict, invariants: Invariants, recording: Recording) -> str:
    """Return the rules of a run: what each says, how often and when it was judged, what it spares, and how it was."""
    rows = [row for row in verdict.rows if row.key in TEXTS]
    names = [f"{escape(row.what)}{_declared(invariants, row.key)}" for row in rows]
    shown = [_place(recording, row) for row in rows]
    body = _rows(names, ((row.measured, row.status) for row in rows), shown, recording.happenings)
    return _table(("rule", "found", "verdict", "shown at"), body, f"{_summary(rows)}. {LEADS}", "rules")


def _summary(rows: Iterable[VerdictRow]) -> str:
    """Say in one sentence how the rules were."""
    counts = Counter(row.measured.partition(" at ")[0] for row in rows)
    words = {NOT_JUDGED: "do not apply"}
    return ", ".join(f"{count} {what if count == 1 else words.get(what, what)}" for what, count in counts.items())


def _declared(invariants: Invariants, name: str) -> str:
    """Return what a rule says, how often and when it was judged, and what it spares."""
    text, times = TEXTS[name], invariants.judged(name)
    often = "" if times is None else f"{times} time{'' if times == 1 else 's'}, "
    judged = f"Judged {often}{text.judged}. Not judged: {text.spared}."
    return f'<p>{escape(text.says)}</p><p class="faint">{escape(judged)}</p>'


def _place(recording: Recording, row: VerdictRow) -> int:
    """Return the place of what shows a row among all that happened; -1 where nothing does."""
    if row.measured == NOT_JUDGED:
        return -1
    key = row.key
    faults = {gap.fault_ns for gap in recording.gaps}
    survivors = {gap.survivor for gap in recording.gaps}
    found = [
        place
        for place, one in enumerate(recording.happenings)
        if (one.kind == RULE and f": {key}:" in one.words)
        or (key == "rto" and one.kind == OUTAGE and "; no write succeeded " in one.words)
        or (key in ("rpo", "lost") and one.kind == FAULT and one.at_ns in faults)
        or (key == ONE_PRIMARY and one.kind == MODE and " are both primary " in one.words)
        or (
            key in (WITHIN_LAG, NO_LOSS)
            and one.kind == MODE
            and one.words in {f"{name} is primary" for name in survivors}
        )
        or (key in (ROOTS, "roots") and one.kind == TREES and one.words.endswith("to the end"))
    ]
    return found[0] if found else -1


def _rows(
    names: Iterable[str], cells: Iterable[Sequence[str]], shown: Iterable[int], happenings: Sequence[RunEvent]
) -> str:
    rows = []
    for name, its, place in zip(names, cells, shown, strict=True):
        leads = f' data-happening="{place}"' if place >= 0 else ""
        at = f"{in_seconds(happenings[place].at_ns)}\N{NO-BREAK SPACE}s" if place >= 0 else ""
        said = "".join(f"<td>{escape(cell)}</td>" for cell in (*its, at))
        rows.append(f"<tr{leads}><th scope='row'>{name}</th>{said}</tr>")
    return "".join(rows)


def _table(heads: Iterable[str], body: str, caption: str, label: str) -> str:
    said = "".join(f"<th scope='col'>{head}</th>" for head in heads)
    table = f"<table><caption>{escape(caption)}</caption><tr>{said}</tr>{body}</table>"
    return f'<div class="table" tabindex="0" role="group" aria-label="{label}">{table}</div>'
