"""Finished ledger: the ledger of a run that is looked at and does not go on: what is lost is worked out once."""

from __future__ import annotations

from typing import Any

from labkit.lab.records.ledger import Write
from labkit.lab.records.loss_and_outage import Promotion, RecoveryLedger


class FinishedLedger:
    """A ledger whose losses are kept once they were asked for; everything else is the ledger's own."""

    def __init__(self, ledger: RecoveryLedger) -> None:
        self._ledger = ledger
        self._lost: dict[Promotion | None, tuple[Write, ...]] = {}

    def __repr__(self) -> str:
        return f"FinishedLedger({self._ledger!r})"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def lost(self, promotion: Promotion | None = None) -> list[Write]:
        """Return the acknowledged writes that are lost, as the ledger does."""
        if promotion not in self._lost:
            self._lost[promotion] = tuple(self._ledger.lost(promotion))
        return list(self._lost[promotion])
