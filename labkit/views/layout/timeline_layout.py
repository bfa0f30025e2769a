"""Timeline layout: where rows, labels and numbers of a timeline stand, so that every mark is kept and none overlap.

1. The label of a mark stands above the rows, in the first line where it overlaps no other, it is in no other mark's
   way down to the rows, and no label is in its own.  With none free the mark has a number, and its label stands in
   the list below.  Marks too close for numbers of their own share one, such as 3-5.
2. Lost writes are counted below the axis, those less than a label apart together.
3. The legend names the signs, lines and tones that occur, and no others.
4. The label of a lag stands below the bar of its cluster, or in the list as well; lines of marks leave a gap for it.
5. Names that are too long for the room left of the rows are shortened; the table has them whole.
"""

from __future__ import annotations

from typing import NamedTuple

from labkit.lab.measures.state_spans import Span
from labkit.service.durations import SECOND_NS, in_seconds
from labkit.views.boxes import Box, flow, width_of
from labkit.views.contents.timeline_contents import BEHIND_S, TimelineContents, TimelineMark
from labkit.views.picture import NORMAL, SMALL
from labkit.views.state_words import MODES
from labkit.views.time_axis import ticks

WIDTH, RIGHT = 668, 24
MIN_LEFT, MAX_LEFT = 110, 250
NAME_GAP = 24
LINE = SMALL + 6
MAX_LINES = 8
BAR, STRIPES, NODE, SPACE = 29, 9, 17, 10
NUMBERS = 20
OPERATIONS = 50
AXIS = 34
LOST_GAP = 72

SIGNS = {"fault": "×", "undoing": "+", "step": ">", "role": "^", "rule": "!", "note": "*"}
SIGN_WORDS = {
    "fault": "fault",
    "undoing": "its undoing",
    "step": "step",
    "role": "new role",
    "rule": "broken rule",
    "note": "note",
}
NODE_WORDS = {
    "active": "thick serves",
    "standby": "thin stands by",
    "sealed": "dotted sealed",
    "paused": "fine dots paused",
    "down": "none down",
}
OUTCOME_WORDS = {"answered": "full answered", "refused": "striped refused", "in_doubt": "hollow in doubt"}
TONES = ("primary", "secondary", "disabled", "sealed", "down")
SWATCH = 18.0
"""How wide the sign of a tone is in the legend, with the gap after it."""


class Row(NamedTuple):
    """One row: a cluster's bar or a node's line, and where it is."""

    name: str
    is_node: bool
    y: float


class PlacedMark(NamedTuple):
    """A mark, where its line is, and its label, if there is room for it; else it has a number."""

    mark: TimelineMark
    x: float
    label: Box | None


class Words(NamedTuple):
    """Words in a box: a label, a number, an entry of the list or of the legend; ``what`` is the tone that it names."""

    words: str
    box: Box
    what: str = ""


class Lost(NamedTuple):
    """Acknowledged writes that were lost: the stretch in which they were acknowledged, and how many."""

    x: float
    to_x: float
    writes: int


class TimelineLayout(NamedTuple):
    """Everything that a timeline shows, and where."""

    contents: TimelineContents
    left: float
    height: int
    top: float
    rows: tuple[Row, ...]
    marks: tuple[PlacedMark, ...]
    numbers: tuple[Words, ...]
    lag_labels: tuple[Words, ...]
    operations_y: float
    lost: tuple[Lost, ...]
    ticks: tuple[tuple[float, str], ...]
    listed: tuple[Words, ...]
    legend: tuple[Words, ...]

    def x(self, at_ns: int) -> float:
        """Return where an instant is."""
        return _x(self.contents, self.left, at_ns)

    def falls(self, x: float, top: float) -> list[tuple[float, float]]:
        """Return the parts of a line straight down to the axis, from where to where, without those through a label."""
        parts = []
        for label in sorted(self.lag_labels, key=lambda label: label.box.y):
            if label.box.x <= x <= label.box.right and label.box.bottom > top:
                parts.append((top, max(top, label.box.y)))
                top = label.box.bottom
        return [(start, end) for start, end in (*parts, (top, self.operations_y)) if start < end]


def layout(contents: TimelineContents) -> TimelineLayout:
    """Place everything that a timeline says."""
    names = [name for cluster, nodes in contents.clusters for name in (cluster, *nodes)]
    left = min(MAX_LEFT, max([MIN_LEFT, *(width_of(name, NORMAL) + NAME_GAP for name in names)]))
    marks, lines = _place_marks(contents, left)
    numbers, listed = _number(marks, 8.0 + lines * LINE)
    top = 8.0 + lines * LINE + (NUMBERS if numbers else 0) + 6
    rows, bottom = _place_rows(contents, top)
    labels, unplaced = _place_lags(contents, left, rows)
    operations_y = bottom + OPERATIONS + 8
    list_boxes, bottom = flow([*listed, *unplaced], SMALL, WIDTH, operations_y + AXIS + 8)
    legend, bottom = _place_legend(contents, bottom + 4)
    return TimelineLayout(
        contents,
        left,
        int(bottom) + 8,
        top,
        tuple(rows),
        tuple(marks),
        tuple(numbers),
        tuple(labels),
        operations_y,
        tuple(_place_lost(contents, left)),
        tuple(_ticks(contents, left)),
        tuple([Words(words, box) for words, box in zip([*listed, *unplaced], list_boxes, strict=True)]),
        tuple(legend),
    )


def _place_legend(contents: TimelineContents, top: float) -> tuple[list[Words], float]:
    """Write down what the tones, signs and lines mean that occur; return the entries, and where they end."""
    shown = {span.what for span in contents.spans}
    entries = [(MODES.get(tone, tone), tone) for tone in TONES if tone in shown]
    entries += [(words, "") for words in _signs(contents)]
    boxes, bottom = flow(
        [words for words, _ in entries], SMALL, WIDTH, top, [SWATCH * bool(tone) for _, tone in entries]
    )
    return [Words(words, box, tone) for (words, tone), box in zip(entries, boxes, strict=True)], bottom


def _signs(contents: TimelineContents) -> list[str]:
    """Return in words what the signs, lines and columns mean that occur."""
    marks = {mark.what for mark in contents.marks}
    nodes = {span.what for span in contents.nodes}
    found = [f"{sign} {SIGN_WORDS[what]}" for what, sign in SIGNS.items() if what in marks]
    found += [f"striped: {BEHIND_S:g} s behind, or hears nothing"] if contents.lags else []
    drawn = [words for state, words in NODE_WORDS.items() if state in nodes]
    found += [f"node: {', '.join(drawn)}"] if drawn else []
    ended = [words for name, words in OUTCOME_WORDS.items() if any(getattr(one, name) for one in contents.columns)]
    found += [f"operations: {', '.join(ended)}"] if ended else []
    return found + (["† acknowledged write lost"] if any(column.lost for column in contents.columns) else [])


def _x(contents: TimelineContents, left: float, at_ns: int) -> float:
    start_ns, end_ns = contents.window
    return left + (WIDTH - RIGHT - left) * (at_ns - start_ns) / (end_ns - start_ns)


def label_of(mark: TimelineMark) -> str:
    """Return a mark's label: a sign for what it is, then its words."""
    return f"{SIGNS[mark.what]} {mark.words}"


def _place_marks(contents: TimelineContents, left: float) -> tuple[list[PlacedMark], int]:
    """Find a free place for each label, right of its line or, at the edge, left of it; return the lines taken."""
    taken: list[_TakenLabel] = []
    placed = []
    for mark in contents.marks:
        x, width = _x(contents, left, mark.at_ns), width_of(label_of(mark), SMALL) + 8
        start = x if x + width <= WIDTH else x - width
        wanted = (_TakenLabel(line, start, start + width, x) for line in range(MAX_LINES))
        label = next((one for one in wanted if start >= 0 and one.is_free(taken)), None)
        if label is None:
            placed.append(PlacedMark(mark, x, None))
            continue
        taken.append(label)
        placed.append(PlacedMark(mark, x, Box(start, 8 + label.line * LINE, width, LINE)))
    return placed, max((label.line + 1 for label in taken), default=0)


class _TakenLabel(NamedTuple):
    """The place of a label: its line, from where to where it is, and where its mark goes down from it."""

    line: int
    start: float
    end: float
    x: float

    def is_free(self, taken: list[_TakenLabel]) -> bool:
        """Whether it overlaps no other label, and neither mark goes through the other's label."""
        return not any(
            (self.line == other.line and self.start < other.end and other.start < self.end)
            or (self.line < other.line and other.start < self.x < other.end)
            or (other.line < self.line and self.start < other.x < self.end)
            for other in taken
        )


def _number(marks: list[PlacedMark], y: float) -> tuple[list[Words], list[str]]:
    """Number the marks that have no label, and list them; those that are too close share a place."""
    unlabelled = [placed for placed in marks if placed.label is None]
    numbers: list[Words] = []
    first = 1
    for number, placed in enumerate(unlabelled, 1):
        words = str(number)
        box = Box(placed.x, y, width_of(words, SMALL) + 6, LINE)
        if numbers and numbers[-1].box.right > min(box.x, WIDTH - box.width):
            words = f"{first}-{number}"
            x = min(numbers.pop().box.x, WIDTH - width_of(words, SMALL) - 6)
            box = Box(x, y, width_of(words, SMALL) + 6, LINE)
            if numbers and numbers[-1].box.right > box.x:
                first = int(numbers.pop().words.partition("-")[0])
                words = f"{first}-{number}"
                box = Box(WIDTH - width_of(words, SMALL) - 6, y, width_of(words, SMALL) + 6, LINE)
        else:
            first = number
            box = box._replace(x=min(box.x, WIDTH - box.width))
        numbers.append(Words(words, box))
    listed = [
        f"{number} {in_seconds(placed.mark.at_ns)} s {label_of(placed.mark)}"
        for number, placed in enumerate(unlabelled, 1)
    ]
    return numbers, listed


def _place_rows(contents: TimelineContents, top: float) -> tuple[list[Row], float]:
    """Place a bar for each cluster, below it a line for its lag if it has any, and one for each node."""
    rows, y = [], top
    lagging = {span.row for span in contents.lags}
    for cluster, nodes in contents.clusters:
        rows.append(Row(cluster, False, y))
        y += BAR + (LINE if cluster in lagging else 2)
        for node in nodes:
            rows.append(Row(node, True, y))
            y += NODE
        y += SPACE
    return rows, y


def _place_lags(contents: TimelineContents, left: float, rows: list[Row]) -> tuple[list[Words], list[str]]:
    """Write each lag below its bar, as far left as needed to stay inside; return those with no room, for the list."""
    below = {row.name: row.y + BAR for row in rows if not row.is_node}
    free_from: dict[str, float] = {}
    placed, listed = [], []
    for span in sorted(contents.lags, key=lambda span: span.from_ns):
        words = lag_words(span)
        width = width_of(words, SMALL) + 8
        x = min(_x(contents, left, span.from_ns), WIDTH - width)
        if x < free_from.get(span.row, 0.0):
            listed.append(f"{span.from_ns / SECOND_NS:.1f} s {span.row} {words}")
            continue
        free_from[span.row] = x + width
        placed.append(Words(words, Box(x, below[span.row], width, LINE), span.what))
    return placed, listed


def _place_lost(contents: TimelineContents, left: float) -> list[Lost]:
    """Gather the slices with lost writes that are too close for labels of their own."""
    found: list[Lost] = []
    for column in contents.columns:
        if not column.lost:
            continue
        x = max(left, _x(contents, left, column.from_ns))
        to_x = min(WIDTH - RIGHT, _x(contents, left, column.from_ns + contents.slice_ns))
        if found and x - found[-1].to_x < LOST_GAP:
            found[-1] = Lost(found[-1].x, to_x, found[-1].writes + column.lost)
        else:
            found.append(Lost(x, to_x, column.lost))
    return found


def lag_words(span: Span) -> str:
    """Return the label of a lag."""
    return span.detail if span.what == "silent" else f"behind {span.detail.removesuffix(' behind')}"


def _ticks(contents: TimelineContents, left: float) -> list[tuple[float, str]]:
    """Return where the axis has ticks, at round instants, and their labels."""
    return [(_x(contents, left, at_ns), label) for at_ns, label in ticks(*contents.window)]
