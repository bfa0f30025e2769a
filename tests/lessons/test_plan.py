"""Plans: what is handed in by a way or a trap, and the minutes of a lesson."""

from __future__ import annotations

from dataclasses import replace

from tests.lessons.conftest import APP, DOUBLE, PLAN, TWO, set_two


def test_an_act_is_done_in_a_start_of_its_own():
    (vault,) = TWO.handed_in(set_two)

    assert vault.get(APP).data["data"] == {"n": 2}
    assert TWO.handed_in(lambda vault: (1, 2))[0].get(APP).data["data"] == {"n": 1}


def test_an_act_returns_all_that_is_handed_in_where_that_is_more():
    both = replace(TWO, takes=("the vault", "a list"))

    assert both.handed_in(lambda vault: (vault, [1]))[1] == [1]


def test_a_function_is_handed_in_itself():
    assert DOUBLE.handed_in(abs) == (abs,)


def test_what_is_no_function_is_made_by_an_act():
    text = replace(DOUBLE, accepted="a text", begins_with="a = 1")

    assert text.handed_in(str.upper) == ("A = 1",)
    assert replace(DOUBLE, accepted="a condition").handed_in(dict) == ({},)
    assert (text.is_made, DOUBLE.is_made) == (True, False)


def test_minutes_add_up():
    assert PLAN.minutes.total == 12
