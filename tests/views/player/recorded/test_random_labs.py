"""What a player says of random labs is recomputed from trace, ledger and indexes: gaps, addresses, losses, messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.views.player.recorded.recording import recording_of
from tests.views.player import test_space_time
from tests.views.player.recorded import test_client_moves, test_derived_events, test_loss_words, test_write_gaps
from tests.views.player.scripts import random_labs

EVERYDAY, MORE, STEP = 4, 50, 8


@pytest.mark.parametrize(
    "seeds",
    [range(EVERYDAY), *(pytest.param(range(n, n + STEP), marks=pytest.mark.slow) for n in range(EVERYDAY, MORE, STEP))],
)
def test_what_is_said_is_recomputed(seeds: range, tmp_path: Path) -> None:
    gaps = moves = 0
    for seed, lab in random_labs(seeds):
        where = f"seed {seed}"
        gaps += test_write_gaps.check(lab, where)
        moves += test_client_moves.check(lab, where)
        test_loss_words.check(lab, where)
        test_derived_events.check(lab, where)
        test_space_time.check(recording_of(lab.queries, lab.invariants), tmp_path)
    if seeds[0] < EVERYDAY:  # some ranges of eight hold no promotion that a write followed
        assert gaps
    assert moves >= len(seeds) // 2
