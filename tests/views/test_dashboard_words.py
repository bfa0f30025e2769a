"""Every control has words of its own and says what it does."""

from __future__ import annotations

from labkit.views.dashboard_faults import BUTTONS
from labkit.views.dashboard_words import OF_TIME, WORDS


def test_every_control_has_words_of_its_own_and_says_what_it_does() -> None:
    assert len({words for words, _ in WORDS.values()}) == len(WORDS)
    assert all(words and hint for words, hint in WORDS.values())
    assert {*BUTTONS, *OF_TIME} <= set(WORDS)
