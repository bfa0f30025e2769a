"""Other luck: branches differ by luck and nothing else, and the interval with the largest change is halved."""

from __future__ import annotations

import pytest

from labkit.hunt.no_return import other_luck
from labkit.hunt.no_return.breaking_runs import WrittenRun
from labkit.hunt.no_return.other_luck import Branched, curve_of
from labkit.hunt.world import World, world_of
from labkit.lab.snapshot import Snapshot
from labkit.service.durations import SECOND_NS


def test_a_write_is_lost_by_luck_before_the_crash_and_not_after(lossy: WrittenRun):
    """The write on its way at the crash arrives in time or not; after the promotion all branches are alike."""
    done: list[int] = []
    curve = curve_of(lossy, "lost", 24, lambda: done.append(1))

    assert len(done) == curve.branches == 24
    assert [one.runs for one in curve.instants] == [3] * 8
    assert [one.at_ns for one in curve.instants] == [lossy.end_ns * place // 8 for place in range(8)]
    assert 0 < sum(one.broken for one in curve.instants[:4]) < 12
    assert {one.rate for one in curve.instants if one.at_ns > lossy.began_ns[3]} == {1.0}


@pytest.mark.parametrize(("limit", "width"), [(160, 8), (200, 16), (240, 32), (1_000, 8 << 10)])
def test_the_interval_of_a_jump_is_halved_while_branches_are_left(
    limit: int, width: int, lossy: WrittenRun, monkeypatch: pytest.MonkeyPatch
):
    run = lossy._replace(end_ns=8 * SECOND_NS)
    jump_ns = 3_300_000_000
    monkeypatch.setattr(other_luck, "_snapshot", lambda world, at_ns: at_ns)
    monkeypatch.setattr(World, "restore", classmethod(lambda cls, at_ns: None))
    monkeypatch.setattr(
        other_luck, "_branched", lambda at_ns, key, runs, done: Branched(at_ns, runs, runs if at_ns >= jump_ns else 0)
    )
    curve = curve_of(run, "lost", limit)

    assert curve.change is not None
    low, high = curve.change
    assert low.at_ns < jump_ns <= high.at_ns
    assert curve.branches <= limit
    assert high.at_ns - low.at_ns == pytest.approx(8 * SECOND_NS / width, rel=0.001)


def test_without_a_jump_nothing_is_halved(lossy: WrittenRun, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        other_luck, "_branched", lambda snapshot, key, runs, done: Branched(snapshot.at_ns, runs, runs // 2)
    )
    curve = curve_of(lossy, "lost")

    assert (curve.change, curve.branches) == (None, 160)


@pytest.mark.parametrize(
    ("counts", "change"),
    [
        ([(0, 40), (10, 40), (7, 20), (13, 20)], 0),
        ([(0, 40), (10, 40), (40, 40)], 1),
        ([(7, 20), (13, 20)], None),
        ([(7, 20)], None),
        ([(20, 20), (0, 20)], 0),
    ],
)
def test_the_largest_change_is_one_of_those_whose_bounds_do_not_meet(counts: list[tuple[int, int]], change: int | None):
    """A larger difference of few branches may be chance, and hides no smaller one that is none."""
    found = {at_ns: Branched(at_ns, runs, broken) for at_ns, (broken, runs) in enumerate(counts)}

    assert other_luck._change(found) == (None if change is None else (found[change], found[change + 1]))


def test_a_run_that_ends_at_its_beginning_has_one_instant(lossy: WrittenRun):
    done: list[int] = []
    curve = curve_of(lossy._replace(end_ns=0), "lost", 16, lambda: done.append(1))

    assert [one.at_ns for one in curve.instants] == [0]
    assert (curve.change, curve.branches, len(done)) == (None, 2, 2)


def test_an_instant_is_after_all_that_happens_then(lossy: WrittenRun):
    world = world_of(lossy.scenario)
    snapshot = other_luck._snapshot(world, lossy.began_ns[2])

    assert isinstance(snapshot, Snapshot)
    assert snapshot.at_ns == lossy.began_ns[2]
    assert not world.queries.is_running("paris-1")
