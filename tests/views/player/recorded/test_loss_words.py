"""Loss words: of what a survivor lacked, what was acknowledged is told from what was not."""

from __future__ import annotations

import re

import pytest

from labkit import Lab
from labkit.views.player.recorded.loss_words import losses_in_words
from tests.views.player.scripts import random_labs


def check(lab: Lab, where: str) -> int:
    """Recompute the sentences from the ledger; return how many there are."""
    said = list(losses_in_words(lab.ledger))
    promotions = [taken for taken in lab.ledger.promotions if lab.ledger.lost(taken)]
    assert len(said) == len(promotions), where
    for words, taken in zip(said, promotions, strict=True):
        lost = lab.ledger.lost(taken)
        late = [write for write in lost if write.committed.commit >= taken.next_commit]
        found = re.search(r"it lacked (\d+) commits? of (\S+): (\d+) acknowledged, so lost", words)
        assert found, where
        assert (int(found[1]), int(found[3])) == (len(taken.missing), len(lost) - len(late)), where
        more = re.search(r"(\d+) more were acknowledged by", words)
        assert (int(more[1]) if more else 0) == len(late), where
        reach = (taken.fault_ns - min(write.at_ns for write in lost)) / 1e9
        assert (f"acknowledged {reach:.3f} s before the fault" in words) == (reach > 0), where
    return len(said)


def test_a_failover_says_what_was_acknowledged_of_what_was_lacking(drilled_lab: Lab) -> None:
    assert check(drilled_lab, "drill") == 1
    (words,) = losses_in_words(drilled_lab.ledger)
    assert words.startswith("When tokyo was promoted, at ")
    assert not list(losses_in_words(Lab.pair(seed=7).ledger))


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 50), marks=pytest.mark.slow)])
def test_in_random_labs_too(seeds: range) -> None:
    assert sum(check(lab, f"seed {seed}") for seed, lab in random_labs(seeds)) >= 0
