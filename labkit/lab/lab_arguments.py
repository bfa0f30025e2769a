"""Lab arguments: what a lab is made of, and which of its instants can be gone back to."""

from __future__ import annotations

from typing import Any

from labkit.lab import build
from labkit.lab.checkpoints import Checkpoints
from labkit.lab.plan.blueprint import Blueprint
from labkit.lab.plan.blueprint_rules import judge
from labkit.lab.plan.workload_operations import OPERATIONS
from labkit.lab.snapshot import Snapshot
from labkit.service.arguments import duration_ns, flag, seed, shown, whole_number, wrong
from labkit.service.durations import format_duration

MIN_EVERY_NS = 1_000_000
MAX_LIMIT = 1_000_000


def judge_lab(blueprint: Any, lab_seed: Any, trace: Any, snapshot: Any) -> int:
    """Judge what a lab is to be made of; return its seed."""
    if not isinstance(blueprint, Blueprint):
        raise wrong("blueprint", "a Blueprint; Lab.pair() and Lab.triangle() need none", blueprint)
    judge(blueprint, OPERATIONS, build.SHAPES)
    flag("trace", trace)
    if snapshot is not None and not isinstance(snapshot, Snapshot):
        raise wrong("snapshot", "what lab.snapshot() gave", snapshot)
    return seed("seed", lab_seed)


def judge_scenario(snapshot: Snapshot | None, restores: object) -> None:
    """Judge whether a snapshot can be gone on with by what restores a scenario, None where nothing does."""
    kept = snapshot.state["scenario"] if snapshot is not None else None
    if kept is not None and restores is None:
        title = shown(kept["scenario"]["title"])
        raise ValueError(f"snapshot: expected one without a scenario, got one of {title}; use labkit.Lab.restore")


def judge_checkpoints(every: Any, limit: Any) -> tuple[int, int]:
    """Return an interval in nanoseconds and a number of checkpoints."""
    every_ns = duration_ns("every", every, seconds=True)
    if every_ns < MIN_EVERY_NS:
        raise wrong("every", "a duration from 1ms up", every)
    return every_ns, whole_number("limit", "a whole number from 2 up", limit, 2, MAX_LIMIT)


def judge_instant(instant: Any, now_ns: int) -> int:
    """Return an instant that has been, in nanoseconds."""
    at_ns = duration_ns("instant", instant, seconds=True)
    if at_ns > now_ns:
        raise wrong("instant", f"an instant up to now, that is up to {format_duration(now_ns)}", instant)
    return at_ns


def cannot_repeat(instant: Any, kept: Checkpoints | None) -> str:
    """Return why an instant cannot be gone back to."""
    since = "no checkpoint"
    if kept is not None and kept.kept:
        since = f"checkpoints from {format_duration(kept.kept[0].at_ns)} on"
    why = "what was done by hand before cannot be repeated, nor what was before a snapshot"
    return f"instant: expected one that can be gone back to, got {shown(instant)}; kept: {since}; {why}"
