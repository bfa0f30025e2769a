"""Exercise rule: how far behind tokyo is in sound worlds and in planted ones, and what is no rule."""

from __future__ import annotations

import pytest

from labkit.lessons.failing_drill.rule import (
    CUT,
    LIMIT,
    MAX_BEHIND,
    MAX_BEHIND_S,
    PAIR,
    PLANTED,
    RULE,
    SOUND,
    WORLDS,
    falls_behind,
    look,
    untouched,
    watched,
    world,
)
from labkit.lessons.judging import judge


@pytest.mark.parametrize("name", PLANTED)
def test_tokyo_falls_far_behind_where_something_is_planted(name):
    lab = world(0)
    PLANTED[name](lab)
    falls_behind(lab, MAX_BEHIND + 1)

    assert lab.lag(*PAIR).entries == MAX_BEHIND + 1
    assert MAX_BEHIND_S < lab.lag(*PAIR).seconds < MAX_BEHIND_S + 0.1


def test_it_is_tried_as_the_text_says():
    assert (WORLDS, len(PLANTED), MAX_BEHIND, MAX_BEHIND_S) == (12, 3, 20, 2)


@pytest.mark.parametrize("name", SOUND)
def test_tokyo_keeps_up_where_nothing_is_planted(name):
    assert watched({"lag": {"at most": 20}}, name, 1) == ""
    assert bool(watched({"lag": {"at most": 19}}, name, 1)) == (name == LIMIT)


@pytest.mark.slow
@pytest.mark.parametrize(("entries", "refused_by"), [(10, "silent"), (19, "silent"), (20, ""), (21, CUT), (39, CUT)])
def test_the_limit_is_the_one_that_the_text_names(entries, refused_by):
    assert judge(RULE, ({"lag": {"at most": entries}},)).condition == refused_by
    assert judge(RULE, (lambda lab: lab.lag(*PAIR).seconds <= entries / 10,)).condition == refused_by


@pytest.mark.slow
def test_what_cannot_be_watched_and_what_raises_is_said():
    assert judge(RULE, ({"behind": 1},)).seen.startswith("it cannot be watched: expected a key, got 'behind'")
    assert "ZeroDivisionError" in look(lambda lab: 1 / 0).said
    assert list(map(RULE.accepts, ({}, len, "lag", 5))) == [True, True, False, False]


def test_what_says_nothing_yet_is_untouched():
    assert untouched(lambda lab: None)
    assert untouched({})
    assert not untouched(lambda lab: True)
    assert not untouched(lambda lab: lab.crash("nowhere"))


def forgets_to_return(lab):
    lab.lag("paris", "tokyo").entries <= 20  # noqa: B015  # what people write


def test_a_rule_that_forgets_to_return_has_tried():
    assert judge(RULE, (forgets_to_return,)).condition == CUT
