"""Frame: how high a notebook's frame of a player is, so that its whole page is seen, to the last row of its tables.

1. A frame cannot ask its page: what stands in the page is added up here, in a wide frame and in a narrow one, with some
   room to spare for fonts that are larger.
2. A long table scrolls within itself: it is at most as high as the page's style says.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import NamedTuple

from labkit.views.player.page_parts import Shown
from labkit.views.player.recorded.recording import MAX_LOST_SHOWN
from labkit.views.player.stage import stage_of

SPARE, LINE, CELL, TABLE, HEADING, SECTION = 60, 24, 7, 416, 33, 22
"""Heights: what is to spare, a line of text, what a row of a table has beside its lines, the highest table, a heading,
and what is between two sections."""


class FrameKind(NamedTuple):
    """What a page needs in a frame so wide: heights above the map and of keys and legend, widths in pixels and letters.

    ``said_is_beside`` is whether sentence and counts stand beside the map and not below it.
    """

    above_px: float
    map_px: float
    timeline_px: float
    below_px: float
    letters: int
    said_is_beside: bool


WIDE = FrameKind(130, 624, 736, 140, 90, True)
NARROW = FrameKind(200, 624, 624, 230, 38, False)
SAID, TREES, NO_TREES = 200, 250, 60


def frame_heights(shown: Shown) -> tuple[int, int]:
    """Return how high a page is in pixels, in a wide frame and in a narrow one."""
    return _height(shown, WIDE), _height(shown, NARROW)


def _height(shown: Shown, kind: FrameKind) -> int:
    recording, view = shown.recording, stage_of(shown.recording).view
    drawn = min(1.0, kind.map_px / view.width) if kind.said_is_beside else kind.map_px / view.width
    map_px = view.height * max(drawn, 12 / 13)
    said = max(map_px, SAID) if kind.said_is_beside else map_px + SAID
    trees = TREES if recording.trees is not None else NO_TREES
    timeline = shown.timeline.height * kind.timeline_px / shown.timeline.width
    happened = _table(((one.words,) for one in recording.happenings), kind.letters)
    tables = SECTION + HEADING + happened + (3 * LINE if recording.left else 0)
    if recording.losses:
        rows = ((loss.write.path, loss.write.client) for loss in recording.losses[:MAX_LOST_SHOWN])
        notes = sum(ceil(len(words) / kind.letters) for words in recording.lacked) + 1
        tables += SECTION + HEADING + _table(rows, kind.letters // 4) + notes * LINE
    return ceil(kind.above_px + said + trees + timeline + kind.below_px + tables + SPARE)


def _table(rows: Iterable[tuple[str, ...]], letters: int) -> float:
    """Return how high a table is, by the longest of the words in each row; its head has two lines."""
    lines = [max(ceil(len(words) / letters) for words in row) for row in rows]
    return min(TABLE, (2 + sum(lines)) * LINE + (1 + len(lines)) * CELL)
