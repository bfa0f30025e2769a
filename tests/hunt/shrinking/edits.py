"""Edits: what each edit of a pass makes of data, and data for the tests of passes."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from labkit.hunt.labs import lab_data
from labkit.hunt.world import read
from labkit.lab.plan.blueprint import pair

Data = dict[str, Any]
WORK = [{"do": "put-secret", "every": "100ms", "keys": 3}, {"do": "encrypt", "every": "1s"}]
CLIENTS = {"shop": {"site": "lisbon", "use": ["lima", "paris"], "count": 2, "work": WORK}}
REPLICATE = {"do": "replicate", "primary": "paris", "secondary": "tokyo", "at": "1s"}


def data(*timeline: Data, lab: Data | None = None) -> Data:
    return {"scenario": "x", "seed": 47, "lab": lab or lab_data(pair()), "timeline": [REPLICATE, *timeline]}


def results(shrinking: Any, start: Data) -> list[Data]:
    """What each edit of a pass makes, each of which a file can be."""
    found = []
    for edit in shrinking(start):
        candidate = deepcopy(start)
        if edit(candidate):
            read(candidate)
            found.append(candidate)
    return found


def kept(found: list[Data]) -> list[list[str]]:
    return [[step["do"] for step in one["timeline"]] for one in found]
