"""Where the frames of a repair picture stand: nothing overlaps, every sentence has its room."""

from __future__ import annotations

from labkit.views.boxes import is_free, width_of
from labkit.views.contents.repair_contents import LAYERS, STEPS, Frame, RepairContents, RepairRow
from labkit.views.layout.repair_layout import FRAME, layout
from labkit.views.picture import SMALL


def story(said: str = "Page 77, subpage 55 is altered: roots are equal.") -> RepairContents:
    """Six rows in which everything is damaged and differs."""
    digests = ("ab" * 20, "cd" * 20, "ef" * 20)
    states = ((True, True, False), (True, False, True))
    apart, struck, inside = (0, 77, 255), (77,), (0, 255)
    frames = tuple([Frame(step, said, 1_000, digests, *states, apart, struck, 77, (55,), inside, 3) for step in STEPS])
    rows = [RepairRow("tokyo", "paris", layer, frames) for layer in LAYERS]
    return RepairContents("paris", "tokyo", 5, (*rows, RepairRow("paris", "tokyo", "storage", frames)))


def test_nothing_overlaps_and_nothing_is_outside() -> None:
    marks = layout(story())
    boxes = []
    for row in marks.rows:
        for placed in row.frames:
            boxes += [placed.root, *placed.trees, placed.pages, placed.subpages, placed.values]
    for number, box in enumerate(boxes):
        assert is_free(box, boxes[:number])
        assert box.x >= 0
        assert box.right <= marks.width
        assert box.bottom <= marks.legend[0][2] - SMALL
    for line, x, y in marks.legend:
        assert x + width_of(line, SMALL) <= marks.width
        assert y < marks.height


def test_it_is_no_wider_than_a_page_of_a_notebook_and_each_frame_has_its_head() -> None:
    marks = layout(story())
    assert marks.width <= 640
    for row in marks.rows:
        for number, (placed, step) in enumerate(zip(row.frames, STEPS, strict=True), 1):
            heads = [y for words, x, y in marks.steps if words == f"{number} {step}" and x == placed.root.x]
            assert [y for y in heads if 0 < placed.root.y - y < SMALL] != []


def test_sentences_have_their_room_and_are_whole() -> None:
    said = "One two three four five six seven eight nine ten eleven twelve thirteen."
    marks = layout(story(said))
    for number, row in enumerate(marks.rows):
        for placed in row.frames:
            assert " ".join(line for line, _, _ in placed.lines) == said
            assert all(width_of(line, SMALL) <= FRAME + 20 for line, _, _ in placed.lines)
            below = marks.rows[number + 1].y if number + 1 < len(marks.rows) else marks.legend[0][2]
            assert placed.lines[-1][2] < below - SMALL


def test_a_page_is_joined_with_its_subpages() -> None:
    placed = layout(story()).rows[0].frames[0]
    x1, y1, x2, _ = placed.edges[-1]

    assert placed.pages.holds(x1, y1)
    assert x2 == placed.subpages.x
    assert len(placed.edges) == 4
