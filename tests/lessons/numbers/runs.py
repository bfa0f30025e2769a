"""Runs: what is played to know the numbers of lessons: each notebook once, and each start as it is asked for."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

from labkit import Lab, Vault
from labkit.lessons.catalogue import plan
from labkit.places import notebooks
from labkit.trace import SECOND_NS
from tests.notebooks.test_notebooks import run

LONG = ("explore(",)
"""What a notebook does for some seconds, and of which no text tells a number."""


class Runs:
    """What was played so far; ``["04"]`` gives what each name of a notebook was after the cell that has it first."""

    def __init__(self) -> None:
        self._played: dict[str, dict[str, Any]] = {}

    def __getitem__(self, lesson: str) -> dict[str, Any]:
        if lesson not in self._played:
            names: dict[str, Any] = {"__name__": "__main__"}
            first: dict[str, Any] = {}
            for cell in json.loads((notebooks() / plan(lesson).file).read_text(encoding="utf-8"))["cells"]:
                source = "".join(cell["source"])
                if cell["cell_type"] == "code" and not any(long in source for long in LONG):
                    run(source, names)
                    first |= {name: value for name, value in names.items() if name not in first}
            self._played[lesson] = first
        return self._played[lesson]


def begun(lesson: str, exercise: str) -> Any:
    """Return a new start of an exercise."""
    (found,) = [one for one in plan(lesson).exercises if one.name == exercise]
    assert found.start is not None
    return found.start()


@cache
def pair() -> Lab:
    """Return a pair that replicates and has taken a few orders; nobody changes it."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    for number in range(10):
        lab["paris"].post(f"secret/data/orders/{number}", {"data": {"n": number}})
    return lab.run("2s")


def crossing_s(lab: Lab | None = None) -> float:
    """Return how long a copy takes from one cluster to the other, in hundredths of a second, rounded down."""
    found = [
        (event.at_ns - event.sent_ns) / SECOND_NS
        for event in (lab or pair()).trace.select("message", what="stream", fate="delivered")
    ]
    assert found
    assert max(found) - min(found) < 0.005, "a steady line"
    return math.floor(min(found) * 100) / 100


def crossing_ms(lab: Lab | None = None) -> float:
    """Return the same in milliseconds."""
    return round(1000 * crossing_s(lab))


def nodes() -> int:
    """Return how many nodes a cluster of a pair has."""
    (found,) = {len(pair()[name].nodes) for name in pair().clusters}
    return found


def clusters() -> int:
    """Return how many clusters a pair has."""
    return len(pair().clusters)


def lone_versions(times: int) -> Vault:
    """Return a vault in which a secret was written so many times."""
    vault = Vault.dev(seed=1)
    for number in range(times):
        vault.post("secret/data/app", {"data": {"n": number}})
    return vault
