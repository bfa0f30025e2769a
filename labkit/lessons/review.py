"""Review: what a reader is to be asked again, by the progress file: missed first, then what was done with
help; last what was right at the first go, for another day."""

from __future__ import annotations

from collections.abc import Iterator

from labkit.lessons.catalogue import LESSONS, plan
from labkit.lessons.plan import Recall
from labkit.lessons.progress_file import ALONE, SEEN, WITH_HELP, ProgressFile

ADVICE = {SEEN: "not right yet", WITH_HELP: "right with help", ALONE: "right at the first go"}


def due(progress: ProgressFile) -> list[str]:
    """Return what is due as lines: questions that were missed, exercises by what they needed, then the rest."""
    records = progress.read()
    begun = sorted({key.partition("/")[0] for key in records} & set(LESSONS))
    if not begun:
        return ["Nothing is due: no lesson was begun in this folder."]
    missed, open_ones = [], []
    for number in begun:
        for place, recall in enumerate(plan(number).recalls, 1):
            kept = records.get(f"{number}/recall/{recall.of}: {recall.asks}")
            if kept is None:
                open_ones.append(_ask(number, place, recall))
            elif kept.get("missed"):
                missed.append(_ask(number, place, recall))
    again = [line for skill in (SEEN, WITH_HELP) for line in _exercises(records, begun, skill)]
    later = list(_exercises(records, begun, ALONE))
    parts = (
        ("Missed last time:", missed),
        ("To be done again:", again),
        ("Not asked yet:", open_ones),
        ("Known so far; once more, some days later, shows what stays:", later),
    )
    lines = [line for title, rows in parts if rows for line in (title, *[f"  {row}" for row in rows], "")]
    return lines[:-1] or ["Nothing is due: all was done again, and no question was missed."]


def _ask(number: str, place: int, recall: Recall) -> str:
    return f"{recall.asks} ({' / '.join(recall.choices)})  lesson({number!r}).recall({place}, …)"


def _exercises(records: dict[str, dict[str, object]], begun: list[str], skill: str) -> Iterator[str]:
    for number in begun:
        for exercise in plan(number).exercises:
            if records.get(f"{number}/check/{exercise.name}", {}).get("skill") == skill:
                yield f"{number} {exercise.title}: {ADVICE[skill]}  here.start({exercise.name!r})"
