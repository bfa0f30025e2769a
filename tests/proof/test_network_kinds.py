"""The kinds of network."""

from __future__ import annotations

from labkit.proof.network_kinds import NETWORKS


def test_a_network_has_one_kind_of_fault_at_most() -> None:
    assert {name: sum(kind[1:]) for name, kind in NETWORKS.items()} == {
        "ordered": 0,
        "destroying": 1,
        "late": 1,
        "losing": 1,
        "duplicating": 1,
    }
