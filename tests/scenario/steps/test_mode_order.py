"""A step that needs a primary or a secondary stands below one that can have made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labkit.scenario.loading import load
from labkit.scenario.scenario import Step
from labkit.scenario.steps.mode_order import MAKES, NEEDS, out_of_order
from labkit.scenario.verbs import VERBS

REPLICATE = ("replicate", {"primary": "paris", "secondary": "tokyo"})


def steps_of(*given: tuple[str, dict[str, Any]], fails: str | None = None) -> list[Step]:
    """The steps of a timeline; ``fails`` is the last one's."""
    return [
        Step(
            number=number,
            verb=verb,
            arguments=tuple(arguments.items()),
            text="",
            at_ns=None,
            after_ns=0,
            fails=fails if number == len(given) else None,
            late_ok=False,
        )
        for number, (verb, arguments) in enumerate(given, 1)
    ]


@pytest.mark.parametrize(
    ("given", "keys"),
    [
        ([("promote", {"cluster": "tokyo"})], ["cluster"]),
        ([REPLICATE, ("promote", {"cluster": "tokyo"})], []),
        ([REPLICATE, ("promote", {"cluster": "paris"})], ["cluster"]),
        ([REPLICATE, ("demote", {"cluster": "paris"}), ("promote", {"cluster": "paris"})], []),
        ([REPLICATE, ("demote", {"cluster": "tokyo"})], ["cluster"]),
        ([REPLICATE, ("repoint", {"cluster": "lima", "to": "paris"})], ["cluster"]),
        ([REPLICATE, ("failover", {"old": "tokyo", "new": "paris"})], ["old", "new"]),
        (
            [REPLICATE, ("failover", {"old": "paris", "new": "tokyo"}), ("failover", {"old": "tokyo", "new": "paris"})],
            [],
        ),
        ([("enable-secondary", {"cluster": "tokyo", "primary": "paris"}), ("promote", {"cluster": "tokyo"})], []),
        ([("ask", {"cluster": "paris", "path": "sys/health"}), ("promote", {"cluster": "tokyo"})], ["cluster"]),
        ([("ask", {"path": "sys/replication/dr/secondary/enable"}), ("promote", {"cluster": "tokyo"})], []),
        ([("ask", {"path": "sys/$(what)"}), ("promote", {"cluster": "tokyo"})], []),
    ],
)
def test_a_mode_that_nothing_has_made_is_named(given: list[Any], keys: list[str]) -> None:
    found = list(out_of_order(steps_of(*given)))

    assert [row.key for row in found] == keys
    assert all(row.step == len(given) for row in found)


def test_a_step_that_is_to_fail_may_stand_anywhere() -> None:
    assert list(out_of_order(steps_of(("promote", {"cluster": "tokyo"}), fails=""))) == []


def test_the_tables_name_verbs_and_their_clusters() -> None:
    for table in (NEEDS, MAKES):
        for verb, clusters in table.items():
            assert set(clusters) <= {parameter.name for parameter in VERBS[verb].parameters}


def test_no_shipped_scenario_is_out_of_order(checkout: Path) -> None:
    files = sorted((checkout / "scenarios").rglob("*.lab.yaml"))

    assert len(files) > 60
    assert [row for path in files for row in out_of_order(load(path).timeline)] == []
