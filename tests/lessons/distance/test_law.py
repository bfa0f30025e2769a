"""Exercise law: cases of other seeds, none of which a table of the usual nine knows."""

from __future__ import annotations

from labkit.lessons.distance.law import CASES, LAW, Expected, by_formula, untouched
from labkit.lessons.judging import judge


def test_cases_differ_in_seed_rate_and_distance():
    assert len({seed for _, _, seed in CASES}) == len(CASES) == 5
    assert len({(gap, way) for gap, way, _ in CASES}) == 5


def test_near_is_one_more_or_less():
    assert [Expected(0.01, 0.08, 8, said).is_near for said in (6.9, 7, 8.4, 9, 9.1, True, "8", None)] == [
        *(False, True, True, True, False),
        *(False, False, False),
    ]


def test_a_function_that_says_nothing_is_untouched():
    assert untouched(lambda gap_s, one_way_s: None)
    assert not untouched(by_formula)
    assert not untouched(lambda gap_s, one_way_s: gap_s and None), "it forgets to return"
    assert not untouched(lambda gap_s, one_way_s: [].pop()), "an error is something"


def test_what_a_function_says_or_raises_is_shown_as_it_is():
    assert "your function says '8.0'" in judge(LAW, (lambda gap_s, one_way_s: str(one_way_s / gap_s),)).seen
    assert "your function raises ZeroDivisionError: " in judge(LAW, (lambda gap_s, one_way_s: 1 // 0,)).seen
