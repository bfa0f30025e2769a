"""A finished ledger says what the ledger says, and works out each loss once."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.records.loss_and_outage import RecoveryLedger
from labkit.views.player.recorded.finished_ledger import FinishedLedger


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Of which promotions a ledger worked out the losses, each time that it did."""
    found: list[Any] = []
    lost = RecoveryLedger.lost

    def noted(self: RecoveryLedger, promotion: Any = None) -> Any:
        found.append(promotion)
        return lost(self, promotion)

    monkeypatch.setattr(RecoveryLedger, "lost", noted)
    return found


def test_it_says_the_same_and_asks_once(drilled_lab: Lab, asked: list[Any]) -> None:
    ledger = drilled_lab.ledger
    finished, wanted = FinishedLedger(ledger), (ledger.lost(), ledger.lost(ledger.promotions[-1]))
    asked.clear()

    for _ in range(3):
        assert (finished.lost(), finished.lost(ledger.promotions[-1])) == wanted
    assert asked == [None, ledger.promotions[-1]]
    own = (ledger.answered, ledger.in_doubt, ledger.promotions)
    assert (finished.answered, finished.in_doubt, finished.promotions) == own
    finished.lost().clear()
    assert finished.lost() == wanted[0]


def test_a_player_works_out_the_losses_a_few_times(drilled_lab: Lab, asked: list[Any]) -> None:
    player = drilled_lab.play()

    assert len(player.recording.losses) > 10
    assert len(asked) <= 2 + len(drilled_lab.ledger.promotions)  # once for all, once each, and once for the timeline
