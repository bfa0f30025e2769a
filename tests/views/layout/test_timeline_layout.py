"""Where things stand on a timeline: every mark is kept, and no two texts overlap."""

from __future__ import annotations

import random
from contextlib import suppress
from itertools import combinations, pairwise, permutations
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labkit import Lab
from labkit.lab.measures.state_spans import Span
from labkit.lab.operations.runbook_effects import RunbookError
from labkit.service.silence import Silence
from labkit.views.boxes import Box, width_of
from labkit.views.contents import map_contents
from labkit.views.contents.timeline_contents import Column, TimelineContents, TimelineMark, Window
from labkit.views.layout import map_layout
from labkit.views.layout.timeline_layout import MAX_LEFT, SIGNS, TONES, WIDTH, TimelineLayout, lag_words, layout
from labkit.views.picture import SMALL
from labkit.views.time_axis import MAX_TICKS
from labkit.views.timeline import layout_of_lab
from tests.examples import examples
from tests.lab.test_losses_recounted import MORE_VERBS, act, plain
from tests.views.layout import test_map_layout as map_test

SECOND_NS = 1_000_000_000
CLUSTERS = (("paris", ("paris-1", "paris-2")), ("tokyo", ("tokyo-1",)))


def contents(marks: list[TimelineMark], lags: tuple[Span, ...] = (), end_ns: int = 100) -> TimelineContents:
    """A timeline with these marks and lags."""
    window = Window(0, end_ns)
    return TimelineContents(window, CLUSTERS, (), (), lags, end_ns, (Column(0, 1, 0, 0, 0),), tuple(sorted(marks)))


def texts(placed: TimelineLayout) -> list[tuple[str, Box]]:
    """Everything that is written above the rows, below the bars, in the list and in the legend."""
    labels = [(mark.mark.words, mark.label) for mark in placed.marks if mark.label is not None]
    words = (*placed.numbers, *placed.lag_labels, *placed.listed, *placed.legend)
    return labels + [(one.words, one.box) for one in words]


def kept(placed: TimelineLayout) -> list[TimelineMark]:
    """The marks that can be read: by a label, or by a number and its entry in the list."""
    numbered = [mark.mark for mark in placed.marks if mark.label is None]
    spans = [one.words.split("-") for one in placed.numbers]
    numbers = [number for span in spans for number in range(int(span[0]), int(span[-1]) + 1)]
    listed = [one.words.split(" ", 1) for one in placed.listed]

    assert numbers == list(range(1, len(numbered) + 1))
    for number, mark in enumerate(numbered, 1):
        assert listed[number - 1][0] == str(number)
        assert listed[number - 1][1].endswith(mark.words)
    return [mark.mark for mark in placed.marks if mark.label is not None] + numbered


MARK = st.builds(
    TimelineMark,
    st.integers(0, 100),
    st.sampled_from(sorted(SIGNS)),
    st.text("abcdefghij <>", min_size=1, max_size=60).filter(lambda words: words.strip() == words),
)
MARKS = st.lists(MARK, max_size=60)
CROWD = [TimelineMark(at, "fault", "crash of a cluster with a long name") for at in range(0, 100, 2)]


@settings(deadline=None, max_examples=examples(150))
@given(MARKS, st.lists(st.tuples(st.integers(0, 99), st.integers(1, 60)), max_size=6))
@example(CROWD, [(10, 20), (15, 20)])
def test_every_mark_is_kept_and_no_two_texts_overlap(marks, lags):
    spans = tuple(
        Span("tokyo", at, min(100, at + length), "silent", "hears nothing for 3.4 s, 12 entries behind")
        for at, length in lags
    )
    placed = layout(contents(marks, spans))

    assert overlapping(placed) == []
    assert sorted(kept(placed)) == sorted(marks)
    assert len(placed.lag_labels) + len(placed.listed) - sum(mark.label is None for mark in placed.marks) == len(spans)


@settings(deadline=None, max_examples=examples(60))
@given(MARKS)
@example(CROWD)
def test_nothing_leaves_the_picture(marks):
    placed = layout(contents(marks))
    page = Box(0, 0, WIDTH, placed.height)
    short = [(words, box) for words, box in texts(placed) if box.width < WIDTH - 40]

    assert all(page.holds(box.x, box.y) and page.holds(box.right, box.bottom) for _, box in short)
    assert all(placed.left <= mark.x <= WIDTH for mark in placed.marks)


def test_a_few_marks_have_their_labels_and_no_numbers():
    placed = layout(contents([TimelineMark(at, "fault", f"crash {at}") for at in (10, 11, 12, 50)]))

    assert (placed.numbers, placed.listed) == ((), ())
    assert len({mark.label.y for mark in placed.marks[:3] if mark.label}) == 3, "one below the other"


def test_what_finds_no_room_for_its_label_has_a_number_and_is_listed():
    placed = layout(contents(CROWD))
    numbered = [mark for mark in placed.marks if mark.label is None]

    assert len(numbered) == len(placed.listed) > 10
    assert placed.numbers[0].words.startswith("1")
    assert placed.listed[0].words.startswith("1 0.000 s ")
    assert placed.listed[0].words.endswith(" crash of a cluster with a long name")


def test_a_number_of_three_digits_at_the_end_stays_inside():
    instants = [*(number // 3 for number in range(107)), 100]
    placed = layout(contents([TimelineMark(at, "fault", "crash of a cluster with a long name") for at in instants]))
    last = placed.numbers[-1]

    assert (last.words, last.box.right) == ("100", WIDTH)


def test_a_mark_at_the_end_has_its_label_on_the_left():
    placed = layout(contents([TimelineMark(99, "fault", "crash of paris")]))
    (mark,) = placed.marks

    assert mark.label is not None
    assert mark.label.right <= mark.x


def test_without_marks_the_rows_begin_at_the_top():
    label = layout(contents([TimelineMark(5, "fault", "crash")]))

    assert layout(contents([])).top == 14
    assert label.top == 14 + 19, "a line of labels above them"


def test_rows_are_clusters_with_their_nodes_below():
    placed = layout(contents([]))

    assert [(row.name, row.is_node) for row in placed.rows] == [
        ("paris", False),
        ("paris-1", True),
        ("paris-2", True),
        ("tokyo", False),
        ("tokyo-1", True),
    ]
    assert [row.y for row in placed.rows] == sorted(row.y for row in placed.rows)


def test_long_names_get_the_room_that_they_need():
    long = contents([])._replace(
        clusters=(("a-cluster-with-quite-a-long-name", ("a-cluster-with-quite-a-long-name-1",)),)
    )

    assert layout(long).left > layout(contents([])).left


@pytest.mark.parametrize("seconds", [0.01, 0.3, 1, 7, 59, 3_600, 86_400, 10_000_000])
@pytest.mark.parametrize("start_s", [0, 12])
def test_the_axis_has_a_reasonable_number_of_ticks_however_long_it_is(seconds, start_s):
    window = Window(start_s * SECOND_NS, int((start_s + seconds) * SECOND_NS))
    placed = layout(contents([])._replace(window=window))

    assert 1 <= len(placed.ticks) <= MAX_TICKS + 2
    assert all(placed.left - 0.1 <= x <= WIDTH for x, _ in placed.ticks)
    assert placed.x(window.start_ns) == placed.left


@pytest.mark.parametrize(
    ("seconds", "step_s"),
    [
        *((0.011, 0.001), (0.012, 0.002), (0.022, 0.002), (0.055, 0.005), (0.11, 0.01), (0.22, 0.02), (0.55, 0.05)),
        *((1.1, 0.1), (2.2, 0.2), (5.5, 0.5), (11, 1), (12, 2), (22, 2), (55, 5), (110, 10), (165, 15), (330, 30)),
        *((660, 60), (1_320, 120), (3_300, 300), (6_600, 600), (39_600, 3_600), (39_601, 7_200), (79_200, 7_200)),
        *((79_201, 10_800), (400_000, 39_600)),
    ],
)
def test_ticks_stand_at_round_instants_no_more_than_eleven_steps(seconds, step_s):
    window = Window(0, round(seconds * SECOND_NS))
    words = [words for _, words in layout(contents([])._replace(window=window)).ticks]

    assert words == [f"{number * step_s:.10g} s" for number in range(round(seconds / step_s * 1e6) // 10**6 + 1)]


def test_ticks_of_a_later_window_begin_with_the_first_round_instant_in_it():
    placed = layout(contents([])._replace(window=Window(int(12.5 * SECOND_NS), int(15.5 * SECOND_NS))))

    assert [words for _, words in placed.ticks] == ["12.5 s", "13 s", "13.5 s", "14 s", "14.5 s", "15 s", "15.5 s"]
    assert [x for x, _ in placed.ticks] == [placed.left + (644 - placed.left) * number / 6 for number in range(7)]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_every_lost_write_is_counted_once_and_counts_do_not_overlap(lost):
    columns = tuple(Column(number, 0, 0, 0, count) for number, count in enumerate(lost))
    placed = layout(contents([], end_ns=len(lost))._replace(columns=columns, slice_ns=1))
    middles = [(one.x + one.to_x) / 2 for one in placed.lost]

    assert sum(one.writes for one in placed.lost) == sum(lost)
    assert all(b - a > width_of("† 99999", SMALL) for a, b in pairwise(middles))


def test_a_lag_stands_below_the_bar_of_its_cluster_also_where_a_node_has_its_name():
    lag = Span("tokyo", 10, 20, "silent", "hears nothing")
    placed = layout(contents([], (lag,))._replace(clusters=(("paris", ("paris-1",)), ("tokyo", ("tokyo",)))))
    (bar, _), (label,) = [row for row in placed.rows if row.name == "tokyo"], placed.lag_labels

    assert label.box.y == bar.y + 29


def test_what_lags_say():
    assert lag_words(Span("tokyo", 0, 9, "behind", "up to 2.0 s, 3 entries behind")) == "behind up to 2.0 s, 3 entries"
    assert lag_words(Span("tokyo", 0, 9, "silent", "hears nothing for 4.0 s")) == "hears nothing for 4.0 s"


def legend(shown: TimelineContents) -> list[str]:
    """What the legend of a timeline says."""
    return [one.words for one in layout(shown).legend]


def test_the_legend_says_what_each_sign_and_tone_means_that_occurs():
    everything = contents([TimelineMark(5, what, "x") for what in SIGNS], (Span("tokyo", 0, 9, "silent", "hears"),))
    states = ("active", "standby", "sealed", "paused", "down")
    everything = everything._replace(
        spans=tuple([Span("tokyo", at, at + 1, tone, "") for at, tone in enumerate(TONES)]),
        nodes=tuple([Span("paris-1", at, at + 1, what, "") for at, what in enumerate(states)]),
        columns=(Column(0, 1, 2, 3, 4),),
    )
    assert legend(everything) == [
        *("primary", "secondary", "not replicating", "sealed", "down"),
        *("× fault", "+ its undoing", "> step", "^ new role", "! broken rule", "* note"),
        "striped: 1 s behind, or hears nothing",
        "node: thick serves, thin stands by, dotted sealed, fine dots paused, none down",
        "operations: full answered, striped refused, hollow in doubt",
        "† acknowledged write lost",
    ]


def test_the_legend_names_nothing_that_does_not_occur():
    empty = contents([])._replace(columns=())
    assert legend(empty) == []
    for what, sign in SIGNS.items():
        assert [words[0] for words in legend(empty._replace(marks=(TimelineMark(5, what, "x"),)))] == [sign]
    assert legend(empty._replace(nodes=(Span("paris-1", 0, 9, "standby", ""),))) == ["node: thin stands by"]
    assert legend(empty._replace(columns=(Column(0, 0, 2, 0, 0),))) == ["operations: striped refused"]
    (tone,) = layout(empty._replace(spans=(Span("tokyo", 0, 9, "disabled", ""),))).legend
    assert (tone.words, tone.what) == ("not replicating", "disabled")


def overlapping(placed: TimelineLayout) -> list[tuple[str, str]]:
    """Pairs of texts that overlap."""
    return [(a, b) for (a, first), (b, second) in combinations(texts(placed), 2) if first.overlaps(second)]


def struck_through(placed: TimelineLayout) -> list[tuple[str, str]]:
    """Pairs of marks of which the line of the second goes through the label of the first."""
    found = []
    for mark, other in permutations(placed.marks, 2):
        if mark.label is None or other.label is None or other.label.y >= mark.label.y:
            continue
        if mark.label.x + 0.01 < other.x < mark.label.right - 0.01:
            found.append((mark.mark.words, other.mark.words))
    for mark in placed.marks:
        falls = [Box(mark.x, top, 0.5, bottom - top) for top, bottom in placed.falls(mark.x, placed.top)]
        found += [
            (label.words, mark.mark.words) for label in placed.lag_labels for part in falls if label.box.overlaps(part)
        ]
    return found


@settings(deadline=None, max_examples=examples(100))
@given(MARKS, st.integers(0, 90))
@example(CROWD, 20)
@example([TimelineMark(98, "fault", "crash of paris"), TimelineMark(96, "step", "promote of tokyo")], 90)
def test_no_line_goes_through_a_label(marks, at):
    lags = [Span(name, at, at + 10, "silent", "hears nothing for 3.4 s") for name in ("paris", "tokyo")]
    assert struck_through(layout(contents(marks, tuple(lags)))) == []


def test_a_line_leaves_a_gap_for_the_labels_that_it_meets_and_is_whole_elsewhere():
    lag = Span("tokyo", 20, 40, "silent", "hears nothing for 3.4 s")
    placed = layout(contents([TimelineMark(5, "fault", "cut"), TimelineMark(30, "fault", "crash")], (lag,)))
    (label,), (there, here) = placed.lag_labels, (mark.x for mark in placed.marks)

    assert placed.falls(there, 10.0) == [(10.0, placed.operations_y)]
    assert placed.falls(here, 10.0) == [(10.0, label.box.y), (label.box.bottom, placed.operations_y)]


def test_names_leave_most_of_the_width_to_time():
    names = ("x" * 90, ("y" * 90,))
    placed = layout(contents([])._replace(clusters=(names,)))

    assert placed.left == MAX_LEFT


def test_the_layout_is_the_one_that_is_kept(full_timeline, kept, numbers):
    kept("timeline.txt", numbers(layout(full_timeline)))


def test_the_layout_of_a_crowd_is_the_one_that_is_kept(kept, numbers):
    lags = [Span("tokyo", at, at + 20, "silent", "hears nothing for 3.4 s") for at in (10, 15, 50, 90)]
    columns = tuple(Column(at, 0, 0, 0, lost) for at, lost in ((0, 3), (10, 1), (30, 2), (31, 0), (60, 9)))
    crowd = contents(CROWD, tuple(lags))._replace(columns=columns, slice_ns=10)
    kept("crowd.txt", numbers(layout(crowd)._replace(legend=())))


@pytest.mark.parametrize(
    "seeds", [range(first, first + 25) for first in range(0, 200, 25)], ids=lambda seeds: seeds.start
)
@pytest.mark.slow
def test_in_random_labs_no_words_overlap_and_no_line_goes_through_any(seeds):
    for seed in seeds:
        rng = random.Random(seed)
        lab: Any = Lab(plain(rng), seed=seed)
        with suppress(RunbookError):
            lab.replicate("paris", "tokyo")
        for _ in range(4):
            with suppress(RunbookError, Silence, ValueError):
                act(lab, rng, MORE_VERBS)
            lab.run(f"{rng.randrange(1, 900)}ms")
            shown = map_layout.layout(map_contents.contents_of(lab.queries))
            assert map_test.overlapping(shown) == [], f"map, seed {seed}"
            assert crossed_boxes(shown) == [], f"map, seed {seed}"
        placed = layout_of_lab(lab.queries)
        assert overlapping(placed) == [], f"timeline, seed {seed}"
        assert struck_through(placed) == [], f"timeline, seed {seed}"


def crossed_boxes(shown: map_layout.MapLayout) -> list[tuple[str, str]]:
    """Lines and arrows of a map that pass under the box of a site at which they do not end."""
    ways = [((one.mark.a, one.mark.b), one.segment) for one in shown.lines]
    ways += [((one.mark.primary_site, one.mark.secondary_site), one.segment) for one in shown.follows]
    return [
        ("-".join(ends), site.site.name)
        for ends, way in ways
        for site in shown.sites
        if site.site.name not in ends and way.crosses(site.box)
    ]
