"""Bounds in words."""

from __future__ import annotations

from labkit.proof.bounds import Bounds


def test_bounds_are_written_out() -> None:
    assert str(Bounds(1, 2, 1, 0, "late", 3)) == (
        "1 write, 2 cuts, 1 restart of the secondary, 0 takeovers at the primary; a backlog of 3 entries; network: late"
    )
    assert "2 restarts of the secondary, 1 takeover at" in str(Bounds(0, 0, 2, 1))


def test_unless_others_are_given_two_writes_and_one_cut_are_searched() -> None:
    assert Bounds() == Bounds(writes=2, cuts=1, restarts=0, takeovers=0, network="destroying", backlog=1)
