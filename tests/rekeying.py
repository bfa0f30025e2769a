"""Rekeying in tests: a cluster of a lab is given other key shares, as an operator does it."""

from __future__ import annotations

from labkit import Lab


def rekey(lab: Lab, name: str, shares: int = 4, threshold: int = 2) -> tuple[str, ...]:
    """Rekey a cluster; its operator has the new shares from then on, and they are returned."""
    return lab[name].rekey(shares, threshold)


def hand_over(lab: Lab, name: str, keys: tuple[str, ...]) -> None:
    """Give a cluster's operator key shares."""
    lab[name].use_unseal_keys(keys)
