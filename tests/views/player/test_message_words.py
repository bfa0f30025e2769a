"""Message words: every kind of message has words without signs of the wire, and several of it end in s."""

from __future__ import annotations

from labkit import Lab
from labkit.lab.measures.traffic import API_KINDS, MECHANISMS
from labkit.views.player.message_words import WORDS, words_of


def test_every_kind_that_labs_send_has_words(drilled_lab: Lab) -> None:
    kinds = {one.what for one in drilled_lab.trace.select("message")}

    assert kinds <= {*MECHANISMS, *API_KINDS}
    assert set(WORDS) <= {*MECHANISMS, *API_KINDS}
    for kind in {*MECHANISMS, *API_KINDS}:
        words = words_of(kind)
        assert words
        assert "_" not in words
        assert not words.endswith("s")
    assert words_of("response") == "answer"
    assert words_of("bootstrap_request") == "bootstrap request"
