"""Rekeying in tests: a cluster of a lab is given other key shares, as an operator does it."""

from __future__ import annotations

from labkit import Lab
from labkit.lab.runbook_effects import Credentials


def rekey(lab: Lab, name: str, shares: int = 4, threshold: int = 2) -> tuple[str, ...]:
    """Rekey a cluster; its operator has the new shares from then on, and they are returned."""
    cluster = lab[name]
    sent = {"secret_shares": shares, "secret_threshold": threshold}
    started = cluster.put("sys/rekey/init", sent, token="").raise_for_status().body or {}
    for share in cluster.unseal_keys[: started["required"]]:
        body = {"key": share, "nonce": started["nonce"]}
        done = cluster.put("sys/rekey/update", body, token="").raise_for_status().body or {}
    hand_over(lab, name, tuple(done["keys"]))
    return tuple(done["keys"])


def hand_over(lab: Lab, name: str, keys: tuple[str, ...]) -> None:
    """Give a cluster's operator key shares."""
    credentials = lab.parts.console.credentials
    credentials[name] = Credentials(credentials[name].root_token, keys)
