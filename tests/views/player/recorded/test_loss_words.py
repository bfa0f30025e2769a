"""Loss words: of what a survivor lacked, what was acknowledged is told from what was not."""

from __future__ import annotations

import re

from labkit import Lab
from labkit.views.player.page import lost_table
from labkit.views.player.recorded.loss_words import losses_in_words
from labkit.views.player.recorded.recording import recording_of


def check(lab: Lab, where: str) -> int:
    """Recompute the sentences from the ledger; return how many there are."""
    said = list(losses_in_words(lab.ledger))
    promotions = [taken for taken in lab.ledger.promotions if lab.ledger.lost(taken)]
    assert len(said) == len(promotions), where
    for words, taken in zip(said, promotions, strict=True):
        lost = lab.ledger.lost(taken)
        late = [write for write in lost if write.committed.commit >= taken.next_commit]
        found = re.search(r"it lacked (\d+) commits? of (\S+): (\d+) acknowledged, so lost", words)
        assert found or "it lacked no commit of " in words, where
        lacked = (int(found[1]), int(found[3])) if found else (0, 0)
        assert lacked == (len(taken.missing), len(lost) - len(late)), where
        more = re.search(r"(\d+)( more)? (was|were) acknowledged by \S+ afterwards, and lost at once", words)
        assert (int(more[1]) if more else 0) == len(late), where
        assert more is None or (more[2] is None, more[3]) == (late == lost, "was" if len(late) == 1 else "were"), where
        reach = (taken.fault_ns - min(write.at_ns for write in lost)) / 1e9
        begin = "move" if taken.planned else "fault"
        assert (f"acknowledged {reach:.3f} s before the {begin}" in words) == (reach > 0), where
    return len(said)


def test_a_failover_says_what_was_acknowledged_of_what_was_lacking(drilled_lab: Lab) -> None:
    assert check(drilled_lab, "drill") == 1
    (words,) = losses_in_words(drilled_lab.ledger)
    assert words.startswith("When tokyo was promoted, at ")
    assert not list(losses_in_words(Lab.pair(seed=7).ledger))


def test_what_an_old_primary_acknowledges_later_is_lost_at_once() -> None:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.partition("paris", "tokyo")
    lab["tokyo"].promote()
    lab.run("1s")
    lab["paris"].post("secret/data/own", {"data": {"n": 1}})

    (words,) = losses_in_words(lab.ledger)
    assert re.fullmatch(
        r"When tokyo was promoted, at [\d.]+ s, it lacked no commit of paris\. "
        r"1 was acknowledged by paris afterwards, and lost at once\.",
        words,
    )
    recording = recording_of(lab.queries, lab.invariants)
    (loss,) = recording.losses
    assert loss.promoted_ns < loss.write.at_ns
    shown = f"{loss.write.at_ns / 1e9:.3f}"
    assert re.search(rf"<tr><td>{shown}<td>.*<td class=\"number\">{shown}<", lost_table(recording))
    (both,) = [one.words for one in recording.happenings if "both primary" in one.words]
    assert both.endswith("are both primary to the end")
