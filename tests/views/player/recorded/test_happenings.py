"""Happenings: everything but messages is there, once, in the order of the trace; what comes too often is counted."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.places import scenarios
from labkit.trace import InvariantEvent, NoteEvent, ObservedEvent, OutcomeEvent, StepEvent
from labkit.views.player.recorded.happenings import MAX_OBSERVED, OnlyCounted, happenings_of


def said(rows: list[Any], clusters: dict[str, tuple[str, ...]] | None = None) -> list[tuple[str, str, int]]:
    return [(one.kind, one.words, one.row) for one in happenings_of(rows, clusters or {})[0]]


@pytest.mark.slow
def test_a_failover_in_order() -> None:
    lab = Lab.load(scenarios() / "first" / "failover.lab.yaml").run()
    rows = [row for chunk in lab.trace.state()[1] for row in chunk]
    found, left = happenings_of(rows, {plan.name: plan.node_names for plan in lab.blueprint.clusters})
    words = [one.words for one in found]

    assert left == []
    assert [one.row for one in found] == sorted({one.row for one in found})
    assert words.count("crash paris") == 1, "a step and the fault that it is are one"
    order = ["replicate paris to tokyo", "tokyo is secondary, streaming", "crash paris", "promote tokyo"]
    order += ["tokyo is primary", "isolate paris", "restart paris", "heal paris"]
    assert [words.index(one) for one in order] == sorted(words.index(one) for one in order)
    assert next(one for one in found if one.words == "crash paris").hosts == ("paris-1", "paris-2", "paris-3")
    kinds = {one.words: one.kind for one in found}
    assert (kinds["crash paris"], kinds["heal paris"], kinds["tokyo is primary"]) == ("fault", "undoing", "mode")
    for one in found:
        assert rows[one.row][0] != "message"


def outcome(at_ns: int, client: str, how: str) -> OutcomeEvent:
    status = {"refused": 503, "answered": 200}.get(how)
    return OutcomeEvent("outcome", at_ns - 5, at_ns, client, "put-secret", "secret/data/a", "paris", how, status, 1)


def test_operations_that_fail_are_gathered_until_one_is_answered() -> None:
    ways = ("answered", "unknown", "unknown", "refused", "answered", "refused")
    rows: list[Any] = [tuple(outcome(10**9 * n, f"shop-{n % 2}", how)) for n, how in enumerate(ways)]

    assert said(rows) == [
        ("clients", "shop-1: put-secret secret/data/a in doubt, the first of 2 of 2 clients until 2.000 s", 1),
        ("clients", "shop-1: put-secret secret/data/a refused 503", 3),
        ("clients", "shop-1: put-secret secret/data/a refused 503", 5),
    ]


def test_steps_rules_and_notes_are_said_in_words() -> None:
    rows: list[Any] = [
        tuple(StepEvent("step", 0, 1, "note", "begins")),
        tuple(NoteEvent("note", 0, "look here")),
        tuple(StepEvent("step", 1, 2, "promote tokyo", "begins")),
        tuple(StepEvent("step", 2, 2, "it is not level", "failed")),
        tuple(InvariantEvent("invariant", 3, "one primary", "broken", "two")),
    ]

    assert said(rows) == [
        ("note", "look here", 1),
        ("step", "promote tokyo", 2),
        ("step", "step 2 failed: it is not level", 3),
        ("rule", "rule broken: one primary: two", 4),
    ]


def test_what_is_observed_often_is_counted() -> None:
    rows: list[Any] = [tuple(ObservedEvent("observed", n, "paris-1", "merkle_loop", ())) for n in range(MAX_OBSERVED)]
    assert len(said(rows)) == MAX_OBSERVED
    more = [*rows, tuple(ObservedEvent("observed", 99, "paris-1", "merkle_loop", ()))]

    assert happenings_of(more, {}) == ([], [OnlyCounted("merkle loop", MAX_OBSERVED + 1)])
